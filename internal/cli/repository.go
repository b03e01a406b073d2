package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/core/shell"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/term"
)

// warnSamePlan warns that another loop of the repository works on the same plan.
func (a *app) warnSamePlan(p *launch.Prepared) {
	loops, err := a.summaries(record.SameRepository(p.Root()))
	if err != nil || p.Spec.Plan == "" {
		return // commands that need the list report the error
	}
	for _, sum := range loops {
		if sum.State == "ended" || sum.State == loopinfo.Orphaned {
			continue
		}
		if spec, err := record.ReadSpec(a.store.Loop(sum.ID)); err == nil && spec.Plan == p.Spec.Plan && sharesTasks(spec.Tasks, p.Spec.Tasks) {
			term.Warnf(a.Err, "loop %s works on %s too: both would do the same tasks", sum.ID, p.Spec.Plan)
			term.Hintf(a.Err, "pawl status %s shows it; --task ID gives each loop different tasks", sum.ID)
		}
	}
}

// sharesTasks reports whether a task is open in the plans of both loops.
func sharesTasks(a, b []loop.Task) bool {
	return slices.ContainsFunc(a, func(t loop.Task) bool {
		return t.Status != loop.Done && slices.ContainsFunc(b, func(o loop.Task) bool { return o.ID == t.ID && o.Status != loop.Done })
	})
}

// warnEarlierEdits warns of edits that the plan's last loop did not make, and says what happens to
// them.
func (a *app) warnEarlierEdits(p *launch.Prepared) {
	for _, e := range p.Earlier.Additions {
		term.Warnf(a.Err, "applies an edit of the plan that loop %s had not applied: %s", p.Earlier.Loop, e)
	}
	for _, e := range p.Earlier.Others {
		term.Warnf(a.Err, "loop %s had not applied an edit of the plan; neither does this run: %s", p.Earlier.Loop, e)
		term.Hintf(a.Err, "%s applies it while the loop runs", term.Clean(e.Command(p.Spec.Plan)))
	}
}

// addOtherWorktrees adds the repository's loops in other worktrees to an error that there is none here.
func (a *app) addOtherWorktrees(err error) error {
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	loops, listErr := a.summaries(record.SameRepository(a.root()))
	if listErr != nil {
		return err
	}
	if len(loops) == 0 {
		if moved := a.movedLoop(); moved.ID != "" {
			back := term.Clean(shell.QuoteCommand([]string{"mv", a.root(), moved.Root}))
			return failure.New(failure.Usage, fmt.Sprintf("loop %s began in %s, which is gone; if that folder is this one, move it back: %s",
				moved.ID, term.Clean(moved.Root), back), "%w", err)
		}
		return err
	}
	var names []string
	for _, sum := range loops {
		names = append(names, fmt.Sprintf("%s (%s, in %s)", sum.ID, loopinfo.StateOrOutcome(sum), sum.Root))
	}
	return failure.New(failure.Usage, "name one of the repository's: "+plan.Few(names, 4), "%w", err)
}

// movedLoop returns the newest loop whose folder is gone and whose first commit is in this repository:
// the folder may have been moved here.
func (a *app) movedLoop() record.Summary {
	const most = 5 // each starts a git process
	gone, err := a.summaries(func(root string) bool {
		_, err := os.Stat(root)
		return errors.Is(err, fs.ErrNotExist)
	})
	if err != nil || len(gone) == 0 {
		return record.Summary{}
	}
	ctx := context.Background()
	repo, err := git.Open(ctx, a.root())
	if err != nil {
		return record.Summary{}
	}
	for _, sum := range gone[:min(most, len(gone))] {
		spec, err := record.ReadSpec(a.store.Loop(sum.ID))
		if err != nil || spec.StartCommit == "" {
			continue
		}
		if _, err := repo.Resolve(ctx, spec.StartCommit+"^{commit}"); err == nil {
			return sum
		}
	}
	return record.Summary{}
}
