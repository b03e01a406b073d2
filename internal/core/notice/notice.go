// Package notice decides which notices about a loop a user gets while they are away: it
// ended, it needs them, it waits for a usage limit, its budget runs out.
//
// Decide compares the state before and after an event. It is pure, so every owner of a
// loop gets the same notices from the same journal. Package notify sends them.
package notice

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// Event is the kind of a notice. Receivers are chosen by it.
type Event string

// The events.
const (
	Ended    Event = "ended"     // the loop has its outcome
	NeedsYou Event = "needs_you" // only the user can help
	Wait     Event = "wait"      // a wait for a usage limit begins or is over
	Budget   Event = "budget"    // a share of the budget is spent
	Test     Event = "test"      // of pawl notify test
)

// Notice is one message to the user. Its text comes from the journal, so secrets are
// removed already.
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

// IsAnswerable reports whether the user can answer the notice.
func (n Notice) IsAnswerable() bool { return n.Question != nil || len(n.Tests) > 0 }

// KeepAfterQuietHours reports whether a notice from quiet hours is sent when they end.
func (n Notice) KeepAfterQuietHours() bool { return n.Event == NeedsYou || n.Event == Ended }

// OutdatedReason returns why a notice need not be sent any more in this state of its loop,
// or "" if it is still current.
func (n Notice) OutdatedReason(now loop.State) string {
	ended := now.Phase == loop.Ended
	switch {
	case n.Event == Ended && !ended:
		return "the loop was resumed"
	case n.Event != Ended && ended: // the notice of its end has the remaining questions
		return "the loop has ended"
	case n.Question != nil && !slices.ContainsFunc(now.Unanswered(), func(q loop.Question) bool { return q.At.Equal(n.Question.At) }):
		return "the question is answered"
	case n.Reason == reasonHeld && now.Trouble.HoldReason == "":
		return "the loop is no longer paused"
	case n.Event == NeedsYou && len(n.Tests) > 0 && !slices.ContainsFunc(now.Unapproved(), func(path string) bool { return slices.Contains(n.Tests, path) }):
		return "it is decided"
	}
	return ""
}

// reasonQuestion is the reason of a notice with a question of the agent.
const reasonQuestion = "question"

// reasonHeld is the reason of a notice that the loop waits until something is fixed.
const reasonHeld = "held"

// repeatInterval is the minimum time between two equal notices.
const repeatInterval = time.Minute

// SentLog says when each notice was last sent, by its event, reason, task and question.
type SentLog map[string]time.Time

// Filter returns the notices that were not sent in the last repeatInterval, and the log
// with them. It does not change the log that it is called on.
func (l SentLog) Filter(notices []Notice) ([]Notice, SentLog) {
	var fresh []Notice
	for _, n := range notices {
		key := strings.Join(append([]string{string(n.Event), n.Reason, n.Task}, n.Tests...), " ")
		if n.Question != nil { // another question of the same task is a new notice
			key += " " + n.Question.At.Format(time.RFC3339Nano)
		}
		if last, told := l[key]; told && n.At.Sub(last) < repeatInterval {
			continue
		}
		if l = maps.Clone(l); l == nil {
			l = SentLog{}
		}
		maps.DeleteFunc(l, func(_ string, at time.Time) bool { return n.At.Sub(at) >= repeatInterval })
		l[key] = n.At
		fresh = append(fresh, n)
	}
	return fresh, l
}

