package term

import (
	"strings"
	"sync"
	"time"
)

// quietInterval is the time without a line after which a log shows that the turn is still running.
// It doubles with each such line.
const quietInterval = 10 * time.Minute

// firstQuietInterval is the same after the first task started. It is short because the gates run
// before the work, and the log is still empty.
const firstQuietInterval = 2 * time.Second

// gateQuietInterval is the same after a gate has run on the work. It may run again for evidence,
// which takes as long.
const gateQuietInterval = time.Minute

// plain prints a line with its time for each event that is worth one; Quiet only prints the
// summary. Events within a turn get no line, because logs are read later. After a long time without
// a line, it prints a status line.
type plain struct {
	mu          sync.Mutex
	o           Options
	story       *story
	statusTimer *time.Timer // prints the next status line
	quiet       time.Duration
	hasTask     bool // the first task has started
}

func (p *plain) Print(e Event) { p.PrintAt(e, p.o.Now()) }

func (p *plain) PrintAt(e Event, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.story.update(e, now)
	lines := p.story.lines(e, now)
	_, end := e.(LoopEnded)
	_, isTask := e.(TaskStarted)
	quiet := p.o.Mode == Quiet
	switch {
	case quiet && !end:
		return
	case end && !quiet:
		lines = lines[1:] // drops the blank line above a summary; each line has its time here
	case isTask:
		lines = []line{taskLine(span{cyan, "●"}, p.story.task, span{dim, "started"})}
	}
	if len(lines) == 0 {
		return
	}
	p.write(lines, now)
	p.quiet = quietInterval
	if _, finished := e.(GateFinished); finished {
		p.quiet = gateQuietInterval
	}
	if isTask && !p.hasTask {
		p.quiet, p.hasTask = firstQuietInterval, true
	}
	p.stopStatus()
	if !end {
		p.statusTimer = time.AfterFunc(p.quiet, p.printStatus)
	}
}

// printStatus prints the current activity after a while without a line.
func (p *plain) printStatus() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.statusTimer == nil || p.story.isAsking {
		return
	}
	if now := p.o.Now(); p.story.waiting == nil { // the line of a wait already says until when
		p.write([]line{p.story.activity(now)}, now)
	}
	p.quiet = max(2*p.quiet, quietInterval)
	p.statusTimer.Reset(p.quiet)
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

// stopStatus stops the status lines.
func (p *plain) stopStatus() {
	if p.statusTimer != nil {
		p.statusTimer.Stop()
		p.statusTimer = nil
	}
}

func (p *plain) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopStatus()
	return nil
}
