package runner

import (
	"context"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/notice"
	"github.com/pawl-dev/pawl/internal/verify"
)

// Callbacks is who sees the loop, is told and asked.
type Callbacks struct {
	Observer      Observer
	Cancellations <-chan string // cancellations from outside: loop.ByInterrupt …; may be nil
	IsBackground  func() bool   // reports whether no terminal shows the loop, so that it waits for what only the user can fix; may be nil
	// AskFailingGates is called where gates are red before the first turn, and reports whether
	// the user says that they are part of the work, and whether the loop goes on;
	// nil = it does. It may wait for the user, for a time.
	AskFailingGates func(context.Context, loop.Gates) (wanted, goesOn bool)
	// Notify is handed what an absent user should know; nil = nobody is told. It must
	// return quickly.
	Notify func(notice.Notice)
	// BeforeTurn is called before each turn, but those of a user's session; nil = it is
	// not. It may hold up the turn for seconds.
	BeforeTurn func(context.Context, loop.Facts) Advice
}

// Observer is told what happens, for display. Its methods are called from one
// goroutine at a time and must return quickly.
type Observer interface {
	// Stepped: the machine took e and is now in s.
	Stepped(s loop.State, e loop.Event, acts []loop.Action)
	// Agent: something happened in the turn under way.
	Agent(e agent.Event)
	// Gate: a gate begins (res nil) or has finished.
	Gate(p verify.Progress)
	// Note: something worth telling that is not an event of the machine.
	Note(n memory.Note)
}

// noObserver watches.
type noObserver struct{}

func (noObserver) Stepped(loop.State, loop.Event, []loop.Action) {}
func (noObserver) Agent(agent.Event)                             {}
func (noObserver) Gate(verify.Progress)                          {}
func (noObserver) Note(memory.Note)                              {}
