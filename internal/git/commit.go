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

// CommitRequest is a commit to be made as the user.
type CommitRequest struct {
	Loop     string // id; commits that the branch loses are kept under it
	Branch   string // short name; HEAD must be on it, see SwitchBack
	Parent   string // commit: the recorded base (squash), or the branch's tip
	Tree     string // what to commit, see Overlay
	Message  string
	Trailers []Trailer
	Date     time.Time // zero = now
}

// Committed is a commit that was made.
type Committed struct {
	Commit   string // set together with an error if the branch has moved but the index was not updated
	Squashed string // ref with the agent's own commits; "": there were none
	Unsigned string // why the commit is not signed although the user wants that; ""
}

// signTimeout bounds a signing program that waits for a passphrase.
const signTimeout = 30 * time.Second

// Commit makes a commit with the user's identity, moves the branch to it and
// brings the user's index in line, so that git status shows the committed paths
// as clean. No hooks run here, see RunHooks. Where the branch holds commits that
// Parent does not (the agent's own), they are squashed into this one and kept
// under refs/pawl/<loop>/squashed/. Made again after a crash it finds the commit
// that is there; across other commits, ask FindCommit.
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
	if same, err := r.isCommit(ctx, tip, q); err != nil {
		return Committed{}, err
	} else if same { // made before a crash
		return Committed{Commit: tip}, r.AlignIndex(ctx, tip)
	}
	done, err := r.commitTree(ctx, q)
	if err != nil {
		return Committed{}, err
	}
	if done.Squashed, err = r.keepCommits(ctx, q.Loop, q.Parent, tip); err != nil {
		return Committed{}, err
	}
	// The old value guards against a commit that somebody else made meanwhile.
	if err := r.write(ctx, "update-ref", "-m", "pawl: "+subject(q.Message), ref, done.Commit, tip); err != nil {
		return Committed{}, err
	}
	return done, r.AlignIndex(ctx, done.Commit)
}

// isCommit reports whether a commit is the one that was asked for, its date and
// signature aside.
func (r *Repo) isCommit(ctx context.Context, commit string, q CommitRequest) (bool, error) {
	is, err := r.readCommit(ctx, commit)
	return is.tree == q.Tree && slices.Equal(is.parents, []string{q.Parent}) && strings.TrimSpace(is.message) == strings.TrimSpace(q.Message), err
}

// dates make git date a commit so.
func dates(at time.Time) []string {
	date := fmt.Sprintf("@%d %s", at.Unix(), at.Format("-0700"))
	return []string{"GIT_AUTHOR_DATE=" + date, "GIT_COMMITTER_DATE=" + date}
}

// commitTree makes the commit object, signed where the user signs.
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
		case !ranToEnd(err) && !tooLong:
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
