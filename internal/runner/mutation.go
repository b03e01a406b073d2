package runner

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/verify"
)

// mutationTesting are the mutation tests that are left.
type mutationTesting struct {
	untestedCommits []untestedCommit // commits of which it is still to be found out what their tests prove
	mutationRun     *mutationRun     // what does so while a turn runs, nil if nothing does
}

// Mutation testing of a commit runs while the agent works on the next task: one function
// after another is broken, and the gates run. It delays no claim: gates of a claim stop the
// current run, which resumes with the next turn. The rest runs when the loop ends. In a user's
// session, where no runner runs during a turn, a separate process does this. The queue is in a
// file for the next owner.

// Bounds of the time for all runs on the broken code of one commit, as multiples of the
// time that its gates take, if the user set no mutation_time.
const (
	mutationTimeFactor = 6
	minMutationTime    = 12 * time.Second
	maxMutationTime    = 10 * time.Minute
)

// mutationTimeLimit returns the time for mutation tests of a commit with these gate results.
func mutationTimeLimit(configured *time.Duration, results []gate.Result) time.Duration {
	if configured != nil {
		return *configured
	}
	var gateTime time.Duration
	for _, r := range results {
		gateTime += r.Duration
	}
	return min(max(mutationTimeFactor*gateTime, minMutationTime), maxMutationTime)
}

// untestedCommit is a commit whose mutation testing is not finished.
type untestedCommit struct {
	Tasks    []string               `json:"tasks"`
	Before   string                 `json:"before"` // the commit or tree before
	Commit   string                 `json:"commit"`
	Gates    []gate.Gate            `json:"gates"`
	TimeLeft time.Duration          `json:"left"` // for the runs on broken code
	Proofs   []verify.FunctionProof `json:"found"`
}

// mutationQueuePath returns the file with the commits whose mutation testing is not finished.
func mutationQueuePath(l *store.Loop) string { return filepath.Join(l.Dir, "mutation.json") }

// readMutationQueue reads the queue. Errors are ignored, since pawl prove can repeat the tests.
func readMutationQueue(l *store.Loop) (left []untestedCommit) {
	if atomicfile.ReadJSON(mutationQueuePath(l), &left) != nil {
		return nil
	}
	return left
}

// saveMutationQueue writes the queue to its file.
func (r *Runner) saveMutationQueue() error {
	if err := atomicfile.SwapJSON(mutationQueuePath(r.Loop), r.untestedCommits); err != nil {
		return fmt.Errorf("keep what is left of mutation testing: %w", err)
	}
	return nil
}

// mutationRun is the goroutine that runs mutation tests.
type mutationRun struct {
	cancel context.CancelFunc
	done   chan struct{}
}

// queueMutationTests queues a commit for mutation testing. It does nothing if the evidence is
// below reviewed, even with approved test changes, or if all of its tasks only want
// unproven: then there are no tests to try.
func (r *Runner) queueMutationTests(a loop.Commit, m memory.ActionContext, before, commit string) {
	wanted := func(id string) bool {
		t, ok := m.Tasks.Task(id)
		return ok && t.Wanted != gate.Unproven
	}
	gates := slices.DeleteFunc(gate.Commands(gate.Due(r.Spec.Gates, gate.Fast)), func(g gate.Gate) bool {
		return !slices.ContainsFunc(m.Results, func(res gate.Result) bool { return res.Gate == g.Name && res.Status == gate.Pass })
	})
	tested := a.Evidence.Satisfies(gate.Reviewed) || m.ClaimGates != nil && m.ClaimGates.IfApproved != nil && m.ClaimGates.IfApproved.Evidence.Satisfies(gate.Reviewed)
	limit := mutationTimeLimit(r.Spec.MutationTime, m.Results)
	if limit <= 0 || len(gates) == 0 || !tested || !slices.ContainsFunc(a.Tasks, wanted) {
		return
	}
	r.untestedCommits = slices.DeleteFunc(r.untestedCommits, func(u untestedCommit) bool { return slices.Equal(u.Tasks, a.Tasks) }) // of a commit that is made again
	r.untestedCommits = append(r.untestedCommits, untestedCommit{Tasks: a.Tasks, Before: before, Commit: commit, Gates: gates, TimeLeft: limit})
	if err := r.saveMutationQueue(); err != nil {
		r.note(loop.Warning, err.Error())
	}
}

