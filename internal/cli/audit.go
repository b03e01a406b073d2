package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/narrate"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/runner"
	"github.com/pawl-dev/pawl/internal/store/journal"
	"github.com/pawl-dev/pawl/internal/verify"
	"github.com/pawl-dev/pawl/internal/view"
)

type auditCmd struct {
	Commit string `arg:"" help:"commit that a loop made: a hash, a branch, HEAD~1"`
	JSON   bool   `name:"json" help:"print a JSON object (docs/reference/audit.schema.json)"`
}

// agreement is the verdict of an audit.
type agreement string

const (
	agrees    agreement = "agrees"
	differs   agreement = "differs"
	undecided agreement = "unknown"
)

// audited is what --json prints.
type audited struct {
	Commit  string        `json:"commit" jsonschema:"full hash"`
	Loop    string        `json:"loop" jsonschema:"id of the loop that made it"`
	Verdict agreement     `json:"verdict" jsonschema:"agrees, differs or unknown"`
	Reason  string        `json:"reason,omitempty" jsonschema:"why it differs or cannot be told, one line"`
	Worth   []taskWorth   `json:"evidence,omitempty" jsonschema:"what the commit's evidence is worth, one entry for each of its tasks"`
	Gates   []auditedGate `json:"gates" jsonschema:"one entry for each receipt"`
}

// taskWorth is the evidence of one task that a commit did.
type taskWorth struct {
	Task     string        `json:"task" jsonschema:"id of the task"`
	Evidence gate.Evidence `json:"evidence" jsonschema:"proven, reviewed, unproven or unknown"`
	Why      string        `json:"why,omitempty" jsonschema:"what it rests on, in words"`
	Enough   bool          `json:"enough" jsonschema:"it is what was wanted of the task"`
}

// auditedGate compares one receipt with what its gate says now.
type auditedGate struct {
	Gate    string      `json:"gate" jsonschema:"name of the gate"`
	Receipt string      `json:"receipt" jsonschema:"id of the receipt"`
	Then    gate.Status `json:"then" jsonschema:"result in the receipt"`
	Now     gate.Status `json:"now" jsonschema:"result of this run"`
	Exit    int         `json:"exit_code" jsonschema:"exit code of this run, -1 if it did not exit by itself"`
	Differs string      `json:"differs,omitempty" jsonschema:"what contradicts the receipt"`
}

// Run audits a commit.
func (c *auditCmd) Run(ctx context.Context, a *app) error {
	out, err := a.audit(ctx, c.Commit)
	if err != nil {
		return err
	}
	code := map[agreement]error{agrees: nil, differs: disagrees, undecided: cannotTell}[out.Verdict]
	return a.conclude(c.JSON, verdict{out, func() { a.printAudit(out) }, code})
}

func (a *app) audit(ctx context.Context, rev string) (audited, error) {
	repo, err := git.Reopen(ctx, a.dir)
	if err != nil {
		return audited{}, err
	}
	commit, err := repo.Resolve(ctx, rev+"^{commit}")
	if err != nil {
		return audited{}, failure.New(failure.Usage, "name a commit that a loop made", "there is no commit %q", rev)
	}
	trailers, err := repo.Trailers(ctx, commit)
	if err != nil {
		return audited{}, err
	}
	out := audited{Commit: commit, Loop: trailer(trailers, runner.TrailerLoop), Gates: []auditedGate{}}
	wanted := receiptIDs(trailers)
	switch {
	case out.Loop == "":
		return out.because("no loop made this commit: it has no %s trailer", runner.TrailerLoop), nil
	case len(wanted) == 0:
		return out.because("no gate judged this commit: it has no receipt"), nil
	}
	if l, err := a.madeBy(trailers); l == nil {
		if err != nil {
			return audited{}, err
		}
		return out.because("the loop %s is not known here: its journal holds the receipts", plan.OneLine(out.Loop, 60)), nil
	}
	s, err := a.find(out.Loop)
	if err != nil {
		return audited{}, err
	}
	known, ofCommit := receipts(s, wanted)
	if missing := slices.DeleteFunc(wanted, func(id string) bool { _, ok := known[id]; return ok }); len(missing) > 0 {
		return out.because("the journal of %s has no receipt %s", s.ID, strings.Join(missing, ", ")), nil
	}
	if err := a.compare(ctx, repo, s, &out, known); err != nil {
		return audited{}, err
	}
	if out.Verdict == agrees && ofCommit != commit {
		return out.because("the gates agree, but the receipts are of commit %.9s: was this one rewritten?", ofCommit), nil
	}
	return out.worth(s.Memory.State), nil
}

// worth adds what the commit's evidence is worth. Gates that agree vouch for no more
// than they showed then: where that was less than wanted, it cannot be told.
func (o audited) worth(s loop.State) audited {
	short := false
	for _, t := range s.Tasks {
		if t.Commit != o.Commit {
			continue
		}
		o.Worth = append(o.Worth, taskWorth{Task: t.ID, Evidence: t.Evidence, Why: narrate.Evidence(t), Enough: !t.Unproven()})
		short = short || t.Unproven()
	}
	if short && o.Verdict == agrees {
		return o.because("the gates match, but the commit has less evidence than required")
	}
	return o
}

// because is an audit that cannot tell.
func (o audited) because(format string, args ...any) audited {
	o.Verdict, o.Reason = undecided, fmt.Sprintf(format, args...)
	return o
}

