package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
)

// nextSteps lists the commands to type after the loop's end.
func (s *show) nextSteps(now loop.State, commits int) []string {
	var lines []string
	if commits > 0 {
		ctx, l, from := context.Background(), store.Open(s.stateDir).Loop(s.id), loopinfo.ComparedWith(s.spec.Repository)
		if repo, err := launch.Repo(ctx, l); err == nil && loopinfo.PartlyMerged(ctx, repo, s.spec.Repository, now.Tasks) {
			from = loopinfo.StartCommit(s.spec.Repository)
		}
		lines = append(lines, fmt.Sprintf("git diff %s...%s", from, s.spec.Branch))
		here := launch.ReadCheckout(ctx, s.stateDir, l, s.spec)
		if words := mergeCommand(here, s.spec.Repository, now.Outcome); words != "" {
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
		lines = append(lines, approve+" accepts the test changes that you have read")
	}
	if slices.ContainsFunc(now.Tasks, func(t loop.Task) bool { return t.Status != loop.Done }) {
		lines = append(lines, now.ResumeCommand(s.id)+" continues")
	}
	return lines
}

// mergeCommand returns the command that merges the loop's branch from the user's checkout. If the loop is
// not done, it is the command that leaves that branch. It returns "" if neither is needed.
func mergeCommand(c launch.Checkout, spec record.Repository, how loop.Outcome) string {
	home, here := spec.StartBranch, c.Branch
	if spec.NoCommit || spec.Branch == "" || home == "" || home == spec.Branch {
		return ""
	}
	if !spec.UsesWorktree {
		here = cmp.Or(here, spec.Branch)
	}
	text := "git switch " + home
	switch done := how == loop.Verified || how == loop.Finished || how == loop.Unverified; {
	case !done && (spec.UsesWorktree || here == home):
		return ""
	case done && here == home:
		text = "git merge " + spec.Branch
	case done:
		text += " && git merge " + spec.Branch
	}
	if len(c.StateFiles) > 0 && here != home { // they were written after the loop's last commit
		text = "git commit -m \"loop ended\" " + strings.Join(c.StateFiles, " ") + " && " + text
	}
	switch {
	case c.Busy != "" && here != home:
		text += "   (when loop " + c.Busy + " has ended: it uses your checkout)"
	case here != "":
		text += "   (you are on " + here + ")"
	}
	return strings.TrimSpace(text)
}
