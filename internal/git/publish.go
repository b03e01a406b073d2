package git

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// publishTime bounds what talks to another machine.
const publishTime = 2 * time.Minute

// Remote is the remote that a branch is published to: the one that it or else the
// default branch follows, or origin; with its address. "" where there is none.
func (r *Repo) Remote(ctx context.Context, branches ...string) (name, url string, err error) {
	names := []string{"origin"}
	for _, b := range branches {
		if follows, err := r.git(ctx, "config", "--get", "branch."+b+".remote"); err == nil && follows != "" && follows != "." {
			names = append([]string{follows}, names...)
		}
	}
	known, err := r.git(ctx, "remote")
	if err != nil {
		return "", "", err
	}
	for _, name := range names {
		for have := range strings.FieldsSeq(known) {
			if have == name {
				url, err = r.git(ctx, "remote", "get-url", "--push", name)
				return name, url, err
			}
		}
	}
	return "", "", nil
}

// Publish pushes a branch to a remote, by the user's own hooks. It never forces.
func (r *Repo) Publish(ctx context.Context, remote, branch string) error {
	ctx, cancel := context.WithTimeout(ctx, publishTime)
	defer cancel()
	ref := "refs/heads/" + branch
	if _, err := r.run(ctx, call{args: []string{"push", "--quiet", remote, ref + ":" + ref}, hooks: true, env: []string{"GIT_TERMINAL_PROMPT=0"}}); err != nil {
		return fmt.Errorf("push %s to %s: %w", branch, remote, err)
	}
	return nil
}
