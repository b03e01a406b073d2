package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/verify"
)

// gateAnswer is the result of the gates, as told to the agent.
type gateAnswer struct{ verify.Finding }

// verify runs the gates and returns what fails.
func (s *Server) verify(ctx context.Context) (string, error) {
	at, err := s.findBound()
	if over := err == nil && at.Memory.State.Phase == loop.Ended; s.Project != nil && (over || errors.Is(err, errNoLoop)) {
		return s.runProjectGates(ctx)
	}
	if err == nil {
		at, err = s.requireTurn()
	}
	if err != nil {
		return "", err
	}
	if len(gate.Commands(at.Spec.Gates)) == 0 {
		return "No gate runs a command: only what you run yourself can show whether it works." + at.reviewNote(), nil
	}
	j, err := s.runGates(ctx, at, nil)
	if err != nil {
		return "", err
	}
	return j.headline() + "\n\n" + j.details(), nil
}

// reviewNote returns the note that a review also decides on a claim; "" without reviews.
func (at *boundLoop) reviewNote() string {
	if !at.Spec.Policy.Reviews {
		return ""
	}
	return " Another agent reviews it as well, when your turn has ended and everything else passes."
}

// runProjectGates runs the gates of a project without a loop.
func (s *Server) runProjectGates(ctx context.Context) (string, error) {
	free, err := s.lockGates(ctx)
	if err != nil {
		return "", err
	}
	defer free()
	results, err := s.Project(ctx)
	if err != nil {
		return "", err
	}
	return "No loop runs in this session; these are the project's gates.\n\n" + resultsText(results), nil
}

// lockGates waits until no other gates run for this client.
func (s *Server) lockGates(ctx context.Context) (free func(), err error) {
	select {
	case s.gates <- struct{}{}:
		return func() { <-s.gates }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// runGates runs the gates of a claim on the current work tree, and compares the results with those at
// the start of the task.
//
// The agent chooses the time and may prepare it, with an ignored file or a background process that is
// gone at the end of the turn. So the results are cached in a separate folder. The cache of Pawl's own
// runs is read but never written: a result of this run must not decide on a claim.
func (s *Server) runGates(ctx context.Context, at *boundLoop, tasks []string) (*gateAnswer, error) {
	free, err := s.lockGates(ctx)
	if err != nil {
		return nil, err
	}
	defer free()
	v, repo, err := launch.AdviceVerifier(ctx, at.Loop.Loop, s.Env)
	if err != nil {
		return nil, err
	}
	defer func() { _ = v.Close(context.WithoutCancel(ctx)) }() // a worktree that stays is swept with the loop's folder
	tree, _, err := repo.Snapshot(ctx)
	if err != nil {
		return nil, fmt.Errorf("take the tree to check: %w", err)
	}
	m := at.Memory
	f, err := v.Claim(ctx, verify.Request{
		Gates: gate.Due(at.Spec.Gates, gate.Fast), Base: m.State.Start.InWorkTree(), ProtectedTree: m.TestsTree, Tree: tree,
		AllowTestChanges: at.Spec.MayChangeTests(tasks), MayChange: func(path string) bool { return m.State.MayChange(path) || slices.Contains(m.UserEdits(), path) }, Work: at.Spec.WorkGlobs(tasks), Asked: at.Spec.TaskText(tasks), Pending: m.State.AwaitingApproval(), NoRatchet: at.Spec.NoRatchet, LogDir: filepath.Join(v.Dir, "output"), GatesOnly: true,
	})
	if err != nil {
		return nil, err
	}
	if f.TreeAfter != tree {
		return nil, failure.New(failure.Usage, "let git ignore what the gates write, and do not edit while they run; then ask again",
			"the work tree changed while the gates ran")
	}
	return &gateAnswer{f}, nil
}

func (j *gateAnswer) headline() string {
	v := j.Verdict
	switch {
	case v.Status == gate.Fail:
		return "FAIL: something that passed when the task started fails now."
	case v.Status == gate.Unknown:
		return "UNKNOWN: a gate gave no clear result."
	case len(v.StillRed) > 0:
		return "PASS compared with the start of the task; still fails, as before: " + firstNames(v.StillRed)
	}
	return "PASS: every gate passes."
}

// details returns each gate's result, and what is new since the task started.
func (j *gateAnswer) details() string {
	var b strings.Builder
	if len(j.Verdict.Regressed) > 0 {
		fmt.Fprintf(&b, "Passed when the task started, fails now: %s\n\n", firstNames(j.Verdict.Regressed))
	}
	b.WriteString(resultsText(j.Observation.Now))
	return b.String()
}

// refusalRisks returns reasons why a claim may be refused although its gates pass.
func (j *gateAnswer) refusalRisks(t loop.Task, m record.Message) string {
	o := j.Observation
	switch {
	case !o.Changed:
		return " But no file has changed since the task started: a claim without a change is refused."
	case len(o.Inputs.Changed) > 0 && !o.Inputs.Allowed:
		return " You changed tests or other gate inputs (" + firstNames(o.Inputs.Changed) + "): Pawl also runs the gates with the originals. Ask with request_test_change if they must change."
	case cmp.Or(t.Wanted, gate.Proven) == gate.Proven && !m.NoBehaviourChange && len(o.Tests.New) == 0 && !anyNowPasses(o):
		return " But no test failed before and passes now: Pawl may ask for a test that fails without your change."
	}
	return ""
}

// anyNowPasses reports whether a test or gate failed before and passes now.
func anyNowPasses(o gate.Observation) bool {
	for i, now := range o.Now {
		before := o.Baseline[i]
		if before.Status == gate.Fail && now.Status == gate.Pass {
			return true
		}
		for id, s := range now.Tests {
			if s == gate.Pass && before.Tests[id] == gate.Fail {
				return true
			}
		}
	}
	return false
}

// resultsText returns the gates' results, the failing ones with details.
func resultsText(results []gate.Result) string {
	room := maxAnswerBytes * 7 / 10 / max(1, len(results))
	var b strings.Builder
	for _, r := range results {
		fmt.Fprintf(&b, "%s: %s (%s)\n", r.Status, plan.OneLine(r.Gate, 100), figure.Duration(r.Duration))
		if r.Status != gate.Pass {
			b.WriteString(failingPart(r, room))
		}
	}
	return b.String()
}

const maxListedFailing = 30

// failingPart returns the details of a gate that does not pass.
func failingPart(r gate.Result, room int) string {
	var b strings.Builder
	if r.Reason != "" {
		fmt.Fprintf(&b, "  why: %s\n", plan.OneLine(r.Reason, 300))
	}
	if len(r.Failing) > 0 {
		fmt.Fprintf(&b, "  failing: %s\n", firstNames(r.Failing))
	}
	if first := strings.TrimSpace(r.FirstError); first != "" {
		fmt.Fprintf(&b, "  first error: %s\n", cutMiddle(first, 1000))
	}
	output := r.Tail
	if r.Head != "" {
		output = r.Head + "\n[…]\n" + r.Tail
	}
	if output = plan.Excerpt(output, 80, max(200, room-b.Len()-40)); output != "" {
		fmt.Fprintf(&b, "  output:\n%s\n", output)
	}
	return b.String()
}

// firstNames lists the first of many names.
func firstNames(names []string) string {
	shown := make([]string, 0, maxListedFailing)
	for _, n := range names[:min(len(names), maxListedFailing)] {
		shown = append(shown, plan.OneLine(n, 100))
	}
	if more := len(names) - len(shown); more > 0 {
		shown = append(shown, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(shown, ", ")
}
