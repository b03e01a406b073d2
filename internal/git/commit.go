package git

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/failure"
)

// Trailer is one "Key: value" line at the end of a commit message.
type Trailer struct{ Key, Value string }

// CommitRequest is a commit to be made as the user.
type CommitRequest struct {
	Loop     string // id; commits that the branch loses are kept under it
	Branch   string // short name; HEAD should be on it
	Parent   string // commit: the recorded base (squash), or the branch's tip
	Tree     string // what to commit, see Overlay
	Message  string
	Trailers []Trailer
	Date     time.Time // zero = now
}

// Committed is a commit made.
type Committed struct {
	Commit   string
	Squashed string // ref that keeps the agent's own commits, "" if there were none
	Unsigned string // why the commit is not signed although the user wants that, or ""
}

// signTime bounds a signing program that waits for a passphrase nobody types.
const signTime = 30 * time.Second

// Commit makes a commit with the user's identity, moves the branch to it and
// brings the user's index in line, so that git status shows the committed paths
// as clean. No hooks run here, see RunHooks. Where the branch holds commits that
// Parent does not (the agent's own), they are squashed into this one and kept
// under refs/pawl/<loop>/squashed/. Make it idempotent with FindCommit.
func (r *Repo) Commit(ctx context.Context, q CommitRequest) (Committed, error) {
	done, err := r.commit(ctx, q)
	if err != nil {
		return done, fmt.Errorf("commit to %s: %w", q.Branch, err)
	}
	return done, nil
}

func (r *Repo) commit(ctx context.Context, q CommitRequest) (Committed, error) {
	ref, err := r.branchRef(ctx, q.Branch)
	if err != nil {
		return Committed{}, err
	}
	parent, err := r.Resolve(ctx, q.Parent+"^{commit}")
	if err != nil {
		return Committed{}, err
	}
	tip, err := r.Resolve(ctx, ref+"^{commit}")
	if err != nil {
		return Committed{}, err
	}
	message, err := r.message(ctx, q.Message, q.Trailers)
	if err != nil {
		return Committed{}, err
	}
	done, err := r.commitTree(ctx, q, parent, message)
	if err != nil {
		return done, err
	}
	if done.Squashed, err = r.keepCommits(ctx, q.Loop, parent, tip); err != nil {
		return done, err
	}
	// The old value guards against a commit that somebody else made meanwhile.
	if err := r.write(ctx, "update-ref", "-m", "pawl: "+subject(message), ref, done.Commit, tip); err != nil {
		return done, err
	}
	return done, r.alignIndex(ctx, done.Commit)
}

// commitTree makes the commit object, signed where the user signs.
func (r *Repo) commitTree(ctx context.Context, q CommitRequest, parent, message string) (Committed, error) {
	tree, err := r.TreeOf(ctx, q.Tree)
	if err != nil {
		return Committed{}, err
	}
	c := call{args: []string{"commit-tree", tree, "-p", parent}, stdin: []byte(message)}
	if !q.Date.IsZero() {
		date := fmt.Sprintf("@%d %s", q.Date.Unix(), q.Date.Format("-0700"))
		c.env = append(c.env, "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date)
	}
	var done Committed
	if sign, _ := r.git(ctx, "config", "--type=bool", "commit.gpgsign"); sign == "true" {
		signed := c
		signed.args = append([]string{"commit-tree", "-S"}, c.args[1:]...)
		bounded, cancel := context.WithTimeout(ctx, signTime)
		out, err := r.run(bounded, signed)
		cancel()
		if err == nil {
			return Committed{Commit: strings.TrimSpace(string(out))}, nil
		}
		done.Unsigned = err.Error()
	}
	out, err := r.run(ctx, c)
	if said(err, "tell me who you are", "empty ident", "auto-detect email", "no name was given", "no email was given") {
		return done, failure.New(failure.Usage,
			`tell git who you are: git config user.name "…" && git config user.email "…"`,
			"git does not know whose commits these are")
	}
	done.Commit = strings.TrimSpace(string(out))
	return done, err
}

// message is the text of a commit with trailers in one block with those it has.
func (r *Repo) message(ctx context.Context, text string, trailers []Trailer) (string, error) {
	if text = strings.TrimSpace(clean(text)); text == "" {
		return "", errors.New("the message is empty")
	}
	args := []string{"-c", "trailer.ifexists=addIfDifferent", "interpret-trailers", "--no-divider"}
	for _, t := range trailers {
		value := strings.Join(strings.Fields(clean(t.Value)), " ")
		args = append(args, "--trailer="+t.Key+": "+value)
	}
	out, err := r.run(ctx, call{args: args, stdin: []byte(text + "\n")})
	return string(out), err
}

// keepCommits makes a ref for commits of tip that are not in parent, so that
// moving a branch from tip to a child of parent loses nothing. It returns the
// ref's name, or "" when there is nothing to keep.
func (r *Repo) keepCommits(ctx context.Context, loop, parent, tip string) (string, error) {
	if tip == parent {
		return "", nil
	}
	if _, err := r.git(ctx, "merge-base", "--is-ancestor", tip, parent); err == nil {
		return "", nil
	} else if !exited(err, 1) {
		return "", err
	}
	prefix, err := loopRef(loop)
	if err != nil {
		return "", err
	}
	prefix += "squashed/"
	points, err := r.points(ctx, prefix)
	if err != nil {
		return "", err
	}
	n := 1
	for _, p := range points {
		if p.Commit == tip {
			return prefix + strconv.Itoa(p.N), nil
		}
		n = p.N + 1
	}
	for {
		ref := prefix + strconv.Itoa(n)
		if err := r.createRef(ctx, ref, tip); !errors.Is(err, errTaken) {
			return ref, err
		}
		n++
	}
}

// Squash moves the branch back to base without touching a file, so that the
// agent's own commits become changes again (for hooks, or after a restore). They
// are kept under refs/pawl/<loop>/squashed/; it returns that ref, or "".
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
	return kept, r.alignIndex(ctx, to)
}

