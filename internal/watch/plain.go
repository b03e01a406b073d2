package watch

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/narrate"
	"github.com/pawl-dev/pawl/internal/record"
)

// plain prints permanent lines instead of a screen, for screen readers and for terminals that cannot
// move the cursor.
type plain struct {
	source    Source
	out       io.Writer
	ascii     bool
	id        string // of the only loop, "" = all
	groups    map[string]record.Group
	events    map[string]bool // loops whose events are printed: those that had not ended once
	ended     bool            // the only loop has ended
	lastError string          // the last error that was printed
	err       error           // of the last write
}

// Plain prints the overview, or one loop, and then each event, until ctx ends or the one loop has
// ended.
func Plain(ctx context.Context, s Source, o Options) error {
	p := &plain{source: s, out: o.Out, ascii: o.ASCII, id: o.ID, groups: map[string]record.Group{}, events: map[string]bool{}}
	first := p.printOverview
	if p.id != "" {
		first = p.printLoop
	}
	if err := first(time.Now()); err != nil || p.ended {
		return err
	}
	next := time.NewTicker(refreshInterval)
	defer next.Stop()
	for p.err == nil {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case now := <-next.C:
			if p.printNews(now); p.ended {
				return nil
			}
		}
	}
	return fmt.Errorf("print lines: %w", p.err)
}

func (p *plain) printLine(text string) {
	text = strings.TrimRight(clean(text), " ")
	if p.ascii {
		text = asciiOnly(text)
	}
	if _, err := fmt.Fprintln(p.out, text); err != nil {
		p.err = err
	}
}

// printOverview prints all loops by group.
func (p *plain) printOverview(now time.Time) error {
	loops, err := p.source.Loops()
	if err != nil {
		return err
	}
	loops = record.FilterAndGroup(loops, "", now)
	p.printLine("pawl watch: " + groupCounts(loops, now))
	where := repositoryNames(loops)
	for i, s := range loops {
		g := s.Group(now)
		if i == 0 || p.groups[loops[i-1].ID] != g {
			p.printLine(g.String())
		}
		p.groups[s.ID] = g
		p.printLine(sentence(s, where[s.Root], now))
		p.printQuestion(s)
		p.followOpen(s)
	}
	return nil
}

// followOpen prints the events of a loop unless it had ended when it was first seen: reading the
// history of all ended loops takes long.
func (p *plain) followOpen(s record.Summary) {
	if p.events[s.ID] = p.events[s.ID] || s.State != "ended"; p.events[s.ID] {
		p.printEvents(s.ID)
	}
}

// sentence describes a loop in one sentence, with its repository if place is not empty.
func sentence(s record.Summary, place string, now time.Time) string {
	parts := []string{stateOrOutcome(s)}
	if s.State == "paused" && s.Reason != "" {
		parts[0] += ", needs you: " + clean(s.Reason)
	}
	if d := s.TaskProgress(); d != "" {
		parts = append(parts, d+" done")
	}
	when := "started "
	if !s.EndedAt.IsZero() {
		when = "ended "
	}
	parts = append(parts, "cost "+narrate.Cost(s), when+loopAge(s, now)+" ago")
	if place != "" {
		place = " in " + place
	}
	return s.ID + place + ": " + strings.Join(parts, ", ") + ": " + goalText(s)
}

func (p *plain) printQuestion(s record.Summary) {
	if s.Question == nil {
		return
	}
	p.printLine(s.ID + " asks: " + s.Question.Headline())
	for _, l := range s.Question.Lines() {
		p.printLine(l)
	}
}

// printLoop prints the state of one loop, its limits and its plan.
func (p *plain) printLoop(time.Time) error {
	d, err := p.source.Loop(p.id)
	if err != nil {
		return err
	}
	p.printLine(p.id + ": " + d.Headline)
	p.printLine(strings.Join(gauges(d, false), " · "))
	for _, t := range d.State.Tasks {
		p.printLine(narrate.PlanLine(d.State, t, d.Summary.Outcome == ""))
	}
	p.printQuestion(d.Summary)
	p.printEvents(p.id)
	p.printEnd(d)
	return nil
}

// printEnd prints why the only loop ended, if it has.
func (p *plain) printEnd(d Detail) {
	if d.Summary.State != "ended" {
		return
	}
	p.ended = true
	if d.Summary.Reason != "" {
		p.printLine("why: " + d.Summary.Reason)
	}
	p.printLine("pawl report " + p.id + " shows what was done")
}

// printNews prints new events, new loops, and loops that moved to another group.
func (p *plain) printNews(now time.Time) {
	if p.id != "" {
		if p.printEvents(p.id) {
			if d, err := p.source.Loop(p.id); !p.printError(err) {
				p.printEnd(d)
			}
		}
		return
	}
	loops, err := p.source.Loops()
	if p.printError(err) {
		return
	}
	where := repositoryNames(loops)
	for _, s := range record.FilterAndGroup(loops, "", now) {
		p.followOpen(s)
		g := s.Group(now)
		if before, known := p.groups[s.ID]; known && before == g {
			continue
		}
		p.groups[s.ID] = g
		p.printLine(g.String() + " now: " + sentence(s, where[s.Root], now))
		p.printQuestion(s)
	}
}

// printEvents prints the new events of a loop. It reports whether there were any.
func (p *plain) printEvents(id string) bool {
	lines, err := p.source.News(id)
	if p.printError(err) {
		return false
	}
	for _, l := range lines {
		if p.id == "" {
			l = id + "  " + l
		}
		p.printLine(l)
	}
	return len(lines) > 0
}

// printError prints an error, unless it was the last one printed. It reports whether err is not nil.
func (p *plain) printError(err error) bool {
	text := ""
	if err != nil {
		text = "! " + err.Error()
	}
	if text != "" && text != p.lastError {
		p.printLine(text)
	}
	p.lastError = text
	return err != nil
}
