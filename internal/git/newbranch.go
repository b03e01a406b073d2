package git

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/failure"
)

// NewBranchObstacles returns what would keep git from making a branch and from putting
// HEAD on it: a branch whose name is a folder of this one's, or the other way round.
// Nothing is in the way of name "".
func (r *Repo) NewBranchObstacles(ctx context.Context, name string) []error {
	if name == "" {
		return nil
	}
	var all []error
	first, _, _ := strings.Cut(name, "/")
	refs, err := r.git(ctx, "for-each-ref", "--format=%(refname)", headsRef+first)
	if err != nil {
		return append(all, fmt.Errorf("look for branches like %s: %w", name, err))
	}
	for ref := range strings.Lines(refs) {
		other := strings.TrimPrefix(strings.TrimSpace(ref), headsRef)
		if strings.HasPrefix(name, other+"/") || strings.HasPrefix(other, name+"/") {
			return append(all, failure.New(failure.Usage, "rename that one:  git branch -m "+other+" NAME;  or name another with --branch",
				"there is a branch %s, so none can be named %s", other, name))
		}
	}
	return all
}
