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

// Which functions of a commit its tests prove is found out while the agent works on the
// next task: its functions are broken one by one, and the gates run. It delays no claim:
// whatever judges ends it, and it goes on with the next turn. What is left when the loop
// ends is done then, within its time.

// Bounds of the time that the runs on the broken code of one commit take together, where
// the user gives none: so many times what its gates take.
const (
	mutationTimes    = 2
	mutationTimeMin  = 2 * time.Second
	mutationTimeMost = 10 * time.Minute
)

// mutationTime is that time; whole is what the gates said of the whole code.
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

// unproven is a commit whose functions are still to be broken.
type unproven struct {
	tasks  []string
	before string // the commit before
	commit string
	gates  []gate.Gate
	left   time.Duration // for the runs on broken code
	found  []verify.Proven
}

// proving is the goroutine that breaks them.
type proving struct {
	cancel context.CancelFunc
	done   chan struct{}
}

// proveLater remembers a commit. Work that nothing proves has no tests to try, and of a
// task that asks for none nothing is found out.
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

// goOnProving begins to break functions, if there are any.
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

// pauseProving ends that; where the last gate has ended, what judges may use the place.
func (r *Runner) pauseProving() {
	if r.proving != nil {
		r.proving.cancel()
		<-r.proving.done // a gate is killed within proc's grace
		r.proving = nil
	}
}

// proveRest does what is left at the loop's end, unless the user ended it.
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
		r.noteLater(ctx, loop.Info, "find out which changed functions the tests prove, for at most "+most.Round(time.Second).String()+" (mutation_time = \"0s\" leaves that out)")
	}
	r.prove(ctx)
}

// prove breaks functions until all are through or the context ends.
func (r *Runner) prove(ctx context.Context) {
	for len(r.unproven) > 0 && ctx.Err() == nil {
		if r.proveOne(ctx, &r.unproven[0]) {
			r.unproven = r.unproven[1:]
		}
	}
}

// proveOne does so for one commit. It reports whether that is through.
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

// testedOf counts what broken functions showed.
func testedOf(u unproven, all []verify.Proven) record.Tested {
	t := record.Tested{Commit: u.commit, Tasks: u.tasks, Functions: len(all)}
	for _, p := range all {
		switch p.Result {
		case gate.NotTried:
			continue
		case gate.Noticed:
			t.Noticed++
		case gate.Called:
			t.Not = append(t.Not, p.Name+" (called, not checked)")
		case gate.Unnoticed:
			t.Not = append(t.Not, p.Name)
		}
		t.Tried++
	}
	return t
}
