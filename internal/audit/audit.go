// Package audit runs the gates of a loop's commit again and compares the results with the recorded ones.
//
//	result, err := audit.Commit(ctx, audit.Options{Store: st, Repo: repo, Find: find}, "HEAD")
//
// The commit's trailers name its loop and the receipts of its gates. The gates run again in a
// clean checkout, without results of earlier runs, and the new results are compared
// with the receipts in the loop's journal. A commit that cannot be compared is undecided, with the
// reason: no loop is known, a receipt is missing, only a review passed the commit.
package audit

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
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/narrate"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/runner"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
	"github.com/pawl-dev/pawl/internal/verify"
)

// Verdict is the result of an audit in one word.
type Verdict string

// The verdicts.
const (
	Agrees    Verdict = "agrees"
	Differs   Verdict = "differs"
	Undecided Verdict = "unknown"
)

// Result is the result of an audit.
type Result struct {
	Commit  string         `json:"commit" jsonschema:"full hash"`
	Loop    string         `json:"loop" jsonschema:"id of the loop that made it"`
	Verdict Verdict        `json:"verdict" jsonschema:"agrees, differs or unknown"`
	Reason  string         `json:"reason,omitempty" jsonschema:"why it differs or is undecided, one line"`
	Worth   []TaskEvidence `json:"evidence,omitempty" jsonschema:"what the commit's evidence is worth, one entry for each of its tasks"`
	Gates   []Gate         `json:"gates" jsonschema:"one entry for each receipt"`
}

// TaskEvidence is the evidence of one task of a commit.
type TaskEvidence struct {
	Task     string        `json:"task" jsonschema:"id of the task"`
	Evidence gate.Evidence `json:"evidence" jsonschema:"proven, reviewed, unproven or unknown"`
	Why      string        `json:"why,omitempty" jsonschema:"what it rests on, in words"`
	Enough   bool          `json:"enough" jsonschema:"it is what was wanted of the task"`
}

// Gate compares one receipt with what its gate says now.
type Gate struct {
	Gate    string      `json:"gate" jsonschema:"name of the gate"`
	Receipt string      `json:"receipt" jsonschema:"id of the receipt"`
	Then    gate.Status `json:"then" jsonschema:"result in the receipt"`
	Now     gate.Status `json:"now" jsonschema:"result of this run"`
	Exit    int         `json:"exit_code" jsonschema:"exit code of this run, -1 if it did not exit by itself"`
	Differs string      `json:"differs,omitempty" jsonschema:"what contradicts the receipt"`
}

// Options of an audit.
type Options struct {
	Store *store.Store
	Repo  *git.Repo
	Vars  []string // environment of the gates
	Find  func(id string) (*loopinfo.Loop, error)
	Watch func(verify.Progress) // told of each gate; may be nil
}

// Commit audits a commit.
func Commit(ctx context.Context, o Options, rev string) (Result, error) {
	commit, err := o.Repo.Resolve(ctx, rev+"^{commit}")
	if err != nil {
		return Result{}, failure.New(failure.Usage, "name a commit that a loop made", "there is no commit %q", rev)
	}
	trailers, err := o.Repo.Trailers(ctx, commit)
	if err != nil {
		return Result{}, err
	}
	out := Result{Commit: commit, Loop: trailer(trailers, runner.TrailerLoop), Gates: []Gate{}}
	wanted := receiptIDs(trailers)
	switch {
	case out.Loop == "":
		return out.undecided("no loop made this commit: it has no %s trailer", runner.TrailerLoop), nil
	case len(wanted) == 0:
		return out.undecided("no gate checked this commit: it has no receipt"), nil
	}
	if l, err := FindLoop(o.Store, trailers); l == nil {
		if err != nil {
			return Result{}, err
		}
		return out.undecided("loop %s is unknown here, and its journal has the receipts", plan.OneLine(out.Loop, 60)), nil
	}
	s, err := o.Find(out.Loop)
	if err != nil {
		return Result{}, err
	}
	known, ofCommit := receipts(s, wanted)
	if missing := slices.DeleteFunc(wanted, func(id string) bool { _, ok := known[id]; return ok }); len(missing) > 0 {
		return out.undecided("the journal of %s has no receipt %s", s.ID, strings.Join(missing, ", ")), nil
	}
	if err := out.compare(ctx, o, s, known); err != nil {
		return Result{}, err
	}
	if out.Verdict == Agrees && ofCommit != commit {
		return out.undecided("the gates agree, but the receipts are of commit %.9s: was this one rewritten?", ofCommit), nil
	}
	return out.addTaskEvidence(s.Memory.State), nil
}

