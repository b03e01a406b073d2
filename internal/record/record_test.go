package record_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
)

func TestClaimsAreFound(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, message string
		kind          loop.GoalKind
		want          *loop.Claim
	}{
		{"none", "I looked around.", loop.Change, nil},
		{"done", "So.\n<promise>DONE</promise>", loop.Change, &loop.Claim{}},
		{"an answer", "<promise>DONE</promise>", loop.Answer, &loop.Claim{}},
		{"blocked", "<blocked>no key</blocked>", loop.Change, &loop.Claim{Blocked: true, Reason: "no key"}},
		{"both", "<promise>DONE</promise>\n<blocked>no key</blocked>", loop.Change, &loop.Claim{Blocked: true, Reason: "no key"}},
		{"another's promise", "<promise>FINISHED</promise>", loop.Change, nil},
		{"of a goal that has its limit", "<promise>DONE</promise>", loop.Explore, nil},
		{"of one that comes again", "<promise>DONE</promise>", loop.Periodic, nil},
	}
	for _, tt := range tests {
		s := record.Spec{TurnOptions: record.TurnOptions{Promise: "DONE"}, Policy: loop.Policy{Kind: tt.kind}}
		if diff := cmp.Diff(tt.want, s.FindClaim(tt.message)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

func TestMessagesBecomeEvents(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]loop.Event{
		record.MessageNote:   {Payload: loop.MessageArrived{Text: "x"}},
		record.MessageLearn:  {Payload: loop.LessonLearned{Lesson: "x"}},
		record.MessageForget: {Payload: loop.LessonForgotten{Lesson: "x"}},
		record.MessagePause:  {Payload: loop.PauseRequested{}},
		record.MessageResume: {Payload: loop.Resumed{}},
		record.MessageStop:   {Payload: loop.Cancelled{Cause: loop.ByStop, Reason: "x"}},
	} {
		got, ok := (record.Message{Kind: kind, Text: "x"}).Event()
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Errorf("%s: %v %s", kind, ok, diff)
		}
	}
	limits := record.Message{Kind: record.MessageLimits, Limits: &loop.Limits{Iterations: 9}}
	if e, ok := limits.Event(); !ok || e.Payload != (loop.LimitsChanged{Limits: *limits.Limits}) {
		t.Errorf("%+v %v", e, ok)
	}
	if e, ok := (record.Message{Kind: "dance"}).Event(); ok {
		t.Errorf("%+v", e)
	}
}

func TestPathsAreResolved(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	link := filepath.Join(dir, "link")
	if err := os.Mkdir(out, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(out, link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	for path, want := range map[string]string{
		filepath.Join(link, "new", "file"): filepath.Join(out, "new", "file"), link: out, filepath.Join(dir, "no"): filepath.Join(dir, "no"),
	} {
		if got := record.ResolvePath(path); got != want {
			t.Errorf("%s leads to %s, want %s", path, got, want)
		}
	}
}

func TestGoalNamesThePlan(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]record.Request{
		"do it well":    {Prompt: "do it\nwell"},
		"plan.md":       {Prompt: "do it", Plan: "plan.md"},
		"mine: plan.md": {Name: "mine", Plan: "plan.md"},
		"mine":          {Name: "mine"},
	} {
		if got := s.Goal(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := (record.Spec{Request: record.Request{Prompt: strings.Repeat("word ", 100)}}).Goal(); len(got) > 100 {
		t.Errorf("few words: %q", got)
	}
}

func TestPromptPathsDiffer(t *testing.T) {
	t.Parallel()
	l := &store.Loop{ID: "x", Dir: filepath.FromSlash("/loops/x")}
	paths := map[string]bool{record.ContinuePromptPath(l): true, record.ToolCallsPath(l): true}
	for begun := range 3 { // a turn that the user's took the place of is the same iteration, and another turn
		m := memory.Memory{OwnerState: memory.OwnerState{TurnsBegun: begun}}
		m.State.Iteration = 2
		paths[record.PromptPath(l, m)] = true
	}
	if len(paths) != 5 {
		t.Errorf("%v", paths)
	}
}
