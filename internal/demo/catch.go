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

// Kind of thing that goes wrong with agents.
type Kind string

// The kinds, in the order in which the script plays them.
const (
	FalseClaim Kind = "a claim to be done while a test is red"
	UsageLimit Kind = "a usage limit"
	NoTest     Kind = "work that no test proves"
	Regression Kind = "a finished task broken by a later one"
	Tampering  Kind = "a change to a protected file"
)

// Kinds lists all kinds.
func Kinds() []Kind { return []Kind{FalseClaim, UsageLimit, NoTest, Regression, Tampering} }

// Catch is one thing that went wrong and was caught.
type Catch struct {
	Kind      Kind
	Iteration int    // in which it happened
	What      string // went wrong, in words
	Then      string // what Pawl did about it
}

// Caught reads from a loop's journal what was caught, in the order in which it
// happened. Damaged records are errors: what they held cannot be told.
func Caught(records iter.Seq2[journal.Record, error]) ([]Catch, error) {
	var all []Catch
	var state loop.State
	for r, err := range records {
		if err != nil {
			return nil, fmt.Errorf("read what was caught: %w", err)
		}
		before := state
		c, ok, err := read(r, &state)
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

// read reports whether a record is of a catch; it brings the state up to date.
func read(r journal.Record, state *loop.State) (Catch, bool, error) {
	switch r.Type {
	case memory.TypeEvent:
		var e loop.Event
		if err := json.Unmarshal(r.Data, &e); err != nil {
			return Catch{}, false, err
		}
		before := *state
		*state, _ = loop.Step(before, e)
		c, ok := caught(before, *state, e)
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

// protectedName is a protected file as a user knows it: the demo's own by its path.
func protectedName(call string) string {
	if strings.HasSuffix("/"+call, "/"+Protected) {
		return Protected
	}
	return path.Base(call)
}

// caught reports whether this step of the machine is one.
func caught(before, after loop.State, e loop.Event) (Catch, bool) {
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
			return refused(before, p.Gates), true
		}
	}
	return Catch{}, false
}

// refused is a claim that did not stand.
func refused(before loop.State, g loop.Gates) Catch {
	if task, tests := broken(before, g); len(tests) > 0 {
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

// broken is the first finished task of which a test fails now, and those tests.
func broken(before loop.State, g loop.Gates) (task string, tests []string) {
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

// CheckAllCaught reports as an error what the script plays and nobody caught.
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
