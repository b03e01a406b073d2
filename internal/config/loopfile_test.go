package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/config"
)

func TestLoopFileIsRead(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, text, prompt, model string }{
		{"front matter and prompt", "---\nmodel: m\n---\n\nTidy up.\n\nAll of it.\n", "Tidy up.\n\nAll of it.", "m"},
		{"no front matter", "\nTidy up.\n", "Tidy up.", ""},
		{"line ends of Windows", "---\r\nmodel: m\r\n---\r\nTidy up.\r\nNow.\r\n", "Tidy up.\nNow.", "m"},
		{"byte order mark", "\ufeff---\nmodel: m\n---\nTidy up.", "Tidy up.", "m"},
		{"rules in the body", "---\nmodel: m\n---\na\n---\nb\n", "a\n---\nb", "m"},
		{"rule in a body without front matter", "a\n---\nmodel: m\n---\n", "a\n---\nmodel: m\n---", ""},
		{"dashes inside a value", "---\nmodel: |-\n  ---\n---\nTidy up.", "Tidy up.", "---"},
		{"indented first line", "---\n---\n\n    code\n", "    code", ""},
		{"empty front matter", "---\n---\nTidy up.", "Tidy up.", ""},
		{"comments only", "---\n# nothing\n---\nTidy up.", "Tidy up.", ""},
		{"spaces behind the dashes", "--- \nmodel: m\n---\t\nTidy up.", "Tidy up.", "m"},
		{"no body", "---\nmodel: m\n---", "", "m"},
		{"dots for the end", "---\nmodel: m\n...\nTidy up.", "Tidy up.", "m"},
		{"nothing", "", "", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "goal.md")
			writeFile(t, path, c.text)
			layer, prompt, err := config.ReadLoopFile(path, "")
			if err != nil {
				t.Fatal(err)
			}
			s, err := config.Resolve(layer)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{c.prompt, c.model}, []string{prompt, s.Model}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLoopFileKeys(t *testing.T) {
	t.Parallel()
	s, err := config.Resolve(loopLayer(t, `
max_iterations: 12
max_duration: 90m
max_cost: 5.50
completion_promise: ALL GREEN
gates:
  - go vet ./...
  - name: unit
    command: [go, test, ./...]
    timeout: 2m
evidence: { US-002: unproven }
protect:
  - docs/**
warm: true`))
	if err != nil {
		t.Fatal(err)
	}
	got := []any{s.MaxIterations, s.MaxDuration, s.MaxCost, s.Promise, len(s.Gates), s.Gates[1].Name, s.Gates[1].Timeout, string(s.Evidence.For("US-002")), s.Protect[0], s.Warm}
	want := []any{config.Iterations(12), 90 * time.Minute, config.USD(5.5), "ALL GREEN", 2, "unit", 2 * time.Minute, "unproven", "docs/**", true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestMistakesInLoopFile(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, text, message, hint string }{
		{"unknown key", "---\nmodel: m\nmax_iteration: 3\n---\n", "goal.md:3: max_iteration: unknown key", "did you mean max_iterations?"},
		{"in a gate", "---\ngates:\n  - command: a\n    teir: fast\n---\n", "goal.md:4: gates[0].teir: unknown key", "did you mean tier?"},
		{"in a list", "---\ntests:\n  - a\n  - 3\n---\n", "goal.md:4: tests[1]: want text, not 3", ""},
		{"no value", "---\nplan:\n---\n", "goal.md:2: plan: want text, but there is no value", ""},
		{"no list", "---\nprotect:\n---\n", "goal.md:2: protect: want a list of texts, but there is no value", ""},
		{"no gates", "---\ngates:\n---\n", "goal.md:2: gates: want a list of commands and tables, but there is no value", ""},
		{"both names of a key", "---\npromise: A\ncompletion_promise: B\n---\n", "goal.md:3: completion_promise: completion_promise is the same as promise", ""},
		{"never closed", "---\nmodel: m\n", "goal.md:1: the front matter has no closing ---", "a loop file begins with ---"},
		{"not a table", "---\n- a\n---\n", "goal.md:2: ", "a loop file begins"},
		{"syntax", "---\nmodel: m\nplan: [a\n---\n", "goal.md:3: ", "a loop file begins"},
		{"key twice", "---\nmodel: a\nmodel: b\n---\n", "goal.md:3: ", "a loop file begins"},
		{"aliases", "---\ntests: &a [x]\nprotect: *a\n---\n", "goal.md:2: anchors, aliases and tags are not supported", ""},
		{"alias in a list", "---\ntests:\n  - [*a]\n---\n", "goal.md:3: anchors", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			path := filepath.Join(root, "goal.md")
			writeFile(t, path, c.text)
			layer, _, err := config.ReadLoopFile(path, root)
			if err == nil {
				_, err = config.Resolve(layer)
			}
			wantMistake(t, err, c.message, c.hint)
		})
	}
}

func TestAbsentLoopFile(t *testing.T) {
	t.Parallel()
	_, _, err := config.ReadLoopFile(filepath.Join(t.TempDir(), "none.md"), "")
	wantMistake(t, err, "read loop file", "")
}

func TestIsLoopFile(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"---\n": true, "\ufeff---\r\na": true, "---": true, "----\n": false, "": false, "a\n---\n": false} {
		if got := config.IsLoopFile([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// For any content, ReadLoopFile returns without a panic, and the prompt is a part of the file.
func FuzzLoopFile(f *testing.F) {
	f.Add("---\nmodel: m\ngates: [a, {command: b}]\n---\nTidy up.\n")
	f.Add("---\nevidence: {a: reviewed}\n---\r\nx\r\n---\r\n")
	f.Add("---\n? [a]\n: b\n---\n")
	f.Add("---\n\"a.b\": {c: [1, {d: !!str 2}]}\n---\n")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(dir, "goal.md")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		layer, prompt, err := config.ReadLoopFile(path, dir)
		if err != nil {
			return
		}
		if !strings.Contains(strings.ReplaceAll(text, "\r\n", "\n"), prompt) {
			t.Errorf("the prompt %q is not in %q", prompt, text)
		}
		if s, err := config.Resolve(layer); err == nil {
			s.Explain()
		}
	})
}

func FuzzProjectFile(f *testing.F) {
	f.Add("model = 'm'\n[[gates]]\ncommand = 'a'\n[worktree]\nsetup = ['b']\n")
	f.Add("gates = [{command = ['a', 'b']}, 'c']\nevidence.a = 'reviewed'\n")
	f.Add("a.b.c = 1\n[a.b.d]\n[[a.e]]\n[[a.e.f]]\n")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(filepath.Join(dir, "pawl.toml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		layer, err := config.ReadProject(dir)
		if err != nil {
			return
		}
		if s, err := config.Resolve(layer); err == nil {
			s.Explain()
		}
	})
}