// alignIndex makes the user's index hold a commit's tree; the work tree is not
// touched, and what git remembers of unchanged files is kept.
func (r *Repo) alignIndex(ctx context.Context, commit string) error {
	// --reset, not -m: conflict entries of a merge that the agent began are dropped.
	if err := r.write(ctx, "read-tree", "--reset", commit); err != nil {
		return fmt.Errorf("bring the index in line: %w", err)
	}
	// Exits 1 where files differ from the index, which is no error here.
	if err := r.write(ctx, "update-index", "-q", "--refresh"); err != nil && !exited(err, 1) {
		return fmt.Errorf("bring the index in line: %w", err)
	}
	return nil
}

// FindCommit looks in base..branch for the newest commit with this trailer.
func (r *Repo) FindCommit(ctx context.Context, branch, base string, t Trailer) (sha string, ok bool, err error) {
	ref, err := r.branchRef(ctx, branch)
	if err != nil {
		return "", false, err
	}
	from, err := r.Resolve(ctx, base+"^{commit}")
	if err != nil {
		return "", false, err
	}
	trailers, err := r.trailers(ctx, t.Key, from+".."+ref)
	if err != nil {
		return "", false, fmt.Errorf("look for a commit with %s: %w", t.Key, err)
	}
	for _, found := range trailers {
		if found.Value == t.Value {
			return found.Key, true, nil
		}
	}
	return "", false, nil
}

// Trailers are those of one commit, in order.
func (r *Repo) Trailers(ctx context.Context, commit string) ([]Trailer, error) {
	id, err := r.Resolve(ctx, commit+"^{commit}")
	if err != nil {
		return nil, err
	}
	out, err := r.run(ctx, call{args: []string{"log", "-1", "-z", "--format=%(trailers:only,unfold)", id}})
	if err != nil {
		return nil, fmt.Errorf("read trailers of %s: %w", id, err)
	}
	var all []Trailer
	for line := range strings.Lines(strings.Trim(string(out), "\x00")) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			all = append(all, Trailer{key, value})
		}
	}
	return all, nil
}

// trailers lists (commit, value) of one trailer key over a range, newest first.
func (r *Repo) trailers(ctx context.Context, key, commits string) ([]Trailer, error) {
	out, err := r.run(ctx, call{args: []string{"log", "-z",
		"--format=%H %(trailers:key=" + key + ",valueonly,unfold)", commits, "--"}})
	if err != nil {
		return nil, err
	}
	var all []Trailer
	for _, rec := range fields(out) {
		sha, values, _ := strings.Cut(rec, " ")
		for line := range strings.Lines(values) {
			if v := strings.TrimSpace(line); v != "" {
				all = append(all, Trailer{Key: sha, Value: v})
			}
		}
	}
	return all, nil
}

// CommitUserChanges commits what the user had changed in tracked files before
// the loop, as theirs, to the branch that HEAD is on (or a detached HEAD). What
// was staged before is kept under refs/pawl/<loop>/staged: `git reset --soft
// HEAD~1` and `git read-tree` of it give everything back. It returns "" when
// there was nothing to commit.
func (r *Repo) CommitUserChanges(ctx context.Context, loop, message string) (string, error) {
	sha, err := r.commitUserChanges(ctx, loop, message)
	if err != nil {
		return "", fmt.Errorf("commit your changes: %w", err)
	}
	return sha, nil
}

func (r *Repo) commitUserChanges(ctx context.Context, loop, message string) (string, error) {
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
	tree, err := r.Overlay(ctx, snap, status.Head, status.Untracked)
	if err != nil {
		return "", err
	}
	text, err := r.message(ctx, message, nil)
	if err != nil {
		return "", err
	}
	done, err := r.commitTree(ctx, CommitRequest{Tree: tree}, status.Head, text)
	if err != nil {
		return "", err
	}
	if err := r.write(ctx, "update-ref", "-m", "pawl: "+subject(text), "HEAD", done.Commit, status.Head); err != nil {
		return "", err
	}
	return done.Commit, r.alignIndex(ctx, done.Commit)
}

// keepStaged keeps the user's index as a commit on head.
func (r *Repo) keepStaged(ctx context.Context, loop, head string) error {
	prefix, err := loopRef(loop)
	if err != nil {
		return err
	}
	s, err := r.newScratch()
	if err != nil {
		return err
	}
	defer s.close()
	if err := copyIndex(filepath.Join(r.gitDir, "index"), s.index); err != nil {
		return err
	}
	tree, err := r.writeTree(ctx, s.index)
	if err != nil {
		return err
	}
	out, err := r.run(ctx, call{args: []string{"commit-tree", tree, "-p", head}, env: pawlIdentity, stdin: []byte("what was staged before\n")})
	if err != nil {
		return err
	}
	err = r.write(ctx, "update-ref", prefix+"staged", strings.TrimSpace(string(out)))
	return err
}
