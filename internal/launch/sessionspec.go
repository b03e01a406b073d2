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

// specInSession builds the spec of a loop in a session, which keeps its context, work
// tree and branch.
func (p *Prepared) specInSession(ctx context.Context, q SessionRequest) error {
	if !p.Settings.Set("max_iterations") {
		p.Settings.MaxIterations = DefaultIterations
	}
	if q.File != "" && p.Settings.MaxIterations == 0 && !p.Settings.Set("max_duration") {
		p.Settings.MaxDuration = 0 // no limit, as in that tool
	}
	if err := p.buildSpec(ctx); err != nil {
		return err
	}
	s := &p.Spec
	s.NoCommit, s.Shadow, s.Unattended = !q.Commit, p.Repo == nil, q.Session.Unattended
	s.Tools = q.Session.Responder == "plugin"
	s.Policy.InSession, s.Policy.Restore, s.Policy.IterationsBefore = true, false, q.CountedIterations
	p.adoptUnfinishedWork()
	s.Branch, s.HiddenFiles, s.Untracked = p.Status.Branch, p.Status.Hidden, p.untracked()
	if err := p.verifyPolicy(q); err != nil {
		return err
	}
	if err := p.sessionPolicy(q); err != nil {
		return err
	}
	p.setStateFile(q.File, q.Format)
	return nil
}

// verifyPolicy sets how a loop tries to make a command succeed.
func (p *Prepared) verifyPolicy(q SessionRequest) error {
	s, wanted := &p.Spec, p.Settings.Verify
	_, typed := q.Flags["verify"].(map[string]any)
	s.Policy.Verify = q.Verify != "" || q.VerifyGates
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
		return failure.New(failure.Usage, "leave one of them out", "--verify needs a goal of kind change, and this one is of kind %s", s.Policy.Kind)
	case len(gate.Commands(s.Gates)) == 0:
		return failure.New(failure.Usage, "name the command:  --verify 'go test ./...'", "no command to succeed was given")
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

// sessionPolicy sets whether the loop may leave the session for fresh ones, and the limits in the
// session. A session has one context, so only fresh sessions can have one per task or turn.
func (p *Prepared) sessionPolicy(q SessionRequest) error {
	mode, _ := q.Flags["session"].(string)
	policy := &p.Spec.Policy
	policy.Handover = q.Handover || mode == string(loop.Hybrid)
	switch {
	case mode != "" && !policy.Handover && policy.Session != loop.Continue:
		return failure.New(failure.Usage, "add --handover: then fresh sessions continue it; or --session hybrid",
			"--session %s needs fresh contexts, and this session has only one", mode)
	case mode != "":
	case policy.Handover:
		policy.Session = loop.Hybrid
	default:
		policy.Session = loop.Continue
	}
	if policy.Handover || policy.Isolate || policy.Reviews { // Pawl knows the cost of these
		return nil
	}
	// The client reports neither cost nor tokens of a turn to its hooks.
	policy.Limits.CostUSD, policy.Limits.Tokens = 0, 0
	if _, typed := q.Flags["max_cost"]; typed {
		return failure.New(failure.Usage, "leave it out; with --handover it applies in the fresh sessions",
			"--max-cost has no effect in a session: its client does not report costs")
	}
	return nil
}

// setStateFile sets another tool's state file. If the tool has a plan instead, the plan
// is enough.
func (p *Prepared) setStateFile(path, format string) {
	s := &p.Spec
	if format == statefile.FeatureListName {
		s.Guard.TickOnly = "" // its agent claims by checkboxes, and may write them freely
	}
	if s.CompatFormat != "" || path == "" {
		s.CompatFormat = cmp.Or(s.CompatFormat, format)
		return
	}
	s.CompatFormat, s.CompatFile = format, filepath.ToSlash(record.ResolvePath(path))
	if rel, err := filepath.Rel(record.ResolvePath(p.root), record.ResolvePath(path)); err == nil && filepath.IsLocal(rel) {
		s.CompatFile = filepath.ToSlash(rel)
		if format == statefile.RalphLoopName || format == statefile.VerifyActiveName {
			s.Guard.StateFile = s.CompatFile
		}
		if !slices.Contains(s.Untracked, s.CompatFile) {
			s.Untracked = append(s.Untracked, s.CompatFile)
		}
	}
}

// verifyGate sets timeout and folder of the command that is to succeed. A command that a
// file names must be trusted.
func (p *Prepared) verifyGate(q SessionRequest) error {
	i := slices.IndexFunc(p.Settings.Gates, func(g gate.Gate) bool { return g.Command == q.Verify })
	if i < 0 || q.Verify == "" {
		return nil
	}
	g, root := &p.Settings.Gates[i], record.ResolvePath(p.root)
	if q.VerifyTimeout > 0 {
		g.Timeout = q.VerifyTimeout
	}
	if q.VerifyFrom == "" {
		return nil
	}
	dir := record.ResolvePath(cmp.Or(q.VerifyDir, root))
	rel, err := filepath.Rel(root, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return failure.New(failure.Usage, "start it in a session of that folder", "the command of %s runs in %s, which is outside %s", q.VerifyFrom, dir, root)
	}
	if g.Dir = filepath.ToSlash(rel); g.Dir == "." {
		g.Dir = ""
	}
	strange, err := config.OpenTrust(p.Home).Untrusted(p.root, []config.Command{config.VerifyCommand(root, record.ResolvePath(q.VerifyFrom), dir, q.Verify)})
	p.Untrusted = append(p.Untrusted, strange...)
	return err
}
