package term

import (
	"strings"
	"sync"
	"time"
)

// plain prints each event worth a line behind its time; Quiet prints the
// summary alone.
type plain struct {
	mu    sync.Mutex
	o     Options
	story *story
	last  TurnActivity
}

func (p *plain) Print(e Event) { p.PrintAt(e, p.o.Now()) }

func (p *plain) PrintAt(e Event, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.story.note(e, now)
	lines := p.story.lines(e, now)
	switch e := e.(type) {
	case TaskStarted:
		lines = []line{taskLine(span{cyan, "●"}, p.story.task, span{dim, "begun"})}
	case TurnActivity:
		// Figures change all the time; a log wants a line when the work does.
		if e.Iteration == p.last.Iteration && e.Doing == p.last.Doing {
			return
		}
		p.last = e
		lines = []line{p.story.activity(now)}
	}
	_, end := e.(LoopEnded)
	quiet := p.o.Mode == Quiet
	switch {
	case quiet && !end:
		return
	case end && !quiet:
		lines = lines[1:] // the blank line above a summary; each has its time here
	}
	stamp := now.In(p.o.Zone).Format("15:04:05") + "  "
	var b strings.Builder
	for i, l := range lines {
		switch {
		case quiet:
		case i == 0:
			b.WriteString(stamp)
		default:
			b.WriteString(strings.Repeat(" ", len(stamp)))
		}
		b.WriteString(l.paint(p.o.Color))
		b.WriteByte('\n')
	}
	_, _ = p.o.Out.Write([]byte(b.String()))
}

func (p *plain) Close() error { return nil }
