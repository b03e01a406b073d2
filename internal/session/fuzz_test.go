package session_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/session"
)

// FuzzFiles checks that no content of the folder makes a function panic, that a new
// binding is found, and that a session without a file has no binding.
func FuzzFiles(f *testing.F) {
	f.Add([]byte(`{"session":"s1","loop":"brisk-otter-7f3a"}`), []byte(`[{"clients":[7],"until":"2999-01-01T00:00:00Z","binding":{"loop":"x"}}]`), "s1")
	f.Add([]byte(`{"prompts":[{"id":"p1"},{}]}`), []byte(`[{}]`), "waiting")
	f.Add([]byte("null"), []byte("null"), "../../s1")
	f.Add([]byte{}, []byte("[null]"), "")
	home := f.TempDir()
	f.Fuzz(func(t *testing.T, binding, waiting []byte, id string) {
		dir := filepath.Join(home, "sessions")
		err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700),
			os.WriteFile(filepath.Join(dir, "s1.json"), binding, 0o600),
			os.WriteFile(filepath.Join(dir, "s1.once"), waiting, 0o600),
			os.WriteFile(filepath.Join(dir, "waiting.json"), waiting, 0o600))
		if err != nil {
			t.Fatal(err)
		}
		s, now := session.Open(home), time.Now()
		if _, err := s.Find(id); id != "s1" && id != "S1" && !errors.Is(err, session.ErrNone) {
			t.Errorf("%q: %v", id, err)
		}
		_, found := s.Find("s1")
		b, err := s.Change(t.Context(), "s1", func(b *session.Binding) bool { return b.RecordPrompt(session.Prompt{ID: "new"}) })
		if (err == nil) != (found == nil) || len(b.Prompts) > 1000+len(binding) {
			t.Errorf("found: %v, changed: %v", found, err)
		}
		b.IsUserTurn("new")
		if first := once(t, s, "s1", "x"); once(t, s, "s1", "x") {
			t.Errorf("once and again, first %v", first)
		}
		if a, err := s.Adopt(t.Context(), "s2", 7, now); err == nil {
			if again, err := s.Find("s2"); err != nil || again.Loop != a.Loop || again.Client != 7 {
				t.Errorf("%+v %v", again, err)
			}
		} else if !errors.Is(err, session.ErrNone) {
			t.Error(err)
		}
		if err := s.Bind(t.Context(), session.Binding{Session: "s1", Loop: "l"}); err != nil {
			t.Error(err)
		}
		if b, err := s.Find("s1"); err != nil || b.Loop != "l" {
			t.Errorf("%+v %v", b, err)
		}
	})
}
