package tracker

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/proc"
)

// Beads is the tracker of beads, which it calls as the program bd.
type Beads struct {
	Dir string   // folder with the database
	Env []string // complete environment of bd
}

// bead is an issue as bd prints it.
type bead struct {
	ID          string `json:"id"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Design      string `json:"design"`
	Criteria    string `json:"acceptance_criteria"`
	Notes       string `json:"notes"`
	Status      string `json:"status"`
	Priority    int    `json:"priority"` // 0 is the highest
	Type        string `json:"issue_type"`
	Assignee    string `json:"assignee"`
	DependsOn   []link `json:"dependencies"`
}

// link is a dependency of a bead. The commands of bd write it in two forms.
type link struct {
	DependsOn string `json:"depends_on_id"`
	Type      string `json:"type"`
	ID        string `json:"id"`
	LinkType  string `json:"dependency_type"`
	Status    string `json:"status"`
}

// Handle answers a request.
func (b *Beads) Handle(ctx context.Context, r Request) (Reply, error) {
	if r.Do == List {
		issues, err := b.list(ctx, r.Query)
		return Reply{Issues: issues}, err
	}
	if r.Issue == "" || strings.HasPrefix(r.Issue, "-") {
		return Reply{}, newError("", "%q is not an issue of beads", cleanLine(r.Issue))
	}
	now, err := b.show(ctx, r.Issue)
	if told, ok := errors.AsType[*Error](err); ok {
		told.Retry = true // the issue existed when it was listed, so the database is unreachable
	}
	if err != nil {
		return Reply{}, err
	}
	switch r.Do {
	case Claim:
		if now.Status == "closed" {
			return Reply{}, newError("bd reopen "+r.Issue+", or name another", "issue %s is closed", cleanLine(r.Issue))
		}
		wasClaimed := now.Status == "in_progress" && now.Assignee != "" // by us, or the claim fails
		return Reply{Changed: !wasClaimed}, b.run(ctx, nil, "update", r.Issue, "--claim", "--json")
	case Done:
		if now.Status == "closed" {
			return Reply{}, nil
		}
		return Reply{}, b.run(ctx, nil, "close", r.Issue, "-r", r.Text, "--json")
	case Comment, Blocked:
		mark := "[pawl: " + r.Key + "]"
		if r.Text != "" && !strings.Contains(now.Notes, mark) {
			if err := b.run(ctx, nil, "update", r.Issue, "--append-notes", r.Text+"\n"+mark, "--json"); err != nil {
				return Reply{}, err
			}
		}
		if r.Do == Blocked && r.Release && now.Status != "closed" {
			return Reply{}, b.run(ctx, nil, "update", r.Issue, "--status", "open", "--assignee", "", "--json")
		}
		return Reply{}, nil
	}
	return Reply{}, unknownVerb(r)
}

// list returns the issues that are ready: all, the children of an epic, or one issue.
func (b *Beads) list(ctx context.Context, query string) ([]Issue, error) {
	ready := []string{"ready", "--json", "-n", "0"}
	var found []bead
	switch {
	case strings.HasPrefix(query, "-"):
		return nil, newError("beads: or beads:ID", "%q is not an issue of beads", cleanLine(query))
	case query == "":
		if err := b.run(ctx, &found, ready...); err != nil {
			return nil, err
		}
	default:
		one, err := b.show(ctx, query)
		if err != nil {
			return nil, err
		}
		if one.Type != "epic" {
			found = []bead{one}
			break
		}
		if err := b.run(ctx, &found, append(ready, "--parent", query)...); err != nil {
			return nil, err
		}
	}
	var out []Issue
	for _, f := range found {
		out = append(out, f.issue())
	}
	return out, nil
}

// issue converts a bead to an Issue.
func (b bead) issue() Issue {
	i := Issue{
		ID: b.ID, Key: b.ID, Title: b.Title, Priority: b.Priority + 1, Closed: b.Status == "closed",
		Body: paragraphs(b.Description, b.Design),
	}
	for text := range strings.Lines(b.Criteria) {
		if text = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(text), "-*")); text != "" {
			i.Criteria = append(i.Criteria, text)
		}
	}
	if b.Status == "in_progress" {
		i.ClaimedBy = b.Assignee
	}
	for _, d := range b.DependsOn {
		blocks := []string{"blocks", "conditional-blocks", "waits-for"}
		if d.Status == "closed" || !slices.Contains(blocks, d.Type) && !slices.Contains(blocks, d.LinkType) {
			continue
		}
		i.DependsOn = append(i.DependsOn, cmp.Or(d.DependsOn, d.ID))
	}
	return i
}

func (b *Beads) show(ctx context.Context, id string) (bead, error) {
	var found []bead
	if err := b.run(ctx, &found, "show", id, "--json"); err != nil {
		return bead{}, err
	}
	if len(found) == 0 {
		return bead{}, newError("bd list shows all issues", "beads has no issue %s", cleanLine(id))
	}
	return found[0], nil
}

// run runs bd and decodes its output into out. bd prints a list or one object, with or without an
// envelope.
func (b *Beads) run(ctx context.Context, out *[]bead, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, ghTimeout)
	defer cancel()
	answer, said := &proc.Head{MaxBytes: maxReply, OnFull: cancel}, &proc.Head{MaxBytes: maxStderr}
	exit := proc.Run(ctx, proc.Spec{
		Argv: append([]string{"bd"}, args...), Dir: b.Dir, Env: append(slices.Clone(b.Env), "BD_JSON_ENVELOPE=1"),
		Stdout: answer, Stderr: said, Grace: time.Second,
	})
	switch {
	case errors.Is(exit.Err, exec.ErrNotFound):
		return temporaryError("install bd, the program of beads", "bd is not installed")
	case answer.Truncated:
		return newError("", "bd %s prints more than %d bytes", args[0], maxReply)
	case exit.Cancelled:
		return temporaryError("", "bd %s: no answer within %s", args[0], ghTimeout)
	case exit.Err != nil:
		return exit.Err
	case exit.Code != 0:
		return newError("bd "+args[0]+" by hand shows more", "bd %s: exit %d: %s", args[0], exit.Code, bdMessage(answer.Bytes(), said.String()))
	case out == nil:
		return nil
	}
	data := bytes.TrimSpace(answer.Bytes())
	var envelope struct{ Data json.RawMessage }
	if json.Unmarshal(data, &envelope) == nil && len(envelope.Data) > 0 {
		data = envelope.Data
	}
	err := json.Unmarshal(data, out)
	if err != nil {
		var one bead
		if json.Unmarshal(data, &one) == nil && one.ID != "" {
			*out, err = []bead{one}, nil
		}
	}
	if err != nil {
		return fmt.Errorf("decode what bd %s prints: %w", args[0], err)
	}
	return nil
}

// bdMessage returns bd's message for a failure.
func bdMessage(answer []byte, said string) string {
	var told struct{ Error string }
	if json.Unmarshal(answer, &told) == nil && told.Error != "" {
		return cleanLine(told.Error)
	}
	first, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
	return cleanLine(first)
}
