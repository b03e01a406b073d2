package git

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/pawl-dev/pawl/internal/git/indexfile"
)

// keepCommits makes a ref for commits of tip that are not in parent, so that
// moving a branch from tip to a child of parent loses nothing. It returns the
// ref's name, or "" when there is nothing to keep.
func (r *Repo) keepCommits(ctx context.Context, loop, parent, tip string) (string, error) {
	if tip == parent {
		return "", nil
	}
	if held, err := r.Contains(ctx, parent, tip); held || err != nil {
		return "", err
	}
	prefix, err := loopRef(loop)
	if err != nil {
		return "", err
	}
	prefix += "squashed/"
	points, err := r.listCheckpoints(ctx, prefix)
	if err != nil {
		return "", err
	}
	first := 1
	for _, p := range points {
		if p.Commit == tip {
			return prefix + strconv.Itoa(p.N), nil
		}
		first = p.N + 1
	}
	for n := first; n < first+maxTakenNumbers; n++ {
		ref := prefix + strconv.Itoa(n)
		if err := r.createRef(ctx, ref, tip); !errors.Is(err, errRefExists) {
			return ref, err
		}
	}
	return "", errRefExists
}

// Contains reports whether an ancestor is among a commit and those before it.
func (r *Repo) Contains(ctx context.Context, commit, ancestor string) (bool, error) {
	_, err := r.git(ctx, "merge-base", "--is-ancestor", ancestor, commit)
	if saidNo(err) {
		return false, nil
	}
	return err == nil, err
}

// Squash moves the branch back to base without touching a file, so that the
// agent's own commits become changes again: before RunHooks, which then see all
// of the work as staged, or after a restore. HEAD must be on the branch. They are
// kept under refs/pawl/<loop>/squashed/; it returns that ref, or "".
func (r *Repo) Squash(ctx context.Context, loop, branch, base string) (string, error) {
	ref, err := r.branchRef(ctx, branch)
	if err != nil {
		return "", err
	}
	to, err := r.Resolve(ctx, base+"^{commit}")
	if err != nil {
		return "", err
	}
	tip, err := r.Resolve(ctx, ref+"^{commit}")
	if err != nil || tip == to {
		return "", err
	}
	kept, err := r.keepCommits(ctx, loop, to, tip)
	if err != nil {
		return "", fmt.Errorf("squash %s: %w", branch, err)
	}
	if err := r.write(ctx, "update-ref", "-m", "pawl: squash", ref, to, tip); err != nil {
		return kept, fmt.Errorf("squash %s: %w", branch, err)
	}
	return kept, r.AlignIndex(ctx, to)
}

// AlignIndex makes the user's index hold a commit's tree; the work tree is not
// touched, and what git remembers of unchanged files is kept. Moving a branch
// and this are two steps: who finds the first done by a process that died does
// the second.
func (r *Repo) AlignIndex(ctx context.Context, commit string) error {
	err := r.alignIndex(ctx, commit)
	if err != nil {
		return fmt.Errorf("update index: %w", err)
	}
	return nil
}

func (r *Repo) alignIndex(ctx context.Context, commit string) error {
	id, err := r.Resolve(ctx, commit+"^{commit}")
	if err != nil {
		return err
	}
	was, changes, few := r.sinceAligned(ctx, id)
	if few && !(indexfile.Length(filepath.Join(r.gitDir, "index")) >= watchedFrom && r.setEntriesOfIndex(ctx, changes)) {
		// That it fails says nothing: -q keeps the reason, such as a lock, to itself.
		few = r.refreshIndex(ctx, setArgs(changes)...) == nil
	}
	if !few {
		if err := r.revealChanged(ctx, id); err != nil {
			return err
		}
		// --reset, not -m: conflict entries of a merge that the agent began are dropped.
		if err := r.write(ctx, "read-tree", "--reset", id); err != nil {
			return err
		}
		if err := r.refreshIndex(ctx); err != nil {
			return err
		}
	}
	stamp, err := indexStamp(filepath.Join(r.gitDir, "index"))
	if few && err == nil {
		r.alignWatch(was, stamp, changes)
		r.alignKept(ctx, stamp, changes)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.aligned = aligned{stamp, id}
	return err
}

// refreshIndex sets entries of the user's index, and has git see which files are like it.
func (r *Repo) refreshIndex(ctx context.Context, entries ...string) error {
	err := r.write(ctx, slices.Concat([]string{"update-index", "-q"}, entries, []string{"--refresh"})...)
	if saidNo(err) { // files differ from the index, which is not an error here
		return nil
	}
	return err
}

// aligned is the state of the user's index when it held a commit's tree.
type aligned struct{ stamp, commit string }

// noteAligned remembers that the user's index holds HEAD's tree, where a status has found no
// difference: the first commit of a loop then need not write all of it.
func (r *Repo) noteAligned(stamp string, s Status) {
	if s.Head == "" || len(s.Dirty)+len(s.Submodules)+len(s.Hidden) > 0 {
		return
	}
	if now, err := indexStamp(filepath.Join(r.gitDir, "index")); err != nil || now != stamp {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.aligned = aligned{stamp, s.Head}
}

// maxSet bounds the entries that a command line sets.
const maxSet = 100

// sinceAligned are the changes that make the user's index hold a commit's tree, where nobody
// wrote to it since it held another's, and few paths changed; and its state before.
func (r *Repo) sinceAligned(ctx context.Context, commit string) (stamp string, changes []Change, few bool) {
	r.mu.Lock()
	was := r.aligned
	r.mu.Unlock()
	stamp, err := indexStamp(filepath.Join(r.gitDir, "index"))
	if err != nil || was.commit == "" || stamp != was.stamp {
		return "", nil, false
	}
	if sparse, err := r.sparse(ctx); err != nil || sparse {
		return "", nil, false
	}
	changes, err = r.Diff(ctx, was.commit, commit)
	return stamp, changes, err == nil && len(changes) <= maxSet
}

// setArgs are arguments with which update-index sets entries.
func setArgs(changes []Change) []string {
	args := []string{"--add", "--replace", "--force-remove"}
	for _, c := range changes {
		if c.Status == 'D' {
			args = append(args, "./"+c.Path)
		}
	}
	for _, c := range changes {
		if c.Status != 'D' {
			args = append(args, "--cacheinfo", c.To.Mode+","+c.To.ID+","+c.Path)
		}
	}
	return args
}
