package cli

import (
	"fmt"
	"io"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/runner"
	"github.com/pawl-dev/pawl/internal/term"
	"github.com/pawl-dev/pawl/internal/verify"
)

// beginning shows what is worth waiting for while a loop begins in a session:
// its gates, and what there is to know.
type beginning struct {
	out  io.Writer
	last string // gate that was shown: one may run again to be sure
}

// Stepped shows nothing: what the loop comes to is said in one piece.
func (*beginning) Stepped(loop.State, loop.Event, []loop.Action) {}

// Agent shows nothing: no agent runs.
func (*beginning) Agent(agent.Event) {}

// Gate shows that a gate begins.
func (b *beginning) Gate(p verify.Progress) {
	if p.Result == nil && p.Gate != b.last {
		b.last = p.Gate
		_, _ = fmt.Fprintf(b.out, "pawl: the gate %s runs on the tree as it is\n", term.Clean(p.Gate))
	}
}

// Note shows a warning.
func (b *beginning) Note(n memory.Note) {
	if n.Level != loop.Info {
		term.Warnf(b.out, "%s", n.Text)
	}
}

var _ runner.Observer = (*beginning)(nil)
