package git

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"
)

// CommitUserChanges commits the user's changes of tracked files before the loop, as the user, to
// the branch of HEAD (or a detached HEAD). The index before is kept under refs/pawl/<loop>/staged.
// `git reset --soft HEAD~1` and `git read-tree --reset` of it restore everything. It returns "" if
// there was nothing to commit.
func (r *Repo) CommitUserChanges(ctx context.Context, loop, message string) (sha string, err error) {
	defer wrap(&err, "commit your changes")
	status, err := r.Status(ctx)
	if err != nil || len(status.Dirty) == 0 {
		return "", err
	}
	if err := r.keepStaged(ctx, loop, status.Head); err != nil {
		return "", err
	}
	snap, _, err := r.Snapshot(ctx)
	if err != nil {
		return "", err
	}
	tree, err := r.Overlay(ctx, snap, status.Head, slices.Concat(status.Untracked, status.Hidden))
	if err != nil {
		return "", err
	}
	if had, err := r.TreeOf(ctx, status.Head); err != nil || had == tree {
		return "", errors.Join(err, r.AlignIndex(ctx, status.Head)) // a crash came before the index was updated
	}
	text, err := withTrailers(message, nil)
	if err != nil {
		return "", err
	}
	done, err := r.commitTree(ctx, CommitRequest{Tree: tree, Parent: status.Head, Message: text})
	if err != nil {
		return "", err
	}
	if err := r.write(ctx, "update-ref", "-m", "pawl: "+subject(text), "HEAD", done.Commit, status.Head); err != nil {
		return "", err
	}
	return done.Commit, r.AlignIndex(ctx, done.Commit)
}

// keepStaged stores the user's index as a commit on head.
func (r *Repo) keepStaged(ctx context.Context, loop, head string) error {
	prefix, err := loopRef(loop)
	if err != nil {
		return err
	}
	s, err := r.newScratchDir()
	if err != nil {
		return err
	}
	defer s.close()
	if _, err := copyIndex(filepath.Join(r.gitDir, "index"), s.index); err != nil {
		return err
	}
	tree, err := r.writeTree(ctx, s.index)
	if err != nil {
		return err
	}
	commit, err := r.ownCommit(ctx, ownCommit{tree, []string{head}, "what was staged before\n", time.Now()})
	if err != nil {
		return err
	}
	return r.write(ctx, "update-ref", prefix+"staged", commit)
}
