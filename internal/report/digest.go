package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/figure"
)

// Entry is one loop of a digest.
type Entry struct {
	ID    string
	Goal  string
	Where string // folder of its repository
	Group string // who must act next: needs you, working, ended
	Word  string // running, waiting, paused, ended, orphaned
	State loop.State
	// Before is the state at the time since when the digest reports; zero if the loop began later.
	Before loop.State
}

// Digest writes what became of several loops: in the first line what needs the user, then
// each loop, group by group.
func Digest(w io.Writer, since time.Time, loops []Entry) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", digestLead(since, loops))
	group := ""
	for _, l := range loops {
		if l.Group != group {
			group = l.Group
			fmt.Fprintf(&b, "\n%s\n", group)
		}
		fmt.Fprintf(&b, "  %s  %s\n", l.ID, l.lead())
		fmt.Fprintf(&b, "    %s · %s\n", l.goal(), l.cost())
		for _, line := range needs(l) {
			fmt.Fprintf(&b, "    %s\n", line)
		}
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// DigestMarkdown writes the same as a table, for a chat or a page of the team's. Text of the
// agent's and of plans is escaped as in Markdown.
func DigestMarkdown(w io.Writer, since time.Time, loops []Entry) error {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**\n", escape(digestLead(since, loops)))
	if len(loops) > 0 {
		b.WriteString("\n| | loop | goal | result | cost |\n|---|---|---|---|---|\n")
	}
	for _, l := range loops {
		result := []string{escape(l.lead())}
		for _, line := range needs(l) {
			result = append(result, escape(line))
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %s |\n", strings.ToLower(l.Group), l.ID, escape(l.goal()), strings.Join(result, "<br>"), l.cost())
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// digestLead is the first line: how many loops there are, what they came to and cost.
func digestLead(since time.Time, loops []Entry) string {
	when := since.Format("2006-01-02 15:04")
	if len(loops) == 0 {
		return "no loop since " + when
	}
	return fmt.Sprintf("%s since %s: %s", figure.Count(len(loops), "loop"), when, totals(loops))
}

// lead is what the loop came to, in a line.
func (l Entry) lead() string {
	p := page{Loop: Loop{ID: l.ID, Status: l.Word, State: l.State}}
	return p.lead()
}

// goal names the goal and the folder.
func (l Entry) goal() string {
	return plan.OneLine(l.Goal, 80) + ", in " + plan.OneLine(l.Where, 100)
}

// cost is what the loop cost since the digest's time, and in all if that is more.
func (l Entry) cost() string {
	whole := costWords(l.State.Usage.CostUSD, l.State.CostUnknown())
	if l.Before.Usage.CostUSD == 0 {
		return whole
	}
	return costWords(l.spent(), l.State.CostUnknown()) + " of " + whole
}

// spent is what the loop cost since the digest's time.
func (l Entry) spent() float64 { return l.State.Usage.CostUSD - l.Before.Usage.CostUSD }

// totals are the groups, the tasks and the cost of all loops, since the digest's time.
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
		all.Tasks = append(all.Tasks, counted(l, latest[i])...)
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
	return words + " · " + costWords(usd, unknown)
}

// counted returns the tasks of a loop that count in the totals, without those done before the
// digest's time. What it left open counts in the latest loop over the plan alone, since a later
// one may have done it.
func counted(l Entry, latest bool) []loop.Task {
	return slices.DeleteFunc(slices.Clone(l.State.Tasks), func(t loop.Task) bool {
		before, _ := l.Before.Task(t.ID)
		return t.DoneEarlier || t.LeftOut || t.Status == loop.Open && !latest || t.Status == loop.Done && before.Status == loop.Done
	})
}

// latestLoops tells for each loop whether it is the latest with its goal at its place.
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

// costWords say what loops cost, where no label does.
func costWords(usd float64, unknown bool) string {
	if unknown && usd == 0 {
		return "cost unknown"
	}
	return figure.Cost(usd, unknown)
}

// needs names the tasks that need the user, and the question that waits.
func needs(l Entry) []string {
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
			out = append(out, strings.TrimSuffix(fmt.Sprintf("%s: %s: %s", name(t), t.Status, plan.OneLine(t.Why, 160)), ": "))
		}
	}
	return out
}
