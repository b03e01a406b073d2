package git

import (
	"context"
	"fmt"
	"strings"
)

// DeleteLoopRefs deletes the checkpoints of a loop and its other refs under refs/pawl,
// all or none, and returns how many there were. Branches and commits on them stay.
func (r *Repo) DeleteLoopRefs(ctx context.Context, loop string) (int, error) {
	prefix, err := loopRef(loop)
	if err != nil {
		return 0, err
	}
	list, err := r.run(ctx, call{args: []string{"for-each-ref", "--format=delete %(refname) %(objectname)", prefix}})
	n := strings.Count(string(list), "\n")
	if err == nil && n > 0 {
		_, err = r.run(ctx, call{args: []string{"update-ref", "--stdin"}, stdin: list, whole: true})
	}
	if err != nil {
		return 0, fmt.Errorf("delete the refs of loop %s: %w", loop, err)
	}
	r.cacheCheckpoints(prefix, nil)
	return n, nil
}
