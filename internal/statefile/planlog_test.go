package statefile_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/planfile"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/statefile"
)

func TestPlanLoopGoldenFailureContext(t *testing.T) {
	t.Parallel()
	b := newPlanBench(t)
	b.fails("test: 1 test fails", "\x1b[31m--- FAIL: TestA\x1b[0m\n")
	want := `
=== Test Failure ` + b.now.Format(time.RFC3339) + ` ===
Checkpoint: ` + sha1 + `
Story: US-001, iteration 1 of brisk-otter-7f3a
Reason: test: 1 test fails
  - TestA
$ go test ./... (exit 1)
--- FAIL: TestA
=== End Failure ===
`
	b.want("failure-context.log", want)
	b.turn(nil) // no result: the failure was known
	b.step(loop.Event{Payload: loop.OwnerChanged{}})
	b.want("failure-context.log", want)
	b.fails("test: still red", "x")
	if log := b.read(".ralph/failure-context.log"); !strings.HasPrefix(log, want) || !strings.Contains(log, "iteration 3 of") || strings.Count(log, "=== Test Failure") != 2 {
		t.Errorf("the log:\n%s", log)
	}
	b.ends(loop.ByStop)
	if log := b.read(".ralph/failure-context.log"); strings.Count(log, "=== Test Failure") != 2 {
		t.Errorf("told once more at the end:\n%s", log)
	}
}

func TestPlanLoopGoldenLastTryOfAStorySetAside(t *testing.T) {
	t.Parallel()
	b := newPlanBench(t)
	for _, reason := range []string{"one", "two", "three", "four"} {
		b.fails(reason, "what failed")
	}
	b.step(loop.Event{Payload: loop.Checkpointed{Tree: "t"}})
	b.taken()
	if b.mem.State.Current != "US-002" {
		t.Fatalf("at work is %s", b.mem.State.Current)
	}
	want := "Checkpoint: " + sha1 + "\nStory: US-001, iteration 4 of brisk-otter-7f3a\nReason: four\n  - TestA\n$ go test ./... (exit 1)\nwhat failed\n=== End Failure ===\n"
	if log := b.read(".ralph/failure-context.log"); !strings.HasSuffix(log, want) {
		t.Errorf("the last entry has not what failed:\n%s", log)
	}
	for _, file := range []string{".ralph/failure-context.log", planDir + "progress.md"} {
		if log := b.read(file); strings.Count(log, "four") != 1 || strings.Count(log, "two") == 0 {
			t.Errorf("%s:\n%s", file, log)
		}
	}
}

func TestPlanLoopGoldenFailureContextRotates(t *testing.T) {
	t.Parallel()
	b := newPlanBench(t)
	old := strings.Repeat("an old line\n", 8300) // just below the limit
	b.write(".ralph/failure-context.log", old)
	b.write(planDir+"failure-context.log", old)
	b.fails("red", strings.Repeat("output\n", 90))
	log := b.read(".ralph/failure-context.log")
	if n := strings.Count(log, "\n"); n != 500 || !strings.HasPrefix(log, "an old line\n") || !strings.HasSuffix(log, "=== End Failure ===\n") {
		t.Errorf("%d lines are left:\n%.60s", n, log)
	}
}

func TestPlanLoopGoldenProgress(t *testing.T) {
	t.Parallel()
	b := newPlanBench(t, func(s *record.Spec) { s.NoCommit, s.Untracked = false, statefile.PlanLoopFiles(planPath) })
	if got := b.read(planDir + "progress.md"); got != "# Progress Log\n" {
		t.Errorf("at the beginning: %q", got)
	}
	b.fails("test: 1 test fails", "x")
	failed := "# Progress Log\n\n## Iteration 1 - US-001\n- Status: FAILED (test: 1 test fails)\n- Time: " + b.now.Format(time.RFC3339) + "\n- Loop: brisk-otter-7f3a\n"
	if diff := cmp.Diff(failed, b.read(planDir+"progress.md")); diff != "" {
		t.Errorf("a failed try (-want +got):\n%s", diff)
	}
	// The runner adds its entry with the tick, before there is a commit.
	kept := string(planfile.ProgressEntry(planfile.PRD, planfile.Entry{Time: b.now, Iteration: 2, TaskID: "US-001", Title: "one", Evidence: "proven"}))
	b.write(planDir+"progress.md", failed+kept)
	b.passes(sha2)
	b.taken()
	if diff := cmp.Diff(failed+strings.Replace(kept, "- Commit: N/A", "- Commit: 2222222", 1), b.read(planDir+"progress.md")); diff != "" {
		t.Errorf("with its commit (-want +got):\n%s", diff)
	}
	if got := b.read(".ralph/progress.md"); got != "-" {
		t.Errorf("%q in the folder that all plans share", got)
	}
}
