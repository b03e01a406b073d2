package claude

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"
)

const clearTimeout = 5 * time.Second // measured: 15 to 160 ms

// readOnce are the files in the work tree that the client reads when it starts, and not
// again after /clear (measured with 2.1.328). Instructions, skills and settings it reads
// again, and its shell begins anew in the work folder.
func readOnce() []string { return []string{".claude/agents", ".claude/commands", ".mcp.json"} }

// readOnceState differs where one of those files was changed.
func readOnceState(dir string) string {
	var state strings.Builder
	for _, name := range readOnce() {
		_ = filepath.WalkDir(filepath.Join(dir, filepath.FromSlash(name)), func(path string, entry fs.DirEntry, err error) error {
			if err == nil {
				if info, err := entry.Info(); err == nil {
					fmt.Fprintln(&state, path, info.Mode(), info.Size(), info.ModTime().UnixNano())
				}
			}
			return nil
		})
	}
	return state.String()
}

// Fresh empties the context by /clear, which keeps the judge registered. It
// refuses while background work runs, which would report into the new context, and
// where the client would not see what a new process sees.
func (s *session) Fresh(ctx context.Context) error {
	s.turns.Lock()
	defer s.turns.Unlock()
	s.takeStream()
	defer s.giveStream()
	ctx, cancel := context.WithTimeout(ctx, clearTimeout)
	defer cancel()
	if s.busy || len(s.tasks) > 0 {
		return errors.New("clear the context: work is still running in the session")
	}
	if readOnceState(s.o.Dir) != s.readOnce {
		return errors.New("clear the context: files that the client reads only when it starts have changed")
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
