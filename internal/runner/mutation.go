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

// proofs are the mutation tests that are left.
type proofs struct {
	unproven []unproven // commits of which it is still to be found out what their tests prove
	proving  *proving   // what does so while a turn runs, nil if nothing does
}

// Mutation testing of a commit runs while the agent works on the next task: one function
// after another is broken, and the gates run. It delays no claim: judging stops the run
// under way, and it resumes with the next turn. The rest runs when the loop ends. In a
// user's session, where no runner lives during a turn, a process of its own does all that.
// What is left to do stands in a file, for whoever goes on with the loop.

// Bounds of the time for all runs on the broken code of one commit, as multiples of the
// time that its gates take, if the user set no mutation_time.
const (
	mutationTimes    = 6
	mutationTimeMin  = 12 * time.Second
	mutationTimeMost = 10 * time.Minute
)

// mutationTime returns that time. whole are the results of the gates on the commit.
func mutationTime(set *time.Duration, whole []gate.Result) time.Duration {
	if set != nil {
		return *set
	}
	var took time.Duration
	for _, r := range whole {
		took += r.Duration
	}
	return min(max(mutationTimes*took, mutationTimeMin), mutationTimeMost)
}

// unproven is a commit whose mutation testing is not finished.
type unproven struct {
	Tasks  []string               `json:"tasks"`
	Before string                 `json:"before"` // the commit or tree before
	Commit string                 `json:"commit"`
	Gates  []gate.Gate            `json:"gates"`
	Left   time.Duration          `json:"left"` // for the runs on broken code
	Found  []verify.FunctionProof `json:"found"`
}

// unprovenPath returns the file with the commits whose mutation testing is not finished.
func unprovenPath(l *store.Loop) string { return filepath.Join(l.Dir, "mutation.json") }

// readUnproven returns them. They are worth no error: pawl prove can do it anew.
func readUnproven(l *store.Loop) (left []unproven) {
	if atomicfile.ReadJSON(unprovenPath(l), &left) != nil {
		return nil
	}
	return left
}

// keepUnproven writes them down.
func (r *Runner) keepUnproven() error {
	if err := atomicfile.SwapJSON(unprovenPath(r.Loop), r.unproven); err != nil {
		return fmt.Errorf("keep what is left of mutation testing: %w", err)
	}
	return nil
}

// proving is the goroutine that runs mutation tests.
type proving struct {
	cancel context.CancelFunc
	done   chan struct{}
}

// proveLater queues a commit for mutation testing, unless its evidence is below reviewed,
// also if its changes of tests are approved, or all of its tasks want unproven: then there are
// no tests to try.
func (r *Runner) proveLater(a loop.Action, m memory.ActionContext, before, commit string) {
	wanted := func(id string) bool {
		t, ok := m.Tasks.Task(id)
		return ok && t.Wanted != gate.Unproven
	}
	gates := slices.DeleteFunc(gate.Commands(gate.Due(r.Spec.Gates, gate.Fast)), func(g gate.Gate) bool {
		return !slices.ContainsFunc(m.Results, func(res gate.Result) bool { return res.Gate == g.Name && res.Status == gate.Pass })
	})
	tested := a.Evidence.Satisfies(gate.Reviewed) || m.ClaimGates != nil && m.ClaimGates.IfApproved != nil && m.ClaimGates.IfApproved.Evidence.Satisfies(gate.Reviewed)
	limit := mutationTime(r.Spec.MutationTime, m.Results)
	if limit <= 0 || len(gates) == 0 || !tested || !slices.ContainsFunc(a.Tasks, wanted) {
		return
	}
	r.unproven = slices.DeleteFunc(r.unproven, func(u unproven) bool { return slices.Equal(u.Tasks, a.Tasks) }) // of a commit that is done again
	r.unproven = append(r.unproven, unproven{Tasks: a.Tasks, Before: before, Commit: commit, Gates: gates, Left: limit})
	if err := r.keepUnproven(); err != nil {
		r.note(loop.Warning, err.Error())
	}
}

