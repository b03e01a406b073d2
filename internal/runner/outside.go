package runner

import (
	"context"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/notice"
	"github.com/pawl-dev/pawl/internal/verify"
)

// Outside is who sees the loop, is told and asked.
type Outside struct {
	Observer   Observer
	Causes     <-chan string // cancellations from outside: loop.ByInterrupt …; may be nil
	Background func() bool   // reports whether no terminal shows the loop, so that it waits for what only the user can fix; may be nil
	// AskRed is called where gates are red before the first turn, and reports whether
	// the user says that they are part of the work, and whether the loop goes on;
	// nil = it does. It may wait for the user, for a time.
	AskRed func(context.Context, loop.Gates) (wanted, goesOn bool)
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

// nobody watches.
type nobody struct{}

func (nobody) Stepped(loop.State, loop.Event, []loop.Action) {}
func (nobody) Agent(agent.Event)                             {}
func (nobody) Gate(verify.Progress)                          {}
func (nobody) Note(memory.Note)                              {}
