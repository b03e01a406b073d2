package narrate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/record"
)

// Kind describes a goal that is not a change of the tree, "" for one that is.
func Kind(p loop.Policy) string {
	switch p.Kind {
	case loop.Answer:
		return "answer: the result is text"
	case loop.Explore:
		return "explore: it runs until its limit; there is no claim"
	case loop.Periodic:
		return fmt.Sprintf("periodic: every %s, until its limit or a stop", figure.Chosen(p.Every))
	}
	return ""
}

// IsolatedTurn describes the last isolated try.
func IsolatedTurn(t loop.IsolatedTurn) string {
	what := fmt.Sprintf("iteration %d, in an isolated session", t.Iteration)
	if t.Took == 0 && t.Usage == (loop.Usage{}) {
		return what + ": in progress"
	}
	u := t.Usage
	what += fmt.Sprintf(": %s, %s, %s tokens (%s from the cache)", figure.Money(u.CostUSD), figure.Duration(t.Took),
		figure.Tokens(u.Tokens()), figure.Tokens(u.CacheRead))
	if t.Rounds > 0 {
		what += ", " + figure.Count(t.Rounds, "request")
	}
	if t.Died != "" {
		what += "; cut off: " + plan.OneLine(t.Died, 100)
	}
	return what
}

// Capped describes a loop whose client ended a turn by itself.
const Capped = "waiting for you: the client ended the turn"

// NeedsUser says in one line why a loop needs its user, "" if it does not.
func NeedsUser(s record.Summary, now time.Time) string {
	switch {
	case s.Capped && !s.Closed:
		return Capped + ": type anything in its session"
	case s.State != "ended" && s.Question != nil:
		return plan.OneLine(s.Question.Headline(), 200)
	case len(s.Tests) > 0:
		return "waits for an approval: " + plan.OneLine(strings.Join(s.Tests, ", "), 200)
	case s.Merge != "":
		return "asks you to merge"
	case s.Group(now) == record.GroupNeedsYou:
		return plan.OneLine(s.Reason, 200)
	}
	return ""
}

// Paused says since when a loop is paused, and what the user must fix.
func Paused(st loop.State, now time.Time) string {
	words := "paused"
	if !st.AwayFrom.IsZero() {
		words += " since " + clock(st.AwayFrom, now)
	}
	if st.Trouble.HoldReason != "" {
		words += ", needs you: " + plan.OneLine(st.Trouble.HoldReason, 200)
	}
	return words
}

// Pausing says when a requested pause begins.
func Pausing(st loop.State) string {
	if st.Phase == loop.Turning || st.Phase == loop.TurningIsolated {
		return "pausing after this turn"
	}
	return "pausing before the next turn"
}

// Stopping says when a requested stop happens.
func Stopping(st loop.State) string {
	if st.Outcome == loop.Verified || st.Outcome == loop.Unverified {
		return "ending without the rest of the mutation testing"
	}
	return "stopping after this step"
}

// Ended says what was done and how the loop ended.
func Ended(st loop.State) string {
	words := fmt.Sprintf("ended %s after %s", st.Outcome, figure.Count(st.Iteration, "iteration"))
	if st.Outcome == loop.Iterations {
		words = fmt.Sprintf("ended %s: its limit of %s", st.Outcome, figure.Count(st.Iteration, "iteration"))
	}
	if p := st.Progress(); p != "" {
		return p + " · " + words
	}
	return words
}

// Waiting says what a loop waits for, and how long.
func Waiting(st loop.State, now time.Time) string {
	if q, asked := st.AwaitedAnswer(); asked {
		if q.Approve != "" {
			return plan.OneLine(q.Headline(), 160)
		}
		return "waiting for your answer: " + plan.OneLine(q.Text, 120)
	}
	wait, ok := loop.FindAction[loop.Wait](st.Pending)
	if !ok {
		return "waiting"
	}
	left := "any moment now"
	if d := wait.Until.Sub(now); d > 0 {
		left = "for another " + figure.Duration(d)
	}
	return fmt.Sprintf("waiting %s (%s)", left, plan.OneLine(wait.Why, 80))
}

