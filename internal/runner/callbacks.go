package runner

import (
	"context"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/notice"
	"github.com/pawl-dev/pawl/internal/verify"
)

// Callbacks connect the runner with its caller: display, notices and questions.
type Callbacks struct {
	Observer      Observer
	Cancellations <-chan string // causes of cancellations: loop.ByInterrupt …; may be nil
	IsBackground  func() bool   // reports whether no terminal shows the loop, so that it waits for what only the user can fix; may be nil
	// AskFailingGates is called if gates fail before the first turn. It reports whether fixing
	// them is part of the work, and whether the loop continues; nil = it does. It may wait for
	// the user.
	AskFailingGates func(context.Context, loop.Gates) (wanted, goesOn bool)
	// Notify sends a notice to an absent user; nil = none are sent. It must return quickly.
	Notify func(notice.Notice)
	// BeforeTurn is called before each turn of a runner; may be nil. It may delay the turn
	// for seconds.
	BeforeTurn func(context.Context, loop.Facts) Advice
}

// Observer displays what happens. Its methods are called from one goroutine at a time and
// must return quickly.
type Observer interface {
	// Stepped is called after the state machine has received e; s is the new state.
	Stepped(s loop.State, e loop.Event, acts []loop.Action)
	// Agent is called for each event of the running turn.
	Agent(e agent.Event)
	// Gate is called when a gate begins and when it has finished.
	Gate(p verify.Progress)
	// Note is called for messages that are not events of the state machine.
	Note(n memory.Note)
}

// noObserver ignores everything.
type noObserver struct{}

func (noObserver) Stepped(loop.State, loop.Event, []loop.Action) {}
func (noObserver) Agent(agent.Event)                             {}
func (noObserver) Gate(verify.Progress)                          {}
func (noObserver) Note(memory.Note)                              {}