// goOnProving starts or resumes mutation testing, if a commit is queued.
func (r *Runner) goOnProving(ctx context.Context) {
	if r.proving != nil {
		select {
		case <-r.proving.done:
		default:
			return
		}
	}
	if len(r.unproven) == 0 {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &proving{cancel: cancel, done: make(chan struct{})}
	r.proving = p
	go func() {
		defer close(p.done)
		defer cancel()
		r.proveAndNote(ctx)
	}()
}

// pauseProving stops mutation testing and waits until its gate has ended, so that the
// judge can use the checkout.
func (r *Runner) pauseProving() {
	if r.proving != nil {
		r.proving.cancel()
		<-r.proving.done // a gate is killed within proc's grace
		r.proving = nil
	}
}

// proveRest finishes mutation testing at the loop's end, unless the user ended the loop.
// It reports whether another process is to do so.
func (r *Runner) proveRest(ctx context.Context, o loop.Outcome) (later bool) {
	r.pauseProving()
	var most time.Duration
	for _, u := range r.unproven {
		most += max(u.Left, 0)
	}
	if !worthProving(o) || most == 0 {
		return false
	}
	if most > mutationTimeMin {
		r.noteLater(ctx, loop.Info, "mutation testing for at most "+most.Round(time.Second).String()+": which changed functions do the tests check? (mutation_time = \"0s\" skips it)")
	}
	if r.attended() {
		return true
	}
	r.proveAndNote(ctx)
	return false
}

// tested is the time since then in whole seconds, in which mutation testing ran.
func tested(since time.Time) time.Duration { return time.Since(since).Round(time.Second) }

// worthProving reports whether work of a loop with this outcome, if any, was kept.
func worthProving(o loop.Outcome) bool { return o == loop.Verified || o == loop.Unverified || o == "" }

// IsUnproven reports whether mutation testing of a loop is not finished, and worth it.
func IsUnproven(l *store.Loop, m memory.Memory) bool {
	return len(readUnproven(l)) > 0 && worthProving(m.State.Outcome)
}

// ProveRest finishes mutation testing of a loop that another process drives. The caller
// holds the loop's checkout, and journals what it is told.
func (r *Runner) ProveRest(ctx context.Context, tell func(memory.Note) error) error {
	r.unproven = readUnproven(r.Loop)
	return r.prove(ctx, tell)
}

// proveAndNote tests the queued commits until all are done or ctx ends.
func (r *Runner) proveAndNote(ctx context.Context) {
	err := r.prove(ctx, func(n memory.Note) error {
		r.inRun(ctx, func(context.Context) error { r.tell(n); return nil })
		return nil
	})
	if err != nil && ctx.Err() == nil {
		r.noteLater(ctx, loop.Warning, err.Error())
	}
}

// prove tests the queued commits, and tells what it finds.
func (r *Runner) prove(ctx context.Context, tell func(memory.Note) error) error {
	for len(r.unproven) > 0 {
		n, err := r.proveOne(ctx, &r.unproven[0])
		if err == nil {
			err = ctx.Err()
		}
		if err == nil && n.Text != "" {
			err = tell(n)
		}
		if err != nil {
			return err
		}
		r.unproven = r.unproven[1:]
		if err := r.keepUnproven(); err != nil {
			return err
		}
	}
	return nil
}

// proveOne tests one commit, and returns what to tell of it, if anything.
func (r *Runner) proveOne(ctx context.Context, u *unproven) (memory.Note, error) {
	var failed error
	began, known := time.Now(), len(u.Found)
	proof, err := r.Verify.Prove(ctx, verify.ProofRequest{
		Before: u.Before, After: u.Commit, Gates: u.Gates, Time: u.Left, Known: u.Found,
		Tried: func(p verify.FunctionProof) {
			u.Found = append(u.Found, p)
			u.Left -= p.Took
			failed = r.keepUnproven()
		},
	})
	switch {
	case ctx.Err() != nil || failed != nil:
		if len(u.Found) == known { // it was at the lines, which are tried anew
			u.Left -= time.Since(began)
			failed = cmp.Or(failed, r.keepUnproven())
		}
		return memory.Note{}, cmp.Or(ctx.Err(), failed)
	case err != nil:
		return memory.Note{Level: loop.Info, Text: strings.Join(u.Tasks, ", ") + ": which changed functions the tests prove could not be found out: " + err.Error()}, nil //nolint:nilerr // it is told
	case len(proof.Functions)+len(proof.Missed) == 0:
		return memory.Note{}, nil
	}
	return testedOf(*u, proof).Note(), nil
}

// testedOf counts the results of mutation testing.
func testedOf(u unproven, proof verify.Proof) memory.MutationResult {
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
			t.Undetected = append(t.Undetected, fmt.Sprintf("%s (%s:%d)", p.Name, p.Path, p.Line))
		}
		t.Tried++
	}
	return t
}
