package cli

import (
	"context"

	"github.com/pawl-dev/pawl/internal/audit"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/narrate"
)

// auditCmd is `pawl audit`.
type auditCmd struct {
	Commit string `arg:"" help:"commit that a loop made: a hash, a branch, HEAD~1"`
	JSON   bool   `name:"json" help:"print a JSON object (docs/reference/audit.schema.json)"`
}

// Run audits a commit.
func (c *auditCmd) Run(ctx context.Context, a *app) error {
	repo, err := git.Reopen(ctx, a.dir)
	if err != nil {
		return err
	}
	out, err := audit.Commit(ctx, a.auditOptions(repo), c.Commit)
	if err != nil {
		return err
	}
	code := map[audit.Verdict]error{audit.Agrees: nil, audit.Differs: codeFailed, audit.Undecided: codeUndecided}[out.Verdict]
	return a.conclude(c.JSON, verdict{out, func() { a.printAudit(out) }, code})
}

// auditOptions returns the options for running a commit's gates in a checkout.
func (a *app) auditOptions(repo *git.Repo) audit.Options {
	return audit.Options{Store: a.store, Repo: repo, Vars: a.env.Vars, Find: a.find, Watch: a.watchGate}
}

func (a *app) printAudit(out audit.Result) {
	verdict := map[audit.Verdict]string{
		audit.Agrees:    "agrees: the gates give the recorded results",
		audit.Differs:   "differs",
		audit.Undecided: "undecided",
	}[out.Verdict]
	if out.Reason != "" {
		verdict += ": " + plan.OneLine(out.Reason, 0)
	}
	a.printf("%.9s  %s\n", out.Commit, verdict)
	for _, w := range out.Worth {
		a.printf("  task %s: %s%s\n", plan.OneLine(w.Task, 60), w.Evidence, narrate.ReasonClause(plan.OneLine(w.Why, 200)))
	}
	for _, g := range out.Gates {
		a.printf("  %s  receipt %s: %s then, %s now (exit %d)\n", plan.OneLine(g.Gate, 100), g.Receipt, g.Then, g.Now, g.Exit)
	}
}
