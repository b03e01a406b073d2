package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/narrate"
	"github.com/pawl-dev/pawl/internal/term"
	"github.com/pawl-dev/pawl/internal/verify"
)

type verifyCmd struct {
	Gate []string `sep:"none" placeholder:"CMD" help:"command to run instead of the configured gates; repeatable"`
	JSON bool     `name:"json" help:"print a JSON object (docs/reference/verify.schema.json)"`
}

// verifyResult is the output of --json.
type verifyResult struct {
	Result gate.Status      `json:"result" jsonschema:"pass if all gates pass, fail if one fails, else unknown"`
	Tree   string           `json:"tree,omitempty" jsonschema:"git tree they ran on; absent without git, or where they changed it"`
	Gates  []verify.Receipt `json:"gates" jsonschema:"a receipt for each gate, in order"`
}

// Run runs the gates in the current work tree.
func (c *verifyCmd) Run(ctx context.Context, a *app) error {
	root := a.root()
	settings, err := a.gates("verify", root, c.Gate, showTrust)
	if err != nil {
		return err
	}
	a.warnFolder("gates", root, c.Gate)
	a.warnGateEnv(settings.GateVars())
	results, tree, err := a.runGates(ctx, root, settings)
	if err != nil {
		return err
	}
	out := verifyResult{Result: gate.Pass, Tree: tree, Gates: []verify.Receipt{}}
	for _, r := range results {
		out.Gates = append(out.Gates, verify.NewReceipt(r, time.Now()))
		if r.Status == gate.Fail || out.Result == gate.Pass {
			out.Result = r.Status
		}
	}
	code := map[gate.Status]error{gate.Fail: codeFailed, gate.Unknown: codeUndecided}[out.Result]
	return a.conclude(c.JSON, verdict{out, func() { a.printResults(results, out) }, code})
}

// settings returns the settings of the user and the project with the typed gates. Of the gates it
// keeps only commands: without a claim there is nothing to review.
func (a *app) settings(root string, gates []string) (config.Settings, error) {
	typed := map[string]any{}
	if len(gates) > 0 {
		typed["gates"] = gates
	}
	s, err := a.resolve(root, typed)
	s.Gates = gate.Commands(s.Gates)
	return s, err
}

// showTrust is the hint about commands that are not trusted.
const showTrust = "pawl trust shows them and asks you to trust them"

// gates returns settings whose gates may run for a command. hint says what to do about gates that are
// not trusted.
func (a *app) gates(command, root string, typed []string, hint string) (config.Settings, error) {
	s, err := a.settings(root, typed)
	if err == nil && len(s.Gates) == 0 {
		hint := "name one: pawl " + command + " --gate CMD, or gates = [\"CMD\"] in pawl.toml"
		if likely := config.Suggest(root); len(likely) > 0 {
			hint = fmt.Sprintf("this looks right: pawl %s --gate '%s'", command, likely[0])
		}
		err = failure.New(failure.Usage, hint, "there is no gate to run")
	}
	if err == nil {
		err = a.requireTrust(root, s.RepoCommands(), hint)
	}
	return s, err
}

// resolve combines the settings of the user and the repository with typed flags.
func (a *app) resolve(root string, typed map[string]any) (config.Settings, error) {
	layers, err := config.ReadFiles(a.env, root)
	if err != nil {
		return config.Settings{}, err
	}
	return config.Resolve(append(layers, config.Flags(typed))...)
}

// requireTrust returns an error if a command of the repository is not trusted. hint says what to do about
// it.
func (a *app) requireTrust(root string, commands []config.Command, hint string) error {
	strange, err := config.OpenTrust(a.env.PawlHome).Untrusted(root, commands)
	if err != nil || len(strange) == 0 {
		return err
	}
	first, more := strange[0], ""
	if n := len(strange) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	return failure.New(failure.Usage, hint, "%s in this repository would run %q, which is not allowed yet%s", first.File, plan.OneLine(first.Text, 80), more)
}

// runGates runs the gates in the work tree. It returns the tree they ran on, "" if that is unknown.
func (a *app) runGates(ctx context.Context, root string, s config.Settings) (results []gate.Result, tree string, err error) {
	v, done, err := a.gateVerifier(ctx, root, s)
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, done()) }()
	before := snapshot(ctx, root)
	results, err = v.Run(ctx, s.Gates, "")
	if err != nil {
		return nil, "", err
	}
	if hint := v.EnvironmentHint(results); hint != "" {
		term.Hintf(a.Err, "%s", hint)
	}
	if before == "" || snapshot(ctx, root) != before {
		return results, "", nil
	}
	for i := range results {
		results[i].Tree = before
	}
	return results, before, nil
}

// gateVerifier returns a Verifier for the work tree. Gates that need a checkout get one, which done
// removes.
func (a *app) gateVerifier(ctx context.Context, root string, s config.Settings) (v *verify.Verifier, done func() error, err error) {
	o := verify.Options{UserEnv: s.GateVars(), Setup: s.Worktree.Setup, Tests: s.Tests}
	if slices.ContainsFunc(s.Gates, verify.NeedsCheckout) {
		if repo, err := git.Open(ctx, root); err == nil {
			return a.auditOptions(repo).Verifier(ctx, o)
		}
	}
	o.Root, o.Dir, o.Env, o.Watch = root, filepath.Join(a.env.PawlHome, "verify"), a.env.Vars, a.watchGate
	v, err = verify.New(o)
	return v, func() error { return nil }, err
}

// snapshot returns the tree of the work tree, "" without git: gates also run there.
func snapshot(ctx context.Context, root string) string {
	repo, err := git.Open(ctx, root)
	if err != nil {
		return ""
	}
	tree, _, err := repo.Snapshot(ctx)
	if err != nil {
		return ""
	}
	return tree
}

// watchGate prints on standard error that a gate runs: it may take minutes.
func (a *app) watchGate(p verify.Progress) {
	if p.Result == nil {
		_, _ = fmt.Fprintf(a.Err, "pawl: running %s\n", plan.OneLine(p.Gate, 100))
	}
}

func (a *app) printResults(results []gate.Result, out verifyResult) {
	for i, r := range results {
		a.printf("%-7s  %s  %s  receipt %s\n", r.Status, plan.OneLine(r.Gate, 100), figure.Duration(r.Duration), out.Gates[i].ID)
		if r.Status == gate.Pass && r.Warning == "" {
			continue
		}
		a.printf("    %s\n", narrate.GateResult(r))
		for _, line := range failingLines(r) {
			a.printf("    %s\n", line)
		}
	}
	if out.Tree != "" {
		a.printf("tree %.12s\n", out.Tree)
	}
}

const maxListedFailing = 10

func failingLines(r gate.Result) []string {
	var lines []string
	for i, id := range r.Failing {
		if i == maxListedFailing {
			lines = append(lines, fmt.Sprintf("and %d more", len(r.Failing)-i))
			break
		}
		lines = append(lines, plan.OneLine(id, 100))
	}
	if first := plan.OneLine(r.FirstError, 200); first != "" && !strings.Contains(r.Reason, r.FirstError) {
		lines = append(lines, first)
	}
	return lines
}
