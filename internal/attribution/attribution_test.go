package attribution

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/store"
)

// pause is the time between two steps of a test: later steps are no doubt of the file's time.
const pause = 3 * clockTick

// tree is a work tree in which agent, user and gates work by turns.
type tree struct {
	*testing.T
	*Tracker
	m memory.ActionContext
}

func newTree(t *testing.T, files ...string) *tree {
	t.Helper()
	root := t.TempDir()
	b := &tree{T: t, Tracker: New(Options{KnownFiles: func() []string { return []string{"plan.md"} }})}
	run := func(args ...string) {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	run("init", "-q")
	for _, name := range files {
		if err := os.WriteFile(filepath.Join(root, name), []byte("one\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run("add", "-A")
	run("-c", "user.name=U", "-c", "user.email=u@example.com", "commit", "-qm", "start")
	var err error
	if b.Repo, err = git.Open(t.Context(), root); err != nil {
		t.Fatal(err)
	}
	if b.Loop, err = store.Open(t.TempDir()).Create(root, nil); err != nil {
		t.Fatal(err)
	}
	if b.m.Base.Commit, err = b.Repo.Head(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.m.StartedAt = time.Now()
	return b
}

// writes has somebody write files, apart from what happened before.
func (b *tree) writes(names ...string) {
	b.Helper()
	time.Sleep(pause)
	for _, name := range names {
		if err := os.WriteFile(b.abs(name), []byte(name+time.Now().String()), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	time.Sleep(pause)
}

// calls has the agent write files in a tool call.
func (b *tree) calls(c toolcall.Call, writes ...string) {
	b.Helper()
	b.must(b.RecordCall(c, nil))
	b.must(b.Observe(agent.Event{Kind: agent.KindTool, Does: c}, false))
	b.writes(writes...)
	b.must(b.Observe(agent.Event{Kind: agent.KindToolEnd}, false))
}

func (b *tree) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *tree) attribute() Found {
	b.Helper()
	m, found, err := b.Attribute(b.Context(), b.m, "")
	b.must(err)
	b.m.NewFiles = m.NewFiles
	return found
}

var script = toolcall.Call{Tool: "Bash", Kind: toolcall.Run, Command: "make"}

// Each change has its author, and keeps it.
func TestEachChangeKeepsItsAuthor(t *testing.T) {
	t.Parallel()
	b := newTree(t, "a", "b", "c", "plan.md")
	b.must(b.BeginTurn(false))
	b.writes("a", "mine", "plan.md")
	b.calls(script, "b", "made")
	b.calls(toolcall.Call{Tool: "Write", Kind: toolcall.Write, Path: b.abs("c")})
	b.writes("c") // soon after the call, perhaps by a formatter
	began := time.Now()
	b.writes("built")
	b.must(b.RecordGates(began))

	edits := &memory.Edits{Since: b.m.Base.Commit, ByUser: memory.Paths{"a"}, ByAgent: memory.Paths{"b", "c"}}
	want := Found{
		Others:    memory.NewFiles{ByUser: memory.Paths{"mine"}, ByGates: memory.Paths{"built"}, Edits: edits},
		UserEdits: []string{"a"}, ByAgent: []string{"made"}, Unnamed: []string{"made"},
	}
	if diff := cmp.Diff(want, b.attribute()); diff != "" {
		t.Errorf("first: (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(Found{}, b.attribute()); diff != "" {
		t.Errorf("again: %s", diff)
	}
	b.writes("b", "made") // the user changes the agent's files
	tree, _, err := b.Repo.Snapshot(b.Context())
	b.must(err)
	_, found, err := b.Attribute(b.Context(), b.m, tree)
	b.must(err)
	if diff := cmp.Diff(Found{Shared: []string{"b"}}, found); diff != "" {
		t.Errorf("the agent's files, after an edit of the user's: %s", diff)
	}
	b.calls(script, "a")
	if got := b.attribute(); !cmp.Equal(got.Others.Edits.ByAgent, memory.Paths{"a"}) || len(b.m.UserEdits()) > 0 {
		t.Errorf("the user's file, after a call: %+v, of the user's %v", got.Others.Edits, b.m.UserEdits())
	}
}

// Of a protected file the calls since the last inspection decide first, then its times; in a user's
// session the calls alone.
func TestMayBeAgents(t *testing.T) {
	t.Parallel()
	b := newTree(t, "a")
	file := b.abs("a")
	may := func(want bool, when string) {
		t.Helper()
		if got := b.MayBeAgents(b.m, file); got != want {
			t.Errorf("%s: %v", when, got)
		}
	}
	b.must(b.BeginTurn(false))
	b.writes("a")
	may(false, "without a call")
	b.calls(script)
	may(false, "changed before the call")
	b.InSession = true
	may(true, "the same in a session")
	b.InSession = false
	b.calls(script, "a")
	may(true, "changed in a call")
	b.must(b.ReadNewCalls(b.m))
	b.EndInspection(memory.Attribution{})
	b.must(b.BeginTurn(false))
	may(false, "no call since the inspection")
	b.must(os.Remove(file))
	b.calls(script)
	may(true, "deleted: no time is left")
}

// How close to a call a file's time counts as the call's depends on the clock of the file system.
func TestClockErrorDependsOnTheFileSystem(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, 1, 2, 3, 4, 5, 300_000_000, time.UTC)
	span := authorship.Span{From: from, Until: from.Add(2 * time.Millisecond)}
	for _, c := range []struct {
		name string
		made time.Time
		want time.Duration
		ok   bool
	}{
		{"within", from.Add(time.Millisecond), clockTick, true},
		{"last tick of the kernel", from.Add(-10 * time.Millisecond), clockTick, true},
		{"whole seconds", from.Truncate(time.Second), wholeSecond, true},
		{"a server's clock, behind", from.Add(-600 * time.Millisecond), wholeSecond, true},
		{"a server's clock, ahead", from.Add(600 * time.Millisecond), wholeSecond, true},
		{"another clock, behind", from.Add(-3 * time.Second), 0, false},
		{"another clock, ahead", from.Add(3 * time.Second), 0, false},
	} {
		if got, ok := clockError(c.made, span); got != c.want || ok != c.ok {
			t.Errorf("%s: %v, %v, want %v, %v", c.name, got, ok, c.want, c.ok)
		}
	}
}
