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

// plain prints what the screen shows as lines that stay, for screen readers and for
// terminals that cannot move the cursor.
type plain struct {
	source Source
	out    io.Writer
	ascii  bool
	id     string // of the only loop, "" = all
	groups map[string]record.Group
	events map[string]bool // loops whose events are printed: those that had not ended once
	ended  bool            // the only loop has ended
	failed string          // the last error that was printed
	err    error           // of the last write
}

// Plain prints the overview, or one loop, and then each event, until ctx or the one loop ends.
func Plain(ctx context.Context, s Source, o Options) error {
	p := &plain{source: s, out: o.Out, ascii: o.ASCII, id: o.ID, groups: map[string]record.Group{}, events: map[string]bool{}}
	first := p.overview
	if p.id != "" {
		first = p.loop
	}
	if err := first(time.Now()); err != nil || p.ended {
		return err
	}
	next := time.NewTicker(refresh)
	defer next.Stop()
	for p.err == nil {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case now := <-next.C:
			if p.news(now); p.ended {
				return nil
			}
		}
	}
	return fmt.Errorf("print lines: %w", p.err)
}

func (p *plain) line(text string) {
	text = strings.TrimRight(clean(text), " ")
	if p.ascii {
		text = asciiOnly(text)
	}
	if _, err := fmt.Fprintln(p.out, text); err != nil {
		p.err = err
	}
}

// overview prints all loops in their groups.
func (p *plain) overview(now time.Time) error {
	loops, err := p.source.Loops()
	if err != nil {
		return err
	}
	loops = record.FilterAndGroup(loops, "", now)
	p.line("pawl watch: " + groupCounts(loops, now))
	where := places(loops)
	for i, s := range loops {
		g := s.Group(now)
		if i == 0 || p.groups[loops[i-1].ID] != g {
			p.line(g.String())
		}
		p.groups[s.ID] = g
		p.line(about(s, where[s.Root], now))
		p.question(s)
		p.followUnended(s)
	}
	return nil
}

// followUnended leaves alone what had ended when it was first seen: to read all of these
// takes long.
func (p *plain) followUnended(s record.Summary) {
	if p.events[s.ID] = p.events[s.ID] || s.State != "ended"; p.events[s.ID] {
		p.follow(s.ID)
	}
}

// about is a row of the overview as a sentence, with the repository where there are several.
func about(s record.Summary, place string, now time.Time) string {
	parts := []string{state(s)}
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
	parts = append(parts, "cost "+narrate.Cost(s), when+since(s, now)+" ago")
	if place != "" {
		place = " in " + place
	}
	return s.ID + place + ": " + strings.Join(parts, ", ") + ": " + goal(s)
}

func (p *plain) question(s record.Summary) {
	if s.Question == nil {
		return
	}
	p.line(s.ID + " asks: " + s.Question.Headline())
	for _, l := range s.Question.Lines() {
		p.line(l)
	}
}

// loop prints one loop: how it stands, its limits and its plan.
func (p *plain) loop(time.Time) error {
	d, err := p.source.Loop(p.id)
	if err != nil {
		return err
	}
	p.line(p.id + ": " + d.Headline)
	p.line(strings.Join(gauges(d, false), " · "))
	for _, t := range d.State.Tasks {
		p.line(narrate.PlanLine(d.State, t, d.Summary.Outcome == ""))
	}
	p.question(d.Summary)
	p.follow(p.id)
	p.end(d)
	return nil
}

// end prints why the only loop ended, once it has.
func (p *plain) end(d Detail) {
	if d.Summary.State != "ended" {
		return
	}
	p.ended = true
	if d.Summary.Reason != "" {
		p.line("why: " + d.Summary.Reason)
	}
	p.line("pawl report " + p.id + " shows what was done")
}

// news prints what has changed: events, loops that came, and those that another one must
// act on next.
func (p *plain) news(now time.Time) {
	if p.id != "" {
		if p.follow(p.id) {
			if d, err := p.source.Loop(p.id); !p.trouble(err) {
				p.end(d)
			}
		}
		return
	}
	loops, err := p.source.Loops()
	if p.trouble(err) {
		return
	}
	where := places(loops)
	for _, s := range record.FilterAndGroup(loops, "", now) {
		p.followUnended(s)
		g := s.Group(now)
		if before, known := p.groups[s.ID]; known && before == g {
			continue
		}
		p.groups[s.ID] = g
		p.line(g.String() + " now: " + about(s, where[s.Root], now))
		p.question(s)
	}
}

// follow prints the events of a loop, and reports whether there were any.
func (p *plain) follow(id string) bool {
	lines, err := p.source.News(id)
	if p.trouble(err) {
		return false
	}
	for _, l := range lines {
		if p.id == "" {
			l = id + "  " + l
		}
		p.line(l)
	}
	return len(lines) > 0
}

// trouble prints an error once.
func (p *plain) trouble(err error) bool {
	text := ""
	if err != nil {
		text = "! " + err.Error()
	}
	if text != "" && text != p.failed {
		p.line(text)
	}
	p.failed = text
	return err != nil
}
