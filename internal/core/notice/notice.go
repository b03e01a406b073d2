// Package notice decides what a user is told about a loop while they are away: that it
// ended, that it needs them, that it waits for a usage limit, that its budget runs out.
//
// Decide compares the state before and after an event. It is pure, so every owner of a
// loop reaches the same notices from the same journal. Package notify sends them.
package notice

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// Event says what kind of news a notice is. Receivers are chosen by it.
type Event string

// The events.
const (
	Ended    Event = "ended"     // the loop has its outcome
	NeedsYou Event = "needs_you" // only the user can help
	Wait     Event = "wait"      // a wait for a usage limit begins or is over
	Budget   Event = "budget"    // a share of the budget is spent
	Test     Event = "test"      // of pawl notify test
)

// Notice is one message for the user. Its text holds what the journal holds, so secrets
// are removed already.
type Notice struct {
	Event   Event        `json:"event" jsonschema:"ended, needs_you, wait, budget or test"`
	Reason  string       `json:"reason" jsonschema:"more precisely: the outcome of ended; blocked, skipped, unchanged, violation, approval, merge, question or held of needs_you; begun or over of wait; 75 or 90 of budget"`
	Loop    string       `json:"loop" jsonschema:"id of the loop"`
	Title   string       `json:"title" jsonschema:"one line"`
	Text    string       `json:"text" jsonschema:"a few lines, the last says what to type"`
	Goal    string       `json:"goal" jsonschema:"of the loop, in few words"`
	Root    string       `json:"root" jsonschema:"of the repository that the loop is bound to"`
	Task    string       `json:"task,omitempty" jsonschema:"id of the task that it is about"`
	Outcome loop.Outcome `json:"outcome,omitempty" jsonschema:"of ended"`
	At      time.Time    `json:"at"`

	Question *loop.Question `json:"question,omitempty" jsonschema:"that waits for an answer or an approval"`
	Tests    []string       `json:"tests,omitempty" jsonschema:"changed tests and other gate inputs that wait for an approval"`
}

// Asks reports whether the user can answer the notice.
func (n Notice) Asks() bool { return n.Question != nil || len(n.Tests) > 0 }

// Lasts reports whether the notice is told after quiet hours that it came in.
func (n Notice) Lasts() bool { return n.Event == NeedsYou || n.Event == Ended }

// Outdated says why a notice need not be told any more, now that its loop stands so, and
// is empty for one that is still news.
func (n Notice) Outdated(now loop.State) string {
	ended := now.Phase == loop.Ended
	switch {
	case n.Event == Ended && !ended:
		return "the loop was resumed"
	case n.Event != Ended && ended: // the notice of its end says what is left
		return "the loop has ended"
	case n.Question != nil && !slices.ContainsFunc(now.Unanswered(), func(q loop.Question) bool { return q.At.Equal(n.Question.At) }):
		return "the question is answered"
	case n.Reason == reasonHeld && now.HoldReason == "":
		return "the loop is no longer held"
	case n.Event == NeedsYou && len(n.Tests) > 0 && !slices.ContainsFunc(now.Unapproved(), func(path string) bool { return slices.Contains(n.Tests, path) }):
		return "it is decided"
	}
	return ""
}

// reasonQuestion is the reason of a notice that the agent asks something.
const reasonQuestion = "question"

// reasonHeld is the reason of a notice that the loop waits for something to be fixed.
const reasonHeld = "held"

// repeatAfter is how long the same thing is not told again.
const repeatAfter = time.Minute

// Log is when each thing was last told.
type Log map[string]time.Time

// Filter returns the notices that were not told within the last minute, and the log with
// them. It does not change the log that it is called on.
func (l Log) Filter(news []Notice) ([]Notice, Log) {
	var fresh []Notice
	for _, n := range news {
		key := strings.Join(append([]string{string(n.Event), n.Reason, n.Task}, n.Tests...), " ")
		if n.Question != nil { // another one of the same task is news
			key += " " + n.Question.At.Format(time.RFC3339Nano)
		}
		if last, told := l[key]; told && n.At.Sub(last) < repeatAfter {
			continue
		}
		if l = maps.Clone(l); l == nil {
			l = Log{}
		}
		maps.DeleteFunc(l, func(_ string, at time.Time) bool { return n.At.Sub(at) >= repeatAfter })
		l[key] = n.At
		fresh = append(fresh, n)
	}
	return fresh, l
}

// Of returns the notice as one of a loop: the loop's id leads, and what to type ends it.
func (n Notice) Of(id, goal, root string) Notice {
	look := "pawl status " + id
	switch {
	case n.Event == Ended:
		look = "pawl report " + id
	case n.Question != nil:
		look = n.Question.Command(id)
	case len(n.Tests) > 0:
		look = fmt.Sprintf("pawl approve %s   or  pawl reject %[1]s", id)
	}
	n.Loop, n.Goal, n.Root, n.Title = id, goal, root, id+" · "+n.Title
	n.Text = strings.TrimPrefix(n.Text+"\n"+look, "\n")
	return n
}

