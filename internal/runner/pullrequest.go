package runner

import (
	"github.com/pawl-dev/pawl/internal/core/memory"
)

// RecordPullRequest journals what came of a merge that the agent asked for, of a loop that has
// ended.
func (r *Runner) RecordPullRequest(p memory.PullRequest) error {
	if err := r.appendRecord(memory.TypePullRequest, p); err != nil {
		return err
	}
	r.mem.PullRequest = p
	r.saveSnapshot()
	return nil
}
