package hook

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/foreign/ralphloop"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/session"
)

// A loop that came out of the ralph-loop plugin's file keeps the file up to date,
// for the scripts that people have around it. The journal is what counts: a
// counter that somebody edits is written over.

// adoptFile looks for such a file and has a loop made of it. It returns
// session.ErrNone where there is none for this session.
func (h *hook) adoptFile(ctx context.Context) (session.Binding, error) {
	none := session.Binding{}
	root := h.project()
	path := filepath.Join(root, filepath.FromSlash(ralphloop.Path))
	if root == "" || !exists(path) {
		return none, session.ErrNone
	}
	f, err := readFile(path)
	if err == nil && f.SessionID != "" && f.SessionID != h.p.Session {
		return none, session.ErrNone // another session's
	}
	if err == nil {
		var begun Begun
		if begun, err = h.begin(ctx, BeginRequest{Adopt: ralphloop.Path}); err == nil {
			if begun.Loop == "" {
				err = errors.New(begun.Message)
			} else {
				return h.sessions.Find(h.p.Session)
			}
		}
	}
	if err.Error() == "" || !h.sessions.Once(ctx, h.p.Session, err.Error()) {
		return none, session.ErrNone // said before
	}
	return none, fmt.Errorf("%s is left alone: %w", ralphloop.Path, err)
}

func readFile(path string) (*ralphloop.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > ralphloop.MaxSize {
		return nil, fmt.Errorf("it is no file of at most %d bytes", ralphloop.MaxSize)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return ralphloop.Parse(data)
}

func filePath(b session.Binding) string { return filepath.Join(b.Root, filepath.FromSlash(b.File)) }

// fileSays takes what the person did to the file as their word: deleting it
// cancels the loop, active: false holds it. One that cannot be read is kept, and
// said to be so.
func (h *hook) fileSays(ctx context.Context, s *seat, b session.Binding) error {
	if b.File == "" {
		return nil
	}
	f, err := readFile(filePath(b))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.note(loop.Info, b.File+" was deleted: the loop is cancelled")
		return s.loop.Post("file-deleted", record.Message{Kind: record.MessageStop})
	case err != nil:
		s.note(loop.Anomaly, b.File+" cannot be read and is kept as it is: "+err.Error())
	case f.Active == b.Held: // it says something new
		_, err := h.sessions.Change(ctx, b.Session, func(b *session.Binding) bool { b.Held = !f.Active; return true })
		said := record.Message{Kind: record.MessagePause}
		if f.Active {
			said.Kind = record.MessageResume
		}
		return errors.Join(err, s.loop.Post(fmt.Sprintf("file-%s-%d", said.Kind, h.now.UnixNano()), said))
	}
	return nil
}

// fileGoesOn writes the iteration into the file, nothing else.
func (h *hook) fileGoesOn(b session.Binding, s *seat) error {
	if b.File == "" {
		return nil
	}
	f, err := readFile(filePath(b))
	if err != nil {
		return nil //nolint:nilerr // fileSays has told of it
	}
	if err := atomicfile.Write(filePath(b), f.SetIteration(s.mem.State.Iteration).Bytes(), 0o644); err != nil {
		return fmt.Errorf("write the iteration into %s: %w", b.File, err)
	}
	return nil
}

// fileEnds removes the file of a loop that has ended: people's scripts take it
// for a loop at work. A file that is not the loop's own any more stays.
func (h *hook) fileEnds(b session.Binding) error {
	if b.File == "" {
		return nil
	}
	f, err := readFile(filePath(b))
	if err != nil || f.SessionID != "" && f.SessionID != b.Session {
		return nil //nolint:nilerr // it is kept, whatever it is
	}
	return os.Remove(filePath(b))
}

// fileEnding is what people's scripts look for at the end.
func fileEnding(s *seat) string {
	st := s.mem.State
	switch st.Outcome {
	case loop.Iterations:
		return ralphloop.MaxReached(st.Policy.Limits.Iterations)
	case loop.Verified, loop.Unverified:
		return ralphloop.Detected(s.spec.Promise)
	case loop.CancelledEnd:
		return ralphloop.Cancelled(st.Iteration)
	case loop.Finished, loop.Errored, loop.Duration, loop.Budget, loop.Stuck, loop.BlockedEnd, loop.Tampered:
	}
	return ""
}
