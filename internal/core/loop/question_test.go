package loop_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// beginWithQuestion returns a loop whose agent asked a question in its first turn and waits for the answer.
func beginWithQuestion(t *testing.T, p loop.Policy, proposed string) *scenario {
	t.Helper()
	p.Gates = true
	sc := begin(t, p, open("a")...)
	sc.checkpointed("gates baseline")
	sc.gates(green, map[bool]string{false: "turn 1 fresh first", true: "turn 1 continue first"}[p.InSession])
	sc.feed(loop.Event{Payload: loop.QuestionAsked{Question: loop.Question{Text: "UTC or\nlocal?", Choices: []string{"UTC", "local"}, Proposed: proposed}}}, "")
	sc.turn("", "wait")
	return sc
}

func TestAnswerEndsWaitOfQuestion(t *testing.T) {
	t.Parallel()
	sc := beginWithQuestion(t, loop.Policy{}, "")
	q, ok := sc.s.AwaitedAnswer()
	if !ok || q.Text != "UTC or local?" || q.Task != "a" || q.Until.Sub(sc.now) != 24*time.Hour {
		t.Fatalf("%+v", q)
	}
	before := sc.s.Elapsed()
	sc.feed(loop.Event{Payload: loop.MessageArrived{Text: "I am on my way"}}, "") // no answer
	sc.feed(loop.Event{Payload: loop.OwnerChanged{}}, "wait")
	sc.feed(loop.Event{Payload: loop.PauseRequested{}}, "")
	sc.feed(loop.Event{Payload: loop.Resumed{}}, "wait")
	if sc.s.Elapsed() != before {
		t.Errorf("the wait counts: %s", sc.s.Elapsed()-before)
	}
	sc.feed(loop.Event{ID: "m1", Payload: loop.Answered{Answer: "UTC"}}, "turn 2 continue no_claim")
	sc.feed(loop.Event{ID: "m1", Payload: loop.Answered{Answer: "UTC"}}, "") // the same message again
	if notes := sc.notes(); notes != "I am on my way|You asked: UTC or local?\nThe answer: UTC" || len(sc.s.Questions) > 0 {
		t.Errorf("%q %+v", notes, sc.s.Questions)
	}
}

// A task that is skipped has no open question: when the loop is reopened, it begins anew at once.
func TestSkippedTaskHasNoOpenQuestion(t *testing.T) {
	t.Parallel()
	sc := beginWithQuestion(t, loop.Policy{AnswerWithin: time.Second}, "UTC")
	answers := map[loop.Phase][]loop.EventPayload{
		loop.Waiting:       {loop.TimerFired{}},
		loop.Turning:       {loop.QuestionAsked{Question: loop.Question{Text: "UTC or local?", Proposed: "UTC"}}, loop.TurnEnded{}},
		loop.Inspecting:    {loop.TreeInspected{}},
		loop.Checkpointing: {loop.Checkpointed{Tree: "t"}},
		loop.Restoring:     {loop.Restored{Tree: "t"}},
	}
	for range 40 {
		if sc.s.Tasks[0].Status != loop.Open {
			break
		}
		for _, p := range answers[sc.s.Phase] {
			sc.now = sc.now.Add(time.Minute)
			sc.s, _ = loop.Step(sc.s, loop.Event{At: sc.now, Payload: p})
		}
	}
	if sc.s.Tasks[0].Status != loop.Skipped || len(sc.s.Questions) > 0 {
		t.Errorf("%s with questions %+v", sc.s.Tasks[0].Status, sc.s.Questions)
	}
}

// The agent is told that its question could not be read.
func TestMalformedQuestionIsReportedToAgent(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true}, open("a")...)
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.feed(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{Unreadable: true}}}, "inspect")
	sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{}}}, "turn 2 continue no_claim")
	if notes := sc.notes(); !strings.HasPrefix(notes, "Your question could not be read") {
		t.Errorf("%q", notes)
	}
}

// The agent is told that it used the promise of another tool.
func TestWrongPromiseIsReportedToAgent(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true}, open("a")...)
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.feed(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCalls: 1, OtherPromise: &loop.OtherPromise{Said: "COMPLETE", Asked: "DONE"}}}}, "inspect")
	sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{}}}, "turn 2 continue no_claim")
	if notes := sc.notes(); !strings.HasPrefix(notes, "Your message ended with <promise>COMPLETE</promise>, which is no claim here") {
		t.Errorf("%q", notes)
	}
}

func TestAnswerByNumber(t *testing.T) {
	t.Parallel()
	suggested := []string{"UTC", "local"}
	for _, c := range []struct {
		answer  string
		choices []string
		want    string
		refused bool
	}{
		{"2", suggested, "local", false},
		{"7", suggested, "", true},
		{"0", suggested, "", true},
		{"-1", suggested, "", true},
		{"7 hours east", suggested, "7 hours east", false},
		{"7", nil, "7", false},
	} {
		got, err := loop.Question{Choices: c.choices}.Choice(c.answer)
		if got != c.want || (err != nil) != c.refused {
			t.Errorf("%q of %q: %q, %v", c.answer, c.choices, got, err)
		}
	}
}

