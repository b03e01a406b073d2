package prompt

import (
	"fmt"
	"strings"
	"text/template"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-dev/pawl/internal/core/claim"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// bounds are the limits of the parts, in bytes. Their sum is less than the limit of the whole
// unless all parts reach theirs.
type bounds struct {
	goal     int
	overview int
	detail   int
	reason   int
	notes    int
	items    int // of a list
	failures int
}

func boundsOf(d Data) bounds {
	if d.InSession {
		return bounds{goal: MaxGoalInSession, overview: 800, detail: 1500, reason: 1000, notes: 1500, items: 6, failures: 1}
	}
	return bounds{goal: MaxGoal, overview: 4 << 10, detail: 6 << 10, reason: maxFailure, notes: 4 << 10, items: 20, failures: 3}
}

// MaxGoalInSession is the maximum length of a goal that is repeated in the user's session, in bytes.
// The prompt only refers to a longer one, which is in the session already.
const MaxGoalInSession = 6000

// MaxGoal is the maximum length of a goal in words in the prompts of a loop's own agent, in bytes: each
// prompt repeats it.
const MaxGoal = 48 << 10

const (
	maxFailure = 5 << 10
	maxOutput  = 2 << 10 // of a failure: beginning and end of what the gate printed
	maxLines   = 60      // of the same
	maxLine    = 300
	maxChanges = 50
)

var funcs = template.FuncMap{
	"fence":    fence,
	"line":     oneLine,
	"evidence": evidenceText,
	"gate":     gateLine,
	"failure":  failureText,
	"task":     taskText,
	"budget":   budgetText,
	"join":     func(items []string) string { return strings.Join(items, "\n") },
}

// withinBounds returns the data with every part cut to its limit and cleaned.
func withinBounds(d Data) Data {
	is := boundsOf(d)
	d.Loop = oneLine(d.Loop)
	d.Goal = goalText(d, is.goal)
	d.Overview = cutMiddle(clean(d.Overview), is.overview)
	d.Task.ID, d.Task.Title = oneLine(d.Task.ID), oneLine(d.Task.Title)
	d.Task.Detail = cutMiddle(clean(d.Task.Detail), is.detail)
	d.Task.Criteria = lastLines(d.Task.Criteria, is.items)
	if context := cutMiddle(clean(strings.Join(d.Task.Context, "\n\n")), is.overview); context != "" {
		d.Task.Context = []string{context}
	}
	d.Task.Scope = lastLines(d.Task.Scope, is.items)
	d.Reason = cutMiddle(clean(d.Reason), is.reason)
	d.Recap, d.Lessons = lastLines(d.Recap, is.items), lastLines(d.Lessons, is.items)
	d.Notes = lastNotes(d.Notes, is)
	d.Enough, d.Moved, d.Heading, d.Marks, d.Tested = oneLine(d.Enough), oneLine(d.Moved), oneLine(d.Heading), oneLine(d.Marks), oneLine(d.Tested)
	d.Source = oneLine(d.Source)
	d.Changes, d.Signs = lastLines(d.Changes, maxChanges), lastLines(d.Signs, is.items)
	d.Gates = d.Gates[:min(len(d.Gates), is.items)]
	d.Failed = d.Failed[:min(len(d.Failed), is.failures)]
	if d.Promise = oneLine(d.Promise); d.Promise == "" {
		d.Promise = claim.DefaultPromise
	}
	return d
}

// goalText returns the goal, or where to read it.
func goalText(d Data, limit int) string {
	goal := clean(d.Goal)
	if len(goal) <= limit || !d.InSession {
		return cutMiddle(goal, limit)
	}
	text := "As the user asked above in this conversation, in full. It begins: " + oneLine(goal)
	if d.GoalFile != "" {
		text += "\n\nShould you not have it any more, read it in " + oneLine(d.GoalFile) + "."
	}
	return text
}

// clean removes what a terminal or a model might take for more than text.
func clean(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "�"), "\r\n", "\n")
	s = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			return -1
		}
		return r
	}, s)
	return strings.TrimSpace(s)
}

// oneLine returns s as one clean line of limited length.
func oneLine(s string) string {
	if len(s) > 8*maxLine {
		s = s[:8*maxLine]
	}
	return truncate(strings.Join(strings.Fields(clean(s)), " "), maxLine)
}

