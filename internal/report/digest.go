package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/narrate"
)

// Entry is one loop of a digest.
type Entry struct {
	ID     string
	Goal   string
	Where  string // folder of its repository
	Group  string // who must act next: needs you, working, ended
	Status string // state: running, waiting, paused, ended or orphaned
	State  loop.State
	// Before is the state at the time since when the digest reports; zero if the loop started later.
	Before loop.State
}

// Digest returns a summary of several loops. The first line says what needs the user; then each loop
// follows, by group.
func Digest(since time.Time, loops []Entry) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", digestLead(since, loops))
	group := ""
	for _, l := range loops {
		if l.Group != group {
			group = l.Group
			fmt.Fprintf(&b, "\n%s\n", group)
		}
		fmt.Fprintf(&b, "  %s  %s\n", l.ID, l.leadLine())
		fmt.Fprintf(&b, "    %s · %s\n", l.goal(), l.cost())
		for _, line := range neededActions(l) {
			fmt.Fprintf(&b, "    %s\n", line)
		}
	}
	return b.String()
}

// DigestMarkdown returns the same as a table, for a chat or a page of the team. Text of the agent and
// of plans is escaped for Markdown.
func DigestMarkdown(since time.Time, loops []Entry) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**\n", plan.Markdown(digestLead(since, loops)))
	if len(loops) > 0 {
		b.WriteString("\n| | loop | goal | result | cost |\n|---|---|---|---|---|\n")
	}
	for _, l := range loops {
		result := []string{plan.Markdown(l.leadLine())}
		for _, line := range neededActions(l) {
			result = append(result, plan.Markdown(line))
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %s |\n", strings.ToLower(l.Group), l.ID, plan.Markdown(l.goal()), strings.Join(result, "<br>"), l.cost())
	}
	return b.String()
}

// digestLead returns the first line: the number of loops, their results and their cost.
func digestLead(since time.Time, loops []Entry) string {
	when := since.Format("2006-01-02 15:04")
	if len(loops) == 0 {
		return "no loop since " + when
	}
	return fmt.Sprintf("%s since %s: %s", figure.Count(len(loops), "loop"), when, totals(loops))
}

// leadLine returns the loop's result in one line.
func (l Entry) leadLine() string {
	p := page{Loop: Loop{ID: l.ID, Status: l.Status, State: l.State}}
	return p.resultLine()
}

// goal returns the goal and the folder.
func (l Entry) goal() string {
	return plan.OneLine(l.Goal, 80) + ", in " + plan.OneLine(l.Where, 100)
}

// cost returns the loop's cost since the digest's time, and the total if that is more.
func (l Entry) cost() string {
	whole := costText(l.State.Usage.CostUSD, l.State.CostUnknown())
	if l.Before.Usage.CostUSD == 0 {
		return whole
	}
	return costText(l.spent(), l.State.CostUnknown()) + " of " + whole
}

// spent returns the loop's cost since the digest's time, in US dollars.
func (l Entry) spent() float64 { return l.State.Usage.CostUSD - l.Before.Usage.CostUSD }

// totals returns the groups, the tasks and the cost of all loops since the digest's time.
func totals(loops []Entry) string {
	var all loop.State
	var parts, groups []string
	counts, usd, unknown, latest := map[string]int{}, 0.0, false, latestLoops(loops)
	for i, l := range loops {
		if counts[l.Group]++; counts[l.Group] == 1 {
			groups = append(groups, l.Group)
		}
		usd += l.spent()
		unknown = unknown || l.State.CostUnknown()
		all.Tasks = append(all.Tasks, countedTasks(l, latest[i])...)
	}
	for _, g := range groups {
		words := strings.ToLower(g)
		if counts[g] > 1 {
			words = strings.Replace(words, "needs you", "need you", 1)
		}
		parts = append(parts, fmt.Sprintf("%d %s", counts[g], words))
	}
	words := strings.Join(parts, ", ")
	if p := all.Progress(); p != "" {
		words += " · " + p
	}
	return words + " · " + costText(usd, unknown)
}

// countedTasks returns the tasks of a loop for the totals, without those done before the digest's time. Open
// tasks count only in the latest loop with this plan, because a later loop may have done them.
func countedTasks(l Entry, latest bool) []loop.Task {
	return slices.DeleteFunc(slices.Clone(l.State.Tasks), func(t loop.Task) bool {
		before, _ := l.Before.Task(t.ID)
		return t.DoneEarlier || t.LeftOut || t.Status == loop.Open && !latest || t.Status == loop.Done && before.Status == loop.Done
	})
}

// latestLoops reports for each loop whether it is the latest with its goal and folder.
func latestLoops(loops []Entry) []bool {
	type work struct{ goal, where string }
	last := map[work]int{}
	for i, l := range loops {
		w := work{l.Goal, l.Where}
		if j, seen := last[w]; !seen || l.State.StartedAt.After(loops[j].State.StartedAt) {
			last[w] = i
		}
	}
	latest := make([]bool, len(loops))
	for _, i := range last {
		latest[i] = true
	}
	return latest
}

// costText returns the cost for lines without a label.
func costText(usd float64, unknown bool) string {
	if unknown && usd == 0 {
		return "cost unknown"
	}
	return figure.Cost(usd, unknown)
}

// neededActions lists the open questions and the tasks that need the user.
func neededActions(l Entry) []string {
	var out []string
	for _, q := range l.State.Unanswered() {
		if l.State.Outcome != "" {
			break
		}
		out = append(out, fmt.Sprintf("%s  → %s", plan.OneLine(q.Headline(), 200), q.Command(l.ID)))
	}
	if held := l.State.Trouble.HoldReason; held != "" {
		out = append(out, fmt.Sprintf("%s  → pawl resume %s", plan.OneLine(held, 200), l.ID))
	}
	for _, t := range l.State.Tasks {
		if t.NeedsUser() {
			out = append(out, strings.TrimSuffix(fmt.Sprintf("%s: %s: %s", narrate.Name(t), t.Status, plan.OneLine(t.Why, 160)), ": "))
		}
	}
	return out
}
