package hook

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/session/place"
)

// A session without a loop inspects another tool's files once, and again if they may have
// changed.
func TestSessionInspectsForeignFilesOnce(t *testing.T) {
	t.Parallel()
	const (
		th   = ".claude/th-loop.local.md"
		dir  = ".claude/data/ralph-loops/current/"
		open = `[{"id": 1, "description": "One", "passes": false}]`
	)
	just, long := -10*time.Second, -48*time.Hour
	tests := []struct {
		name  string
		files map[string]string
		age   time.Duration
		knows bool
	}{
		{"an ended th-loop", map[string]string{th: "---\nstatus: completed\n---\n"}, just, true},
		{"an ended feature list", map[string]string{dir + "feature_list.json": open, dir + "progress.txt": "- Status: REACHED_LIMIT\n"}, just, true},
		{"an old feature list", map[string]string{dir + "feature_list.json": open}, long, true},
		{"an old verify loop of a newer version", map[string]string{"runtime-state/verify-state.db": "x"}, long, true},
		{"one that is refused", map[string]string{dir + "feature_list.json": open, dir + "progress.txt": "- Status: COMPLETE\n"}, just, true},
		{"one that is written now", map[string]string{th: "---\nstatus: completed\n---\n"}, 0, false},
		{"one that cannot be read", map[string]string{dir + "feature_list.json": "["}, just, false},
		{"one that is followed", map[string]string{th: "---\nstatus: active\n---\n"}, just, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := &dialogue{fixture: newFixture(t)}
			for name, text := range tt.files {
				path := filepath.Join(d.root, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				at := time.Now().Add(tt.age)
				for ; path != d.root; path = filepath.Dir(path) {
					if err := os.Chtimes(path, at, at); err != nil {
						t.Fatal(err)
					}
				}
			}
			got := d.sendEvent(`Stop`)
			if knows := place.Of(d.home).WasInspected("s1", place.At(d.root, d.env).Fingerprint(time.Now())); knows != tt.knows {
				t.Errorf("knows: %v, said %s", knows, got)
			}
			if _, err := os.Stat(place.Of(d.home).InspectedPath("s1")); (err == nil) != tt.knows {
				t.Errorf("a mark: %v", err)
			}
		})
	}
}
