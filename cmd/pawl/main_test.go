package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
)

func TestMain(m *testing.M) {
	testscript.Main(stories{m}, map[string]func(){"pawl": main})
}

// stories are run only where this is not the pawl of one.
type stories struct{ *testing.M }

func (s stories) Run() int {
	agenttest.SideBySide(4)
	return s.M.Run()
}

// TestScripts runs the tool from outside, as people do. Each file in
// testdata/script is a story; UPDATE=1 writes what it printed into its
// expectations. Commands beside those of testscript:
//
//	age DUR FILE…        makes files look that much older
//	loop KIND ID [DIR]   makes the loop that testdata/loops/KIND.json describes, bound to DIR (.)
//	drive ID             this process drives the loop until the script ends
//	obey ID              the same, and it ends the loop when it is told to stop
//	checkpoint ID TEXT   keeps a snapshot of the work tree, as the runner does
//	until RE CMD…        runs a command again and again, until what it prints matches
//	remember NAME        sets $NAME to what was printed last
//	github FILE          starts a GitHub with the issues of o/r in FILE, for the real gh
//	collector FILE       starts a collector of OpenTelemetry that writes to FILE what it is sent
//	damage ID            changes a byte in the middle of the loop's journal
func TestScripts(t *testing.T) {
	t.Parallel()
	loops, err := filepath.Abs(filepath.Join("testdata", "loops"))
	if err != nil {
		t.Fatal(err)
	}
	cache, err := goCache()
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	scripts, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	if err != nil || len(scripts) == 0 {
		t.Fatalf("%d scripts, %v", len(scripts), err)
	}
	testscript.Run(t, testscript.Params{
		Files:               agenttest.PartOf(scripts),
		RequireExplicitExec: true,
		UpdateScripts:       os.Getenv("UPDATE") != "",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"age":        age,
			"loop":       func(ts *testscript.TestScript, _ bool, args []string) { makeLoop(ts, loops, args) },
			"drive":      func(ts *testscript.TestScript, _ bool, args []string) { drive(ts, args[0]) },
			"obey":       func(ts *testscript.TestScript, _ bool, args []string) { obey(ts, args[0]) },
			"checkpoint": func(ts *testscript.TestScript, _ bool, args []string) { checkpoint(ts, args[0], args[1]) },
			"remember":   func(ts *testscript.TestScript, _ bool, args []string) { remember(ts, args[0]) },
			"until":      func(ts *testscript.TestScript, _ bool, args []string) { until(ts, args[0], args[1:]) },
			"github":     func(ts *testscript.TestScript, _ bool, args []string) { github(ts, args) },
			"collector":  func(ts *testscript.TestScript, _ bool, args []string) { collector(ts, args) },
			"damage":     func(ts *testscript.TestScript, _ bool, args []string) { damage(ts, args[0]) },
		},
		Setup: func(e *testscript.Env) error {
			home := filepath.Join(e.WorkDir, "home")
			e.Vars = append(e.Vars,
				"HOME="+home, "USERPROFILE="+home, "PAWL_HOME="+filepath.Join(home, "pawl"),
				"XDG_CONFIG_HOME="+filepath.Join(home, "config"), "XDG_STATE_HOME=", "PAWL_LOOP=",
				"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_TEMPLATE_DIR=", // no samples of hooks
				"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.org", "GIT_AUTHOR_DATE=2026-01-31T09:00:00Z",
				"GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.org", "GIT_COMMITTER_DATE=2026-01-31T09:00:00Z",
				"ROOT="+root, "GOCACHE="+cache, "NO_COLOR=1", "TERM=dumb", "TZ=UTC", "LC_ALL=C.UTF-8",
			)
			return os.MkdirAll(home, 0o700)
		},
	})
}

// goCache is where the go command keeps what it built: a gate that runs it in a home
// of its own would build the standard library anew.
func goCache() (string, error) {
	if dir := os.Getenv("GOCACHE"); dir != "" {
		return dir, nil
	}
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "go-build"), err
}

// age gives files a time that lies so far back: age 2h FILE…
func age(ts *testscript.TestScript, _ bool, args []string) {
	by, err := time.ParseDuration(args[0])
	ts.Check(err)
	for _, name := range args[1:] {
		ts.Check(os.Chtimes(ts.MkAbs(name), time.Time{}, time.Now().Add(-by)))
	}
}
