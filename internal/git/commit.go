package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/failure"
)

// Trailer is one "Key: value" line at the end of a commit message.
type Trailer struct{ Key, Value string }

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
	if q.Message, err = r.message(ctx, q.Message, q.Trailers); err != nil {
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
	text, err := r.git(ctx, "log", "-1", "--format=%T%n%P%n%B", commit)
	return strings.TrimSpace(text) == strings.TrimSpace(q.Tree+"\n"+q.Parent+"\n"+q.Message), err
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
	sign, err := r.git(ctx, "config", "--type=bool", "commit.gpgsign")
	if err != nil && !hasExitCode(err, 1) {
		return done, fmt.Errorf("read commit.gpgSign: %w", err)
	}
	if sign == "true" {
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

// message is the text of a commit with trailers in one block with those it has.
func (r *Repo) message(ctx context.Context, text string, trailers []Trailer) (string, error) {
	if text = strings.TrimSpace(sanitize(text)); text == "" {
		return "", errors.New("the message is empty")
	}
	args := []string{"-c", "trailer.ifexists=addIfDifferent", "interpret-trailers", "--no-divider"}
	for _, t := range trailers {
		value := strings.Join(strings.Fields(sanitize(t.Value)), " ")
		args = append(args, "--trailer="+t.Key+": "+value)
	}
	out, err := r.run(ctx, call{args: args, stdin: []byte(text + "\n")})
	return string(out), err
}

// FindCommit looks in base..branch for the newest commit with this trailer.
func (r *Repo) FindCommit(ctx context.Context, branch, base string, t Trailer) (sha string, ok bool, err error) {
	trailers, err := r.TrailersSince(ctx, branch, base, t.Key)
	if err != nil {
		return "", false, err
	}
	for _, found := range trailers {
		if found.Value == t.Value {
			return found.Key, true, nil
		}
	}
	return "", false, nil
}

// TrailersSince lists (commit, value) of one trailer key in base..branch, newest first.
func (r *Repo) TrailersSince(ctx context.Context, branch, base, key string) ([]Trailer, error) {
	ref, err := r.branchRef(ctx, branch)
	if err != nil {
		return nil, err
	}
	from, err := r.Resolve(ctx, base+"^{commit}")
	if err != nil {
		return nil, err
	}
	trailers, err := r.trailers(ctx, key, from+".."+ref)
	if err != nil {
		return nil, fmt.Errorf("find commits with %s: %w", key, err)
	}
	return trailers, nil
}

// Trailers returns the trailers of a commit, in order.
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
	out, err := r.run(ctx, call{args: []string{
		"log", "-z",
		"--format=%H %(trailers:key=" + key + ",valueonly,unfold)", commits, "--",
	}})
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
