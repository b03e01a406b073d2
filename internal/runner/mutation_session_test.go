package runner_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/record"
)

// doFirstTask writes the first task's work of the scripted agent, and claims it.
func (st *sessionLoop) doFirstTask() loop.State {
	st.t.Helper()
	st.editAsAgent("sub.go", "package calc\n\nfunc Sub(a, b int) int { return a - b }\n\nfunc Mul(a, b int) int { return a * b }\n")
	st.editAsAgent("sub_test.go", "package calc\n\nimport \"testing\"\n\nfunc TestSub(t *testing.T) {\n\tif got := Sub(3, 2); got != 1 {\n\t\tt.Fatal(got)\n\t}\n}\n")
	return st.endTurnWithClaim()
}

// finishMutationTests runs the process that the driver starts for mutation tests.
func (st *sessionLoop) finishMutationTests(ctx context.Context) {
	st.t.Helper()
	if err := launch.FinishMutationTests(ctx, st.loop, st.env); err != nil {
		st.t.Error(err)
	}
}

func (st *sessionLoop) mutationLines() string {
	st.t.Helper()
	m, _, err := record.Load(st.loop)
	if err != nil {
		st.t.Fatal(err)
	}
	return mutationLinesOf(m)
}

// In a session, a process beside the turn runs the mutation tests, with and without commits.
func TestSessionFindsWhichFunctionsTestsProve(t *testing.T) {
	t.Parallel()
	for name, commits := range map[string]bool{"commits": true, "checkpoints": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := beginInSession(t, calc, launch.SessionRequest{Commit: commits, Request: launch.Request{
				Words: []string{"plan.md"}, Flags: map[string]any{"gates": []string{"go test ./..."}, "mutation_time": "5m"},
			}})
			if s := st.doFirstTask(); s.Phase != loop.Turning || s.Tasks[0].Status != loop.Done || st.mutationLines() != "" {
				t.Fatalf("%s: %+v, %s", s.Phase, s.Tasks, st.mutationLines())
			}
			st.finishMutationTests(t.Context())
			const want = "task 1: 1 of 2 changed functions are tested: not Mul (sub.go:5)"
			if got := st.mutationLines(); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			st.finishMutationTests(t.Context())
			if got := st.mutationLines(); got != want {
				t.Errorf("once more: %q", got)
			}
		})
	}
}

// A claim does not wait for mutation tests: the driver stops the current one.
func TestSessionClaimStopsMutationTests(t *testing.T) {
	t.Parallel()
	// If this file exists, mutated code takes longer than the test's time limit.
	const slow = `go test ./... || { d=$(git rev-parse --git-common-dir); [ ! -e $d/slow ] || { touch $d/broken; sleep 300; }; exit 1; }`
	st := beginInSession(t, calc, launch.SessionRequest{Request: launch.Request{
		Words: []string{"plan.md"}, Flags: map[string]any{"gates": []string{slow}, "mutation_time": "5m"},
	}})
	st.doFirstTask()
	st.write(".git/slow", "")
	done := make(chan struct{})
	go func() {
		defer close(done)
		st.finishMutationTests(context.Background())
	}()
	for broken := filepath.Join(st.root, ".git", "broken"); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Lstat(broken); err == nil {
			break
		}
		select {
		case <-done:
			t.Fatal("it ended before anything was broken")
		default:
		}
	}
	s := st.endTurn(loop.Turn{Claim: &loop.Claim{}})
	<-done
	if s.Phase != loop.Turning || st.mutationLines() != "" {
		t.Errorf("%s: %s, %s", s.Phase, s.Reason, st.mutationLines())
	}
	if err := os.Remove(filepath.Join(st.root, ".git", "slow")); err != nil {
		t.Fatal(err)
	}
	st.finishMutationTests(t.Context())
	if got, want := st.mutationLines(), "task 1: 1 of 2 changed functions are tested: not Mul (sub.go:5)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
