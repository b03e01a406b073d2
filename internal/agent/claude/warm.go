package claude

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

const clearTimeout = 5 * time.Second // measured: 15 to 160 ms

// Fresh empties the context with /clear; the guard stays registered. It refuses while background
// work runs, which would report into the new context, and where the cleared context would differ
// from that of a new process.
func (s *session) Fresh(ctx context.Context) error {
	s.turns.Lock()
	defer s.turns.Unlock()
	s.stopIdleReader()
	defer s.startIdleReader()
	ctx, cancel := context.WithTimeout(ctx, clearTimeout)
	defer cancel()
	if err := s.canClear(); err != nil {
		return fmt.Errorf("clear the context: %w", err)
	}
	var cleared startReport
	s.noted = &cleared
	defer func() { s.noted = &s.started }()
	if err := s.send(userMessage("/clear")); err != nil {
		return fmt.Errorf("clear the context: %w", err)
	}
	reset := false
	err := s.handleUntil(ctx, s.handleIdle, func(l line) bool {
		reset = reset || l.Type == "conversation_reset"
		return l.Type == "result"
	})
	if err == nil && !reset {
		err = errors.New("the client did not")
	}
	if err == nil {
		err = s.started.differs(cleared)
	}
	if err != nil {
		return fmt.Errorf("clear the context: %w", err)
	}
	s.meter = meter{}
	s.told = false
	return nil
}

// canClear returns why the context cannot be cleared, before the client is asked.
func (s *session) canClear() error {
	switch {
	case s.busy || len(s.tasks) > 0:
		return errors.New("work is still running in the session")
	case s.o.Resume != "":
		return errors.New("the process was started to continue with a session")
	case s.startState() != s.startedFrom:
		return errors.New("what the client reads only when it starts has changed")
	case s.started.told && !slices.Contains(s.started.commands, "clear"):
		return errors.New("the client does not offer it")
	}
	return nil
}

// RSS returns the memory of the client in bytes.
func (s *session) RSS() int64 { return s.p.RSS() }
