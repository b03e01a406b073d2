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

// keepCommits creates a ref for commits of tip that are not in parent, so that moving a branch from
// tip to a child of parent loses nothing. It returns the ref's name, or "" if there is nothing to
// keep.
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

// Contains reports whether ancestor is commit or one of its ancestors.
func (r *Repo) Contains(ctx context.Context, commit, ancestor string) (bool, error) {
	_, err := r.git(ctx, "merge-base", "--is-ancestor", ancestor, commit)
	if isExitOne(err) {
		return false, nil
	}
	return err == nil, err
}

// Squash moves the branch back to base without changing files, so that the agent's commits become
// uncommitted changes. It is called before RunHooks, which then see all work as staged, and after a
// restore. HEAD must be on the branch. The commits are kept under refs/pawl/<loop>/squashed/; it
// returns that ref, or "". The user's files stay staged.
func (r *Repo) Squash(ctx context.Context, loop, branch, base string, userFiles ...string) (string, error) {
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
	return kept, r.AlignIndex(ctx, to, userFiles...)
}

// AlignIndex makes the user's index contain a commit's tree. It does not change the work tree, and
// keeps git's cache of unchanged files. What is staged of the user's files stays so. Moving a
// branch and this are two steps. If a process died between them, the next one does the second.
func (r *Repo) AlignIndex(ctx context.Context, commit string, userFiles ...string) (err error) {
	defer wrap(&err, "update index")
	id, err := r.Resolve(ctx, commit+"^{commit}")
	if err != nil {
		return err
	}
	was, changes, few := r.changesSinceAligned(ctx, id)
	if few && !(indexfile.Length(filepath.Join(r.gitDir, "index")) >= watchedFrom && r.setUserIndex(ctx, changes)) {
		// Its failure has no reason: -q hides it, for example a lock.
		few = r.refreshIndex(ctx, setArgs(changes)...) == nil
	}
	if !few {
		staged := r.indexEntries(userFiles)
		if err := r.revealChanged(ctx, id); err != nil {
			return err
		}
		// --reset, not -m: it drops conflict entries of a merge that the agent started.
		if err := r.write(ctx, "read-tree", "--reset", id); err != nil {
			return err
		}
		if err := r.stage(ctx, staged); err != nil {
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

// indexEntries returns the entries that the user's index has for these files, as changes that set
// them again. It returns none of an index that cannot be read, as with SHA-256.
func (r *Repo) indexEntries(files []string) (changes []Change) {
	if len(files) == 0 {
		return nil
	}
	entries, err := indexfile.Read(filepath.Join(r.gitDir, "index"))
	if err != nil {
		return nil
	}
	for _, file := range files {
		if i, ok := indexfile.Find(entries, file); ok && !entries[i].IsConflict() && !entries[i].IsIntended() {
			changes = append(changes, Change{Path: file, Status: 'M', To: Entry(entries[i].Object())})
		}
	}
	return changes
}

// stage sets these entries of the user's index.
func (r *Repo) stage(ctx context.Context, entries []Change) error {
	if len(entries) == 0 {
		return nil
	}
	_, err := r.run(ctx, call{args: []string{"update-index", "-z", "--replace", "--index-info"}, stdin: entryLines(entries), whole: true})
	return err
}

// refreshIndex sets entries of the user's index, and makes git check which files equal it.
func (r *Repo) refreshIndex(ctx context.Context, entries ...string) error {
	err := r.write(ctx, slices.Concat([]string{"update-index", "-q"}, entries, []string{"--refresh"})...)
	if isExitOne(err) { // files differ from the index, which is not an error here
		return nil
	}
	return err
}

// aligned is the state of the user's index when it contained a commit's tree.
type aligned struct{ stamp, commit string }

// noteAligned records that the user's index contains HEAD's tree if a status has found no
// difference. The first commit of a loop is then cheaper.
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

// maxSet limits the entries that a command line sets.
const maxSet = 100

// changesSinceAligned returns the changes that make the user's index contain a commit's tree, and
// its state before. few is true if nobody wrote to it since the last alignment, and few paths
// changed.
func (r *Repo) changesSinceAligned(ctx context.Context, commit string) (stamp string, changes []Change, few bool) {
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

// setArgs returns arguments with which update-index sets entries.
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
