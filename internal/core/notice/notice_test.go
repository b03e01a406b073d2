package notice_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/notice"
)

func at(hour, minute int) time.Time { return time.Date(2026, 11, 25, hour, minute, 0, 0, time.UTC) }

// working is a loop of two tasks in mid-turn.
func working(change func(*loop.State)) loop.State {
	s := loop.State{Phase: loop.Turning, Policy: loop.Policy{Limits: loop.Limits{CostUSD: 20}}, Tasks: []loop.Task{{ID: "US-1", Title: "parse CSV", Status: loop.Open}, {ID: "US-2", Title: "print it", Status: loop.Open}}, Clock: loop.Clock{Now: at(12, 0)}}
	if change != nil {
		change(&s)
	}
	return s
}

func TestDecideNoticesOfEvents(t *testing.T) {
	t.Parallel()
	waiting := func(limited int) func(*loop.State) {
		return func(s *loop.State) {
			s.Phase, s.Trouble.UsageLimits, s.AwayFrom = loop.Waiting, limited, at(11, 0)
			s.Pending = []loop.Action{{Payload: loop.Wait{Until: time.Date(2026, 11, 25, 14, 30, 0, 0, time.Local), Why: "usage limit: resets at 2:30pm"}}}
		}
	}
	task := func(status loop.TaskStatus, why string) func(*loop.State) {
		return func(s *loop.State) { s.Tasks[0].Status, s.Tasks[0].Why = status, why }
	}
	end := func(o loop.Outcome) func(*loop.State) {
		return func(s *loop.State) {
			s.Phase, s.Outcome, s.Reason, s.Hint = loop.Ended, o, "task US-1 (parse CSV) failed: t03", "look at t03"
		}
	}
	cases := []struct {
		name          string
		before, after func(*loop.State)
		event         loop.Event
		want          string // event reason task title / text
	}{
		{"a turn", nil, nil, loop.Event{Payload: loop.TurnEnded{}}, ""},
		{"done", nil, task(loop.Done, "proven"), loop.Event{Payload: loop.Committed{}}, ""},
		{"ended", nil, end(loop.Stuck), loop.Event{Payload: loop.Concluded{}}, "ended stuck | 0 of 2 tasks done, 2 open · ended STUCK | task US-1 (parse CSV) failed: t03 / look at t03"},
		{"ended before it was seen", func(s *loop.State) { *s = loop.State{} }, end(loop.Verified), loop.Event{Payload: loop.Concluded{}}, "ended verified | 0 of 2 tasks done, 2 open · ended VERIFIED | task US-1 (parse CSV) failed: t03 / look at t03"},
		{"Ctrl-C", nil, func(s *loop.State) { end(loop.CancelledEnd)(s); s.Stop.Cause = loop.ByInterrupt }, loop.Event{Payload: loop.Concluded{}}, ""},
		{"pawl stop", nil, func(s *loop.State) { end(loop.CancelledEnd)(s); s.Stop.Cause = loop.ByStop }, loop.Event{Payload: loop.Concluded{}}, "ended cancelled | 0 of 2 tasks done, 2 open · ended CANCELLED | task US-1 (parse CSV) failed: t03 / look at t03"},
		{"after the end", end(loop.Stuck), func(s *loop.State) { end(loop.Stuck)(s); s.Tasks[0].Status = loop.Blocked }, loop.Event{Payload: loop.Approved{}}, ""},
		{"blocked", nil, task(loop.Blocked, "no API key"), loop.Event{Payload: loop.TreeInspected{}}, "needs_you blocked US-1 | US-1 parse CSV: the agent says that it is blocked | no API key"},
		{"blocked, and that is the end", nil, func(s *loop.State) {
			task(loop.Blocked, "no API key")(s)
			s.Phase, s.Outcome = loop.Finishing, loop.BlockedEnd
		}, loop.Event{Payload: loop.TreeInspected{}}, ""},
		{"skipped", nil, task(loop.Skipped, "t03 fails"), loop.Event{Payload: loop.Restored{}}, "needs_you skipped US-1 | US-1 parse CSV: it failed after all attempts, and was skipped | t03 fails"},
		{"unchanged", nil, task(loop.Unchanged, ""), loop.Event{Payload: loop.TreeInspected{}}, "needs_you unchanged US-1 | US-1 parse CSV: the agent claimed it done, but changed no files |"},
		{"violation", nil, func(s *loop.State) { s.Violations, s.Failing = 1, &loop.Failing{Reason: "pawl.toml changed"} }, loop.Event{Payload: loop.TreeInspected{}}, "needs_you violation | violation 1 of 3: the agent changed protected files | pawl.toml changed"},
		{"approval asked for", nil, func(s *loop.State) { s.TestRequests = []loop.TestChangeRequest{{Paths: []string{"a_test.go"}}} }, loop.Event{Payload: loop.TestChangeRequested{}}, "needs_you approval | changes to existing tests wait for your approval | a_test.go"},
		{"approval of work", nil, func(s *loop.State) {
			s.Tasks[0].Status, s.Tasks[0].IfApproved = loop.Done, &loop.IfApproved{Paths: []string{"b_test.go"}, Evidence: gate.Proven}
		}, loop.Event{Payload: loop.Committed{}}, "needs_you approval | changes to existing tests wait for your approval | b_test.go"},
		{"question", nil, func(s *loop.State) {
			s.Questions = []loop.Question{{Text: "Which zone?", Choices: []string{"UTC", "local"}, Proposed: "UTC"}}
		}, loop.Event{Payload: loop.QuestionAsked{}}, "needs_you question | the agent asks: Which zone? | 1: UTC / 2: local / the agent proposes: UTC"},
		{"the same question still", func(s *loop.State) { s.Questions = []loop.Question{{Text: "Which zone?"}} }, func(s *loop.State) {
			s.Questions = []loop.Question{{Text: "Which zone?"}}
		}, loop.Event{Payload: loop.TurnEnded{}}, ""},
		{"merge", nil, func(s *loop.State) { s.Merge = &loop.Merge{Summary: "CSV works"} }, loop.Event{Payload: loop.MergeRequested{}}, "needs_you merge | the agent asks you to merge its work | CSV works"},
		{"login in a session", nil, func(s *loop.State) { s.Phase = loop.Paused }, loop.Event{Payload: loop.AgentFailed{Failure: loop.Failure{Class: loop.Login, Message: "not logged in", Hint: "claude /login"}}}, "needs_you held | the loop is paused: not logged in | claude /login"},
		{"paused by the user", nil, func(s *loop.State) { s.Phase = loop.Paused }, loop.Event{Payload: loop.PauseRequested{}}, ""},
		{"limit met", nil, waiting(1), loop.Event{Payload: loop.AgentFailed{}}, "wait begun | waits until 14:30 | usage limit: resets at 2:30pm"},
		{"limit still holds", waiting(1), waiting(2), loop.Event{Payload: loop.AgentFailed{}}, "wait begun | waits until 14:30 | usage limit: resets at 2:30pm"},
		{"limit checked again and again", waiting(2), waiting(3), loop.Event{Payload: loop.AgentFailed{}}, ""},
		{"limit over", waiting(1), func(s *loop.State) { s.Trouble.UsageLimits = 1 }, loop.Event{Payload: loop.TimerFired{}}, "wait over | the usage limit is over: the loop continues |"},
		{"limit over at last", func(s *loop.State) { s.Trouble.UsageLimits = 3 }, nil, loop.Event{Payload: loop.TurnEnded{}}, "wait over | the usage limit is over: the loop continues |"},
		{"paused while it waits", waiting(1), func(s *loop.State) { s.Trouble.UsageLimits, s.Phase = 1, loop.Paused }, loop.Event{Payload: loop.PauseRequested{}}, ""},
		{"network wait", nil, func(s *loop.State) { waiting(0)(s); s.AwayFrom = time.Time{} }, loop.Event{Payload: loop.AgentFailed{}}, ""},
		{"half of the budget", nil, func(s *loop.State) { s.Usage.CostUSD = 14.99 }, loop.Event{Payload: loop.TurnEnded{}}, ""},
		{"75 %", nil, func(s *loop.State) { s.Usage.CostUSD = 15 }, loop.Event{Payload: loop.TurnEnded{}}, "budget 75 | 75 % of the budget is spent | $15.00 of $20.00"},
		{"more than 75 %", func(s *loop.State) { s.Usage.CostUSD = 15 }, func(s *loop.State) { s.Usage.CostUSD = 17 }, loop.Event{Payload: loop.TurnEnded{}}, ""},
		{"from nothing to 95 %", nil, func(s *loop.State) { s.Usage.CostUSD = 19 }, loop.Event{Payload: loop.TurnEnded{}}, "budget 90 | 90 % of the budget is spent | $19.00 of $20.00"},
		{"tokens", func(s *loop.State) { s.Policy.Limits = loop.Limits{Tokens: 1000} }, func(s *loop.State) {
			s.Policy.Limits, s.Usage = loop.Limits{Tokens: 1000}, loop.Usage{Input: 900}
		}, loop.Event{Payload: loop.TurnEnded{}}, "budget 90 | 90 % of the budget is spent | 900 of 1000 tokens"},
		{"no limit", func(s *loop.State) { s.Policy.Limits = loop.Limits{} }, func(s *loop.State) { s.Policy.Limits, s.Usage.CostUSD = loop.Limits{}, 99 }, loop.Event{Payload: loop.TurnEnded{}}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, n := range notice.Decide(working(c.before), working(c.after), c.event) {
				head := strings.TrimSpace(string(n.Event) + " " + n.Reason + " " + n.Task)
				got = append(got, strings.TrimSpace(head+" | "+n.Title+" | "+strings.ReplaceAll(n.Text, "\n", " / ")))
				if n.Reason == "approval" && n.Text != strings.Join(n.Tests, ", ") {
					t.Errorf("%+v", n)
				}
				if !n.At.Equal(at(12, 0)) || (n.Event == notice.Ended) != (n.Outcome != "") {
					t.Errorf("%+v", n)
				}
			}
			if diff := cmp.Diff(c.want, strings.Join(got, "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOfNamesTheLoopAndWhatToType(t *testing.T) {
	t.Parallel()
	n := notice.Notice{Event: notice.Ended, Title: "ended VERIFIED"}.ForLoop("brisk-otter", "plan.md", "/home/ann/shop")
	want := notice.Notice{
		Event: notice.Ended, Title: "brisk-otter · ended VERIFIED", Text: "plan.md in shop\npawl report brisk-otter",
		Loop: "brisk-otter", Goal: "plan.md", Root: "/home/ann/shop",
	}
	if diff := cmp.Diff(want, n); diff != "" {
		t.Error(diff)
	}
	if got := (notice.Notice{Event: notice.NeedsYou, Text: "a_test.go", Tests: []string{"a_test.go"}}).ForLoop("brisk-otter", "", "").Text; got != "a_test.go\npawl approve brisk-otter   or  pawl reject brisk-otter" {
		t.Error(got)
	}
	if got := (notice.Notice{Event: notice.NeedsYou, Text: "no API key"}).ForLoop("brisk-otter", "", "").Text; got != "no API key\npawl status brisk-otter" {
		t.Error(got)
	}
}

func TestTheSameThingIsToldOnceAMinute(t *testing.T) {
	t.Parallel()
	violation := func(minute, second int) notice.Notice {
		return notice.Notice{Event: notice.NeedsYou, Reason: "violation", At: at(12, minute).Add(time.Duration(second) * time.Second)}
	}
	other := notice.Notice{Event: notice.NeedsYou, Reason: "blocked", Task: "US-1", At: at(12, 0)}
	var log notice.SentLog
	var told []notice.Notice
	for _, news := range [][]notice.Notice{{violation(0, 0)}, {violation(0, 1), other}, {violation(0, 59)}, {violation(1, 0)}, {violation(1, 30)}} {
		was := len(log)
		fresh, next := log.Filter(news)
		if len(log) != was {
			t.Error("Filter changed the log that it was called on")
		}
		told, log = append(told, fresh...), next
	}
	if diff := cmp.Diff([]notice.Notice{violation(0, 0), other, violation(1, 0)}, told); diff != "" {
		t.Error(diff)
	}
	if len(log) != 1 {
		t.Errorf("the log keeps what is over: %v", log)
	}
}

func TestReceiversByEvent(t *testing.T) {
	t.Parallel()
	s := notice.Settings{To: []string{"desktop", "slack env:URL"}, Wait: []string{"off"}, NeedsYou: []string{"command ./call me"}}
	desktop, slack, call := notice.Receiver{Kind: notice.Desktop}, notice.Receiver{Kind: notice.Slack, Arg: "env:URL"}, notice.Receiver{Kind: notice.Command, Arg: "./call me"}
	for event, want := range map[notice.Event][]notice.Receiver{
		notice.Ended: {desktop, slack}, notice.NeedsYou: {call}, notice.Wait: nil, notice.Test: {desktop, slack, call},
	} {
		if diff := cmp.Diff(want, s.ReceiversFor(event)); diff != "" {
			t.Errorf("%s: %s", event, diff)
		}
	}
}

func TestQuietHoursDelayNotices(t *testing.T) {
	t.Parallel()
	day := func(hour, minute, days int) time.Time { return at(hour, minute).AddDate(0, 0, days) }
	for _, c := range []struct {
		quiet     string
		at, until time.Time
	}{
		{"22:00-07:00", at(21, 59), time.Time{}},
		{"22:00-07:00", at(22, 0), day(7, 0, 1)},
		{"22:00-07:00", at(6, 59), day(7, 0, 0)},
		{"22:00-07:00", at(7, 0), time.Time{}},
		{"12:00-13:00", at(11, 59), time.Time{}},
		{"12:00-13:00", at(12, 30), day(13, 0, 0)},
		{"", at(12, 30), time.Time{}},
	} {
		if until := (notice.Settings{Quiet: c.quiet}).QuietUntil(c.at); !until.Equal(c.until) {
			t.Errorf("%q at %s: until %s, want %s", c.quiet, c.at, until, c.until)
		}
	}
}

// What came in quiet hours is told in the morning if it is still news then.
func TestOutdatedNoticesAreDropped(t *testing.T) {
	t.Parallel()
	asked := loop.Question{Text: "Which zone?", Task: "US-1", At: at(2, 0)}
	question := notice.Notice{Event: notice.NeedsYou, Question: &asked}
	asks := working(func(s *loop.State) { s.Questions = []loop.Question{asked} })
	ended := working(func(s *loop.State) { s.Phase = loop.Ended })
	for name, c := range map[string]struct {
		n    notice.Notice
		now  loop.State
		want string
	}{
		"a question that is open":     {question, asks, ""},
		"a question that is answered": {question, working(nil), "the question is answered"},
		"a question of an ended loop": {question, ended, "the loop has ended"},
		"an end":                      {notice.Notice{Event: notice.Ended}, ended, ""},
		"an end that is none":         {notice.Notice{Event: notice.Ended}, working(nil), "the loop was resumed"},
		"a blocked task":              {notice.Notice{Event: notice.NeedsYou, Reason: "blocked"}, working(nil), ""},
		"held no longer":              {notice.Notice{Event: notice.NeedsYou, Reason: "held"}, working(nil), "the loop is no longer paused"},
		"tests that are decided":      {notice.Notice{Event: notice.NeedsYou, Reason: "approval", Tests: []string{"a_test.go"}}, working(nil), "it is decided"},
	} {
		if got := c.n.OutdatedReason(c.now); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A second question within a minute is no repetition of the first.
func TestEachQuestionIsTold(t *testing.T) {
	t.Parallel()
	ask := func(second int) func(*loop.State) {
		return func(s *loop.State) {
			s.Questions = []loop.Question{{Text: "Which zone?", Task: "US-1", At: at(11, 59).Add(time.Duration(second) * time.Second)}}
		}
	}
	first := notice.Decide(working(nil), working(ask(1)), loop.Event{Payload: loop.QuestionAsked{}})
	second := notice.Decide(working(ask(1)), working(ask(2)), loop.Event{Payload: loop.QuestionAsked{}})
	told, log := notice.SentLog(nil).Filter(first)
	again, log := log.Filter(first)
	other, _ := log.Filter(second)
	if len(told) != 1 || len(again) != 0 || len(other) != 1 || other[0].Question == nil || other[0].Task != "US-1" {
		t.Errorf("told %v, again %v, the other %v", told, again, other)
	}
}
