package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/internal/audit"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/verify"
)

type proveCmd struct {
	What string        `arg:"" optional:"" placeholder:"COMMIT|LOOP" help:"a commit, or a loop for all of its commits; default HEAD"`
	Gate []string      `sep:"none" placeholder:"CMD" help:"command to run instead of the gates of the loop or project; repeatable"`
	Time time.Duration `default:"10m" placeholder:"D" help:"total time for the runs on broken code"`
	JSON bool          `name:"json" help:"print a JSON object (docs/reference/prove.schema.json)"`
}

// proveResult is the output of --json.
type proveResult struct {
	Commit    string                 `json:"commit" jsonschema:"full hash of the commit, or of a loop's last"`
	Before    string                 `json:"before" jsonschema:"full hash of the commit that it is compared with"`
	Tested    int                    `json:"tested" jsonschema:"functions of which a test notices when they are broken"`
	Tried     int                    `json:"tried" jsonschema:"functions that could be broken"`
	Functions []verify.FunctionProof `json:"functions" jsonschema:"those that were added or changed, by file and line"`
	Missed    []verify.MissedLine    `json:"missed,omitempty" jsonschema:"lines that no test notices, at most 5"`
	Lines     int                    `json:"lines_tried" jsonschema:"lines that could be broken, those missed among them"`
}

// Run breaks the code of a commit and prints which tests notice.
func (c *proveCmd) Run(ctx context.Context, a *app) error {
	repo, err := git.Reopen(ctx, a.dir)
	if err != nil {
		return err
	}
	out, of, err := a.resolveProofTarget(ctx, repo, c.What)
	if err != nil {
		return err
	}
	o, gates, err := a.proofGates(repo.Root(), of, c.Gate)
	if err != nil {
		return err
	}
	if err := a.prove(ctx, repo, o, verify.ProofRequest{Gates: gates, Time: c.Time}, &out); err != nil {
		return err
	}
	return a.conclude(c.JSON, verdict{out, func() { a.printProven(out) }, out.code()})
}

// resolveProofTarget returns the commit that a word names, or the commits of a loop since it began. of is the
// loop that made them, or nil if it is unknown here.
func (a *app) resolveProofTarget(ctx context.Context, repo *git.Repo, word string) (out proveResult, of *loopinfo.Loop, err error) {
	out.Functions = []verify.FunctionProof{}
	from, to := "", word
	if word == "" {
		to = "HEAD"
	} else if l, err := a.store.Resolve(word, a.root()); err == nil {
		if of, err = loopinfo.Read(l); err != nil {
			return out, nil, err
		}
		from, to = of.Spec.StartCommit, of.Branch(ctx)
	}
	if out.Commit, err = repo.Resolve(ctx, to+"^{commit}"); err != nil {
		return out, nil, failure.New(failure.Usage, "name a commit (HEAD~1) or a loop (pawl list)", "there is no commit or loop %q", word)
	}
	if from == "" {
		from = out.Commit + "^"
	}
	if out.Before, err = repo.Resolve(ctx, from+"^{commit}"); err != nil {
		return out, nil, failure.New(failure.Usage, "name a later one", "%.9s is the first commit: nothing to compare with", out.Commit)
	}
	if of != nil {
		return out, of, nil
	}
	trailers, err := repo.Trailers(ctx, out.Commit)
	if err != nil {
		return out, nil, err
	}
	l, err := audit.FindLoop(a.store, trailers)
	if l != nil {
		of, err = loopinfo.Read(l)
	}
	return out, of, err
}

// proofGates returns the gates to run and their options: the typed gates, else the loop's, else the
// project's.
func (a *app) proofGates(root string, of *loopinfo.Loop, typed []string) (verify.Options, []gate.Gate, error) {
	if of != nil && len(typed) == 0 {
		if gates := gate.Commands(of.Spec.Gates); len(gates) > 0 {
			return verify.Options{UserEnv: of.Spec.GateEnv, Setup: of.Spec.Setup, Tests: of.Spec.Tests}, gates, nil
		}
	}
	settings, err := a.gates("prove", root, typed, showTrust)
	o := verify.Options{UserEnv: settings.GateVars(), Setup: settings.Worktree.Setup, Tests: settings.Tests}
	return o, settings.Gates, err
}

