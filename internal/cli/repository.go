package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/term"
)

// maxGitLink bounds what is read of a file by which git names a folder, in bytes.
const maxGitLink = 64 << 10

// commonGitDir returns the git directory that the worktree at root shares with the other
// worktrees of its repository, "" where there is none. As root does, it takes repositories in
// any state.
func commonGitDir(root string) string {
	dir := filepath.Join(root, ".git")
	if link, err := atomicfile.Read(dir, maxGitLink); err == nil { // a linked worktree
		to, ok := strings.CutPrefix(strings.TrimSpace(string(link)), "gitdir: ")
		if !ok {
			return ""
		}
		dir = absIn(root, to)
	}
	if common, err := atomicfile.Read(filepath.Join(dir, "commondir"), maxGitLink); err == nil {
		dir = absIn(dir, strings.TrimSpace(string(common)))
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return ""
	}
	return dir
}

// sameRepository returns a function that reports whether a folder is the worktree at root, or
// another one of its repository.
func sameRepository(root string) func(other string) bool {
	common, known := commonGitDir(root), map[string]bool{root: true}
	return func(other string) bool {
		same, asked := known[other]
		if !asked {
			same = common != "" && commonGitDir(other) == common
			known[other] = same
		}
		return same
	}
}

// warnPlan says what a user should know of the plan's other edits and loops.
func (a *app) warnPlan(p *launch.Prepared) {
	a.warnPlanEdited(p)
	a.warnSamePlan(p)
	a.warnEarlierEdits(p)
}

// warnSamePlan says that another loop of the repository works on the same plan.
func (a *app) warnSamePlan(p *launch.Prepared) {
	listed, err := record.List(a.store)
	if err != nil || p.Spec.Plan == "" {
		return // whoever needs the list says why there is none
	}
	same := sameRepository(p.Root())
	for _, l := range listed {
		sum := a.present(l)
		if sum.Root == "" || sum.State == "ended" || sum.State == orphaned || !same(sum.Root) {
			continue
		}
		if spec, err := record.ReadSpec(l.Loop); err == nil && spec.Plan == p.Spec.Plan {
			term.Warnf(a.Err, "loop %s works on %s too: both would do its tasks", sum.ID, p.Spec.Plan)
			fmt.Fprintf(a.Err, "pawl: hint: pawl status %s shows it; --task ID gives each loop tasks of its own\n", sum.ID)
		}
	}
}

// warnEarlierEdits says what becomes of edits of the plan that its last loop had not made.
func (a *app) warnEarlierEdits(p *launch.Prepared) {
	for _, e := range p.Earlier.Additions {
		term.Warnf(a.Err, "takes an edit of the plan over that loop %s had not made: %s", p.Earlier.Loop, e)
	}
	for _, e := range p.Earlier.Others {
		term.Warnf(a.Err, "loop %s had not made an edit of the plan, and this run does not: %s", p.Earlier.Loop, e)
		fmt.Fprintf(a.Err, "pawl: hint: %s makes it while the loop runs\n", term.Clean(e.Command(p.Spec.Plan)))
	}
}

// nameBeside adds to an error that says that there is no loop in this worktree the loops in the
// other worktrees of the repository.
func (a *app) nameBeside(err error) error {
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	listed, listErr := record.List(a.store)
	if listErr != nil {
		return err
	}
	same := sameRepository(a.root())
	var names []string
	for _, l := range listed {
		if sum := a.present(l); sum.Root != "" && same(sum.Root) {
			names = append(names, fmt.Sprintf("%s (%s, in %s)", sum.ID, howItStands(sum), sum.Root))
		}
	}
	if len(names) == 0 {
		return err
	}
	return failure.New(failure.Usage, "name one of the repository's: "+plan.Few(names, 4), "%w", err)
}
