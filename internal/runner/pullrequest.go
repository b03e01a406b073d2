package runner

import "github.com/pawl-dev/pawl/internal/record"

// Pulled journals what came of a merge that the agent asked for, of a loop that has
// ended.
func (r *Runner) Pulled(p record.PullRequest) error {
	if err := r.append(record.TypePullRequest, p); err != nil {
		return err
	}
	r.mem.PullRequest = p
	r.save()
	return nil
}
