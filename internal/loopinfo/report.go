package loopinfo

import (
	"context"
	"slices"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/notify"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/report"
	"github.com/pawl-dev/pawl/internal/verify"
)

// Facts returns the report of a loop for programs.
func (s *Loop) Facts(l report.Loop) report.Facts {
	sum := s.Summary()
	return l.Facts(record.NewStatus(sum, s.Memory.State, s.Doing(sum, l.Now)))
}

// Report returns the data of a loop's report. happened are all its events.
func (s *Loop) Report(ctx context.Context, env environment.Environment, happened []loop.Event) report.Loop {
	all, m := slices.Values(happened), s.Memory
	from, remarks := s.comparisonBase(ctx)
	diffs, signs := s.commitDetails(ctx)
	return report.Loop{
		ID: s.ID, Goal: s.Spec.Goal(), Status: s.Summary().State, Branch: s.Branch(ctx), From: from, BranchFate: s.BranchFate(ctx),
		State: m.State, Gates: m.Results, Now: time.Now(),

		Waits: report.Waits(all), LastMessages: report.LastMessages(all), Approvals: report.Approvals(all), Iterations: report.Iterations(all),

		Denied: m.GuardLog.DeniedByRule, Sandbox: s.Sandbox(), BlockedHosts: m.RefusedHosts, Orphans: m.Orphans,
		LeftOut: s.Spec.LeftOut, UserFiles: m.ExcludedFiles(), Uncommitted: m.Uncommitted, LeftInCheckout: m.LeftInCheckout, Unsigned: UnsignedText(m.Unsigned), NotSent: notify.NotSent(s.Dir), UserCommit: m.UserCommit, PossibleUserChanges: append(remarks, m.PossibleUserChanges...), MergeResult: m.PullRequest.Text(), UntoldIssues: s.untoldIssues(env),

		MutationResults: m.MutationLines(), Untested: m.Untested(), Diffs: diffs, Signs: signs,
	}
}

// commitDetails returns, by task, the diffs of existing tests that it changed, and what a reviewer
// should read in its commit. It skips tasks without a commit, and commits that are missing because
// they were rebased or are in another checkout.
func (s *Loop) commitDetails(ctx context.Context) (diffs map[string]string, signs map[string][]string) {
	const most = 64 << 10
	diffs, signs = map[string]string{}, map[string][]string{}
	for _, t := range s.Memory.State.Tasks {
		if t.Commit == "" {
			continue
		}
		repo, err := s.Origin(ctx)
		if err != nil {
			return nil, nil
		}
		paths := slices.Clone(t.TestsChanged)
		for _, c := range t.ChangedTests {
			paths = append(paths, c.Path)
		}
		if len(paths) > 0 {
			if diff, err := repo.DiffText(ctx, t.Commit+"^", t.Commit, git.DiffOptions{Paths: paths, MaxBytes: most}); err == nil {
				diffs[t.ID] = diff
			}
		}
		if t.DoneEarlier {
			continue
		}
		found, err := verify.Signs(ctx, repo, verify.SignRequest{Tests: s.Spec.Tests, Before: t.Commit + "^", After: t.Commit, Asked: s.Spec.TaskText([]string{t.ID})})
		if err != nil {
			continue
		}
		for _, sign := range found {
			signs[t.ID] = append(signs[t.ID], sign.String())
		}
	}
	return diffs, signs
}

// untoldIssues returns the issues that do not have the loop's end yet.
func (s *Loop) untoldIssues(env environment.Environment) []string {
	if s.Spec.Tracker == nil || s.Alive {
		return nil
	}
	keys, err := launch.UnreportedIssues(s.Loop, env)
	if err != nil {
		return []string{"it is unknown which: " + err.Error()}
	}
	return keys
}

// UnsignedText says how many commits are not signed, and why, "" if all are.
func UnsignedText(u memory.Unsigned) string {
	if u.Commits == 0 {
		return ""
	}
	return figure.Count(u.Commits, "commit") + " not signed: " + u.Reason
}
