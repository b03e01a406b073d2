package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/regex"
)

// Checkpoint is a snapshot stored under refs/pawl/<loop>/<n>.
type Checkpoint struct {
	N       int       `json:"n" jsonschema:"its number, for pawl restore and pawl checkpoints diff"`
	Time    time.Time `json:"time" jsonschema:"when it was made"`
	Commit  string    `json:"commit" jsonschema:"the commit that contains it, on no branch"`
	Subject string    `json:"subject" jsonschema:"what it was made for"` // first line of the message
	Tree    string    `json:"-"`
}

// refRoot is the prefix of all of Pawl's refs.
const refRoot = "refs/pawl/"

// loopName matches the loop ids that a ref's name may contain.
var loopName = regex.New(`^[A-Za-z0-9]([A-Za-z0-9_-]|\.[A-Za-z0-9])*$`)

func loopRef(loop string) (string, error) {
	if !loopName.MatchString(loop) || strings.HasSuffix(loop, ".lock") {
		return "", fmt.Errorf("invalid loop id %q", loop)
	}
	return refRoot + loop + "/", nil
}

// pawlIdentity is the author of Pawl's own commits, whatever the user's configuration says.
const pawlIdentity = "Pawl <pawl@localhost>"

// Checkpoint stores a snapshot of the work tree under the next number. Its parent is the last
// checkpoint, or HEAD. It uses the first line of the message, followed by the trailers.
func (r *Repo) Checkpoint(ctx context.Context, loop, message string, trailers ...Trailer) (Checkpoint, error) {
	if _, err := loopRef(loop); err != nil {
		return Checkpoint{}, err
	}
	tree, _, err := r.Snapshot(ctx)
	if err != nil {
		return Checkpoint{}, err
	}
	return r.CheckpointTree(ctx, CheckpointRequest{Loop: loop, Tree: tree, Message: message, Trailers: trailers})
}

// CheckpointRequest is a request to CheckpointTree.
type CheckpointRequest struct {
	Loop, Tree, Message string
	Trailers            []Trailer
	// Commit and Trees are what the loop needs besides, "" = none. They become ancestors of the
	// checkpoint, so that git gc keeps them.
	Commit string
	Trees  []string
}

// text returns the message of the checkpoint's commit.
func (q CheckpointRequest) text() string {
	message := subject(q.Message) + "\n"
	if len(q.Trailers) > 0 {
		lines := make([]string, len(q.Trailers))
		for i, t := range q.Trailers {
			lines[i] = t.Key + ": " + strings.Join(strings.Fields(sanitize(t.Value)), " ")
		}
		message += "\n" + strings.Join(lines, "\n") + "\n"
	}
	return message
}

// CheckpointTree stores a tree like Checkpoint, under the next free number.
func (r *Repo) CheckpointTree(ctx context.Context, q CheckpointRequest) (c Checkpoint, err error) {
	prefix, err := loopRef(q.Loop)
	if err != nil {
		return Checkpoint{}, err
	}
	needed, err := r.neededBy(ctx, q)
	if err != nil {
		return Checkpoint{}, fmt.Errorf("checkpoint: %w", err)
	}
	c = Checkpoint{Tree: q.Tree, Subject: subject(q.Message)}
	for range maxTakenNumbers {
		c, err = r.checkpoint(ctx, prefix, ownCommit{tree: q.Tree, parents: needed, message: q.text()}, c)
		if !errors.Is(err, errRefExists) {
			break
		}
		r.cacheCheckpoints(prefix, nil) // another process creates checkpoints of this loop, too
		c.N++
	}
	if err != nil {
		return Checkpoint{}, fmt.Errorf("checkpoint: %w", err)
	}
	r.cacheCheckpoints(prefix, []Checkpoint{c})
	return c, nil
}

// maxTakenNumbers limits the search for a free number.
const maxTakenNumbers = 100

var errRefExists = errors.New("ref exists already")

// neededBy returns commits that have what a checkpoint's loop needs besides: the commit, and one that
// has the other trees as folders. What git has lost already is left out.
func (r *Repo) neededBy(ctx context.Context, q CheckpointRequest) (commits []string, err error) {
	names := slices.DeleteFunc(append([]string{q.Commit}, q.Trees...), func(id string) bool { return id == "" || id == q.Tree })
	found, err := r.readObjects(ctx, names, maxAnswer)
	if err != nil {
		return nil, err
	}
	folders := map[string]Entry{}
	for _, o := range found {
		switch o.kind {
		case "commit":
			commits = append(commits, o.id)
		case "tree":
			folders[o.id] = Entry{Mode: modeTree, ID: o.id}
		}
	}
	if len(folders) == 0 {
		return commits, nil
	}
	all, err := r.makeTree(ctx, folders)
	if err != nil {
		return nil, err
	}
	commit, err := r.ownCommit(ctx, ownCommit{tree: all, message: "trees that the loop needs\n", at: time.Now()})
	return append(commits, commit), err
}

