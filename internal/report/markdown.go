package report

import (
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/narrate"
)

// Markdown returns the report for a pull request: what the user must do, what was done and its
// evidence, and what to review. The agent's text is escaped, so it contains no link, mention or HTML.
func Markdown(l Loop) string {
	p := &page{Loop: l}
	fmt.Fprintf(&p.out, "**%s**\n", plan.Markdown(p.resultLine()))
	p.markdownTasks()
	p.markdownList("Look at", p.lookAt())
	p.markdownList("Tests", p.MutationResults)
	p.markdownList("Edits of the plan that were not applied", narrate.EditsNotMade(l.State))
	p.markdownList("Messages not delivered to the agent", narrate.NotDelivered(l.State))
	p.markdownList("Issues that were not updated", p.UntoldIssues)
	if p.NotSent != "" {
		p.markdownList("Not sent", []string{p.NotSent})
	}
	fmt.Fprintf(&p.out, "\nGates: %s\n\n%s, %s, `%s`\n", p.markdownGates(), narrate.Spending(p.State), figure.Count(p.State.Iteration, "iteration"), p.ID)
	return p.out.String()
}

// resultLine returns the result and what needs the user, in one line.
func (p *page) resultLine() string {
	s := p.State
	words := s.Progress()
	if s.Phase == loop.Ended {
		words = strings.TrimPrefix(words+" · ended "+string(s.Outcome), " · ")
	} else {
		words = strings.TrimPrefix(words+" · "+p.Status, " · ")
	}
	if s.Reason != "" && s.Outcome != loop.Verified {
		words += ": " + plan.OneLine(s.Reason, 300)
	}
	return words
}

// markdownTasks writes a table of the tasks, those that need the user first.
func (p *page) markdownTasks() {
	p.out.WriteString("\n| | task | | commit |\n|---|---|---|---|\n")
	for _, g := range p.groups() {
		for _, t := range g.tasks {
			why := p.proofText(t, g.meaning)
			fmt.Fprintf(&p.out, "| %s | %s | %s | %s |\n", g.name, plan.Markdown(narrate.Name(t)), plan.Markdown(why), shortCommit(t.Commit))
		}
	}
}

// markdownGates returns the state of each gate.
func (p *page) markdownGates() string {
	var gates []string
	for _, g := range p.Gates {
		words := plan.Markdown(plan.OneLine(g.Gate, 60)) + " " + string(g.Status)
		if len(g.Failing) > 0 {
			words += " (" + plan.Markdown(joinNames(g.Failing, 4)) + ")"
		}
		gates = append(gates, words)
	}
	if len(gates) == 0 {
		return "none"
	}
	return strings.Join(gates, ", ")
}

// lookAt returns what a reviewer should read first: changed tests, then signs.
func (p *page) lookAt() []string {
	var out []string
	for _, t := range p.State.Tasks {
		for _, c := range t.ChangedTests {
			out = append(out, c.String())
		}
	}
	for _, t := range p.State.Tasks {
		out = append(out, p.Signs[t.ID]...)
	}
	return out
}

const maxListedLines = 20 // maximum number of lines of a list

func (p *page) markdownList(title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(&p.out, "\n%s:\n\n", title)
	for _, l := range lines[:min(len(lines), maxListedLines)] {
		fmt.Fprintf(&p.out, "- %s\n", plan.Markdown(plan.OneLine(l, 200)))
	}
	if more := len(lines) - maxListedLines; more > 0 {
		fmt.Fprintf(&p.out, "- and %d more\n", more)
	}
}
