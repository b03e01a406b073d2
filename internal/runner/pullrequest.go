package runner

import (
	"github.com/pawl-dev/pawl/internal/core/memory"
)

// RecordPullRequest journals the result of a merge that the agent requested, after the
// loop's end.
func (r *Runner) RecordPullRequest(p memory.PullRequest) error {
	if err := r.appendRecord(memory.TypePullRequest, p); err != nil {
		return err
	}
	r.mem.PullRequest = p
	r.saveSnapshot()
	return nil
}
