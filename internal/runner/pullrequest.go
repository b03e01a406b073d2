package runner

import (
	"github.com/pawl-dev/pawl/internal/core/memory"
)

// Pulled journals what came of a merge that the agent asked for, of a loop that has
// ended.
func (r *Runner) Pulled(p memory.PullRequest) error {
	if err := r.append(memory.TypePullRequest, p); err != nil {
		return err
	}
	r.mem.PullRequest = p
	r.save()
	return nil
}
