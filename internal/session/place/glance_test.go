package place_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/session/place"
)

// What a session has looked into it knows, until anything that could matter looks
// otherwise.
func TestGlance(t *testing.T) {
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
		change func(g *glanced)
		knows  bool
	}{
		{"nothing", func(*glanced) {}, true},
		{"files that do not matter", func(g *glanced) { g.put("main.go", old); g.put(".claude/other.md", old) }, true},
		{"a file is written", func(g *glanced) { g.put(th, old.Add(time.Minute)) }, false},
		{"a file of the same time has another size", func(g *glanced) { g.text = "more"; g.put(th, old) }, false},
		{"an older file takes its place", func(g *glanced) { g.put(th, old.Add(-time.Hour)) }, false},
		{"a file goes", func(g *glanced) { g.remove(th) }, false},
		{"a file comes, with an old time", func(g *glanced) { g.put(".claude/ralph-loop.local.md", old.Add(-time.Hour)) }, false},
		{"the list", func(g *glanced) { g.put(list, old.Add(time.Minute)) }, false},
		{"progress", func(g *glanced) { g.put(progress, old.Add(time.Minute)) }, false},
		{"a folder beside it", func(g *glanced) { g.put(".claude/data/ralph-loops/b/feature_list.json", old) }, false},
		{"a newer version's state", func(g *glanced) { g.put(db+"-wal", old) }, false},
		{"settings", func(g *glanced) { g.put(".claude/settings.local.json", old) }, false},
		{"the user's settings", func(g *glanced) { g.put("home/.claude/settings.json", old) }, false},
		{"another agent", func(g *glanced) { g.ThLoopAgent = "eris" }, false},
		{"a folder that the user names", func(g *glanced) { g.RalphLoopDir = "." }, false},
		{"written just now, at the same time", func(g *glanced) { g.now = old.Add(time.Second) }, false},
		{"written in the future", func(g *glanced) { g.now = old.Add(-time.Hour) }, false},
		{"very many folders", func(g *glanced) {
			for i := range 40 {
				g.put(".claude/data/ralph-loops/"+strings.Repeat("a", i+1)+"/x", old)
			}
		}, false},
		{"a damaged mark", func(g *glanced) {
			if err := os.WriteFile(g.folder.Looked("s"), []byte("x"), 0o600); err != nil {
				g.t.Fatal(err)
			}
		}, false},
		{"the session ends", func(g *glanced) { g.folder.Forget("s") }, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			g := &glanced{t: t, Project: place.Project{Root: root, Home: filepath.Join(root, "home")}, folder: place.Of(filepath.Join(root, "pawl")), now: now}
			for _, name := range []string{th, list, progress, db} {
				g.put(name, old)
			}
			if g.folder.Knows("s", g.Glance(now)) {
				t.Fatal("known before anybody looked")
			}
			if err := g.folder.Look("s", g.Glance(now)); err != nil {
				t.Fatal(err)
			}
			tt.change(g)
			if got := g.folder.Knows("s", g.Glance(g.now)); got != tt.knows {
				t.Errorf("knows: %v\n%s", got, g.Glance(g.now))
			}
			if g.folder.Knows("other", g.Glance(g.now)) {
				t.Error("another session knows it too")
			}
		})
	}
}

// glanced is a project in which a session has looked around.
type glanced struct {
	t *testing.T
	place.Project
	folder place.Folder
	now    time.Time
	text   string
}

// put writes a file; it, and the folders that it lies in, are of that time.
func (g *glanced) put(name string, at time.Time) {
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

func (g *glanced) remove(name string) {
	g.t.Helper()
	if err := os.Remove(filepath.Join(g.Root, filepath.FromSlash(name))); err != nil {
		g.t.Fatal(err)
	}
}
