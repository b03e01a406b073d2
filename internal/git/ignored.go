package git

import (
	"context"
	"fmt"
)

// Ignored lists what git ignores in the work tree beside the rest, files and whole
// folders, these with a / at the end: what lies in them is not looked at.
func (r *Repo) Ignored(ctx context.Context) ([]string, error) {
	out, err := r.run(ctx, call{args: []string{"ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"}})
	if err != nil {
		return nil, fmt.Errorf("list what git ignores: %w", err)
	}
	return fields(out), nil
}