// An answer during the turn goes into the next prompt.
func TestAnswerDuringTurnGoesIntoNextPrompt(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true})
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.feed(loop.Event{Payload: loop.QuestionAsked{Question: loop.Question{Text: "UTC?"}}}, "")
	sc.feed(loop.Event{Payload: loop.Answered{Answer: "yes"}}, "")
	sc.turn("", "turn 2 continue no_claim")
}

// A question in a turn that was cut off with its owner still counts.
func TestQuestionSurvivesOwnerDeath(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true})
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.feed(loop.Event{Payload: loop.QuestionAsked{Question: loop.Question{Text: "UTC?"}}}, "")
	sc.feed(loop.Event{Payload: loop.OwnerChanged{}}, "wait")
	sc.feed(loop.Event{Payload: loop.Answered{Answer: "yes"}}, "turn 1 continue interrupted")
}

// A missing answer is not yes: the loop takes the next task. If the user set a time, the agent's
// proposal then counts.
func TestUnansweredQuestionTimesOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, proposed string
		within         time.Duration
		want           string
	}{
		{"nobody chose a time", "UTC", 0, "checkpoint"},
		{"nothing is proposed", "", time.Hour, "checkpoint"},
		{"the proposal counts", "UTC", time.Hour, "note; turn 2 continue no_claim"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sc := beginWithQuestion(t, loop.Policy{AnswerWithin: c.within}, c.proposed)
			sc.feed(loop.Event{Payload: loop.TimerFired{}}, c.want)
			task, _ := sc.s.Task("a")
			if blocked := task.Status == loop.Blocked; blocked != (c.want == "checkpoint") || len(sc.s.Questions) > 0 {
				t.Errorf("%+v %+v", task, sc.s.Questions)
			}
		})
	}
}

// A question only blocks its own task.
func TestQuestionBlocksOnlyItsTask(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true}, open("a", "b")...)
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.feed(loop.Event{Payload: loop.QuestionAsked{Question: loop.Question{Text: "UTC?"}}}, "")
	sc.turn("done", "gates claim")
	sc.gates(proven, "commit a")
	sc.committed("checkpoint")
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 2 fresh next_task")
	if _, waits := sc.s.AwaitedAnswer(); waits || len(sc.s.Questions) == 0 {
		t.Errorf("%+v", sc.s.Questions)
	}
}

// In a user's session, their next prompt is the answer.
func TestNextUserPromptAnswersQuestionInSession(t *testing.T) {
	t.Parallel()
	sc := beginWithQuestion(t, loop.Policy{InSession: true}, "")
	sc.feed(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{}}}, "inspect") // the client woke the session
	sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{}}}, "wait")
	sc.feed(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ByUser: true}}}, "turn 3 continue no_claim")
	if len(sc.s.Questions) > 0 {
		t.Errorf("%+v", sc.s.Questions)
	}
}

// An answer that names its question applies to no other question, and is no message: a late yes
// approves nothing else.
func TestAnswerAppliesOnlyToNamedQuestion(t *testing.T) {
	t.Parallel()
	sc := beginWithQuestion(t, loop.Policy{}, "")
	q := sc.s.Questions[0]
	sc.feed(loop.Event{Payload: loop.Answered{Answer: "yes", Task: q.Task, Question: &loop.Question{At: q.At.Add(-time.Second)}}}, "")
	if _, waits := sc.s.AwaitedAnswer(); !waits || len(sc.s.Messages) > 0 {
		t.Errorf("%+v", sc.s)
	}
	sc.feed(loop.Event{Payload: loop.Answered{Answer: "yes", Task: q.Task, Question: &loop.Question{At: q.At}}}, "turn 2 continue no_claim")
}

// askQuestion returns a message and a question for a random walk, which may be answered at once.
func (w *randomWalk) askQuestion() {
	w.changeLimits()
	w.sendMessage()
	w.feed(loop.Event{Payload: loop.QuestionAsked{Question: loop.Question{Text: "which?", Proposed: []string{"", "this"}[w.r.IntN(2)]}}})
	if w.oneIn(2) {
		w.feed(loop.Event{Payload: loop.Answered{Answer: "that"}})
	}
}

// Two tasks may ask the same, so each question is shown with its task.
func TestQuestionNamesItsTask(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		q                        loop.Question
		headline, named, command string
	}{
		{loop.Question{Text: "Which zone?", Task: "2"}, "the agent asks about task 2: Which zone?", "Which zone? (task 2)", `pawl answer calm-ibis --task 2 "…"`},
		{loop.Question{Text: "Which zone?", Task: loop.GoalTask}, "the agent asks: Which zone?", "Which zone?", `pawl answer calm-ibis "…"`},
		{loop.Question{Text: "the plan", Approve: loop.ApprovePlan}, "waits for your approval: the plan", "the plan", `pawl approve calm-ibis   or  pawl reject calm-ibis --why "…"`},
	} {
		if c.q.Headline() != c.headline || c.q.Named() != c.named || c.q.Command("calm-ibis") != c.command {
			t.Errorf("%q, %q, %q", c.q.Headline(), c.q.Named(), c.q.Command("calm-ibis"))
		}
	}
}