// Doing says what a loop does now.
func Doing(st loop.State) string {
	switch st.Phase {
	case loop.Checkpointing:
		return "making a checkpoint"
	case loop.Baseline:
		return "running the gates before the work"
	case loop.Turning:
		if st.Handover.To == loop.OwnerRunner && st.InSession {
			return "the agent works; then it continues in fresh sessions"
		}
		return "the agent works"
	case loop.Inspecting:
		return "inspecting the changes"
	case loop.Judging:
		return "running the gates"
	case loop.Committing:
		return "committing"
	case loop.Restoring:
		return "restoring"
	case loop.TurningIsolated:
		return "an isolated session tries"
	case loop.HandingOver:
		handover, _ := loop.FindAction[loop.HandOver](st.Pending)
		if handover.To == loop.OwnerSession {
			return "waiting for a session to take the loop: " + plan.OneLine(handover.Why, 80)
		}
		return "handing over to a runner: " + plan.OneLine(handover.Why, 80)
	case loop.Editing:
		return "editing the plan"
	case loop.Finishing:
		return "ending"
	}
	return "starting"
}

// Cost returns a loop's cost for lists of loops. The cost of turns in a session is unknown, because
// the client does not report it to its hooks.
func Cost(s record.Summary) string { return figure.Cost(s.CostUSD, s.CostUnknown) }

// Spending returns the money, the tokens and the time of work. For turns in a user's session only the
// time is known.
func Spending(s loop.State) string {
	took := figure.Duration(s.Elapsed())
	switch {
	case s.InSession && s.CostUnknown():
		return took
	case s.CostUnknown():
		return "cost unknown, " + took
	}
	return fmt.Sprintf("%s, %s tokens, %s", figure.Cost(s.Usage.CostUSD, s.InSession), figure.Tokens(s.Usage.Tokens()), took)
}

// TimeLeft returns the estimated time of the open tasks and its basis, "" if there is no estimate.
func TimeLeft(s loop.State) string {
	e, ok := s.Estimate()
	if !ok {
		return ""
	}
	left, median := figure.Duration(e.Left), figure.Duration(e.Median)
	if e.MedianCost > 0 {
		left, median = left+", "+figure.Money(e.LeftCost), median+", "+figure.Money(e.MedianCost)
	}
	about := "about " + left
	switch {
	case e.Longer > 0 && e.Open == 1:
		about = "longer than usual by " + figure.Duration(e.Longer)
	case e.Longer > 0:
		about += " after this task, which takes longer than usual by " + figure.Duration(e.Longer)
	}
	return fmt.Sprintf("%s (%s; the median of %d so far: %s)", about, figure.Count(e.Open, "open task"), e.Basis, median)
}

// Messages lists the messages that wait for the agent and those delivered last, with the times. It is
// unknown whether the agent followed them. Equal ones are one line with the times of the last.
func Messages(c loop.Conversation) (lines []string) {
	at := func(what string, t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return what + " " + t.Local().Format(time.TimeOnly)
	}
	all := slices.Concat(c.ReadMessages, c.Messages)
	for i, m := range all {
		same := func(other loop.Message) bool { return other.Text == m.Text }
		if slices.ContainsFunc(all[i+1:], same) {
			continue
		}
		times := []string{at("queued", m.At), at("delivered", m.Delivered)}
		times = slices.DeleteFunc(times, func(s string) bool { return s == "" })
		line := fmt.Sprintf("%s · %s", plan.OneLine(m.Text, 100), strings.Join(times, ", "))
		if n := len(all) - len(slices.DeleteFunc(slices.Clone(all), same)); n > 1 {
			line += fmt.Sprintf(" (%d times)", n)
		}
		lines = append(lines, line)
	}
	return lines
}

// NotDelivered returns the user's messages that the agent of an ended loop did not get. If a user's
// stop cut its last turn, that turn had received what was delivered; after a failed turn that is unknown.
func NotDelivered(s loop.State) (texts []string) {
	if s.Outcome == "" {
		return nil
	}
	for _, m := range s.Unread() {
		if s.Outcome == loop.CancelledEnd && !m.Delivered.IsZero() {
			continue
		}
		texts = append(texts, plan.OneLine(m.Text, 200))
	}
	return texts
}

// EditsNotMade lists the edits of the plan that were pending when the loop ended.
func EditsNotMade(s loop.State) (texts []string) {
	if s.Outcome == "" {
		return nil
	}
	for _, e := range s.Edits {
		texts = append(texts, e.String())
	}
	return texts
}