func trailer(all []git.Trailer, key string) string {
	for _, t := range all {
		if t.Key == key {
			return t.Value
		}
	}
	return ""
}

// receiptIDs are those that the trailers name; a claim that no gate judged has a
// trailer too, but it is none of these.
func receiptIDs(all []git.Trailer) []string {
	ids := strings.Fields(trailer(all, runner.TrailerReceipt))
	return slices.DeleteFunc(ids, func(id string) bool { return strings.HasPrefix(id, "none-") })
}

// receipts finds receipts in the loop's journal, and the commit that the journal
// says they are of.
func receipts(s *view.Loop, ids []string) (found map[string]verify.Receipt, commit string) {
	found = map[string]verify.Receipt{}
	all := strings.Join(ids, " ")
	for r, err := range s.Records(journal.Mark{}) {
		if err != nil {
			continue
		}
		var rec verify.Receipt
		var e loop.Event
		switch {
		case r.Type == memory.TypeReceipt && json.Unmarshal(r.Data, &rec) == nil && slices.Contains(ids, rec.ID):
			found[rec.ID] = rec
		case r.Type == memory.TypeEvent && json.Unmarshal(r.Data, &e) == nil:
			if c, ok := e.Payload.(loop.Committed); ok && c.Receipt == all {
				commit = c.Commit
			}
		}
	}
	return found, commit
}

// compare runs the gates again in a clean checkout, with nothing kept from
// earlier runs, and sets the verdict.
func (a *app) compare(ctx context.Context, repo *git.Repo, s *view.Loop, out *audited, known map[string]verify.Receipt) (err error) {
	v, done, err := a.verifier(ctx, repo, verify.Options{Set: s.Spec.GateEnv, Setup: s.Spec.Setup, Tests: s.Spec.Tests})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	maps.DeleteFunc(known, func(_ string, rec verify.Receipt) bool { return rec.Kind == gate.ByReview }) // nobody is asked again
	if len(known) == 0 {
		*out = out.because("only a review judged this commit: there is no command to run again")
		return nil
	}
	gates, receipts := gatesOf(s, known)
	if len(gates) < len(known) {
		*out = out.because("loop %s has no gate of the name that a receipt says", s.ID)
		return nil
	}
	results, err := v.RunInCheckout(ctx, out.Commit, gates, "")
	if err != nil {
		return err
	}
	out.Verdict = agrees
	for i, now := range results {
		out.add(receipts[i], now)
	}
	return nil
}

// verifier runs gates in clean checkouts below a folder of this command's own, which
// done removes. What a killed one left there is removed first.
func (a *app) verifier(ctx context.Context, repo *git.Repo, o verify.Options) (v *verify.Verifier, done func() error, err error) {
	dir, leave, err := a.store.LockAuditDir(ctx)
	if err != nil {
		return nil, nil, err
	}
	if err := errors.Join(repo.RemoveWorktrees(ctx, dir), proc.RemoveAll(dir)); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("clear up after one that was killed: %w", err), leave())
	}
	o.Root, o.Repo, o.Dir, o.Env, o.Watch = repo.Root(), repo, dir, a.env.Vars, a.watchGate
	if v, err = verify.New(o); err != nil {
		return nil, nil, errors.Join(err, leave())
	}
	return v, func() error {
		return errors.Join(v.Close(context.WithoutCancel(ctx)), proc.RemoveAll(dir), leave())
	}, nil
}

// gatesOf are the loop's gates that the receipts are of, each with its receipt.
func gatesOf(s *view.Loop, known map[string]verify.Receipt) ([]gate.Gate, []verify.Receipt) {
	var gates []gate.Gate
	var receipts []verify.Receipt
	for _, g := range s.Spec.Gates {
		for _, rec := range known {
			if rec.Gate == g.Name {
				gates, receipts = append(gates, g), append(receipts, rec)
			}
		}
	}
	return gates, receipts
}

// add compares one receipt. What differs outweighs what cannot be told.
func (o *audited) add(rec verify.Receipt, now gate.Result) {
	g := auditedGate{Gate: rec.Gate, Receipt: rec.ID, Then: rec.Status, Now: now.Status, Exit: now.ExitCode, Differs: rec.Differs(now)}
	o.Gates = append(o.Gates, g)
	switch {
	case g.Differs != "" && o.Verdict != differs:
		o.Verdict, o.Reason = differs, g.Gate+": "+g.Differs
	case now.Status == gate.Unknown && o.Verdict == agrees:
		o.Verdict, o.Reason = undecided, g.Gate+" could not tell: "+plan.OneLine(now.Reason, 240)
	}
}

func (a *app) printAudit(out audited) {
	verdict := map[agreement]string{
		agrees:    "agrees: the gates say what the receipts say",
		differs:   "differs",
		undecided: "cannot be told",
	}[out.Verdict]
	if out.Reason != "" {
		verdict += ": " + plan.OneLine(out.Reason, 0)
	}
	a.printf("%.9s  %s\n", out.Commit, verdict)
	for _, w := range out.Worth {
		a.printf("  task %s: %s%s\n", plan.OneLine(w.Task, 60), w.Evidence, narrate.Because(plan.OneLine(w.Why, 200)))
	}
	for _, g := range out.Gates {
		a.printf("  %s  receipt %s: %s then, %s now (exit %d)\n", plan.OneLine(g.Gate, 100), g.Receipt, g.Then, g.Now, g.Exit)
	}
}