// addTaskEvidence adds the evidence of the commit's tasks. Gates that agree prove no more than they
// did then: with less evidence than wanted, the audit is undecided.
func (r Result) addTaskEvidence(s loop.State) Result {
	short := false
	for _, t := range s.Tasks {
		if t.Commit != r.Commit {
			continue
		}
		r.Worth = append(r.Worth, TaskEvidence{Task: t.ID, Evidence: t.Evidence, Why: narrate.Evidence(t), Enough: !t.Unproven()})
		short = short || t.Unproven()
	}
	if short && r.Verdict == Agrees {
		return r.undecided("the gates match, but the commit has less evidence than required")
	}
	return r
}

// undecided returns the result of an audit without a verdict, with the reason.
func (r Result) undecided(format string, args ...any) Result {
	r.Verdict, r.Reason = Undecided, fmt.Sprintf(format, args...)
	return r
}

func trailer(all []git.Trailer, key string) string {
	for _, t := range all {
		if t.Key == key {
			return t.Value
		}
	}
	return ""
}

// receiptIDs returns the receipts that the trailers name. The trailer of a claim without gates
// names none.
func receiptIDs(all []git.Trailer) []string {
	ids := strings.Fields(trailer(all, runner.TrailerReceipt))
	return slices.DeleteFunc(ids, func(id string) bool { return strings.HasPrefix(id, "none-") })
}

// receipts finds receipts in the loop's journal, and the commit that the journal
// says they are of.
func receipts(s *loopinfo.Loop, ids []string) (found map[string]verify.Receipt, commit string) {
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
func (r *Result) compare(ctx context.Context, o Options, s *loopinfo.Loop, known map[string]verify.Receipt) (err error) {
	v, done, err := o.Verifier(ctx, verify.Options{UserEnv: s.Spec.GateEnv, Setup: s.Spec.Setup, Tests: s.Spec.Tests})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	maps.DeleteFunc(known, func(_ string, rec verify.Receipt) bool { return rec.Kind == gate.ByReview }) // nobody is asked again
	if len(known) == 0 {
		*r = r.undecided("only a review checked this commit, and pawl audit runs no reviews")
		return nil
	}
	gates, receipts := gatesOf(s, known)
	if len(gates) < len(known) {
		*r = r.undecided("loop %s has no gate with the name in a receipt", s.ID)
		return nil
	}
	results, err := v.RunInCheckout(ctx, r.Commit, gates, "")
	if err != nil {
		return err
	}
	r.Verdict = Agrees
	for i, now := range results {
		r.addGate(receipts[i], now)
	}
	return nil
}

// Verifier runs gates in clean checkouts below a folder of its own, which
// done removes. What a killed one left there is removed first.
func (o Options) Verifier(ctx context.Context, vo verify.Options) (v *verify.Verifier, done func() error, err error) {
	dir, leave, err := o.Store.LockAuditDir(ctx)
	if err != nil {
		return nil, nil, err
	}
	if err := errors.Join(o.Repo.RemoveWorktrees(ctx, dir), proc.RemoveAll(dir)); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("clean up after a killed audit: %w", err), leave())
	}
	vo.Root, vo.Repo, vo.Dir, vo.Env, vo.Watch = o.Repo.Root(), o.Repo, dir, o.Vars, o.Watch
	if v, err = verify.New(vo); err != nil {
		return nil, nil, errors.Join(err, leave())
	}
	return v, func() error {
		return errors.Join(v.Close(context.WithoutCancel(ctx)), proc.RemoveAll(dir), leave())
	}, nil
}

// gatesOf returns the loop's gates that have receipts, each with its receipt.
func gatesOf(s *loopinfo.Loop, known map[string]verify.Receipt) ([]gate.Gate, []verify.Receipt) {
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

// addGate compares one receipt with its gate. A difference outweighs an undecided gate.
func (r *Result) addGate(rec verify.Receipt, now gate.Result) {
	g := Gate{Gate: rec.Gate, Receipt: rec.ID, Then: rec.Status, Now: now.Status, Exit: now.ExitCode, Differs: rec.Differs(now)}
	r.Gates = append(r.Gates, g)
	switch {
	case g.Differs != "" && r.Verdict != Differs:
		r.Verdict, r.Reason = Differs, g.Gate+": "+g.Differs
	case now.Status == gate.Unknown && r.Verdict == Agrees:
		r.Verdict, r.Reason = Undecided, g.Gate+" gave no clear result: "+plan.OneLine(now.Reason, 240)
	}
}

// FindLoop returns the loop that a commit's trailer names, nil if it is not known here. The trailer
// is untrusted text: only a complete id is accepted.
func FindLoop(st *store.Store, trailers []git.Trailer) (*store.Loop, error) {
	loops, err := st.Loops()
	i := slices.IndexFunc(loops, func(l *store.Loop) bool { return l.ID == trailer(trailers, runner.TrailerLoop) })
	if i < 0 {
		return nil, err
	}
	return loops[i], nil
}