// checkpoint creates the checkpoint c by a commit that gets the checkpoint before as its first parent.
func (r *Repo) checkpoint(ctx context.Context, prefix string, commit ownCommit, c Checkpoint) (Checkpoint, error) {
	points, err := r.lastCheckpoints(ctx, prefix)
	if err != nil {
		return c, err
	}
	c.N = max(c.N, 1)
	var parent string
	if len(points) > 0 {
		last := points[len(points)-1]
		c.N, parent = max(c.N, last.N+1), last.Commit
	} else if parent, err = r.Head(ctx); err != nil {
		return c, err
	}
	c.Time = time.Now().Truncate(time.Second)
	commit.at = c.Time
	commit.parents = slices.Compact(append([]string{parent}, commit.parents...))
	if c.Commit, err = r.ownCommit(ctx, commit); err != nil {
		return c, err
	}
	return c, r.createRef(ctx, prefix+strconv.Itoa(c.N), c.Commit)
}

// lastCheckpoints returns the checkpoints, or only the last one if it is cached.
func (r *Repo) lastCheckpoints(ctx context.Context, prefix string) ([]Checkpoint, error) {
	r.mu.Lock()
	last := r.last[prefix]
	r.mu.Unlock()
	if len(last) > 0 {
		return last, nil
	}
	return r.listCheckpoints(ctx, prefix)
}

func (r *Repo) cacheCheckpoints(prefix string, last []Checkpoint) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last == nil {
		r.last = map[string][]Checkpoint{}
	}
	r.last[prefix] = last
}

// createRef creates a ref that must not exist yet.
func (r *Repo) createRef(ctx context.Context, ref, commit string) error {
	err := r.write(ctx, "update-ref", ref, commit, strings.Repeat("0", len(commit)))
	if stderrContains(err, "already exists") {
		return errRefExists
	}
	return err
}

// Checkpoints returns the checkpoints of a loop, oldest first.
func (r *Repo) Checkpoints(ctx context.Context, loop string) ([]Checkpoint, error) {
	prefix, err := loopRef(loop)
	if err != nil {
		return nil, err
	}
	points, err := r.listCheckpoints(ctx, prefix)
	if err != nil {
		return nil, fmt.Errorf("list checkpoints: %w", err)
	}
	return points, nil
}

func (r *Repo) listCheckpoints(ctx context.Context, prefix string) ([]Checkpoint, error) {
	out, err := r.run(ctx, call{args: []string{
		"for-each-ref",
		"--format=%(refname)%00%(objectname)%00%(tree)%00%(committerdate:unix)%00%(contents:subject)", prefix,
	}})
	if err != nil {
		return nil, err
	}
	return parseCheckpoints(string(out), prefix)
}

// parseCheckpoints reads one checkpoint per line. Refs whose name is not a number are
// skipped.
func parseCheckpoints(out, prefix string) ([]Checkpoint, error) {
	var points []Checkpoint
	for line := range strings.Lines(out) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), "\x00", 5)
		if len(parts) != 5 {
			return nil, fmt.Errorf("unexpected line %q", line)
		}
		n, err := strconv.Atoi(strings.TrimPrefix(parts[0], prefix))
		if err != nil || n < 1 {
			continue
		}
		at, err := strconv.ParseInt(parts[3], 10, 64)
		if err != nil {
			continue
		}
		points = append(points, Checkpoint{N: n, Commit: parts[1], Tree: parts[2], Subject: parts[4], Time: time.Unix(at, 0)})
	}
	slices.SortFunc(points, func(a, b Checkpoint) int { return a.N - b.N })
	return points, nil
}

// subject returns the first line of a message, valid for a commit and never empty.
func subject(message string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(sanitize(message)), "\n")
	if line == "" {
		return "checkpoint"
	}
	return line
}

// sanitize makes text valid for a commit message: UTF-8, without control characters
// except newline and tab.
func sanitize(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
			return -1
		}
		return c
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// missingObjectError returns an error that names an object missing in git.
func missingObjectError(err error, what string) error {
	if stderrContains(err, "unable to read", "bad object", "bad file", "Not a valid object", "not a valid object", "could not get object info") {
		return failure.New(failure.Error, "look at what is damaged: git fsck",
			"%w the content of %q: %w", ErrLost, what, err)
	}
	return err
}

// missingContent returns the error for a file or object without content in git.
func missingContent(what string) error {
	return failure.New(failure.Error, "look at what is damaged: git fsck", "%w the content of %q", ErrLost, what)
}

// ErrLost is in the errors about objects that git does not have any more. The user's git gc deletes
// those that no ref has; the next snapshot stores those of the work tree again.
var ErrLost = errors.New("git has lost")

// DeleteLoopRefs deletes the checkpoints of a loop and its other refs under refs/pawl, all or none,
// and returns their number. Branches and commits on them stay.
func (r *Repo) DeleteLoopRefs(ctx context.Context, loop string) (int, error) {
	prefix, err := loopRef(loop)
	if err != nil {
		return 0, err
	}
	list, err := r.run(ctx, call{args: []string{"for-each-ref", "--format=delete %(refname) %(objectname)", prefix}})
	n := strings.Count(string(list), "\n")
	if err == nil && n > 0 {
		_, err = r.run(ctx, call{args: []string{"update-ref", "--stdin"}, stdin: list, whole: true})
	}
	if err != nil {
		return 0, fmt.Errorf("delete the refs of loop %s: %w", loop, err)
	}
	r.cacheCheckpoints(prefix, nil)
	return n, nil
}