// prove breaks the functions and adds the results to out.
func (a *app) prove(ctx context.Context, repo *git.Repo, o verify.Options, r verify.ProofRequest, out *proveResult) (err error) {
	v, done, err := a.auditOptions(repo).Verifier(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	r.Before, r.After = out.Before, out.Commit
	n := 0
	r.Tried = func(p verify.FunctionProof) {
		n++
		_, _ = fmt.Fprintf(a.Err, "pawl: %d: %s of %s is %s\n", n, plan.OneLine(p.Name, 60), plan.OneLine(p.Path, 80), proofWord(p))
	}
	for _, g := range r.Gates {
		a.watchGate(verify.Progress{Gate: g.Name})
	}
	found, err := v.Prove(ctx, r)
	if err != nil {
		return err
	}
	out.Missed, out.Lines = found.Missed, found.Lines
	for _, p := range found.Functions {
		out.Functions = append(out.Functions, p)
		if p.Result == gate.Killed {
			out.Tested++
		}
		if p.Result != gate.Inconclusive {
			out.Tried++
		}
	}
	return nil
}

// code returns the exit code. Lines decide only if no function could be broken: a test cannot notice
// some changes of a line.
func (o proveResult) code() error {
	switch {
	case o.Tested < o.Tried, o.Tried == 0 && len(o.Missed) > 0:
		return codeFailed
	case o.Tried+o.Lines == 0, len(o.Functions) > 0 && o.Tried == 0:
		return codeUndecided
	}
	return nil
}

// headline returns the result in one line.
func (o proveResult) headline() string {
	lines := fmt.Sprintf("tests notice %d of %d broken lines", o.Lines-len(o.Missed), o.Lines)
	switch {
	case len(o.Functions)+o.Lines == 0:
		return "nothing could be tried: no function or line was added or changed that Pawl can break"
	case len(o.Functions) == 0:
		return lines
	case len(o.Missed) > 0:
		return memory.TestedFunctions(o.Tested, len(o.Functions)) + "; " + lines
	}
	return memory.TestedFunctions(o.Tested, len(o.Functions))
}

// proofWord returns a result in words.
func proofWord(p verify.FunctionProof) string {
	if p.ChangeSurvived() {
		return "change not tested"
	}
	return map[gate.MutantOutcome]string{
		gate.Killed: "tested", gate.Crashed: "called, not checked", gate.Survived: "not tested", gate.Inconclusive: "not tried",
	}[p.Result]
}

func (a *app) printProven(out proveResult) {
	a.printf("%.9s  %s\n", out.Commit, out.headline())
	for _, p := range out.Functions {
		a.printf("  %-20s %s:%d  %s  %s\n", proofWord(p), plan.OneLine(p.Path, 80), p.Line, plan.OneLine(p.Name, 60), proofReason(p))
	}
	for _, m := range out.Missed {
		a.printf("  %-20s %s\n", "no test notices when", plan.OneLine(m.String(), 200))
	}
}

// proofReason returns the reason of a result.
func proofReason(p verify.FunctionProof) string {
	switch p.Result {
	case gate.Killed:
		if len(p.By) == 0 {
			return ""
		}
		more := ""
		if len(p.By) > 1 {
			more = fmt.Sprintf(" and %d more", len(p.By)-1)
		}
		return "by " + plan.OneLine(p.By[0], 100) + more
	case gate.Survived:
		return "all pass when it " + p.Does
	case gate.Crashed:
		return "when it " + p.Does + ", " + plan.OneLine(p.Why, 120)
	}
	return plan.OneLine(p.Why, 160)
}
