package report

import (
	"iter"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/figure"
)

// LastMessage is the agent's last message in a turn.
type LastMessage struct {
	At   time.Time
	Text string
}

// LastMessages returns the last messages of a loop's turns, in order. A goal without an end has no
// other result.
func LastMessages(events iter.Seq[loop.Event]) []LastMessage {
	var said []LastMessage
	for e := range events {
		if t, _ := e.Turn(); e.Kind() == loop.KindTurnEnded && !t.ByUser && strings.TrimSpace(t.Text) != "" {
			said = append(said, LastMessage{At: e.At, Text: t.Text})
		}
	}
	return said
}

const (
	maxLastMessages     = 12  // maximum number of turns
	maxLinesPerMessage  = 4   // maximum number of lines of each
	maxMessageLineBytes = 200 // maximum length of a line, in bytes
)

// lastMessages prints the last messages for a goal that has no end to claim, so that its task is
// neither open nor done, the newest last.
func (p *page) lastMessages() {
	if kind := p.State.Policy.Kind; kind != loop.Explore && kind != loop.Periodic {
		return
	}
	said := p.LastMessages
	if n := len(said) - maxLastMessages; n > 0 {
		p.line("said", "%s before these: pawl log %s", figure.Count(n, "turn"), p.ID)
		said = said[n:]
	}
	for _, s := range said {
		say := p.under(s.At.In(p.Zone).Format("15:04:05"))
		for _, line := range lastLines(s.Text) {
			say("%s", line)
		}
	}
}

// lastLines returns the last lines of a text that are not empty.
func lastLines(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = plan.OneLine(line, maxMessageLineBytes); line != "" {
			lines = append(lines, line)
		}
	}
	return lines[max(0, len(lines)-maxLinesPerMessage):]
}
