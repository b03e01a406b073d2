package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/report"
	"github.com/pawl-dev/pawl/internal/store/journal"
	"github.com/pawl-dev/pawl/internal/verify"
)

type reportCmd struct {
	loopArg
	Markdown bool   `name:"md" xor:"md" help:"print Markdown, fit for a pull request"`
	Since    string `xor:"md" placeholder:"WHEN" help:"all loops that were at work since: yesterday, today, 12h, 3d or 2026-01-31"`
}

func (reportCmd) Help() string {
	return `  pawl report
  pawl report brisk-otter
  pawl report --md | gh pr edit --body-file -
  pawl report --since yesterday`
}

// Run prints the page.
func (c *reportCmd) Run(ctx context.Context, a *app) error {
	if c.Since != "" {
		return a.digest(c.Since)
	}
	s, err := a.find(c.Loop)
	if err != nil {
		return err
	}
	var page strings.Builder
	write := report.Text
	if c.Markdown {
		write = report.Markdown
	}
	err = write(&page, report.Loop{
		ID: s.ID, Goal: s.spec.Goal(), Word: s.summary().State, Branch: s.spec.Branch, From: comparedWith(s.spec),
		State: s.memory.State, Gates: s.memory.Results, Waits: report.Waits(events(s.Records(journal.Mark{}))), Now: time.Now(),
		Said: report.LastMessages(events(s.Records(journal.Mark{}))), Denied: s.memory.GuardLog.DeniedByRule, Wall: s.wallWords(), Refused: s.memory.RefusedHosts, Left: s.memory.Orphans, LeftOut: s.spec.LeftOut, LeftAlone: s.memory.Untouched(), Tested: s.memory.MutationLines(), Untested: s.memory.Untested(), Pulled: s.memory.PullRequest.Text(),
		Approvals: report.Approvals(events(s.Records(journal.Mark{}))), Diffs: s.testDiffs(ctx), Signs: s.signs(ctx),
	})
	a.printf("%s", page.String())
	return err
}

// testDiffs are the diffs of the existing tests that tasks changed, by task. Without
// a commit, or a work tree to look in, there are none to show.
func (s *subject) testDiffs(ctx context.Context) map[string]string {
	const most = 64 << 10
	diffs := map[string]string{}
	for _, t := range s.memory.State.Tasks {
		paths := slices.Clone(t.Tests)
		for _, c := range t.Changed {
			paths = append(paths, c.Path)
		}
		if t.Commit == "" || len(paths) == 0 {
			continue
		}
		repo, err := s.origin(ctx)
		if err != nil {
			return nil
		}
		if diff, err := repo.DiffText(ctx, t.Commit+"^", t.Commit, git.DiffOptions{Paths: paths, MaxBytes: most}); err == nil {
			diffs[t.ID] = diff
		}
	}
	return diffs
}

// signs are what a reviewer would want to see in the commits of tasks, by task. Without
// a commit, or a work tree to look in, there are none to show.
func (s *subject) signs(ctx context.Context) map[string][]string {
	found := map[string][]string{}
	for _, t := range s.memory.State.Tasks {
		if t.Commit == "" || t.Earlier {
			continue
		}
		repo, err := s.origin(ctx)
		if err != nil {
			return nil
		}
		signs, err := verify.Signs(ctx, repo, verify.SignRequest{Tests: s.spec.Tests, Before: t.Commit + "^", After: t.Commit, Asked: s.spec.TaskText([]string{t.ID})})
		if err != nil {
			continue // the commit is gone: rebased, or another checkout's
		}
		for _, one := range signs {
			found[t.ID] = append(found[t.ID], one.String())
		}
	}
	return found
}