// lastLines keeps the last items, which are the newest or the nearest to the end.
func lastLines(in []string, most int) []string {
	var out []string
	for _, s := range in[max(0, len(in)-most):] {
		if s = oneLine(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// lastNotes keeps the newest of the user's notes, and shares the space among them.
func lastNotes(in []string, is bounds) []string {
	var out []string
	in = in[max(0, len(in)-is.items):]
	room := is.notes
	if len(strings.Join(in, "")) > room {
		room /= len(in)
	}
	for _, n := range in {
		if n = cutMiddle(clean(n), room); n != "" {
			out = append(out, n)
		}
	}
	return out
}

func truncate(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	cut := limit - len("…")
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// cutMiddle shortens a text by omitting its middle: the beginning says what it is about, the end
// what to do.
func cutMiddle(s string, limit int) string {
	const mark = "\n[… cut here, it is too long …]\n"
	if len(s) <= limit {
		return s
	}
	front := (limit - len(mark)) / 2
	back := len(s) - front
	for front > 0 && !utf8.RuneStart(s[front]) {
		front--
	}
	for back < len(s) && !utf8.RuneStart(s[back]) {
		back++
	}
	return s[:front] + mark + s[back:]
}

// fence encloses text in a fence with more backticks than the text has in a row, so that nothing in
// it can end the fence.
func fence(label, s string) string {
	s = clean(s)
	longest, run := 2, 0
	for _, r := range s {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	ticks := strings.Repeat("`", longest+1)
	return ticks + label + "\n" + s + "\n" + ticks
}

// taskText returns a task as data, in a fence: even its title is untrusted.
func taskText(d Data) string {
	var b strings.Builder
	if d.Task.ID != "" {
		fmt.Fprintf(&b, "id: %s\n", d.Task.ID)
	}
	fmt.Fprintf(&b, "title: %s\n", d.Task.Title)
	if d.Task.Detail != "" {
		fmt.Fprintf(&b, "\n%s\n", d.Task.Detail)
	}
	if len(d.Task.Criteria) > 0 {
		b.WriteString("\nit is done when:\n")
		for _, c := range d.Task.Criteria {
			fmt.Fprintf(&b, "- %s\n", c)
		}
	}
	if len(d.Task.Context) > 0 {
		fmt.Fprintf(&b, "\nbeside it in the plan:\n%s\n", strings.Join(d.Task.Context, "\n\n"))
	}
	if len(d.Task.Scope) > 0 {
		fmt.Fprintf(&b, "\nfiles that it may change: %s\n", strings.Join(d.Task.Scope, ", "))
	}
	return fence("task", b.String())
}

func gateLine(g gate.Gate) string {
	if g.Kind == gate.ByReview {
		return oneLine(g.Name) + ": another agent looks at the work: " + oneLine(g.Rubric)
	}
	command := g.Command
	if len(g.Argv) > 0 {
		command = strings.Join(g.Argv, " ")
	}
	command, name := oneLine(command), oneLine(g.Name)
	if name == "" || name == command {
		return command
	}
	return name + ": " + command
}

// failureText returns the failing tests, the first error, and the beginning and end of the output.
func failureText(r gate.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "gate: %s\n", oneLine(r.Gate))
	switch {
	case r.TimedOut:
		fmt.Fprintf(&b, "result: timed out after %s\n", r.Duration.Round(time.Second))
	case r.Status == gate.Unknown:
		b.WriteString("result: unclear\n")
	case r.Kind == gate.ByReview:
		b.WriteString("result: failed, by another agent that looked at the work\n")
	case r.ExitCode < 0:
		b.WriteString("result: failed\n")
	default:
		fmt.Fprintf(&b, "result: failed, exit code %d\n", r.ExitCode)
	}
	if r.Reason != "" {
		fmt.Fprintf(&b, "reason: %s\n", oneLine(r.Reason))
	}
	for i, name := range r.Failing {
		if i == 10 {
			fmt.Fprintf(&b, "… and %d more\n", len(r.Failing)-i)
			break
		}
		fmt.Fprintf(&b, "failing: %s\n", truncate(oneLine(name), 100))
	}
	out, most := plan.Excerpt(r.Tail, maxLines, maxOutput), maxOutput
	if out != "" {
		most = maxOutput / 4
	}
	if first := clean(r.FirstError); first != "" && !strings.Contains(out, first) {
		fmt.Fprintf(&b, "\n%s\n", truncate(first, most))
	}
	if out != "" {
		fmt.Fprintf(&b, "\n%s\n", out)
	}
	return fence("output", truncate(b.String(), maxFailure))
}

// evidenceText says what a claim needs besides passing gates.
func evidenceText(e gate.Evidence) string {
	switch e {
	case gate.Proven:
		return "A gate that passed before proves nothing by passing now. Show that your work is what makes the difference: at least one test must fail without your change and pass with it. Write it if there is none. Leave existing tests as they are."
	case gate.Reviewed:
		return "Besides the gates, an independent review of the change has to pass."
	case gate.Unproven:
		return "Behaviour is not meant to change: everything that passed before must still pass."
	}
	return ""
}

// budgetText returns what remains of the limits, "" if there are none.
func budgetText(b Budget) string {
	var parts []string
	switch {
	case b.Iteration > 0 && b.MaxIterations > 0:
		parts = append(parts, fmt.Sprintf("this is iteration %d of at most %d", b.Iteration, b.MaxIterations))
	case b.Iteration > 0:
		parts = append(parts, fmt.Sprintf("this is iteration %d", b.Iteration))
	}
	if b.Time > 0 {
		parts = append(parts, fmt.Sprintf("%s of time left", shortDuration(b.Time)))
	}
	if b.CostUSD > 0 {
		parts = append(parts, fmt.Sprintf("$%.2f left", b.CostUSD))
	}
	return strings.Join(parts, ", ")
}

func shortDuration(d time.Duration) string {
	d = d.Round(time.Minute)
	h, m := int(d.Hours()), int(d.Minutes())%60
	switch {
	case h == 0 && m == 0:
		return "less than a minute"
	case h == 0:
		return fmt.Sprintf("%d min", m)
	case m == 0:
		return fmt.Sprintf("%d h", h)
	}
	return fmt.Sprintf("%d h %d min", h, m)
}

// collapseBlankLines removes the blank lines that empty parts leave.
func collapseBlankLines(s string) string {
	var b strings.Builder
	open, blank := "", 0
	for l := range strings.SplitSeq(strings.TrimSpace(s), "\n") {
		switch {
		case open == "" && strings.TrimSpace(l) == "":
			if blank++; blank > 1 {
				continue
			}
			l = ""
		case open == "" && strings.HasPrefix(l, "```"):
			open, blank = l[:len(l)-len(strings.TrimLeft(l, "`"))], 0
		case open != "" && l == open:
			open, blank = "", 0
		default:
			blank = 0
		}
		b.WriteString(l + "\n")
	}
	return b.String()
}
