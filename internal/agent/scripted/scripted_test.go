package scripted_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/agent/scripted"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
)

func parse(t *testing.T, format string, args ...any) *scripted.Script {
	t.Helper()
	s, err := scripted.Parse(fmt.Appendf(nil, format, args...))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestScriptedAgentKeepsTheContract(t *testing.T) {
	t.Parallel()
	agenttest.Run(t, func(t *testing.T) agenttest.Subject {
		script := &scripted.Script{}
		play := func(text string) { *script = *parse(t, "%s", text) }
		dir := t.TempDir()
		return agenttest.Subject{
			Agent:   scripted.Agent{Script: script, Counter: filepath.Join(t.TempDir(), "turns")},
			Options: agent.Options{Dir: dir},
			Says:    func(text string) { play("-- go/reply --\n" + text + "\n-- work/reply --\n" + text) },
			Hangs:   func() { play("-- go/sleep --\n1h\n") },
			Writes: func(path, content string) {
				rel, err := filepath.Rel(dir, path)
				if err != nil {
					t.Fatal(err)
				}
				play("-- make/files/" + rel + " --\n" + content)
			},
		}
	})
}

func start(t *testing.T, a scripted.Agent, o agent.Options) agent.Session {
	t.Helper()
	s, err := a.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTurnsAreCountedOverSessions(t *testing.T) {
	t.Parallel()
	a := scripted.Agent{Counter: filepath.Join(t.TempDir(), "turns"), Script: parse(t, `
-- 1/reply --
first
-- 2/failure --
usage_limit 2s You've hit your limit
-- 3/reply --
third
-- beta/reply --
by word
-- 5+/reply --
from the fifth on
`)}
	var got []string
	for range 3 {
		s := start(t, a, agent.Options{})
		r, err := s.Turn(t.Context(), agent.Turn{Prompt: "x"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Failure != nil {
			wait := time.Until(r.Failure.Until)
			got = append(got, string(r.Failure.Class)+" "+r.Failure.Message)
			if wait <= 0 || wait > 2*time.Second {
				t.Errorf("until in %v", wait)
			}
			continue
		}
		got = append(got, s.ID()+" "+r.Text)
	}
	s := start(t, a, agent.Options{Resume: "mine"})
	for _, prompt := range []string{"task beta", "task gamma", "task delta"} {
		r, err := s.Turn(t.Context(), agent.Turn{Prompt: prompt}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, s.ID()+" "+r.Text)
	}
	want := []string{
		"scripted-1 first", "usage_limit You've hit your limit", "scripted-3 third",
		"mine by word", "mine from the fifth on", "mine from the fifth on",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTurnPlaysItsPart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "old.txt"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	a := scripted.Agent{Script: parse(t, `
-- 1/tools --
2
-- 1/files/deep/new.txt --
hello
-- 1/edit/deep/new.txt --
hello
goodbye
-- 1/delete --
old.txt
-- 1/run --
printf '%%s' "$PAWL_LOOP $WORD" > ran.txt
-- 1/run --
git push
-- 1/context --
42
-- 1/cost --
0.5
-- 1/background --
a server
-- 1/reply --
done
`)}
	o := agent.Options{Dir: dir, Marker: "otter", Env: map[string]string{"WORD": "ratchet"}}
	o.CheckTool = func(c toolcall.Call) agent.Verdict {
		return agent.Verdict{Allow: !strings.HasPrefix(c.Command, "git push"), Reason: "no"}
	}
	var details []string
	r, err := start(t, a, o).Turn(t.Context(), agent.Turn{Prompt: "go"}, func(e agent.Event) {
		if e.Kind == agent.KindTool || e.Kind == agent.KindDenied {
			details = append(details, string(e.Kind)+" "+e.Detail)
		}
	})
	if err != nil || r.Failure != nil {
		t.Fatalf("%v, %+v", err, r.Failure)
	}
	want := []string{
		"tool read README.md", "tool read README.md", "tool write deep/new.txt", "tool edit deep/new.txt", "tool $ rm old.txt",
		"tool $ printf '%s' \"$PAWL_LOOP $WORD\" > ran.txt", "tool $ git push", "denied $ git push",
	}
	if diff := cmp.Diff(want, details); diff != "" {
		t.Error(diff)
	}
	for name, content := range map[string]string{"deep/new.txt": "goodbye\n", "ran.txt": "otter ratchet"} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != content {
			t.Errorf("%s holds %q, %v", name, b, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "old.txt")); err == nil {
		t.Error("old.txt is still there")
	}
	if r.Text != "done" || r.ToolCalls != 7 || r.Denied != 1 || r.ContextPercent != 42 || r.Usage.CostUSD != 0.5 ||
		!cmp.Equal(r.Background, []string{"a server"}) {
		t.Errorf("result %+v", r)
	}
}

// It reads a file that is there before it changes it, once in a context, unless the
// script has it unread.
func TestFilesAreReadBeforeTheyAreChanged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("old\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	a := scripted.Agent{Script: parse(t, `
-- 1/unread/a --
older
-- 1/read --
b
-- 2/edit/a --
older
new
-- 2/files/a --
newer
-- 2/files/b --
b
-- 3/read --
b
a
`)}
	var calls []string
	s := start(t, a, agent.Options{Dir: dir})
	turn := func() {
		t.Helper()
		_, err := s.Turn(t.Context(), agent.Turn{Prompt: "go"}, func(e agent.Event) {
			if e.Kind == agent.KindTool {
				calls = append(calls, e.Detail)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	turn()
	turn()
	if err := s.(agent.Warm).Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	turn()
	if diff := cmp.Diff([]string{"write a", "edit a", "write a", "write b", "read b", "read a"}, calls); diff != "" {
		t.Error(diff)
	}
}

func TestInvalidScriptsAreRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"-- reply --\n", "-- 1/dance --\n", "-- 1/sleep --\nlong\n", "-- 1/tools --\nx\n",
		"-- 1/failure --\nboredom\n", "-- 1/cost --\nfree\n", "-- 1/context --\nhalf\n", "-- 1/edit/x --\none line\n",
	} {
		if _, err := scripted.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), "section") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := (scripted.Agent{}).Start(t.Context(), agent.Options{}); err == nil {
		t.Error("started without a script")
	}
	broken := filepath.Join(t.TempDir(), "turns")
	if err := os.WriteFile(broken, []byte("many"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (scripted.Agent{Script: &scripted.Script{}, Counter: broken}).Start(t.Context(), agent.Options{}); err == nil {
		t.Error("started with a broken counter")
	}
}

// A session that only reads has parts and a count of its own, beside the one whose
// work it looks at.
func TestReviewsPlayPartsOfTheirOwn(t *testing.T) {
	t.Parallel()
	a := scripted.Agent{Counter: filepath.Join(t.TempDir(), "turns"), Script: parse(t, `
-- 1/reply --
work
-- review-1/reply --
first
-- review-2+/reply --
later
-- review-blue/reply --
blue
`)}
	turn := func(readOnly bool, prompt string) string {
		t.Helper()
		r, err := start(t, a, agent.Options{Dir: t.TempDir(), ReadOnly: readOnly}).Turn(t.Context(), agent.Turn{Prompt: prompt}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r.Text
	}
	got := []string{turn(true, "x"), turn(false, "x"), turn(true, "x"), turn(true, "a blue one"), turn(false, "x")}
	want := []string{"first", "work", "later", "blue", "The script has nothing for this turn."}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
