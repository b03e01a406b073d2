package runner

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/verify"
)

// Mutation testing of a commit runs while the agent works on the next task: one function
// after another is broken, and the gates run. It delays no claim: judging stops the run
// under way, and it resumes with the next turn. The rest runs when the loop ends.

// Bounds of the time for all runs on the broken code of one commit, as multiples of the
// time that its gates take, if the user set no mutation_time.
const (
	mutationTimes    = 2
	mutationTimeMin  = 2 * time.Second
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
	tasks  []string
	before string // the commit before
	commit string
	gates  []gate.Gate
	left   time.Duration // for the runs on broken code
	found  []verify.Proven
}

// proving is the goroutine that runs mutation tests.
type proving struct {
	cancel context.CancelFunc
	done   chan struct{}
}

// proveLater queues a commit for mutation testing, unless its evidence is below reviewed
// or all of its tasks want unproven: then there are no tests to try.
func (r *Runner) proveLater(a loop.Action, m record.Memory, commit string) {
	wanted := func(id string) bool {
		t, ok := m.State.Task(id)
		return ok && t.Wanted != gate.Unproven
	}
	gates := slices.DeleteFunc(gate.Commands(gate.Due(r.Spec.Gates, gate.Fast)), func(g gate.Gate) bool {
		return !slices.ContainsFunc(m.Results, func(res gate.Result) bool { return res.Gate == g.Name && res.Status == gate.Pass })
	})
	limit := mutationTime(r.Spec.MutationTime, m.Results)
	if r.attended() || limit <= 0 || len(gates) == 0 || !a.Evidence.Satisfies(gate.Reviewed) || !slices.ContainsFunc(a.Tasks, wanted) {
		return
	}
	r.unproven = append(r.unproven, unproven{tasks: a.Tasks, before: m.Base.Commit, commit: commit, gates: gates, left: limit})
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
		r.prove(ctx)
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
func (r *Runner) proveRest(ctx context.Context, o loop.Outcome) {
	r.pauseProving()
	var most time.Duration
	for _, u := range r.unproven {
		most += max(u.left, 0)
	}
	if o != loop.Verified && o != loop.Unverified || most == 0 {
		return
	}
	if most > mutationTimeMin {
		r.noteLater(ctx, loop.Info, "mutation testing for at most "+most.Round(time.Second).String()+": which changed functions do the tests check? (mutation_time = \"0s\" skips it)")
	}
	r.prove(ctx)
}

// prove tests the queued commits until all are done or ctx ends.
func (r *Runner) prove(ctx context.Context) {
	for len(r.unproven) > 0 && ctx.Err() == nil {
		if r.proveOne(ctx, &r.unproven[0]) {
			r.unproven = r.unproven[1:]
		}
	}
}

// proveOne tests one commit. It reports whether that commit is done.
func (r *Runner) proveOne(ctx context.Context, u *unproven) bool {
	all, err := r.Verify.Prove(ctx, verify.ProofRequest{
		Before: u.before, After: u.commit, Gates: u.gates, Time: u.left, Known: u.found,
		Tried: func(p verify.Proven) {
			u.found = append(u.found, p)
			u.left -= p.Took
		},
	})
	if ctx.Err() != nil {
		return false
	}
	if err != nil {
		r.noteLater(ctx, loop.Info, strings.Join(u.tasks, ", ")+": which changed functions the tests prove could not be found out: "+err.Error())
		return true
	}
	if len(all) > 0 {
		note := testedOf(*u, all).Note()
		r.inRun(ctx, func(context.Context) error { r.tell(note); return nil })
	}
	return true
}

// testedOf counts the results of mutation testing.
func testedOf(u unproven, all []verify.Proven) record.MutationResult {
	t := record.MutationResult{Commit: u.commit, Tasks: u.tasks, Functions: len(all)}
	for _, p := range all {
		switch p.Result {
		case gate.NotTried:
			t.Untried = append(t.Untried, p.Name)
			continue
		case gate.Noticed:
			t.Detected++
		case gate.Called:
			t.Undetected = append(t.Undetected, p.Name+" (called, not checked)")
		case gate.Unnoticed:
			t.Undetected = append(t.Undetected, p.Name)
		}
		t.Tried++
	}
	return t
}
