package cli

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/report"
	"github.com/pawl-dev/pawl/internal/store/journal"
	"github.com/pawl-dev/pawl/internal/verify"
)

type reportCmd struct {
	loopArg
	Markdown bool   `name:"md" xor:"md" help:"print Markdown, fit for a pull request"`
	HTML     string `name:"html" xor:"md" placeholder:"FILE" help:"write one HTML file with plots"`
	JSON     bool   `name:"json" xor:"md" help:"print a JSON object (docs/reference/report.schema.json); with --since an array of them"`
	Since    string `placeholder:"WHEN" help:"all loops that were at work since: yesterday, today, 12h, 3d or 2026-01-31"`
}

// Run prints the page.
func (c *reportCmd) Run(ctx context.Context, a *app) error {
	if c.Since != "" && c.Loop != "" {
		return failure.New(failure.Usage, "pawl report "+c.Loop+" is about that loop; pawl report --since "+c.Since+" about all",
			"--since is about all loops, and %s names one", c.Loop)
	}
	if c.Since != "" && c.HTML != "" {
		return failure.New(failure.Usage, "pawl report --since "+c.Since+" --md prints all loops as Markdown", "--html writes the report of one loop, not of all")
	}
	if c.Since != "" {
		return a.digest(ctx, c)
	}
	s, err := a.find(c.Loop)
	if err != nil {
		return err
	}
	l := a.reported(ctx, s, slices.Collect(events(s.Records(journal.Mark{}))))
	if c.JSON {
		return a.printJSON(facts(s, l))
	}
	var page bytes.Buffer
	switch {
	case c.HTML != "":
		if err := report.HTML(&page, l); err != nil {
			return err
		}
		if err := atomicfile.Write(a.abs(c.HTML), page.Bytes(), 0o644); err != nil {
			return fmt.Errorf("write %s: %w", c.HTML, err)
		}
		a.printf("report of %s is in %s\n", s.ID, c.HTML)
		return nil
	case c.Markdown:
		err = report.Markdown(&page, l)
	default:
		err = report.Text(&page, l)
	}
	a.printf("%s", page.String())
	return err
}

// facts are what the page of a loop says, for programs.
func facts(s *subject, l report.Loop) report.Facts {
	sum := s.summary()
	return l.Facts(record.NewStatus(sum, s.memory.State, doing(s, sum, l.Now)))
}

// reported is what the pages of a loop are made of. happened are all its events.
func (a *app) reported(ctx context.Context, s *subject, happened []loop.Event) report.Loop {
	all, m := slices.Values(happened), s.memory
	from, remarks := s.compared(ctx)
	return report.Loop{
		ID: s.ID, Goal: s.spec.Goal(), Status: s.summary().State, Branch: s.spec.Branch, From: from, BranchFate: s.branchFate(ctx),
		State: m.State, Gates: m.Results, Now: time.Now(),

		Waits: report.Waits(all), Said: report.LastMessages(all), Approvals: report.Approvals(all), Iterations: report.Iterations(all),

		Denied: m.GuardLog.DeniedByRule, Sandbox: s.sandboxLines(), BlockedHosts: m.RefusedHosts, Orphans: m.Orphans,
		LeftOut: s.spec.LeftOut, UserFiles: m.ExcludedFiles(), Uncommitted: m.Uncommitted, LeftInCheckout: m.LeftInCheckout, Unsigned: unsignedText(m.Unsigned), UserCommit: m.UserCommit, PossibleUserChanges: append(remarks, m.PossibleUserChanges...), MergeResult: m.PullRequest.Text(), UntoldIssues: a.untoldIssues(s),

		MutationResults: m.MutationLines(), Untested: m.Untested(), Diffs: s.testDiffs(ctx), Signs: s.signs(ctx),
	}
}

// testDiffs are the diffs of the existing tests that tasks changed, by task. Without
// a commit, or a work tree to look in, there are none to show.
func (s *subject) testDiffs(ctx context.Context) map[string]string {
	const most = 64 << 10
	diffs := map[string]string{}
	for _, t := range s.memory.State.Tasks {
		paths := slices.Clone(t.TestsChanged)
		for _, c := range t.ChangedTests {
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
		if t.Commit == "" || t.DoneEarlier {
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
