package place_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/session/place"
)

// An inspection counts until a file that could matter changes.
func TestFingerprintChangesWithRelevantFiles(t *testing.T) {
	t.Parallel()
	const (
		th       = ".claude/th-loop.local.md"
		list     = ".claude/data/ralph-loops/current/feature_list.json"
		progress = ".claude/data/ralph-loops/current/progress.txt"
		db       = "runtime-state/verify-state.db"
	)
	now := time.Now()
	old := now.Add(-time.Hour)
	tests := []struct {
		name   string
		change func(g *inspectedProject)
		knows  bool
	}{
		{"nothing", func(*inspectedProject) {}, true},
		{"files that do not matter", func(g *inspectedProject) { g.put("main.go", old); g.put(".claude/other.md", old) }, true},
		{"a file is written", func(g *inspectedProject) { g.put(th, old.Add(time.Minute)) }, false},
		{"a file of the same time has another size", func(g *inspectedProject) { g.text = "more"; g.put(th, old) }, false},
		{"an older file takes its place", func(g *inspectedProject) { g.put(th, old.Add(-time.Hour)) }, false},
		{"a file goes", func(g *inspectedProject) { g.remove(th) }, false},
		{"a file comes, with an old time", func(g *inspectedProject) { g.put(".claude/ralph-loop.local.md", old.Add(-time.Hour)) }, false},
		{"the list", func(g *inspectedProject) { g.put(list, old.Add(time.Minute)) }, false},
		{"progress", func(g *inspectedProject) { g.put(progress, old.Add(time.Minute)) }, false},
		{"a folder beside it", func(g *inspectedProject) { g.put(".claude/data/ralph-loops/b/feature_list.json", old) }, false},
		{"a newer version's state", func(g *inspectedProject) { g.put(db+"-wal", old) }, false},
		{"settings", func(g *inspectedProject) { g.put(".claude/settings.local.json", old) }, false},
		{"the user's settings", func(g *inspectedProject) { g.put("home/.claude/settings.json", old) }, false},
		{"another agent", func(g *inspectedProject) { g.ThLoopAgent = "eris" }, false},
		{"a folder that the user names", func(g *inspectedProject) { g.RalphLoopDir = "." }, false},
		{"written just now, at the same time", func(g *inspectedProject) { g.now = old.Add(time.Second) }, false},
		{"written in the future", func(g *inspectedProject) { g.now = old.Add(-time.Hour) }, false},
		{"very many folders", func(g *inspectedProject) {
			for i := range 40 {
				g.put(".claude/data/ralph-loops/"+strings.Repeat("a", i+1)+"/x", old)
			}
		}, false},
		{"a damaged record", func(g *inspectedProject) {
			if err := os.WriteFile(g.folder.InspectedPath("s"), []byte("x"), 0o600); err != nil {
				g.t.Fatal(err)
			}
		}, false},
		{"the session ends", func(g *inspectedProject) { g.folder.ForgetSession("s") }, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			g := &inspectedProject{t: t, Project: place.Project{Root: root, ClientConfig: filepath.Join(root, "home", ".claude")}, folder: place.Of(filepath.Join(root, "pawl")), now: now}
			for _, name := range []string{th, list, progress, db} {
				g.put(name, old)
			}
			if g.folder.WasInspected("s", g.Fingerprint(now)) {
				t.Fatal("inspected before RecordInspection")
			}
			if err := g.folder.RecordInspection("s", g.Fingerprint(now)); err != nil {
				t.Fatal(err)
			}
			tt.change(g)
			if got := g.folder.WasInspected("s", g.Fingerprint(g.now)); got != tt.knows {
				t.Errorf("knows: %v\n%s", got, g.Fingerprint(g.now))
			}
			if g.folder.WasInspected("other", g.Fingerprint(g.now)) {
				t.Error("another session knows it too")
			}
		})
	}
}

// inspectedProject is a project that a session has inspected.
type inspectedProject struct {
	t *testing.T
	place.Project
	folder place.Folder
	now    time.Time
	text   string
}

// put writes a file, and sets its time and that of its folders.
func (g *inspectedProject) put(name string, at time.Time) {
	g.t.Helper()
	path := filepath.Join(g.Root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		g.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(g.text), 0o600); err != nil {
		g.t.Fatal(err)
	}
	for ; path != g.Root; path, at = filepath.Dir(path), g.now.Add(-time.Hour) {
		if err := os.Chtimes(path, at, at); err != nil {
			g.t.Fatal(err)
		}
	}
}

func (g *inspectedProject) remove(name string) {
	g.t.Helper()
	if err := os.Remove(filepath.Join(g.Root, filepath.FromSlash(name))); err != nil {
		g.t.Fatal(err)
	}
}
