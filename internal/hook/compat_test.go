package hook

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
)

// The user's changes of another tool's file are received even while no turn ends: a paused loop
// continues, and a loop whose file is deleted ends.
func TestWakerReceivesFileChangesWhileLoopWaits(t *testing.T) {
	t.Parallel()
	const file = ".claude/ralph-loop.local.md"
	at := func(active string) []byte {
		return []byte("---\nactive: " + active + "\niteration: 1\nsession_id: s1\n---\n\ndo it\n")
	}
	cases := map[string]struct {
		change func(path string) error
		want   string
	}{
		"active again": {func(path string) error { return os.WriteFile(path, at("true"), 0o600) }, "PROMPT of iteration 2"},
		"deleted":      {os.Remove, "Cancelled Ralph loop (was at iteration 1)"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := &dialogue{fixture: newFixture(t)}
				path := filepath.Join(d.root, filepath.FromSlash(file))
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, at("false"), 0o600); err != nil {
					t.Fatal(err)
				}
				spec := usualSpec()
				spec.CompatFile = file
				d.begin(spec)
				if got := d.sendEvent(`Stop`); !strings.Contains(got, "is paused") {
					t.Fatal(got)
				}
				ends := d.startWakers(1, `Stop`)
				time.Sleep(5 * time.Minute)
				synctest.Wait()
				select {
				case got := <-ends:
					t.Fatalf("woken for nothing: %+v", got)
				default:
				}
				if err := c.change(path); err != nil {
					t.Fatal(err)
				}
				if got := <-ends; got.code != exitWake || !strings.Contains(got.text, c.want) {
					t.Errorf("woken with %+v", got)
				}
			})
		})
	}
}

// If Pawl is installed twice, one installation starts a loop for a file, and the other one prints
// nothing about it.
func TestOneOfTwoInstallationsAdoptsFile(t *testing.T) {
	t.Parallel()
	for range 5 {
		d := &dialogue{fixture: newFixture(t)}
		path := filepath.Join(d.root, ".claude", "ralph-loop.local.md")
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil {
			err = os.WriteFile(path, []byte("---\niteration: 1\n---\n\ndo it\n"), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := d.answerAsInstallations(`Stop`, "plugin", "settings"); len(got) != 1 {
			t.Errorf("answered by %q", got)
		}
		loops, err := record.List(store.Open(d.home))
		if err != nil || len(loops) != 1 {
			t.Errorf("%d loops, %v", len(loops), err)
		}
	}
}
