package term

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// minRedrawInterval is the shortest time between two redraws. Ten redraws a second look smooth, and are cheap
// over ssh.
const minRedrawInterval = 100 * time.Millisecond

const eraseBelow = "\r\x1b[J"

// live redraws a block of lines at the bottom of the screen. Final lines scroll away above it.
type live struct {
	o    Options
	stop chan struct{}
	done chan struct{}

	mu      sync.Mutex
	story   *story
	drawn   []int     // widths of the block's lines on the screen
	shown   string    // the block as last written
	isStale bool      // there was an event after the last drawing
	drawnAt time.Time // time of the last drawing
	closed  bool
}

func newLive(o Options) *live {
	l := &live{o: o, story: newStory(o), stop: make(chan struct{}), done: make(chan struct{})}
	go l.tick()
	return l
}

// tick redraws after events that followed each other too fast, and every second for the clocks.
func (l *live) tick() {
	defer close(l.done)
	t := time.NewTicker(minRedrawInterval)
	defer t.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-t.C:
			l.mu.Lock()
			if now := l.o.Now(); l.isStale || now.Sub(l.drawnAt) >= time.Second {
				l.draw("", now)
			}
			l.mu.Unlock()
		}
	}
}

func (l *live) Print(e Event) { l.PrintAt(e, l.o.Now()) }

func (l *live) PrintAt(e Event, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	now := l.o.Now()
	l.story.update(e, at)
	columns, _ := l.size()
	indent := 12
	if _, end := e.(LoopEnded); end {
		indent = labelColumn
	}
	var b strings.Builder
	for i, final := range l.story.lines(e, at) {
		if i == 0 {
			final = l.stamped(final, e, at)
		}
		for _, row := range final.wrap(columns-1, indent) {
			b.WriteString(row.paint(l.o.Color))
			b.WriteByte('\n')
		}
	}
	if _, waiting := e.(Waiting); waiting {
		b.Reset() // the block counts it down
	}
	if b.Len() == 0 && now.Sub(l.drawnAt) < minRedrawInterval {
		l.isStale = true
		return
	}
	l.draw(b.String(), now)
}

// clockColumns is the width of the time of day before a line.
const clockColumns = len("15:04")

// stamped returns an event's first line with the time of day before it. Header and summary get no
// time.
func (l *live) stamped(first line, e Event, at time.Time) line {
	switch e.(type) {
	case LoopStarted, LoopEnded:
		return first
	}
	clock := span{dim, at.In(l.o.Zone).Format("15:04")}
	if indent := first[0].text; strings.TrimSpace(indent) == "" && len(indent) >= clockColumns {
		return append(line{clock, text(indent[clockColumns:])}, first[1:]...)
	}
	return append(line{clock}, first...)
}

// draw writes final text, if any, and the block below it, in one write. The cursor stays visible,
// because a process that is stopped or killed could not show it again.
func (l *live) draw(final string, now time.Time) {
	columns, rows := l.size()
	l.isStale, l.drawnAt = false, now
	if l.o.InBackground != nil && l.o.InBackground() {
		l.drawn, l.shown = nil, "" // what is above the cursor now is not ours
		if final != "" {
			_, _ = l.o.Out.Write([]byte(final))
		}
		return
	}
	var block strings.Builder
	var widths []int
	for i, line := range l.block(now, rows) {
		// One column stays free: a full line would wrap on some terminals.
		line = line.cut(columns - 1)
		if i > 0 {
			block.WriteByte('\n')
		}
		block.WriteString(line.paint(l.o.Color))
		widths = append(widths, width(line.String()))
	}
	if final == "" && block.String() == l.shown {
		return
	}
	out := l.erase(columns) + final + block.String()
	l.drawn, l.shown = widths, block.String()
	_, _ = l.o.Out.Write([]byte(out))
}

func (l *live) size() (columns, rows int) {
	columns, rows = l.o.Size()
	if columns <= 0 || rows <= 0 {
		return 80, 24
	}
	return columns, rows
}

// block returns the lines of the live block. There are none before the start and after the end.
func (l *live) block(now time.Time, rows int) []line {
	s := l.story
	if s.startedAt.IsZero() || s.ended || s.isAsking || l.closed {
		return nil
	}
	below := text(strings.Repeat(" ", clockColumns)) // indentation below the times of permanent lines
	out := []line{append(line{below}, s.activity(now)...), append(line{below}, s.figures(now)...)}
	return out[:min(len(out), max(1, rows-1))]
}

// erase removes the block from the screen. A terminal that became narrower has wrapped its lines,
// so rows are counted at the current width.
func (l *live) erase(columns int) string {
	if len(l.drawn) == 0 {
		return ""
	}
	rows := 0
	for _, w := range l.drawn {
		rows += max(1, (w+columns-1)/columns)
	}
	up := ""
	if rows > 1 {
		up = fmt.Sprintf("\x1b[%dA", rows-1)
	}
	return up + eraseBelow
}

func (l *live) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	l.draw("", l.o.Now())
	l.mu.Unlock()
	close(l.stop)
	<-l.done
	return nil
}
