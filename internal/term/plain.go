package term

import (
	"strings"
	"sync"
	"time"
)

// quietFor is how long a log stays without a line before one says that the turn is still
// under way. Each further one comes after twice the time.
const quietFor = 10 * time.Minute

// firstQuiet is how long it stays without one after the first task began: the gates run
// before the work, and nobody has seen yet that anything continues.
const firstQuiet = 2 * time.Second

// judgedQuiet is the same after a gate has judged the work: it may be run again for evidence,
// as long each time.
const judgedQuiet = time.Minute

// plain prints each event worth a line behind its time; Quiet prints the
// summary alone. What is going on within a turn gets no line, since logs are read
// later: only one now and then where nothing else happens.
type plain struct {
	mu    sync.Mutex
	o     Options
	story *story
	alive *time.Timer // prints the next sign of life
	quiet time.Duration
	begun bool // the first task
}

func (p *plain) Print(e Event) { p.PrintAt(e, p.o.Now()) }

func (p *plain) PrintAt(e Event, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.story.note(e, now)
	lines := p.story.lines(e, now)
	_, end := e.(LoopEnded)
	_, begun := e.(TaskStarted)
	quiet := p.o.Mode == Quiet
	switch {
	case quiet && !end:
		return
	case end && !quiet:
		lines = lines[1:] // the blank line above a summary; each has its time here
	case begun:
		lines = []line{taskLine(span{cyan, "●"}, p.story.task, span{dim, "begun"})}
	}
	if len(lines) == 0 {
		return
	}
	p.write(lines, now)
	p.quiet = quietFor
	if _, judged := e.(GateFinished); judged {
		p.quiet = judgedQuiet
	}
	if begun && !p.begun {
		p.quiet, p.begun = firstQuiet, true
	}
	p.stop()
	if !end {
		p.alive = time.AfterFunc(p.quiet, p.signOfLife)
	}
}

// signOfLife prints the current activity after a while without a line.
func (p *plain) signOfLife() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.alive == nil || p.story.asking {
		return
	}
	if now := p.o.Now(); p.story.waiting == nil { // a wait has said until when
		p.write([]line{p.story.activity(now)}, now)
	}
	p.quiet = max(2*p.quiet, quietFor)
	p.alive.Reset(p.quiet)
}

func (p *plain) write(lines []line, now time.Time) {
	stamp := now.In(p.o.Zone).Format("15:04:05") + "  "
	var b strings.Builder
	for i, l := range lines {
		switch {
		case p.o.Mode == Quiet:
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

// stop ends the signs of life.
func (p *plain) stop() {
	if p.alive != nil {
		p.alive.Stop()
		p.alive = nil
	}
}

func (p *plain) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stop()
	return nil
}
