package git

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// FirstParentCommits returns the commits after base up to tip, oldest first, without those merged
// from other branches. It returns nil if base is not a first-parent ancestor.
func (r *Repo) FirstParentCommits(ctx context.Context, base, tip string) ([]string, error) {
	out, err := r.git(ctx, "rev-list", "--reverse", "--first-parent", "--parents", base+".."+tip)
	if err != nil {
		return nil, fmt.Errorf("list commits: %w", err)
	}
	var line []string
	last := base
	for text := range strings.Lines(out) {
		ids := strings.Fields(text) // the commit and its parents
		if len(ids) < 2 || ids[1] != last {
			return nil, nil
		}
		last = ids[0]
		line = append(line, last)
	}
	return line, nil
}

// LooseObjectPath returns the path at which git stores an object that is in no pack. The file need
// not exist.
func (r *Repo) LooseObjectPath(id string) string {
	return filepath.Join(r.commonDir, "objects", id[:2], id[2:])
}

// BranchLogPath returns the path at which git logs what a branch was set to. The file need not exist.
func (r *Repo) BranchLogPath(branch string) string {
	return filepath.Join(r.commonDir, "logs", "refs", "heads", filepath.FromSlash(branch))
}

// PackedCommit returns when a commit was made by its own account, to the second, and the indexes of the
// packs in which git may have put it since. Git touches a pack whenever it would write one of its
// objects again, and never its index.
func (r *Repo) PackedCommit(ctx context.Context, id string) (made time.Time, packs []string, err error) {
	out, err := r.git(ctx, "show", "-s", "--format=%ct", id)
	if err != nil {
		return made, nil, fmt.Errorf("read a commit's time: %w", err)
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(out), 10, 64)
	if err != nil {
		return made, nil, fmt.Errorf("read a commit's time: %w", err)
	}
	dir := filepath.Join(r.commonDir, "objects", "pack")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return made, nil, fmt.Errorf("list the packs: %w", err)
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".idx" {
			packs = append(packs, filepath.Join(dir, e.Name()))
		}
	}
	return time.Unix(seconds, 0), packs, nil
}

// Replant moves the branch to copies of these commits on base. The commits between them become
// uncommitted changes, as in Squash. Author, message and changes of each commit stay. It returns
// the new tip. It returns "" and changes nothing if a commit changes a file that a left-out commit
// changed before.
func (r *Repo) Replant(ctx context.Context, loop, branch, base string, commits []string) (string, error) {
	ref, err := r.branchRef(ctx, branch)
	if err != nil {
		return "", err
	}
	old, err := r.branchTip(ctx, ref)
	if err != nil {
		return "", err
	}
	tip := base
	for _, commit := range commits {
		if tip, err = r.replant(ctx, commit, tip); err != nil || tip == "" {
			return "", err
		}
	}
	if _, err := r.keepCommits(ctx, loop, tip, old); err != nil {
		return "", fmt.Errorf("keep the commits of %s: %w", branch, err)
	}
	if err := r.write(ctx, "update-ref", "-m", "pawl: keep your commits", ref, tip, old); err != nil {
		return "", fmt.Errorf("move %s: %w", branch, err)
	}
	return tip, r.AlignIndex(ctx, tip)
}

// replant creates a commit again with another first parent; a merge keeps its other parents.
func (r *Repo) replant(ctx context.Context, commit, parent string) (string, error) {
	changes, err := r.Diff(ctx, commit+"^", commit)
	if err != nil {
		return "", err
	}
	had, err := r.EntriesAt(ctx, parent, Paths(changes))
	if err != nil {
		return "", err
	}
	var paths []string
	for _, c := range changes {
		if had[c.Path] != c.From {
			return "", nil
		}
		paths = append(paths, c.Path)
	}
	tree, err := r.TreeOf(ctx, parent)
	if err == nil && len(paths) > 0 {
		tree, err = r.Overlay(ctx, tree, commit, paths)
	}
	if err != nil {
		return "", err
	}
	raw, err := r.objects(ctx, commit)
	if err != nil {
		return "", fmt.Errorf("read commit %s: %w", commit, err)
	}
	return r.writeCommit(ctx, rewriteCommit(raw[0].data, tree, parent))
}

// rewriteCommit returns a commit object with another tree and first parent, without its signature.
func rewriteCommit(raw []byte, tree, parent string) []byte {
	head, message, _ := bytes.Cut(raw, []byte("\n\n"))
	lines := []string{"tree " + tree, "parent " + parent}
	signed, hadParent := false, false
	for line := range strings.Lines(string(head)) {
		line = strings.TrimSuffix(line, "\n")
		key, _, _ := strings.Cut(line, " ")
		if key == "" && signed {
			continue // the signature continues
		}
		replaced := key == "tree" || key == "parent" && !hadParent
		hadParent = hadParent || key == "parent"
		if signed = strings.HasPrefix(key, "gpgsig"); signed || replaced {
			continue
		}
		lines = append(lines, line)
	}
	return append([]byte(strings.Join(lines, "\n")+"\n\n"), message...)
}
