package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/record"
)

// next is what to type now.
func (s *show) next(now loop.State, commits int) []string {
	var lines []string
	if commits > 0 {
		lines = append(lines, fmt.Sprintf("git diff %s...%s", comparedWith(s.spec.Repository), s.spec.Branch))
		var here checkout
		here.branch, here.busy = launch.Checkout(context.Background(), s.home, s.spec.Root, s.id)
		if words := here.merging(s.spec.Repository, now.Outcome); words != "" {
			lines = append(lines, words)
		}
	}
	switch now.Outcome {
	case loop.Stuck, loop.BlockedEnd, loop.Tampered:
		lines = append(lines, "pawl log "+s.id)
	case loop.Verified, loop.Finished:
		if len(now.Unread()) > 0 {
			lines = append(lines, now.ResumeCommand(s.id)+" delivers your message")
		}
		return lines
	}
	if approve := now.ApproveCommand(s.id); approve != "" {
		lines = append(lines, approve+" accepts the changes of tests, when you have read them")
	}
	if slices.ContainsFunc(now.Tasks, func(t loop.Task) bool { return t.Status != loop.Done }) {
		lines = append(lines, now.ResumeCommand(s.id)+" continues")
	}
	return lines
}

// checkout is where the user's checkout is now.
type checkout struct {
	branch string // "" if that is not known
	busy   string // another loop that has not ended and works there, "" for none
}

// merging says how to merge the branch that a loop committed to, from where the user's
// checkout is, or how to leave it where the loop is not done; "" where neither is needed.
func (c checkout) merging(spec record.Repository, how loop.Outcome) string {
	home, here := spec.StartBranch, c.branch
	if spec.NoCommit || spec.Branch == "" || home == "" || home == spec.Branch {
		return ""
	}
	if !spec.OwnWorktree {
		here = cmp.Or(here, spec.Branch)
	}
	text := "git switch " + home
	switch done := how == loop.Verified || how == loop.Finished || how == loop.Unverified; {
	case !done && (spec.OwnWorktree || here == home):
		return ""
	case done && here == home:
		text = "git merge " + spec.Branch
	case done:
		text += " && git merge " + spec.Branch
	}
	switch {
	case c.busy != "" && here != home:
		text += "   (when loop " + c.busy + " has ended: it works in your checkout)"
	case here != "":
		text += "   (you are on " + here + ")"
	}
	return strings.TrimSpace(text)
}