// Decide returns what an event of a loop means for an absent user. Loop, Goal and Root
// are left for the caller. A loop that was not seen before the event tells of its end
// only.
func Decide(before, after loop.State, e loop.Event) []Notice {
	var out []Notice
	add := func(event Event, reason, title string, lines ...string) {
		lines = slices.DeleteFunc(lines, func(s string) bool { return s == "" })
		out = append(out, Notice{Event: event, Reason: reason, Title: title, Text: strings.Join(lines, "\n"), At: after.Now})
	}
	switch {
	case after.Phase == loop.Ended && before.Phase != loop.Ended:
		if after.StopCause != loop.ByInterrupt { // who typed it sits there
			add(Ended, string(after.Outcome), strings.TrimLeft(after.Headline(""), " ·"), after.Reason, after.Hint)
			out[0].Outcome, out[0].Tests = after.Outcome, after.Unapproved()
		}
		return out
	case before.Phase == "", before.Phase == loop.Ended, after.Outcome != "": // its end will tell
		return nil
	}
	for _, t := range after.ChangedTasks(before) {
		if title := taskTitle(t); title != "" {
			add(NeedsYou, string(t.Status), title, t.Why)
			out[len(out)-1].Task = t.ID
		}
	}
	if after.Violations > before.Violations {
		why := ""
		if after.Failing != nil {
			why = after.Failing.Reason
		}
		add(NeedsYou, "violation", "violation "+loop.ViolationRatio(after.Violations)+": the agent changed protected files", why)
	}
	if tests := added(before.Unapproved(), after.Unapproved()); len(tests) > 0 {
		add(NeedsYou, "approval", "changes to existing tests wait for your approval", strings.Join(tests, ", "))
		out[len(out)-1].Tests = tests
	}
	if after.Merge != nil && (before.Merge == nil || *before.Merge != *after.Merge) {
		add(NeedsYou, "merge", "the agent asks you to merge its work", after.Merge.Summary)
	}
	if q, asked := after.NewQuestion(before); asked {
		add(NeedsYou, reasonQuestion, q.Headline(), q.Lines()...)
		out[len(out)-1].Task, out[len(out)-1].Question = q.Task, &q
	}
	if e.Failure != nil && after.Phase == loop.Paused && before.Phase != loop.Paused {
		add(NeedsYou, reasonHeld, "the loop is held: "+e.Failure.Message, e.Failure.Hint)
	}
	decideWait(before, after, e.Kind, add)
	if now, share := spent(after); now > spentShare(before) {
		add(Budget, fmt.Sprint(now), fmt.Sprintf("%d %% of the budget is spent", now), share)
	}
	return out
}

// taskTitle says why a task needs the user. It is empty for a task that does not.
func taskTitle(t loop.Task) string {
	why := ""
	if t.LeftOut {
		return ""
	}
	switch t.Status {
	case loop.Blocked:
		why = "the agent says that it cannot do it"
	case loop.Skipped:
		why = "it failed after all attempts, and was skipped"
	case loop.Unchanged:
		why = "the agent claimed it done, but changed no files"
	case loop.Open, loop.Done:
		return ""
	}
	return fmt.Sprintf("%s: %s", strings.TrimSpace(t.ID+" "+t.Title), why)
}

// decideWait tells of a usage limit when it is met, and again when it still holds after
// its reset; further checks of the same limit are silent.
func decideWait(before, after loop.State, kind loop.EventKind, add func(Event, string, string, ...string)) {
	wait, waits := after.PendingAction(loop.Wait)
	waits = waits && after.Phase == loop.Waiting
	waited := before.Phase == loop.Waiting && !before.AwayFrom.IsZero()
	switch {
	case waits && after.UsageLimits > before.UsageLimits && after.UsageLimits <= 2:
		add(Wait, "begun", "waits until "+wait.Until.Local().Format("15:04"), wait.Text)
	case kind == loop.TimerFired && waited && before.UsageLimits == 1, before.UsageLimits > 1 && after.UsageLimits == 0:
		add(Wait, "over", "the usage limit is over: the loop continues")
	}
}

// added returns what is in after and not in before.
func added(before, after []string) []string {
	return slices.DeleteFunc(slices.Clone(after), func(s string) bool { return slices.Contains(before, s) })
}

// spentShare is the highest announced share of the budget that is spent, in percent.
func spentShare(s loop.State) int { share, _ := spent(s); return share }

// spent is spentShare, with the budget that it is the share of.
func spent(s loop.State) (share int, of string) {
	limits, tokens := s.Policy.Limits, s.Usage.Tokens()
	for _, percent := range []int{75, 90} {
		if limits.CostUSD > 0 && s.Usage.CostUSD >= limits.CostUSD*float64(percent)/100 {
			share, of = percent, fmt.Sprintf("$%.2f of $%.2f", s.Usage.CostUSD, limits.CostUSD)
		} else if limits.Tokens > 0 && tokens/int64(percent) >= limits.Tokens/100 {
			share, of = percent, fmt.Sprintf("%d of %d tokens", tokens, limits.Tokens)
		}
	}
	return share, of
}
