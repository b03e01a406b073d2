package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// Trailer is one "Key: value" line at the end of a commit message.
type Trailer struct{ Key, Value string }

var trailerLine = regex.New(`^([A-Za-z0-9-]+)[ \t]*:[ \t]*(.*)$`)

// withTrailers returns a commit message with trailers added to its trailers.
func withTrailers(text string, trailers []Trailer) (string, error) {
	if text = strings.TrimSpace(sanitize(text)); text == "" {
		return "", errors.New("the message is empty")
	}
	lines, there := trailersIn(text)
	if !lines {
		text += "\n"
	}
	for _, t := range trailers {
		t.Value = strings.Join(strings.Fields(sanitize(t.Value)), " ")
		if !slices.Contains(there, t) {
			text += "\n" + strings.TrimSuffix(t.Key+": "+t.Value, " ")
			there = append(there, t)
		}
	}
	return text + "\n", nil
}

// trailersIn returns the trailers of a message, and whether its last paragraph is a block of
// trailers. It must not be the first paragraph. It has only trailers, or some with one of git's
// own.
func trailersIn(text string) (block bool, found []Trailer) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	blank := func(line string) bool { return strings.TrimSpace(line) == "" }
	from := len(lines)
	for from > 0 && !blank(lines[from-1]) {
		from--
	}
	if from == 0 {
		return false, nil
	}
	gits, others := 0, 0
	for _, line := range lines[from:] {
		m := trailerLine.FindStringSubmatch(strings.TrimRight(line, " \t\r"))
		switch last := len(found) - 1; {
		case strings.HasPrefix(line, "(cherry picked from commit "):
			gits++
		case last >= 0 && strings.ContainsAny(line[:1], " \t"):
			found[last].Value += " " + strings.TrimSpace(line)
		case m == nil:
			others++
		default:
			if strings.HasPrefix(line, "Signed-off-by: ") {
				gits++
			}
			found = append(found, Trailer{m[1], m[2]})
		}
	}
	if others > 0 && (gits == 0 || 3*len(found) < others) {
		return false, nil
	}
	return true, found
}

// commitText holds the parts of a commit object.
type commitText struct {
	tree    string
	parents []string
	message string
}

// readCommit reads a commit by its full id.
func (r *Repo) readCommit(ctx context.Context, id string) (commitText, error) {
	found, err := r.objects(ctx, id)
	if err != nil {
		return commitText{}, err
	}
	if found[0].kind != "commit" {
		return commitText{}, fmt.Errorf("read commit %s: %w", id, missingContent(id))
	}
	head, text, _ := strings.Cut(string(found[0].data), "\n\n")
	c := commitText{message: text}
	for line := range strings.Lines(head) {
		switch key, value, _ := strings.Cut(strings.TrimSpace(line), " "); key {
		case "tree":
			c.tree = value
		case "parent":
			c.parents = append(c.parents, value)
		}
	}
	return c, nil
}

// FindCommit returns the newest commit in base..branch with this trailer.
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
	ids, err := r.commitsSince(ctx, base, ref)
	if err != nil {
		return nil, fmt.Errorf("find commits with %s: %w", key, err)
	}
	var all []Trailer
	for _, id := range ids {
		c, err := r.readCommit(ctx, id)
		if err != nil {
			return nil, err
		}
		_, trailers := trailersIn(c.message)
		for _, t := range trailers {
			if t.Key == key {
				all = append(all, Trailer{Key: id, Value: t.Value})
			}
		}
	}
	return all, nil
}

// Trees returns the tree of each commit in base..tip. A commit that git no longer has is an error.
func (r *Repo) Trees(ctx context.Context, base, tip string) (map[string]string, error) {
	ids, err := r.commitsSince(ctx, base, tip)
	if err != nil {
		return nil, fmt.Errorf("list the commits since %s: %w", base, err)
	}
	trees := map[string]string{}
	for _, id := range ids {
		c, err := r.readCommit(ctx, id)
		if err != nil {
			return nil, err
		}
		trees[id] = c.tree
	}
	return trees, nil
}

// maxWalk limits the commits that are read one by one.
const maxWalk = 200

// commitsSince returns the commits of base..tip, newest first. It follows parents as long as each
// commit has one, and asks git otherwise.
func (r *Repo) commitsSince(ctx context.Context, base, tip string) (ids []string, err error) {
	if base, err = r.Resolve(ctx, base+"^{commit}"); err != nil {
		return nil, err
	}
	if tip, err = r.Resolve(ctx, tip+"^{commit}"); err != nil {
		return nil, err
	}
	for at := tip; at != base; {
		c, err := r.readCommit(ctx, at)
		if err != nil {
			return nil, err
		}
		if ids = append(ids, at); len(c.parents) != 1 || len(ids) == maxWalk {
			out, err := r.git(ctx, "rev-list", base+".."+tip)
			return strings.Fields(out), err
		}
		at = c.parents[0]
	}
	return ids, nil
}

// Trailers returns the trailers of a commit, in order.
func (r *Repo) Trailers(ctx context.Context, commit string) ([]Trailer, error) {
	id, err := r.Resolve(ctx, commit+"^{commit}")
	if err != nil {
		return nil, err
	}
	c, err := r.readCommit(ctx, id)
	_, trailers := trailersIn(c.message)
	return trailers, err
}
