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

// beginObserver prints progress while a loop starts in a session: its gates and warnings.
type beginObserver struct {
	out  io.Writer
	last string // the last gate shown: a gate may run twice
}

// Stepped prints nothing: the result is printed at the end.
func (*beginObserver) Stepped(loop.State, loop.Event, []loop.Action) {}

// Agent prints nothing: no agent runs.
func (*beginObserver) Agent(agent.Event) {}

// Gate prints that a gate begins.
func (b *beginObserver) Gate(p verify.Progress) {
	if p.Result == nil && p.Gate != b.last {
		b.last = p.Gate
		_, _ = fmt.Fprintf(b.out, "pawl: the gate %s runs on the unchanged tree\n", term.Clean(p.Gate))
	}
}

// Note prints a warning.
func (b *beginObserver) Note(n memory.Note) {
	if n.Level != loop.Info {
		term.Warnf(b.out, "%s", n.Text)
	}
}

var _ runner.Observer = (*beginObserver)(nil)
