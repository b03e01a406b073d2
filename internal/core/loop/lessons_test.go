package loop_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

// lessons returns the lessons in the next prompt.
func (sc *scenario) lessons() string {
	var told []string
	for _, l := range sc.s.Lessons {
		told = append(told, l.String())
	}
	return strings.Join(told, "\n")
}

// A lesson says what was tried, what it broke and what to do instead. A repetition is no second
// lesson.
func TestRestoreAddsLesson(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true, Restore: true})
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	failed := loop.Gates{Status: "fail", Reason: "go test: 3 of 12 fail", Failures: loop.Failures{Failing: []string{"TestCart"}, FirstError: "cart_test.go:9: 2 != 3"}}
	for _, want := range []string{"turn 2 continue gates_failed", "turn 3 continue gates_failed", "turn 4 fresh fresh", "restore"} {
		sc.turn("done", "gates claim")
		failed.Fingerprint = want
		sc.gates(failed, want)
	}
	const lesson = "Tried: task a. Result: go test: 3 of 12 fail (cart_test.go:9: 2 != 3). Instead: take another way, and see it pass before you claim: TestCart"
	if got := sc.lessons(); got != lesson {
		t.Errorf("got  %s\nwant %s", got, lesson)
	}
	sc.feed(loop.Event{Payload: loop.Restored{Tree: "base"}}, "turn 5 fresh restored")
	sc.turn("done", "gates claim")
	sc.gates(failed, "restore")
	if got := sc.lessons(); got != lesson+" (learnt 2 times)" {
		t.Errorf("the second time: %s", got)
	}
}

// Without gated work there is no lesson. The lesson of a gate that hangs is to find what it waits for.
func TestOnlyGatedWorkAddsLesson(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fails func(sc *scenario, want string)
		next  string // what the next turn is told
		want  string
	}{
		"the agent died": {func(sc *scenario, want string) {
			sc.feed(loop.Event{Payload: loop.AgentFailed{Failure: loop.Failure{Class: loop.Crashed, Message: "exit 3"}}}, want)
		}, "no_claim", ""},
		"a gate hangs": {func(sc *scenario, want string) {
			sc.turn("done", "gates claim")
			hangs := gate.Result{Gate: "go", Status: gate.Fail, TimedOut: true}
			sc.gates(loop.Gates{Status: gate.Fail, Reason: "go: timed out after 3s", Results: []gate.Result{hangs}, Failures: loop.Failures{Fingerprint: want}}, want)
		}, "gates_failed", "Tried: task a. Result: go: timed out after 3s. Instead: find out what takes so long or blocks"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sc := begin(t, loop.Policy{Gates: true, Restore: true})
			sc.checkpointed("gates baseline")
			sc.gates(green, "turn 1 fresh first")
			for _, want := range []string{"turn 2 continue " + c.next, "turn 3 continue " + c.next, "turn 4 fresh fresh", "restore"} {
				c.fails(sc, want)
			}
			if got := sc.lessons(); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	sc := begin(t, loop.Policy{Gates: true, Restore: true})
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.turn("blocked", "restore")
	if got := sc.lessons(); got != "" {
		t.Errorf("blocked taught %s", got)
	}
}

// Tests that fail as before did not regress. The claim of the last task is refused with their names,
// and the lesson says so.
func TestLessonNamesTestsThatStillFail(t *testing.T) {
	t.Parallel()
	asBefore := loop.Gates{Status: gate.Pass, Reason: "nothing new fails", WorkResult: loop.WorkResult{Evidence: gate.Unproven}, Failures: loop.Failures{Failing: []string{"TestCart"}}}
	sc := begin(t, loop.Policy{Gates: true, Restore: true})
	sc.checkpointed("gates baseline")
	sc.feed(loop.Event{Payload: loop.GatesFinished{Gates: asBefore}}, "turn 1 fresh first")
	sc.turn("no-behaviour-change", "gates claim")
	sc.feed(loop.Event{Payload: loop.GatesFinished{Gates: asBefore}}, "commit a")
	sc.committed("gates final")
	sc.feed(loop.Event{Payload: loop.GatesFinished{Gates: asBefore}}, "checkpoint")
	sc.checkpointed("gates baseline")
	sc.feed(loop.Event{Payload: loop.GatesFinished{Gates: asBefore}}, "turn 2 fresh next_task")
	for _, want := range []string{"turn 3 continue gates_failed", "turn 4 continue gates_failed", "turn 5 fresh fresh", "restore"} {
		sc.turn("done", "gates claim")
		asBefore.Fingerprint = want
		sc.feed(loop.Event{Payload: loop.GatesFinished{Gates: asBefore}}, want)
	}
	const lesson = "Tried: task final-gates. That did not work: nothing new fails. Instead: take another way, and see it pass before you claim: TestCart"
	if got := sc.lessons(); got != lesson {
		t.Errorf("got  %s\nwant %s", got, lesson)
	}
	task, _ := sc.s.Task("a")
	if got, want := loop.UnprovenSummary(task), "nothing new fails; what failed before still fails (TestCart)"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestViolationAddsLesson(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true})
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.turnWithInspection("done", loop.Inspection{Changed: true, Tampered: []string{"gate.sh"}}, "restore_files; turn 2 continue violation")
	if got := sc.lessons(); !strings.HasPrefix(got, "Tried: to change gate.sh. Result: ") {
		t.Errorf("%s", got)
	}
}

// A user's lessons stay unchanged, and are dropped last.
func TestLessonsAreBounded(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{})
	learn := func(text string, person bool) {
		sc.s, _ = loop.Step(sc.s, loop.Event{At: sc.s.Now, Payload: loop.LessonLearned{Lesson: text, ByUser: person}})
	}
	learn("use\nthe sandbox", true)
	for i := range 50 {
		learn(fmt.Sprintf("lesson %d", i), false)
	}
	learn("use the sandbox", false)
	learn(strings.Repeat("long ", 1000), false)
	learn("", true)
	told := strings.Split(sc.lessons(), "\n")
	if len(told) != 20 || told[0] != "use the sandbox" || told[18] != "lesson 49" || len(told[19]) > 700 {
		t.Errorf("%d: %q", len(told), told)
	}
	sc.s, _ = loop.Step(sc.s, loop.Event{At: sc.s.Now, Payload: loop.LessonForgotten{Lesson: "use the sandbox"}})
	if strings.Contains(sc.lessons(), "sandbox") || len(sc.s.Lessons) != 19 {
		t.Error("it was not forgotten")
	}
}

// What Pawl or the agent learns never replaces a user's lesson.
func TestUserLessonsAreNotReplacedByOthers(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{})
	for i := range 20 {
		sc.feed(loop.Event{Payload: loop.LessonLearned{Lesson: fmt.Sprintf("rule %d", i), ByUser: true}}, "")
	}
	before := sc.lessons()
	sc.feed(loop.Event{Payload: loop.LessonLearned{Lesson: "of the agent"}}, "")
	if got := sc.lessons(); got != before {
		t.Errorf("lessons:\n%s", got)
	}
}
