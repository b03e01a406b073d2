package statefile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/record"
)

const verifyState = `{"sessionId": "chain-1", "config": {"command": "npm test", "timeout": 60000, "maxIterations": 5},
 "state": {"iteration": 1, "lastResult": null}}
`

func verifySample() sample {
	const path = "runtime-state/verify-active.json"
	return sample{
		files: map[string]string{path: "{\n  \"mine\": {\"iteration\": 3},\n  \"config\": {\"command\": \"npm test\", \"maxIterations\": 9},\n  \"state\": {\n    \"iteration\": 3,\n    \"lastResult\": null\n  }\n}\n"},
		state: path,
		spec: record.Spec{
			Request:        record.Request{Prompt: "Do it."},
			SessionOptions: record.SessionOptions{CompatFile: path}, Repository: record.Repository{NoCommit: true},
			Policy:       loop.Policy{Verify: true},
			Verification: record.Verification{Gates: []gate.Gate{{Command: "npm test"}}},
		},
		fills: true, // JSON has no lines: FuzzEdit of verifyactive checks every byte
	}
}

// verifyWorld is a project, and the folder of a plugin beside it.
type verifyWorld struct {
	t            *testing.T
	root, plugin string
	tracked      bool
	began        time.Time // of the session
}

func newVerifyWorld(t *testing.T) *verifyWorld {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &verifyWorld{t: t, root: filepath.Join(base, "project"), plugin: filepath.Join(base, "plugin"), began: time.Now().Add(-time.Minute)}
	for _, dir := range []string{w.root, w.plugin} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// write writes a file of the project, or with plugin/ of the plugin.
func (w *verifyWorld) write(name, content string) string {
	w.t.Helper()
	path := filepath.Join(w.root, filepath.FromSlash(name))
	if rest, found := strings.CutPrefix(name, "plugin/"); found {
		path = filepath.Join(w.plugin, filepath.FromSlash(rest))
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return path
}

func (w *verifyWorld) age(path string, by time.Duration) {
	w.t.Helper()
	if err := os.Chtimes(path, time.Time{}, time.Now().Add(-by)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *verifyWorld) format() Format {
	w.t.Helper()
	f, ok := FormatByName("verify-active")
	if !ok {
		w.t.Fatal("there is no format verify-active")
	}
	return f
}

func (w *verifyWorld) place() Place {
	return Place{Root: w.root, Plugin: w.plugin, ClientConfig: filepath.Join(w.root, "home", ".claude")}
}

// propose returns the result for the found file.
func (w *verifyWorld) propose() (Proposal, error) {
	w.t.Helper()
	path := w.format().Find(w.place())
	if path == "" {
		w.t.Fatal("there is no file")
	}
	return w.format().Propose(path, w.place(), SessionInfo{
		SessionID: "abc", SessionStarted: w.began, Now: time.Now(),
		Tracked: func(string) (bool, error) { return w.tracked, nil },
	})
}

func TestVerifyLoopIsProposed(t *testing.T) {
	t.Parallel()
	isolation := &record.Isolation{MaxCostUSD: 1, Timeout: 5 * time.Minute}
	tests := []struct {
		name string
		set  func(*verifyWorld)
		want func(*verifyWorld, *Proposal)
	}{
		{"file of the project", func(w *verifyWorld) { w.write("runtime-state/verify-active.json", verifyState) }, nil},
		{"file of the plugin", func(w *verifyWorld) { w.write("plugin/runtime-state/verify-active.json", verifyState) }, nil},
		{"the plugin's first", func(w *verifyWorld) {
			w.write("plugin/runtime-state/verify-active.json", verifyState)
			w.write("runtime-state/verify-active.json", "{}")
		}, nil},
		{"older state of a newer version beside it", func(w *verifyWorld) {
			w.age(w.write("runtime-state/verify-state.db", ""), time.Hour)
			w.write("runtime-state/verify-active.json", verifyState)
		}, nil},
		{"goal and folder", func(w *verifyWorld) {
			w.write("web/a", "")
			w.write("runtime-state/verify-active.json", strings.Replace(verifyState, `{"command"`, `{"workingDir": "web", "originalGoal": ">>fix login :: verify:\"npm test\" loop:true", "command"`, 1))
		}, func(w *verifyWorld, p *Proposal) {
			p.VerifyDir, p.Prompt = filepath.Join(w.root, "web"), ">>fix login"
		}},
		{"fewer checks than lead to an isolated try", func(w *verifyWorld) {
			w.write("runtime-state/verify-active.json", strings.Replace(verifyState, `"maxIterations": 5`, `"maxIterations": 2`, 1))
		}, func(_ *verifyWorld, p *Proposal) { p.MaxIterations = 2 }},
		{"settings", func(w *verifyWorld) {
			w.write("runtime-state/verify-active.json", verifyState)
			w.write("server/config.json", `{"verification": {"inContextAttempts": 2, "isolation": {"maxBudget": 0.25, "timeout": 90}}}`)
		}, func(_ *verifyWorld, p *Proposal) {
			p.InSessionTries = 2
			p.Isolation = &record.Isolation{MaxCostUSD: 0.25, Timeout: 90 * time.Second}
			p.StartMessage = "isolated tries are bounded by server/config.json"
		}},
		{"the plugin's settings first", func(w *verifyWorld) {
			w.write("runtime-state/verify-active.json", verifyState)
			w.write("config.json", `{"verification": {"inContextAttempts": 2}}`)
			w.write("plugin/server/config.json", `{"verification": {"isolation": {"permissionMode": "ask"}}}`)
		}, func(_ *verifyWorld, p *Proposal) {
			p.Isolation = nil
			p.StartMessage = `there are no isolated tries: config.json has permissionMode "ask": nobody is there in an isolated session who could be asked`
		}},
		{"broken settings", func(w *verifyWorld) {
			w.write("runtime-state/verify-active.json", verifyState)
			w.write("config.json", `{"verification": {"inContextAttempts": "2"}}`)
		}, func(_ *verifyWorld, p *Proposal) {
			p.StartMessage = `config.json:1: inContextAttempts is "2": expected a whole number from 1 to 1000; the default holds; isolated tries are bounded by config.json`
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newVerifyWorld(t)
			tt.set(w)
			want := Proposal{
				MaxIterations: 5, MaxGiven: true, CountedIterations: 1, Verify: "npm test", VerifyTimeout: time.Minute,
				Isolation: isolation,
			}
			if tt.want != nil {
				tt.want(w, &want)
			}
			got, err := w.propose()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Propose (-want +got):\n%s", diff)
			}
		})
	}
}

func TestVerifyLoopIsRefused(t *testing.T) {
	t.Parallel()
	const name = "runtime-state/verify-active.json"
	elsewhere := func(w *verifyWorld) string {
		dir := filepath.ToSlash(filepath.Dir(w.root))
		return strings.Replace(verifyState, `{"command"`, `{"workingDir": "`+dir+`", "command"`, 1)
	}
	tests := []struct {
		name string
		set  func(*verifyWorld)
		want string // "" = Skip; with an exclamation mark before it, an error
	}{
		{"tracked by git", func(w *verifyWorld) { w.write(name, verifyState); w.tracked = true }, "git tracks " + name + ", so it may have come with a clone; if it is yours: git rm --cached " + name},
		{"older than the session", func(w *verifyWorld) { w.age(w.write(name, verifyState), time.Hour) }, name + " is too old to start by itself; to start it:  ! pawl start " + name},
		{"the plugin's, older than the session", func(w *verifyWorld) { w.age(w.write("plugin/"+name, verifyState), time.Hour) }, ""},
		{"its own hook is there", func(w *verifyWorld) {
			w.write(name, verifyState)
			w.write(".claude/settings.json", `{"hooks": {"Stop": [{"hooks": [{"command": "python3 ralph-stop.py"}]}]}}`)
		}, name + " is left to the Stop hook of claude-prompts, which is in effect: disable that plugin or hook to have pawl follow it"},
		{"broken", func(w *verifyWorld) { w.write(name, "{}") }, "!" + name + ":1: there is no config: expected"},
		{"folder elsewhere", func(w *verifyWorld) { w.write(name, elsewhere(w)) }, "!" + name + ": workingDir "},
		{"folder that is not there", func(w *verifyWorld) {
			w.write(name, strings.Replace(verifyState, `{"command"`, `{"workingDir": "gone", "command"`, 1))
		}, "!" + name + ": workingDir: "},
		{"the plugin's, of another project", func(w *verifyWorld) { w.write("plugin/"+name, elsewhere(w)) }, ""},
		{"newer version", func(w *verifyWorld) { w.write("runtime-state/verify-state.db", "SQLite") }, "runtime-state/verify-state.db is the SQLite state of a newer claude-prompts, which pawl does not read; type"},
		{"newer version, not in use", func(w *verifyWorld) { w.age(w.write("runtime-state/verify-state.db", "SQLite"), time.Hour) }, ""},
		{"newer version, written beside it", func(w *verifyWorld) {
			w.age(w.write("runtime-state/verify-state.db", "SQLite"), time.Hour)
			w.write("runtime-state/verify-state.db-wal", "SQLite")
		}, "runtime-state/verify-state.db is the SQLite state"},
		{"leftover of a version before", func(w *verifyWorld) {
			w.age(w.write(name, verifyState), 30*time.Second)
			w.write("runtime-state/verify-state.db", "SQLite")
		}, "runtime-state/verify-state.db is the SQLite state"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newVerifyWorld(t)
			tt.set(w)
			p, err := w.propose()
			switch want, failing := strings.CutPrefix(tt.want, "!"); {
			case failing:
				if err == nil || !strings.HasPrefix(err.Error(), want) {
					t.Errorf("error %v, want %s", err, want)
				}
			case err != nil:
				t.Error(err)
			case p.Skip != (want == "") || !strings.HasPrefix(p.Refused, want) || p.Verify != "":
				t.Errorf("%+v, want %q", p, want)
			}
		})
	}
}

func TestVerifyFileIsUpdated(t *testing.T) {
	t.Parallel()
	w := newVerifyWorld(t)
	path := w.write("runtime-state/verify-active.json", verifyState)
	dir := t.TempDir()
	spec := record.Spec{SessionOptions: record.SessionOptions{CompatFile: "runtime-state/verify-active.json", CompatFormat: "verify-active"}, Verification: record.Verification{Gates: []gate.Gate{{Command: "npm test"}}}}
	files := FilesOf(w.root, dir, spec)
	if diff := cmp.Diff([]string{"runtime-state/verify-active.json"}, files.OwnPaths()); diff != "" {
		t.Errorf("Own (-want +got):\n%s", diff)
	}
	m := memory.Memory{
		State:      loop.State{Policy: loop.Policy{Limits: loop.Limits{Iterations: 5}}, Counts: loop.Counts{Iteration: 4}, Work: loop.Work{Isolated: &loop.IsolatedTurn{Iteration: 3, Took: time.Second, Rounds: 4}}},
		OwnerState: memory.OwnerState{Results: []gate.Result{{Command: "other"}, {Command: "npm test", Status: gate.Fail, ExitCode: 2, Tail: "FAIL", Duration: time.Second}}},
	}
	if err := files.UpdateProgress(m, time.Now()); err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer(`"iteration": 1`, `"iteration": 3`, `null`, `{"passed":false,"exitCode":2,"stdout":"FAIL","stderr":"","durationMs":1000,"command":"npm test","timedOut":false}`).Replace(verifyState)
	if diff := cmp.Diff(want, content(t, path)); diff != "" {
		t.Errorf("the file (-want +got):\n%s", diff)
	}
	if got, want := files.ProgressLine(m.State), "Shell Verification FAILED (Iteration 3/5) · isolated try: Cost $0.0000 · Duration 1.0s · Tokens 0 in / 0 out (cache: 0) · Turns 4"; got != want {
		t.Errorf("the line is %q, want %q", got, want)
	}
	if got := files.ProgressLine(loop.State{Counts: loop.Counts{Iteration: 1}}); got != "" {
		t.Errorf("before any check the line is %q", got)
	}
	if word, err := files.ReceiveChanges(time.Now()); err != nil || word.Stop != "" || word.Paused {
		t.Errorf("heard %+v, %v", word, err)
	}
	if err := files.MarkEnded(m, "abc"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the file is still there")
	}
	if word, err := files.ReceiveChanges(time.Now()); err != nil || word.Stop != "" {
		t.Errorf("taken up again, it hears %+v, %v", word, err)
	}
	w.write("runtime-state/verify-active.json", verifyState)
	if err := files.MarkEnded(m, "abc"); err != nil || content(t, path) != verifyState {
		t.Errorf("the end, marked again, changed the user's new file: %v", err)
	}
	if err := errors.Join(files.UpdateProgress(m, time.Now()), files.MarkEnded(m, "abc")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the file of the resumed loop is still there")
	}
}

func TestVerifyChangesAreReceived(t *testing.T) {
	t.Parallel()
	w := newVerifyWorld(t)
	spec := record.Spec{SessionOptions: record.SessionOptions{CompatFile: "runtime-state/verify-active.json", CompatFormat: "verify-active"}, Verification: record.Verification{Gates: []gate.Gate{{Command: "npm test"}}}}
	files := FilesOf(w.root, t.TempDir(), spec)
	if word, err := files.ReceiveChanges(time.Now()); err != nil || word.Stop != "runtime-state/verify-active.json was deleted" {
		t.Errorf("deleted: heard %+v, %v", word, err)
	}
	if err := files.UpdateProgress(memory.Memory{}, time.Now()); err != nil {
		t.Errorf("deleted: %v", err)
	}
	for name, file := range map[string]string{"broken": `{"config":`, "another command": strings.Replace(verifyState, "npm test", "make", 1)} {
		path := w.write("runtime-state/verify-active.json", file)
		if word, err := files.ReceiveChanges(time.Now()); err == nil || word.Stop != "" {
			t.Errorf("%s: heard %+v, %v", name, word, err)
		}
		if err := files.UpdateProgress(memory.Memory{State: loop.State{Counts: loop.Counts{Iteration: 7}}}, time.Now()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := files.MarkEnded(memory.Memory{}, "abc"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := content(t, path); got != file {
			t.Errorf("%s: the file became %s", name, got)
		}
	}
}

func TestVerifyLoopEnds(t *testing.T) {
	t.Parallel()
	files := FilesOf(t.TempDir(), t.TempDir(), record.Spec{SessionOptions: record.SessionOptions{CompatFile: "runtime-state/verify-active.json", CompatFormat: "verify-active"}})
	for outcome, want := range map[loop.Outcome]string{
		loop.Verified: "[Verify] PASSED on iteration 4!", loop.Unverified: "[Verify] PASSED on iteration 4!",
		loop.Iterations: "[Verify] Max iterations (5) reached. Stopping.", loop.Stuck: "", loop.CancelledEnd: "",
	} {
		s := loop.State{Policy: loop.Policy{Limits: loop.Limits{Iterations: 5}}, Counts: loop.Counts{Iteration: 4}, End: loop.End{Outcome: outcome}}
		if got := files.EndLine(s); got != want {
			t.Errorf("%s: %q, want %q", outcome, got, want)
		}
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
