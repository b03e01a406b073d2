package demo

import (
	"encoding/json"
	"fmt"
	"iter"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/guard"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

// Kind is the kind of a failure.
type Kind string

// The kinds, in the order in which the script plays them.
const (
	FalseClaim Kind = "a claim to be done while a test fails"
	UsageLimit Kind = "a usage limit"
	NoTest     Kind = "work that no test proves"
	Regression Kind = "a finished task broken by a later one"
	Tampering  Kind = "a change to a protected file"
)

// Kinds lists all kinds.
func Kinds() []Kind { return []Kind{FalseClaim, UsageLimit, NoTest, Regression, Tampering} }

// Catch is a failure of the agent that Pawl caught.
type Catch struct {
	Kind      Kind
	Iteration int    // in which it happened
	What      string // went wrong, in words
	Then      string // what Pawl did about it
}

// ReadCatches returns the catches in a loop's journal, in order. A damaged record is an error.
func ReadCatches(records iter.Seq2[journal.Record, error]) ([]Catch, error) {
	var all []Catch
	var state loop.State
	for r, err := range records {
		if err != nil {
			return nil, fmt.Errorf("read what was caught: %w", err)
		}
		before := state
		c, ok, err := readCatch(r, &state)
		if err != nil {
			return nil, fmt.Errorf("read what was caught: record %d: %w", r.Seq, err)
		}
		if ok {
			c.Iteration = before.Iteration
			all = append(all, c)
		}
	}
	return all, nil
}

// readCatch applies a record to the state, and reports whether it is a catch.
func readCatch(r journal.Record, state *loop.State) (Catch, bool, error) {
	switch r.Type {
	case memory.TypeEvent:
		var e loop.Event
		if err := json.Unmarshal(r.Data, &e); err != nil {
			return Catch{}, false, err
		}
		before := *state
		*state, _ = loop.Step(before, e)
		c, ok := detectCatch(before, *state, e)
		return c, ok, nil
	case memory.TypeNote:
		var n memory.Note
		if err := json.Unmarshal(r.Data, &n); err != nil {
			return Catch{}, false, err
		}
		if j := n.GuardVerdict; j != nil && j.Rule == guard.RuleProtected {
			what := "the agent tried to rewrite " + protectedName(filepath.ToSlash(j.Call)) + ", a protected file"
			return Catch{Kind: Tampering, What: what, Then: "denied before it ran"}, true, nil
		}
	}
	return Catch{}, false, nil
}

// protectedName returns a protected file as a user knows it: the demo's own by its path.
func protectedName(call string) string {
	if strings.HasSuffix("/"+call, "/"+Protected) {
		return Protected
	}
	return path.Base(call)
}

// detectCatch reports whether a step of the state machine is a catch.
func detectCatch(before, after loop.State, e loop.Event) (Catch, bool) {
	switch p := e.Payload.(type) {
	case loop.AgentFailed:
		if p.Failure.Class != loop.UsageLimit || after.Phase != loop.Waiting {
			break
		}
		return Catch{Kind: UsageLimit, What: "the agent met a usage limit", Then: "waited until it reset: no failure, no iteration counted"}, true
	case loop.TreeInspected:
		if after.Violations == before.Violations {
			break
		}
		what := "the agent rewrote " + strings.Join(p.Inspection.Tampered, ", ") + ", a protected file"
		return Catch{Kind: Tampering, What: what, Then: "restored, and counted as a violation"}, true
	case loop.GatesFinished:
		if p.Gates.Purpose == loop.ForClaim && before.Phase == loop.Judging && after.Phase == loop.Turning {
			return refusedClaim(before, p.Gates), true
		}
	}
	return Catch{}, false
}

// refusedClaim returns the catch for a refused claim.
func refusedClaim(before loop.State, g loop.Gates) Catch {
	if task, tests := brokenTask(before, g); len(tests) > 0 {
		return Catch{
			Kind: Regression, Then: "refused, with the broken tests named",
			What: fmt.Sprintf("task %s was claimed done with task %s broken: %s", before.Current, task, strings.Join(tests, ", ")),
		}
	}
	if g.Status == gate.Pass && g.Green {
		return Catch{
			Kind: NoTest, Then: "refused once, a test asked for",
			What: fmt.Sprintf("task %s was claimed done, but no test proved it", before.Current),
		}
	}
	return Catch{
		Kind: FalseClaim, Then: "refused",
		What: fmt.Sprintf("task %s was claimed done while %s failed", before.Current, strings.Join(g.Red(), ", ")),
	}
}

// brokenTask returns the first finished task with tests that fail now, and those tests.
func brokenTask(before loop.State, g loop.Gates) (task string, tests []string) {
	if g.Status != gate.Fail {
		return "", nil
	}
	for _, test := range g.FailingTests() {
		if t, ok := before.ProvedBy(test); ok && (task == "" || task == t.ID) {
			task, tests = t.ID, append(tests, test)
		}
	}
	return task, tests
}

// CheckAllCaught returns an error that names what the script plays and Pawl did not catch.
func CheckAllCaught(catches []Catch) error {
	var missed []string
	for _, k := range Kinds() {
		if !slices.ContainsFunc(catches, func(c Catch) bool { return c.Kind == k }) {
			missed = append(missed, string(k))
		}
	}
	if len(missed) > 0 {
		return failure.New(failure.Error, "this is a bug in Pawl: please report it with the output of  pawl log",
			"the demo ran, but this was not caught: %s", strings.Join(missed, "; "))
	}
	return nil
}