// ForLoop returns the notice with the loop's id before its title, and in its text first the
// goal and its repository, last the next command.
func (n Notice) ForLoop(id, goal, root string) Notice {
	command := "pawl status " + id
	switch {
	case n.Event == Ended:
		command = "pawl report " + id
	case n.Question != nil:
		command = n.Question.Command(id)
	case len(n.Tests) > 0:
		command = fmt.Sprintf("pawl approve %s   or  pawl reject %[1]s", id)
	}
	n.Loop, n.Goal, n.Root, n.Title = id, goal, root, id+" · "+n.Title
	work := goal
	if root != "" {
		work += " in " + path.Base(strings.ReplaceAll(root, `\`, "/"))
	}
	n.Text = strings.Join(slices.DeleteFunc([]string{work, n.Text, command}, func(s string) bool { return s == "" }), "\n")
	return n
}

// Decide returns the notices for an event of a loop. The caller sets Loop, Goal and Root
// with ForLoop. If the state before the event is unknown, only the end of the loop gives a
// notice.
func Decide(before, after loop.State, e loop.Event) []Notice {
	var notices []Notice
	add := func(event Event, reason, title string, lines ...string) {
		lines = slices.DeleteFunc(lines, func(s string) bool { return s == "" })
		notices = append(notices, Notice{Event: event, Reason: reason, Title: title, Text: strings.Join(lines, "\n"), At: after.Now})
	}
	switch {
	case after.Phase == loop.Ended && before.Phase != loop.Ended:
		if after.Stop.Cause != loop.ByInterrupt { // the user pressed Ctrl-C and is present
			add(Ended, string(after.Outcome), strings.TrimLeft(after.Headline(""), " ·"), after.Reason, after.Hint)
			notices[0].Outcome, notices[0].Tests = after.Outcome, after.Unapproved()
		}
		return notices
	case before.Phase == "", before.Phase == loop.Ended, after.Outcome != "": // the notice of its end will say it
		return nil
	}
	for _, t := range after.ChangedTasks(before) {
		if title := taskTitle(t); title != "" {
			add(NeedsYou, string(t.Status), title, t.Why)
			notices[len(notices)-1].Task = t.ID
		}
	}
	if after.Violations > before.Violations {
		why := ""
		if after.Failing != nil {
			why = after.Failing.Reason
		}
		add(NeedsYou, "violation", "violation "+loop.ViolationRatio(after.Violations)+": the agent changed protected files", why)
	}
	if tests := addedStrings(before.Unapproved(), after.Unapproved()); len(tests) > 0 {
		add(NeedsYou, "approval", "changes to existing tests wait for your approval", strings.Join(tests, ", "))
		notices[len(notices)-1].Tests = tests
	}
	if after.Merge != nil && (before.Merge == nil || *before.Merge != *after.Merge) {
		add(NeedsYou, "merge", "the agent asks you to merge its work", after.Merge.Summary)
	}
	if q, asked := after.NewQuestion(before); asked {
		add(NeedsYou, reasonQuestion, q.Headline(), q.Lines()...)
		notices[len(notices)-1].Task, notices[len(notices)-1].Question = q.Task, &q
	}
	if f, failed := e.Payload.(loop.AgentFailed); failed && after.Phase == loop.Paused && before.Phase != loop.Paused {
		add(NeedsYou, reasonHeld, "the loop is paused: "+f.Failure.Message, f.Failure.Hint)
	}
	addWaitNotices(before, after, e.Kind(), add)
	if now, share := budgetSpent(after); now > announcedShare(before) {
		add(Budget, fmt.Sprint(now), fmt.Sprintf("%d %% of the budget is spent", now), share)
	}
	return notices
}

// taskTitle returns the title of a notice about a task that needs the user, or "".
func taskTitle(t loop.Task) string {
	why := ""
	if t.LeftOut {
		return ""
	}
	switch t.Status {
	case loop.Blocked:
		why = "the agent says that it is blocked"
	case loop.Skipped:
		why = "it failed after all attempts, and was skipped"
	case loop.Unchanged:
		why = "the agent claimed it done, but changed no files"
	case loop.Open, loop.Done:
		return ""
	}
	return fmt.Sprintf("%s: %s", strings.TrimSpace(t.ID+" "+t.Title), why)
}

// addWaitNotices adds a notice when a usage limit is reached, again if it still holds after
// its reset, and when it is over. Further checks of the same limit give no notice.
func addWaitNotices(before, after loop.State, kind loop.EventKind, add func(Event, string, string, ...string)) {
	wait, isWaiting := loop.FindAction[loop.Wait](after.Pending)
	isWaiting = isWaiting && after.Phase == loop.Waiting
	wasWaiting := before.Phase == loop.Waiting && !before.AwayFrom.IsZero()
	switch {
	case isWaiting && after.Trouble.UsageLimits > before.Trouble.UsageLimits && after.Trouble.UsageLimits <= 2:
		add(Wait, "begun", "waits until "+wait.Until.Local().Format("15:04"), wait.Why)
	case kind == loop.KindTimerFired && wasWaiting && before.Trouble.UsageLimits == 1, before.Trouble.UsageLimits > 1 && after.Trouble.UsageLimits == 0:
		add(Wait, "over", "the usage limit is over: the loop continues")
	}
}

// addedStrings returns what is in after and not in before.
func addedStrings(before, after []string) []string {
	return slices.DeleteFunc(slices.Clone(after), func(s string) bool { return slices.Contains(before, s) })
}

// announcedShare returns the highest announced share of the budget that is spent: 0, 75 or 90
// percent.
func announcedShare(s loop.State) int { share, _ := budgetSpent(s); return share }

// budgetSpent returns the announced share with the amount that is spent, for display.
func budgetSpent(s loop.State) (share int, of string) {
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
