package report

import (
	"strings"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// reviews names the work that no review passed, with what the last one found: a
// person has to decide between it and the agent.
func (p *page) reviews() {
	label := "review"
	say := func(format string, args ...any) {
		p.line(label, format, args...)
		label = ""
	}
	for _, t := range p.State.Tasks {
		switch {
		case t.Earlier || t.Status != loop.Done:
			continue
		case t.Reviewed == loop.ReviewDisagreed:
			say("disagrees with %s, which is kept as it is%s", name(t), p.show(t))
		case t.Reviewed == loop.ReviewNone:
			why := ""
			if _, said, ok := strings.Cut(t.Why, ": "); ok && !p.toldWhy(t.Why) { // behind that no review passed it
				why = ": " + plan.OneLine(said, 160)
			}
			say("none passed %s%s%s", name(t), why, p.show(t))
		}
		if t.Reviewed != loop.ReviewPassed {
			for _, f := range t.Findings {
				say("  %s", plan.OneLine(f, 200))
			}
		}
	}
	at, _ := p.State.Task(p.State.Current)
	if f := p.State.Failing; f != nil && f.Review && at.Status == loop.Open && p.State.Phase == loop.Ended {
		say("failed the last claim: %s", plan.OneLine(f.Reason, 200))
	}
}
