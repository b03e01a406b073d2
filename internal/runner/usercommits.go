package runner

import (
	"cmp"
	"context"
	"fmt"

	"github.com/pawl-dev/pawl/internal/core/memory"
)

// attributeTurnCommits attributes the commits base..head of a turn in which commands of the
// agent ran. A commit made while the agent did not run is the user's and becomes part of the
// base, a merge with all that it brought; commits of the agent below it become uncommitted
// changes. In doubt all are the agent's, so that ungated work never becomes the base.
func (r *Runner) attributeTurnCommits(ctx context.Context, base memory.Base, head string, m memory.ActionContext) (memory.Base, []string, error) {
	own := base
	own.HasAgentCommits = true
	if r.isUserTree() {
		return own, nil, nil
	}
	commits, err := r.Repo.FirstParentCommits(ctx, base.Commit, head)
	if err != nil {
		return own, nil, fmt.Errorf("look at what was committed: %w", err)
	}
	users, err := r.authors.UserCommits(ctx, m, commits)
	if err != nil || len(users) == 0 {
		return own, nil, err
	}
	branch, err := r.branch(ctx)
	if err != nil {
		return own, nil, err
	}
	first := 0 // index of the first commit that is not the user's
	for first < len(users) && users[first] == commits[first] {
		first++
	}
	base.TaskStart = cmp.Or(base.TaskStart, base.Commit)
	tip := base.Commit
	if first > 0 {
		tip = commits[first-1]
	}
	if first < len(users) && !r.keepsAgentCommits() {
		replanted, err := r.Repo.Replant(ctx, r.Loop.ID, branch, tip, users[first:])
		if err != nil {
			return own, nil, fmt.Errorf("keep your commits: %w", err)
		}
		if replanted != "" {
			base.Commit, base.HasAgentCommits = replanted, false
			return base, []string{userCommitsText(branch, replanted) + "; the agent's commits between them are uncommitted changes again"}, nil
		}
	}
	if first == 0 {
		return own, nil, nil
	}
	base.Commit, base.HasAgentCommits = tip, first < len(commits)
	return base, []string{userCommitsText(branch, tip)}, nil
}
