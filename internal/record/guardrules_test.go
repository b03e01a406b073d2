package record_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl/internal/core/guard"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

// What is read of a loop for its guard alone makes the same rules as all of it.
func TestSessionGuardRulesEqualSpecRules(t *testing.T) {
	t.Parallel()
	push, err := guard.ParsePattern("push")
	if err != nil {
		t.Fatal(err)
	}
	spec := record.Spec{
		Request:      record.Request{Prompt: "x"},
		PlanSettings: record.PlanSettings{Scopes: map[string][]string{"2": {"src/**"}}},
		Repository:   record.Repository{Branch: "work", DefaultBranch: "trunk", Setup: []string{"make"}},
		Protection:   record.Protection{Guard: record.GuardConfig{Ask: []guard.Pattern{push}, ProtectedBranches: []string{"release/*"}, TickOnly: "plan.md"}},
	}
	l, err := store.Open(t.TempDir()).Create("/repo", spec)
	if err != nil {
		t.Fatal(err)
	}
	places := record.GuardDirs{StateDir: "/state", HomeDir: "/home", TempDir: "/temp"}
	at := record.GuardDirs{Root: "/repo", StateDir: "/state", HomeDir: "/home", TempDir: "/temp"}
	same := cmp.Options{cmpopts.IgnoreFields(guard.Rules{}, "ResolveLinks", "Exists", "BranchOf", "History"), cmp.Comparer(func(x, y guard.Pattern) bool { return x.String() == y.String() })}
	check := func(theirs bool, turn record.TurnScope) {
		t.Helper()
		got, err := record.SessionGuardRules(l, places, theirs)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(spec.GuardRules(at, turn), got, same); diff != "" {
			t.Errorf("theirs %v, in %+v:\n%s", theirs, turn, diff)
		}
	}
	check(false, record.TurnScope{}) // nothing has begun
	begin(t, l, "2")
	check(false, record.TurnScope{Task: "2"})
	protected := []string{"ci/check.sh"}
	if err := record.SaveProtectedOnce(l, protected); err != nil {
		t.Fatal(err)
	}
	if err := record.SaveProtectedOnce(l, []string{"later.sh"}); err != nil { // the first time counts
		t.Fatal(err)
	}
	check(false, record.TurnScope{Task: "2", Protected: protected})
	check(true, record.TurnScope{Protected: protected})  // the user's own turn
	if err := record.SaveProtected(l, nil); err != nil { // a user approved it
		t.Fatal(err)
	}
	check(true, record.TurnScope{})
	if rules := spec.GuardRules(at, record.TurnScope{Task: "2", Protected: protected}); filepath.ToSlash(rules.Protected[0]) != "/repo/ci/check.sh" || filepath.ToSlash(rules.Plans[0]) != "/repo/plan.md" || rules.Scope[0] != "src/**" {
		t.Errorf("%+v", rules)
	}
	approved := record.TurnScope{Task: "2", Approved: []string{loop.AllTests, "a_test.go"}}
	if diff := cmp.Diff([]string{"src/**", "./a_test.go"}, spec.GuardRules(at, approved).Scope); diff != "" {
		t.Error(diff)
	}
	if approved.Task = "1"; spec.GuardRules(at, approved).Scope != nil {
		t.Error("an approval made a scope where there is none")
	}
	if _, err := record.SessionGuardRules(store.Open(t.TempDir()).Loop("gone"), record.GuardDirs{}, false); err == nil {
		t.Error("a loop that is not there has rules")
	}
}

// begin makes a loop work at a task.
func begin(t *testing.T, l *store.Loop, task string) {
	t.Helper()
	o, err := l.Own(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tasks := []loop.Task{{ID: "1", Status: loop.Done}, {ID: task, Status: loop.Open}}
	for _, e := range []loop.Event{
		{At: time.Unix(1, 0), Payload: loop.Started{Policy: loop.Policy{Kind: loop.Change}, Tasks: tasks}},
		{At: time.Unix(2, 0), Payload: loop.Checkpointed{Tree: "t0"}},
	} {
		if _, err := o.Append(journal.Entry{Type: memory.TypeEvent, Data: e}); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
}

// Agents write to /tmp by habit, wherever the environment has its temporary files.
func TestSystemTempDirIsWritable(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("it has no /tmp")
	}
	theirs, err := os.MkdirTemp("/tmp", "pawl-test-*") //nolint:usetesting // TMPDIR may lie elsewhere
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(theirs) })
	fresh := theirs + "-new"
	for _, c := range []struct {
		root, file string
		want       guard.Decision
	}{
		{"/repo", theirs + "/note", guard.Allow},
		{"/tmpx/repo", theirs + "/note", guard.Allow},
		{"/tmp/x/repo", theirs + "/note", guard.Deny},
		{"/tmp/x/repo", fresh, guard.Allow},
		{"/tmp/x/repo", "/tmp/x/note", guard.Deny},
	} {
		r := record.Spec{}.GuardRules(record.GuardDirs{Root: c.root, StateDir: "/state", HomeDir: "/home", TempDir: "/temp"}, record.TurnScope{})
		v := guard.Check(toolcall.Call{Kind: toolcall.Run, Command: "echo x > " + c.file, Dir: c.root}, r)
		if v.Decision != c.want {
			t.Errorf("%s in %s: %+v", c.file, c.root, v)
		}
	}
}
