package runner

import (
	"context"
	"fmt"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
)

// nameMovedBranch warns where the branch that the user was on when the loop began has lost the
// commit that it was at: it was reset, rebased or deleted, by the user or by a program of the
// agent's. Commits that were added to it are nothing to warn of.
func (r *Runner) nameMovedBranch(ctx context.Context) {
	home, began := r.Spec.StartBranch, r.Spec.StartCommit
	if home == "" || home == r.Spec.Branch || began == "" || r.theirTree() {
		return
	}
	there, err := r.Repo.HasBranch(ctx, home)
	lost := err == nil && !there
	if err == nil && there {
		var has bool
		has, err = r.Repo.Contains(ctx, "refs/heads/"+home, began)
		lost = err == nil && !has
	}
	if err != nil {
		r.noteLater(ctx, loop.Warning, fmt.Sprintf("look at branch %s: %v", home, err))
		return
	}
	if lost {
		hint := fmt.Sprintf("git log %s..%s shows what it lacks", home, short(began))
		if !there {
			hint = fmt.Sprintf("git branch %s %s brings it back", home, short(began))
		}
		text := fmt.Sprintf("branch %s lost commit %s, where this loop began; %s", home, short(began), hint)
		r.inRun(ctx, func(context.Context) error {
			r.tell(memory.Note{Level: loop.Warning, Text: text, PerhapsYours: text})
			return nil
		})
	}
}
