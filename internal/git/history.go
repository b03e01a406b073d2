package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// History returns the paths that each of the last commits changed, newest first, merges
// left out.
func (r *Repo) History(ctx context.Context, commits int) ([][]string, error) {
	const mark = "\x01" // begins a commit
	out, err := r.run(ctx, call{args: []string{"log", "-z", "--no-merges", "--no-renames", "--name-only", "-n", strconv.Itoa(commits), "--format=%x01", "HEAD", "--"}})
	if err != nil {
		return nil, fmt.Errorf("read the last commits: %w", err)
	}
	var all [][]string
	for text := range strings.SplitSeq(strings.TrimPrefix(string(out), mark), mark) {
		if paths := fields([]byte(strings.Trim(text, "\x00\n"))); len(paths) > 0 {
			all = append(all, paths)
		}
	}
	return all, nil
}
