package git

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/failure"
)

// Inert is the repository for commands that only look: git runs no filter that the
// repository's own configuration names, as it does to compare a file that it does
// not know with what it has. Those of the user's configuration (git-lfs) still run.
// A file behind a filter that does not run counts as changed if it was touched, and
// changes inside of submodules are not seen.
func (r *Repo) Inert(ctx context.Context) (*Repo, error) {
	out, err := r.run(ctx, call{args: []string{"config", "-z", "--show-scope", "--name-only", "--get-regexp", `^filter\..*\.(clean|smudge|process|required)$`}})
	if err != nil && !saidNo(err) {
		return nil, fmt.Errorf("read git's filters: %w", err)
	}
	inert := []string{"-c", "diff.external="}        // nor a program that compares files
	for pair := range slices.Chunk(fields(out), 2) { // a scope, a key
		if len(pair) < 2 || pair[0] != "local" && pair[0] != "worktree" {
			continue
		}
		filter := pair[1][:strings.LastIndexByte(pair[1], '.')]
		if strings.Contains(filter, "=") { // it cannot be overruled
			return nil, failure.New(failure.Usage, "look at the configuration: git config --local --list",
				"the repository's configuration names a filter that only looking must not run: %q", filter)
		}
		inert = append(inert, "-c", filter+".clean=", "-c", filter+".smudge=", "-c", filter+".process=", "-c", filter+".required=false")
	}
	return &Repo{
		root: r.root, gitDir: r.gitDir, commonDir: r.commonDir, lockWait: r.lockWait,
		callTime: r.callTime, pipesAfter: r.pipesAfter, inert: inert,
	}, nil
}
