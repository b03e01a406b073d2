package verify

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mutant"
	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/sign"
)

// Bounds of the mutation points of a claim, tried in a run each: their number, and the total time,
// unless two runs of the gates take longer.
const (
	maxMutationPoints = 12
	mutationPointTime = 10 * time.Second
)

type pointKind int

const (
	inputIndependent pointKind = iota
	removal
	namedByTask
	condition
	function
)

// tooManySurvive reports whether the tests miss too many points of this kind: one that ignores its
// input or that the task names, all removals, or half of the others.
func (k pointKind) tooManySurvive(unnoticed, tried int) bool {
	switch k {
	case inputIndependent, namedByTask:
		return unnoticed > 0
	case removal:
		return unnoticed == tried
	case condition, function:
	}
	return 2*unnoticed >= tried
}

// mutationPoint is an added condition, statement or function, with its mutants. It survives if all
// tests pass with each of them.
type mutationPoint struct {
	kind     pointKind
	label    string // with its place
	file     string
	function string // that it is, or is in
	size     int
	mutants  []mutant.Mutant
	shortcut bool // it may make no difference that a test could see
}

// mutationPoints returns a claim's points in the order of trial, in programs only: neither in test
// helpers nor in gate inputs.
func (c *claim) mutationPoints(ctx context.Context) ([]mutationPoint, error) {
	var all []mutationPoint
	var code strings.Builder
	var changed []changedFile
	programs := slices.DeleteFunc(slices.Clone(c.mutable), func(ch git.Change) bool { return !mayBeProgram(ch) })
	err := eachText(ctx, c.Repo, programs[:min(len(programs), maxChangedPrograms)], func(f changedFile) error {
		if isFile(f.To) {
			all = slices.Concat(all, conditions(f), removals(c.Asked, f), c.namedLiterals(f))
			changed = append(changed, f)
			code.WriteString(mutant.Code(f.Path, f.after))
		}
		return nil
	})
	all = slices.Concat(all, restoredScripts(c.Asked, changed), functions(c.Asked, changed, code.String()))
	gone := slices.DeleteFunc(slices.Clone(c.signs.changed), func(f changedFile) bool { return !f.isDeletedProgram() })
	moved := movedFunctions(changed, gone)
	all = slices.DeleteFunc(all, func(p mutationPoint) bool {
		return p.kind != namedByTask && p.kind != removal && moved[p.file+" "+p.function]
	})
	slices.SortStableFunc(all, func(a, b mutationPoint) int { return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(b.size, a.size)) })
	return all[:min(len(all), maxMutationPoints)], err
}

// conditions returns the conditions that a change added to a file.
func conditions(f changedFile) (all []mutationPoint) {
	for _, b := range mutant.Branches(f.Path, f.before, f.after) {
		if !b.WholeCondition {
			continue
		}
		label := MissedLine{f.Path, b.Number, b.Function, b.Mutant.Does, b.Text}.String()
		p := mutationPoint{condition, label, f.Path, b.Function, 0, []mutant.Mutant{b.Mutant}, b.Shortcut}
		if b.InputIndependent {
			p.kind = inputIndependent
		}
		all = append(all, p)
	}
	return all
}

// removals returns the added statements by which the work does what the task asks for: they remove, roll
// back, wait again.
func removals(task string, f changedFile) (all []mutationPoint) {
	for _, l := range mutant.Statements(f.Path, f.before, f.after) {
		if sign.ShouldBeNoticed(task, l.Text) {
			all = append(all, mutationPoint{removal, fmt.Sprintf("%s:%d in %s %s (%s)", f.Path, l.Number, l.Function, l.Mutant.Does, l.Text), f.Path, l.Function, 0, []mutant.Mutant{l.Mutant}, false})
		}
	}
	return all
}

// restoredScripts returns the shell scripts that the task names, each mutated to do what it did
// before.
func restoredScripts(task string, changed []changedFile) (all []mutationPoint) {
	for _, f := range changed {
		if f.before != nil && mutant.IsShell(f.Path) && isNamed(path.Base(f.Path), task, 1) {
			m := mutant.RestoreScript(f.before, f.after)
			all = append(all, mutationPoint{namedByTask, f.Path + " " + m.Does, f.Path, "", 0, []mutant.Mutant{m}, false})
		}
	}
	return all
}

// functions returns the functions that the task names, and the new ones, not stubs, that the
// program calls. It omits a function that is the only change (tried before) and entry points.
func functions(task string, changed []changedFile, code string) (all []mutationPoint) {
	n := 0
	for _, ch := range changed {
		file := ch.Path
		stubs := mutant.Stubs(file, ch.before, ch.after)
		for _, f := range mutant.Changed(file, ch.before, ch.after) {
			n++
			stub := slices.ContainsFunc(stubs, func(s mutant.Function) bool { return s.Name == f.Name })
			switch {
			case isEntryPoint(f):
			case isNamed(mutant.BareName(f.Name), task, 1):
				all = append(all, mutationPoint{namedByTask, fmt.Sprintf("%s:%d %s %s", file, f.Line, f.Name, f.Undo().Does), file, f.Name, f.Lines, f.Alternatives(), false})
			case f.New && !stub && isNamed(mutant.BareName(f.Name), code, 2):
				all = append(all, mutationPoint{function, fmt.Sprintf("%s:%d %s does nothing", file, f.Line, f.Name), file, f.Name, f.Lines, f.Mutants, false})
			}
		}
	}
	if n == 1 {
		return nil
	}
	return all
}

