package claude

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const clearPatience = 5 * time.Second // measured: 15 to 160 ms

// Fresh empties the context by /clear, which keeps the judge registered. It
// refuses while background work runs, which would report into the new context.
func (s *session) Fresh(ctx context.Context) error {
	s.turns.Lock()
	defer s.turns.Unlock()
	s.takeStream()
	defer s.giveStream()
	ctx, cancel := context.WithTimeout(ctx, clearPatience)
	defer cancel()
	if s.busy || len(s.tasks) > 0 {
		return errors.New("clear the context: work is still running in the session")
	}
	if err := s.send(userMessage("/clear")); err != nil {
		return fmt.Errorf("clear the context: %w", err)
	}
	reset := false
	err := s.until(ctx, s.handleIdle, func(l line) bool {
		reset = reset || l.Type == "conversation_reset"
		return l.Type == "result"
	})
	if err != nil {
		return fmt.Errorf("clear the context: %w", err)
	}
	if !reset {
		return errors.New("clear the context: the client did not")
	}
	s.meter = meter{}
	s.told = false
	return nil
}

// RSS of the client.
func (s *session) RSS() int64 { return s.p.RSS() }
