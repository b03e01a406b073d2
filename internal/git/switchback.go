package git

import (
	"context"
	"errors"
	"fmt"
)

// SwitchRequest is a request to SwitchBack.
type SwitchRequest struct {
	Loop   string
	Branch string
	Base   string // commit at which a deleted branch is created again
	// AgentCommits means that commits which the branch lacks may be the agent's. They then become
	// uncommitted changes, except for the user's files. It is only called if there are such
	// commits.
	AgentCommits bool
	UserFiles    func(context.Context) ([]string, error) // nil = none
}

// SwitchResult is the result of SwitchBack.
type SwitchResult struct {
	From string // earlier position of HEAD: a branch, a commit, or "" if nothing had to be done
	Head string // commit of the branch, on which HEAD is now
	// Before is the checkpoint of the files at From, "" if no file changed.
	Before  string
	Clashes []string // changes made at From that conflict with the branch: its files stay
}

// SwitchBack switches HEAD back to a branch after somebody switched away or detached it. The files
// become those of the branch, with the uncommitted changes, as in git switch. If From contains all
// commits of the branch and others that may be the agent's, only the user's files change, and the
// agent's work there shows as uncommitted changes. Commits of From stay there. A deleted branch is
// created again. If HEAD is on the branch, it runs git once.
func (r *Repo) SwitchBack(ctx context.Context, req SwitchRequest) (SwitchResult, error) {
	branch, base := req.Branch, req.Base
	tip, on, err := r.tipAndHead(ctx, headsRef+branch)
	if err != nil || on {
		return SwitchResult{Head: tip}, err
	}
	ref, err := r.branchRef(ctx, branch)
	if err != nil {
		return SwitchResult{}, err
	}
	current, err := r.Branch(ctx)
	if err != nil {
		return SwitchResult{}, err
	}
	if tip == "" {
		if tip, err = r.Resolve(ctx, base+"^{commit}"); err != nil {
			return SwitchResult{}, err
		}
		if err := r.createRef(ctx, ref, tip); err != nil {
			return SwitchResult{}, fmt.Errorf("recreate branch %s: %w", branch, err)
		}
	} else if current == branch {
		return SwitchResult{Head: tip}, nil
	}
	s := SwitchResult{From: current, Head: tip}
	from, err := r.Head(ctx)
	switch {
	case errors.Is(err, ErrNoRevision) && current != "": // a new branch without a commit
	case err != nil:
		return SwitchResult{}, err
	default:
		if s.From == "" {
			s.From = from
		}
		if err := r.carryOver(ctx, req, from, &s); err != nil {
			return SwitchResult{}, fmt.Errorf("carry the changes over to branch %s: %w", branch, err)
		}
	}
	if err := r.write(ctx, "symbolic-ref", "-m", "pawl: back to "+branch, "HEAD", ref); err != nil {
		return s, fmt.Errorf("switch back to branch %s: %w", branch, err)
	}
	return s, r.AlignIndex(ctx, tip)
}

// carryOver makes the files those of s.Head with the changes since from. After an interruption it
// can be run again.
func (r *Repo) carryOver(ctx context.Context, req SwitchRequest, from string, s *SwitchResult) error {
	if from == s.Head {
		return nil
	}
	has, err := r.Contains(ctx, from, s.Head)
	onlyUsers := has && req.AgentCommits
	if err != nil || onlyUsers && req.UserFiles == nil {
		return err
	}
	var users []string
	if onlyUsers {
		if users, err = req.UserFiles(ctx); err != nil || len(users) == 0 {
			return err
		}
	}
	before, err := r.Checkpoint(ctx, req.Loop, "before going back from "+s.From)
	if err != nil {
		return err
	}
	tree, clashes, err := r.Transfer(ctx, s.Head, from, before.Tree)
	if err != nil {
		return err
	}
	if onlyUsers {
		if tree, err = r.Overlay(ctx, before.Tree, tree, users); err != nil {
			return err
		}
	}
	if tree == before.Tree {
		return nil
	}
	if _, err := r.Restore(ctx, tree, nil); err != nil {
		return err
	}
	s.Before, s.Clashes = before.Commit, clashes
	return nil
}