// isEntryPoint reports whether a program starts with this function, which tests seldom call.
func isEntryPoint(f mutant.Function) bool {
	return strings.EqualFold(f.Name[strings.LastIndexByte(f.Name, '.')+1:], "main") || path.Base(f.Path) == "__main__.py"
}

// runSingleMutants runs gates with one mutation point at a time.
func (c *claim) runSingleMutants(ctx context.Context, w runTarget, gates []gate.Gate) (run gate.Run, err error) {
	limit := mutationPointTime
	for _, g := range gates {
		limit = max(limit, 2*gateDuration(c.seen.Now, g.Name))
	}
	began := time.Now()
	var missed []mutationPoint
	tried, unnoticed := map[pointKind]int{}, map[pointKind]int{}
	for _, p := range c.points {
		if time.Since(began) > limit {
			break
		}
		noticing, err := c.tryMutationPoint(ctx, p, w, gates)
		if err != nil {
			return run, err
		}
		if noticing == gate.Inconclusive || noticing == gate.Survived && p.shortcut {
			continue
		}
		tried[p.kind]++
		if noticing == gate.Survived {
			missed = append(missed, p)
			unnoticed[p.kind]++
		}
	}
	for _, p := range missed {
		if p.kind.tooManySurvive(unnoticed[p.kind], tried[p.kind]) {
			run.Untested = append(run.Untested, p.label)
		}
	}
	return run, nil
}

// tryMutationPoint tries each mutant of a point that builds. If the proving tests pass, all tests
// run: others may check it.
func (c *claim) tryMutationPoint(ctx context.Context, p mutationPoint, w runTarget, gates []gate.Gate) (gate.MutantOutcome, error) {
	result := gate.Inconclusive
	for _, m := range p.mutants {
		var err error
		if w.tree, err = c.mutated(ctx, map[string][]mutant.Mutant{p.file: {m}}); err != nil {
			return result, err
		}
		results, err := c.runNarrowed(ctx, w, gates)
		if err == nil && c.seen.PassesAll(results) {
			results, err = c.runInCheckout(ctx, c.withMutantTimeout(c.Gates), w)
		}
		if err != nil {
			return result, err
		}
		switch n := c.seen.OutcomeOf(results); n {
		case gate.Inconclusive:
		case gate.Survived:
			result = n
		default:
			return gate.Killed, nil
		}
	}
	return result, nil
}

// namedLiterals returns the values that the task speaks of: a bound that it gives ("100 or more"), and
// what a variable begins with that it names. With other values some test should fail, unless the tests
// work with the constant of that value.
func (c *claim) namedLiterals(f changedFile) (all []mutationPoint) {
	bounds := boundsIn(c.Asked)
	for _, l := range mutant.Literals(f.Path, f.before, f.after) {
		if l.Constant != "" && isNamed(l.Constant, c.testText(), 1) {
			continue
		}
		if bounds[l.Value] && (l.Constant != "" || compares.MatchString(l.Text)) || l.Variable != "" && isNamed(l.Variable, c.Asked, 1) {
			label := fmt.Sprintf("%s:%d %s (%s)", f.Path, l.Number, l.Mutants[0].Does, l.Text)
			all = append(all, mutationPoint{namedByTask, label, f.Path, l.Function, 0, l.Mutants, false})
		}
	}
	return all
}

// boundsIn returns the numbers that a task gives as bounds. An amount may be in cents.
func boundsIn(task string) map[string]bool {
	bounds := map[string]bool{}
	for _, m := range bound.FindAllStringSubmatch(task, -1) {
		n := strings.TrimRight(strings.ReplaceAll(m[1]+m[2], ",", ""), ".")
		whole, _, _ := strings.Cut(n, ".")
		bounds[whole], bounds[strings.ReplaceAll(n, ".", "")] = true, true
	}
	delete(bounds, "0")
	delete(bounds, "1") // as any program has
	return bounds
}

// compares matches a line that compares.
var compares = regex.New(`[<>]|-[gl][te]\b`)

// bound matches a number with what makes it one: "at most 10", "10,000 or more", "from 5 on".
var bound = regex.New(`(?i)\b(?:at (?:least|most)|up to|more than|less than|fewer than|(?:larg|bigg|great|small|short|long|old|young|high|low)er than|over|under|above|below|beyond|from|exceed(?:s|ing)?|maximum of|minimum of)\s+(\d[\d.,]*)|\b(\d[\d.,]*)\s*(?:%|\w+)?\s+(?:or|and) (?:more|less|fewer|older|above|below|over|under|longer|larger|later)\b`)
