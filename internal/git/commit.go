package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/failure"
)

// CommitRequest describes a commit as the user.
type CommitRequest struct {
	Loop     string // id under which commits are kept that the branch loses
	Branch   string // short name; HEAD must be on it, see SwitchBack
	Parent   string // the recorded base (squash), or the branch's tip
	Tree     string // tree to commit, see Overlay
	Message  string
	Trailers []Trailer
	Date     time.Time // zero = now
	// UserFiles stay staged as they are in the user's index.
	UserFiles []string
}

// Committed is the result of Commit.
type Committed struct {
	Commit   string // also set with an error if the branch has moved but the index was not updated
	Squashed string // ref with the agent's commits; "" = there were none
	Unsigned string // why the commit is not signed although the user wants that, or ""
}

// signTimeout limits a signing program that waits for a passphrase.
const signTimeout = 30 * time.Second

// Commit creates a commit with the user's identity and moves the branch to it. It updates the
// user's index, so that git status shows the committed paths as clean. It runs no hooks, see
// RunHooks. Commits of the branch that Parent lacks (the agent's) are squashed into this one and
// kept under refs/pawl/<loop>/squashed/. If it is repeated after a crash, it finds the existing
// commit; if other commits followed, use FindCommit.
func (r *Repo) Commit(ctx context.Context, q CommitRequest) (done Committed, err error) {
	defer wrap(&err, "commit to %s", q.Branch)
	ref, err := r.branchRef(ctx, q.Branch)
	if err != nil {
		return Committed{}, err
	}
	if on, err := r.Branch(ctx); err != nil || on != q.Branch {
		return Committed{}, errors.Join(err, fmt.Errorf("HEAD is on %q", cmp.Or(on, "no branch")))
	}
	if q.Parent, err = r.Resolve(ctx, q.Parent+"^{commit}"); err != nil {
		return Committed{}, err
	}
	if q.Tree, err = r.TreeOf(ctx, q.Tree); err != nil {
		return Committed{}, err
	}
	tip, err := r.Resolve(ctx, ref+"^{commit}")
	if err != nil {
		return Committed{}, err
	}
	if q.Message, err = withTrailers(q.Message, q.Trailers); err != nil {
		return Committed{}, err
	}
	if same, err := r.isRequested(ctx, tip, q); err != nil {
		return Committed{}, err
	} else if same { // created before a crash
		return Committed{Commit: tip}, r.AlignIndex(ctx, tip, q.UserFiles...)
	}
	if done, err = r.commitTree(ctx, q); err != nil {
		return Committed{}, err
	}
	if done.Squashed, err = r.keepCommits(ctx, q.Loop, q.Parent, tip); err != nil {
		return Committed{}, err
	}
	// The old value detects a commit that somebody else created meanwhile.
	if err := r.write(ctx, "update-ref", "-m", "pawl: "+subject(q.Message), ref, done.Commit, tip); err != nil {
		return Committed{}, err
	}
	return done, r.AlignIndex(ctx, done.Commit, q.UserFiles...)
}

// isRequested reports whether a commit is the requested one, except for date and signature.
func (r *Repo) isRequested(ctx context.Context, commit string, q CommitRequest) (bool, error) {
	is, err := r.readCommit(ctx, commit)
	return is.tree == q.Tree && slices.Equal(is.parents, []string{q.Parent}) && strings.TrimSpace(is.message) == strings.TrimSpace(q.Message), err
}

// dates returns variables that set the dates of a commit.
func dates(at time.Time) []string {
	date := fmt.Sprintf("@%d %s", at.Unix(), at.Format("-0700"))
	return []string{"GIT_AUTHOR_DATE=" + date, "GIT_COMMITTER_DATE=" + date}
}

// commitTree creates the commit object, signed if the user signs commits.
func (r *Repo) commitTree(ctx context.Context, q CommitRequest) (Committed, error) {
	c := call{args: []string{"commit-tree", q.Tree, "-p", q.Parent}, stdin: []byte(q.Message)}
	if !q.Date.IsZero() {
		c.env = dates(q.Date)
	}
	var done Committed
	sign, err := r.boolSetting(ctx, "commit.gpgsign")
	if err != nil {
		return done, err
	}
	if sign {
		signed := c
		signed.args = append([]string{"commit-tree", "-S"}, c.args[1:]...)
		bounded, cancel := context.WithTimeout(ctx, signTimeout)
		out, err := r.run(bounded, signed)
		tooLong := bounded.Err() != nil && ctx.Err() == nil
		cancel()
		switch {
		case err == nil:
			return Committed{Commit: strings.TrimSpace(string(out))}, nil
		case !hasExited(err) && !tooLong:
			return done, err
		}
		done.Unsigned = err.Error()
	}
	out, err := r.run(ctx, c)
	done.Commit = strings.TrimSpace(string(out))
	return done, identityError(err)
}

// Identity returns an error if git does not know the author of the user's commits.
func (r *Repo) Identity(ctx context.Context) error {
	for _, who := range []string{"GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"} {
		if _, err := r.git(ctx, "var", who); err != nil {
			return identityError(err)
		}
	}
	return nil
}

// identityError explains git's error about a missing identity.
func identityError(err error) error {
	if stderrContains(err, "tell me who you are", "empty ident", "auto-detect email", "no name was given", "no email was given") {
		return failure.New(failure.Usage,
			`tell git who you are: git config user.name "…" && git config user.email "…"`,
			"git does not know whose commits these are")
	}
	return err
}

// History returns the paths that each of the last commits changed, newest first, without merges.
func (r *Repo) History(ctx context.Context, commits int) ([][]string, error) {
	const mark = "\x01" // starts a commit
	out, err := r.run(ctx, call{args: []string{"log", "-z", "--no-merges", "--no-renames", "--name-only", "-n", strconv.Itoa(commits), "--format=%x01", "HEAD", "--"}})
	if err != nil {
		return nil, fmt.Errorf("read the last commits: %w", err)
	}
	var all [][]string
	for text := range strings.SplitSeq(strings.TrimPrefix(string(out), mark), mark) {
		if paths := splitNul([]byte(strings.Trim(text, "\x00\n"))); len(paths) > 0 {
			all = append(all, paths)
		}
	}
	return all, nil
}