// startMutationTests starts or resumes mutation testing, if a commit is queued.
func (r *Runner) startMutationTests(ctx context.Context) {
	if r.mutationRun != nil {
		select {
		case <-r.mutationRun.done:
		default:
			return
		}
	}
	if len(r.untestedCommits) == 0 {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &mutationRun{cancel: cancel, done: make(chan struct{})}
	r.mutationRun = p
	go func() {
		defer close(p.done)
		defer cancel()
		r.runMutationTests(ctx)
	}()
}

// pauseMutationTests stops mutation testing and waits until its gate has ended, so that the
// gates of a claim can use the checkout.
func (r *Runner) pauseMutationTests() {
	if r.mutationRun != nil {
		r.mutationRun.cancel()
		<-r.mutationRun.done // a gate is killed within proc's grace
		r.mutationRun = nil
	}
}

// mutationTestsAtEnd finishes mutation testing at the loop's end, unless the user ended the loop.
// It reports whether another process must do that.
func (r *Runner) mutationTestsAtEnd(ctx context.Context, o loop.Outcome) (later bool) {
	r.pauseMutationTests()
	var most time.Duration
	for _, u := range r.untestedCommits {
		most += max(u.TimeLeft, 0)
	}
	if !isWorkKept(o) || most == 0 {
		return false
	}
	if most > minMutationTime {
		r.enqueueNote(ctx, loop.Info, "mutation testing for at most "+most.Round(time.Second).String()+": which changed functions do the tests check? (mutation_time = \"0s\" skips it)")
	}
	if r.inSession {
		return true
	}
	r.runMutationTests(ctx) // a user who stops the loop now ends it early
	return false
}

// elapsedSeconds returns the time since then in whole seconds.
func elapsedSeconds(since time.Time) time.Duration { return time.Since(since).Round(time.Second) }

// isWorkKept reports whether the work of a loop with this outcome is kept. "" means no outcome yet.
func isWorkKept(o loop.Outcome) bool { return o == loop.Verified || o == loop.Unverified || o == "" }

// HasMutationTestsLeft reports whether commits of a loop wait for mutation testing.
func HasMutationTestsLeft(l *store.Loop, m memory.Memory) bool {
	return len(readMutationQueue(l)) > 0 && isWorkKept(m.State.Outcome)
}

// FinishMutationTests runs the queued mutation tests of a loop that another process drives.
// The caller holds the loop's checkout, and tell journals the results.
func (r *Runner) FinishMutationTests(ctx context.Context, tell func(memory.Note) error) error {
	r.untestedCommits = readMutationQueue(r.Loop)
	return r.testQueuedCommits(ctx, tell)
}

// runMutationTests tests the queued commits until all are done or ctx ends.
func (r *Runner) runMutationTests(ctx context.Context) {
	err := r.testQueuedCommits(ctx, func(n memory.Note) error {
		r.enqueue(ctx, func(context.Context) error { r.recordNote(n); return nil })
		return nil
	})
	if err != nil && ctx.Err() == nil {
		r.enqueueNote(ctx, loop.Warning, err.Error())
	}
}

// testQueuedCommits tests the queued commits and passes each result to tell.
func (r *Runner) testQueuedCommits(ctx context.Context, tell func(memory.Note) error) error {
	for len(r.untestedCommits) > 0 {
		n, err := r.testCommit(ctx, &r.untestedCommits[0])
		if err == nil {
			err = ctx.Err()
		}
		if err == nil && n.Text != "" {
			err = tell(n)
		}
		if err != nil {
			return err
		}
		r.untestedCommits = r.untestedCommits[1:]
		if err := r.saveMutationQueue(); err != nil {
			return err
		}
	}
	return nil
}

// testCommit tests one commit. It returns a note, which is empty if there is nothing to report.
func (r *Runner) testCommit(ctx context.Context, u *untestedCommit) (memory.Note, error) {
	var failed error
	began, known := time.Now(), len(u.Proofs)
	proof, err := r.Verify.Prove(ctx, verify.ProofRequest{
		Before: u.Before, After: u.Commit, Gates: u.Gates, Time: u.TimeLeft, Known: u.Proofs,
		Tried: func(p verify.FunctionProof) {
			u.Proofs = append(u.Proofs, p)
			u.TimeLeft -= p.Took
			failed = r.saveMutationQueue()
		},
	})
	switch {
	case ctx.Err() != nil || failed != nil:
		if len(u.Proofs) == known { // it was interrupted while it tried single lines, which start again
			u.TimeLeft -= time.Since(began)
			failed = cmp.Or(failed, r.saveMutationQueue())
		}
		return memory.Note{}, cmp.Or(ctx.Err(), failed)
	case err != nil:
		return memory.Note{Level: loop.Info, Text: strings.Join(u.Tasks, ", ") + ": which changed functions the tests prove is unknown: " + err.Error()}, nil //nolint:nilerr // it is told
	case len(proof.Functions)+len(proof.Missed) == 0:
		return memory.Note{}, nil
	}
	return mutationResult(*u, proof).Note(), nil
}

// mutationResult summarizes the mutation tests of a commit.
func mutationResult(u untestedCommit, proof verify.Proof) memory.MutationResult {
	t := memory.MutationResult{Commit: u.Commit, Tasks: u.Tasks, Functions: len(proof.Functions)}
	for _, m := range proof.Missed {
		t.Survived = append(t.Survived, plan.OneLine(m.String(), 160))
	}
	for _, p := range proof.Functions {
		switch p.Result {
		case gate.Inconclusive:
			t.Untried = append(t.Untried, p.Name)
			continue
		case gate.Killed:
			t.Detected++
		case gate.Crashed:
			t.Undetected = append(t.Undetected, fmt.Sprintf("%s (%s:%d, called, not checked)", p.Name, p.Path, p.Line))
		case gate.Survived:
			what := p.Name
			if p.ChangeSurvived() {
				what = "the change of " + p.Name
			}
			t.Undetected = append(t.Undetected, fmt.Sprintf("%s (%s:%d)", what, p.Path, p.Line))
		}
		t.Tried++
	}
	return t
}
