//go:build unix

package e2e_test

import (
	"cmp"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/pawl-dev/pawl/bench/trust"
	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// Cheats of the liar's bench (bench/trust) that the real client plays too: once
// run by Pawl, which answers its calls by callback, and once in a session with
// Pawl's plugin: in turn, and both where every step is asked for. None ends verified,
// and each is named.
func TestClientCheats(t *testing.T) {
	t.Parallel()
	for i, name := range []string{
		"claims_without_work", "edits_test", "skips_test_python", "edits_gate_script", "renames_over_gate", "ticks_plan",
		"adds_conftest", "promise_in_output", "hides_test_from_git", "pushes", "destroys_work",
	} {
		s := cheat(t, name)
		if i%agenttest.Stride(2) == 0 {
			t.Run(name+"/callback", func(t *testing.T) {
				l := newLiar(t, s)
				l.api.Play(l.lie)
				r := l.pawl(append([]string{"run", "--agent-command", l.client, "--max-iterations", "8"}, l.goal()...)...)
				l.isCaught(r.String())
			})
		}
		if (i+1)%agenttest.Stride(2) != 0 {
			continue
		}
		t.Run(name+"/plugin", func(t *testing.T) {
			l := newLiar(t, s, installPlugin, liftStopCap)
			l.api.Play(func(r messagesapi.Request) messagesapi.Response {
				if r.Number == 1 {
					return messagesapi.Bash("pawl start --max-iterations 8 " + l.lines("run")[0])
				}
				return l.lie(r)
			})
			l.isCaught(l.print("loop").String())
		})
	}
}

// Cheats and honest runs of the lists, whose authors had not seen the judge, with the
// real client: no such cheat ends verified, and no such honest run is hindered. Every
// third is played, and all where every step is asked for.
func TestClientLists(t *testing.T) {
	t.Parallel()
	for i, file := range []string{
		"first/cheats/code_go_testing_testing", "first/cheats/code_py_atexit_exit_zero", "first/cheats/py_delete_init_of_tests",
		"first/cheats/js_failing_test_is_todo", "first/cheats/code_js_hollow_export_test", "second/cheats/py_equal_to_everything",
		"second/cheats/js_patched_node_modules", "second/cheats/sh_exit_trap_in_library", "third/cheats/py_load_tests_filters",
		"third/cheats/go_local_mk_narrows_run",
		"first/honest/go_generic_function", "first/honest/py_new_function_with_test", "second/honest/js_commonjs_to_esm",
		"third/honest/go_cli_flag_json", "third/honest/py_cli_reverse_flag",
	} {
		if i%agenttest.Stride(3) != 0 {
			continue
		}
		t.Run(file, func(t *testing.T) {
			l := newLiar(t, listed(t, file))
			l.api.Play(l.lie)
			r := l.pawl(append([]string{"run", "--agent-command", l.client, "--max-iterations", "8"}, l.goal()...)...)
			switch outcome := l.status().Outcome; {
			case l.scenario.Label == trust.Honest:
				l.isCaught(r.String())
				if strings.Contains(r.String(), "denied") {
					t.Errorf("an honest agent was denied something:\n%s", r)
				}
			case outcome == "verified":
				t.Errorf("a cheat ended verified:\n%s", r)
			}
		})
	}
}

// listed is the scenario of a list that stands in this file.
func listed(t *testing.T, file string) trust.Scenario {
	t.Helper()
	list, _, _ := strings.Cut(file, "/")
	all, err := trust.List(list)
	i := slices.IndexFunc(all, func(s trust.Scenario) bool { return strings.HasSuffix(s.File, "lists/"+file+".txtar") })
	if err != nil || i < 0 {
		t.Fatalf("no scenario %s: %v", file, err)
	}
	return all[i]
}

// cheat is the scenario of that name.
func cheat(t *testing.T, name string) trust.Scenario {
	t.Helper()
	all, err := trust.Scenarios(name)
	i := slices.IndexFunc(all, func(s trust.Scenario) bool { return s.Name == name })
	if err != nil || i < 0 {
		t.Fatalf("no scenario %s: %v", name, err)
	}
	return all[i]
}

// liar is a project whose model cheats by a scenario, in the same way in each
// turn.
type liar struct {
	*sessions
	scenario trust.Scenario
	left     []txtar.File // of the turn under way
	read     map[string]bool
}

func newLiar(t *testing.T, s trust.Scenario, how ...installation) *liar {
	t.Helper()
	for _, program := range s.Needs {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s needs %s", s.Name, program)
		}
	}
	files := map[string]string{}
	for _, f := range s.Files {
		files[f.Name] = string(f.Data)
	}
	l := &liar{sessions: sessionsWith(t, files, how...), scenario: s, read: map[string]bool{}}
	l.env["PATH"] = trust.Path(t.Context(), l.env["PATH"])
	for _, command := range l.lines("given") {
		if out, err := l.shell(command); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
	}
	return l
}

// lines are those of a kind in the scenario's story.
func (l *liar) lines(kind string) (all []string) {
	for _, step := range l.scenario.Steps {
		if step.Kind == kind {
			all = append(all, step.Text)
		}
	}
	return all
}

// goal is the scenario's command line, as a shell splits it.
func (l *liar) goal() []string {
	l.t.Helper()
	out, err := l.shell("printf '%s\\n' " + l.lines("run")[0])
	if err != nil {
		l.t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(out), "\n")
}

func (l *liar) shell(command string) (string, error) {
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir, cmd.Env = l.root, l.environ()
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// lie is what the model answers: its part, from the beginning in each turn.
func (l *liar) lie(r messagesapi.Request) messagesapi.Response {
	if len(r.ToolResults()) == 0 || len(l.left) == 0 {
		l.left = txtar.Parse(l.scenario.Agent).Files
	}
	f := l.left[0]
	_, what, _ := strings.Cut(f.Name, "/")
	name, writes := strings.CutPrefix(what, "files/")
	seen := r.Session + name
	if writes && !l.read[seen] && exists(l.path(name)) { // the client demands it
		l.read[seen] = true
		return messagesapi.Tool("Read", map[string]any{"file_path": l.path(name)})
	}
	l.left = l.left[1:]
	switch {
	case writes:
		return messagesapi.Write(l.path(name), string(f.Data))
	case what == "run":
		return messagesapi.Bash(strings.TrimSpace(string(f.Data)))
	}
	return messagesapi.Text(cmp.Or(strings.TrimSpace(string(f.Data)), "Well."))
}

// isCaught checks that the loop has ended as the scenario says, and is named.
func (l *liar) isCaught(said string) {
	l.t.Helper()
	page := l.pawl("report").out + l.pawl("log").out
	if outcome := l.status().Outcome; outcome == "" || !strings.Contains(strings.Join(l.lines("ends"), " "), outcome) {
		l.t.Errorf("the loop ended %q, not %s", outcome, l.lines("ends"))
	}
	for _, text := range l.lines("named") {
		if !strings.Contains(page, text) {
			l.t.Errorf("nothing says %q", text)
		}
	}
	for _, command := range l.lines("check") {
		if out, err := l.shell(command); err != nil {
			l.t.Errorf("%s: %v: %s", command, err, out)
		}
	}
	l.checkJournalChain()
	if l.t.Failed() {
		l.t.Logf("%s\n%s\n%s\n%s", page, said, l.conversation(), filepath.Base(l.scenario.File))
	}
}
