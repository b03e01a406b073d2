package launch

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"

	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/statefile"
)

// freezeAttended makes the order of a loop that lives in a session: its context
// goes on, its tree and branch are the user's.
func (p *Prepared) freezeAttended(ctx context.Context, q AttendRequest) error {
	if !p.Settings.Set("max_iterations") {
		p.Settings.MaxIterations = Iterations
	}
	if q.File != "" && p.Settings.MaxIterations == 0 && !p.Settings.Set("max_duration") {
		p.Settings.MaxDuration = 0 // no limit, as that tool means it
	}
	if err := p.order(ctx); err != nil {
		return err
	}
	s := &p.Spec
	s.NoCommit, s.Shadow, s.Unattended = !q.Commit, p.Repo == nil, q.Inside.Unattended
	s.Tools = q.Inside.Judge == "plugin"
	s.Policy.Attended, s.Policy.Restore, s.Policy.Counted = true, false, q.Counted
	p.takeOver()
	s.Branch, s.HiddenFiles, s.Untracked = p.Status.Branch, p.Status.Hidden, p.foreign()
	if err := p.verifyPolicy(q); err != nil {
		return err
	}
	if err := p.sessionPolicy(q); err != nil {
		return err
	}
	p.follow(q)
	if s.Format == statefile.FeatureListName {
		s.Guard.TickOnly = "" // its agent claims by marks, and may write them as it likes
	}
	return nil
}

// verifyPolicy says how a loop tries whose goal is that a command succeeds.
func (p *Prepared) verifyPolicy(q AttendRequest) error {
	s, wanted := &p.Spec, p.Settings.Verify
	_, typed := q.Flags["verify"].(map[string]any)
	s.Policy.Verify = q.Verify != "" || q.Green
	switch {
	case !s.Policy.Verify && typed && p.Settings.Set("verify.isolate"):
		return failure.New(failure.Usage, "leave --isolate out, or name the command:  --verify 'go test ./...'",
			"--isolate is for loops whose goal is that a command succeeds")
	case !s.Policy.Verify && typed:
		s.Policy.Tries = int(wanted.Tries)
		return nil
	case !s.Policy.Verify:
		return nil
	case s.Policy.Kind != loop.Change:
		return failure.New(failure.Usage, "leave one of them out", "a command that is to succeed judges a change, and this goal is of kind %s", s.Policy.Kind)
	case len(gate.Commands(s.Gates)) == 0:
		return failure.New(failure.Usage, "name the command:  --verify 'go test ./...'", "there is no command that is to succeed")
	}
	s.Isolation = q.Isolation
	if q.File == "" {
		s.Isolation = &record.Isolation{MaxCostUSD: float64(wanted.IsolatedCost), Timeout: wanted.IsolatedTimeout}
	}
	if !wanted.Isolate {
		s.Isolation = nil
	}
	s.Policy.Isolate, s.Policy.Tries = s.Isolation != nil, cmp.Or(q.Tries, int(wanted.Tries))
	return nil
}

// sessionPolicy says whether the session may be left for fresh ones, and what
// holds there. A session has one context: only fresh ones could be of a task or a
// turn each.
func (p *Prepared) sessionPolicy(q AttendRequest) error {
	mode, _ := q.Flags["session"].(string)
	policy := &p.Spec.Policy
	policy.Handover = q.Handover || mode == string(loop.Hybrid)
	switch {
	case mode != "" && !policy.Handover && policy.Session != loop.Continue:
		return failure.New(failure.Usage, "add --handover: then fresh sessions go on with it; or --session hybrid",
			"--session %s wants fresh contexts, and this session has one", mode)
	case mode != "":
	case policy.Handover:
		policy.Session = loop.Hybrid
	default:
		policy.Session = loop.Continue
	}
	if policy.Handover || policy.Isolate || policy.Reviews { // these are seen to cost something
		return nil
	}
	// The client tells its hooks neither the cost nor the tokens of a turn.
	policy.Limits.CostUSD, policy.Limits.Tokens = 0, 0
	if _, typed := q.Flags["max_cost"]; typed {
		return failure.New(failure.Usage, "leave it out; with --handover it holds in the fresh sessions",
			"--max-cost cannot be kept in a session: its client does not tell what a turn costs")
	}
	return nil
}

// follow notes another tool's file. Where that tool has a plan in the place of
// one, the plan is all there is to follow.
func (p *Prepared) follow(q AttendRequest) {
	s := &p.Spec
	if s.Format != "" || q.File == "" {
		s.Format = cmp.Or(s.Format, q.Format)
		return
	}
	s.Format, s.File = q.Format, filepath.ToSlash(resolved(q.File))
	if rel, err := filepath.Rel(resolved(p.root), resolved(q.File)); err == nil && filepath.IsLocal(rel) {
		s.File = filepath.ToSlash(rel)
		if !slices.Contains(s.Untracked, s.File) {
			s.Untracked = append(s.Untracked, s.File)
		}
	}
}

// verifyGate says how long the command may run that is to succeed, and where: in
// another tool's folder if its file says so. A command that a file names needs
// trust, whoever wrote the file.
func (p *Prepared) verifyGate(q AttendRequest) error {
	i := slices.IndexFunc(p.Settings.Gates, func(g gate.Gate) bool { return g.Command == q.Verify })
	if i < 0 || q.Verify == "" {
		return nil
	}
	g, root := &p.Settings.Gates[i], resolved(p.root)
	if q.VerifyTimeout > 0 {
		g.Timeout = q.VerifyTimeout
	}
	if q.VerifyFrom == "" {
		return nil
	}
	dir := resolved(cmp.Or(q.VerifyDir, root))
	rel, err := filepath.Rel(root, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return failure.New(failure.Usage, "begin it in a session of that folder", "the command of %s runs in %s, which lies outside of %s", q.VerifyFrom, dir, root)
	}
	if g.Dir = filepath.ToSlash(rel); g.Dir == "." {
		g.Dir = ""
	}
	strange, err := config.OpenTrust(p.Home).Untrusted(p.root, []config.Command{config.VerifyCommand(root, resolved(q.VerifyFrom), dir, q.Verify)})
	p.Untrusted = append(p.Untrusted, strange...)
	return err
}
