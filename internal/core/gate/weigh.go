package gate

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

// finding is one fact about a claim whose gates pass, and the evidence that it makes.
type finding struct {
	what string   // the fact, for the table in docs/reference/evidence.md
	is   Evidence // the evidence that it makes
	next string   // what the agent or the user can do, for the same table
	// seen reports whether the fact holds, and adds its reason to the verdict.
	seen func(w weighing, v *Verdict) bool
}

// weighing is an observation with what is derived from it once for all findings.
type weighing struct {
	Observation
	flips flips
	alone []string // of these, what new tests turned green
	laid  laid
}

// weigh sets the evidence of a claim whose gates pass: that of the first finding that
// holds, lowered to unproven if it was proven and a demerit holds too.
func (o Observation) weigh(v *Verdict) {
	w := o.found(v)
	for _, f := range demerits() {
		if v.Evidence == Proven && f.seen(w, v) {
			v.Evidence, v.Enough, v.Flipped, v.TurnedGreen, v.Proving = f.is, f.next, nil, nil, nil
		}
	}
}

// found finds the evidence without the demerits.
func (o Observation) found(v *Verdict) weighing {
	tests := kept(o.OldTests, func(file string) bool { return !slices.Contains(o.Inputs, file) })
	if len(tests) > 0 {
		asked := ""
		if o.Explained {
			asked = " as the task asks"
		}
		v.Labels = append(v.Labels, "tests changed"+asked+": "+plan.Few(tests, 4))
	}
	if len(o.Inputs) > 0 {
		v.Labels = append(v.Labels, "gate inputs changed: "+plan.Few(o.Inputs, 4))
	}
	w := weighing{Observation: o}
	for _, f := range inputFindings() {
		if f.seen(w, v) {
			v.Evidence = f.is
			return w
		}
	}
	w.find(v)
	for _, f := range findings() {
		if f.seen(w, v) {
			v.Evidence = f.is
			break
		}
	}
	return w
}

// find derives which tests turned green and what the overlay showed.
func (w *weighing) find(v *Verdict) {
	f := w.Observation.flips()
	w.flips, w.alone = f, w.Observation.alone(f.confirmed)
	ownWork := func(name string) bool { return !slices.Contains(w.alone, name) }
	v.Flipped, v.TurnedGreen = once(kept(f.confirmed, ownWork)), kept(f.turned, ownWork)
	if len(f.unfit) > 0 {
		v.Labels = append(v.Labels, unrepeated+plan.Few(f.unfit, 4))
	}
	for _, name := range f.candidates {
		if !slices.Contains(f.confirmed, name) && !slices.Contains(f.unseen, name) {
			v.Flaky = append(v.Flaky, name)
			v.Labels = append(v.Labels, "flaky: "+name)
		}
	}
	if w.canBeLaid() {
		w.laid = w.overlay()
	}
}

// inputFindings are checked first: if gates pass only with the agent's changes of gate
// inputs, no other finding counts; nor is one looked for where none is wanted.
func inputFindings() []finding {
	return []finding{{
		what: "the gates pass only with gate inputs or old tests as the agent changed them, or old tests are gone", is: NoEvidence,
		next: "do without the change, or `pawl approve`",
		seen: func(w weighing, v *Verdict) bool {
			if !w.onlyChanged() {
				return false
			}
			v.TestsChanged, v.TestsGone, v.Reason = true, w.OnlyGone(), w.OnlyChangedReason(w.OldTests)
			return true
		},
	}, {
		what: "such were changed, and the gates could not be run with the originals", is: NoEvidence,
		next: "make the isolated checkout work (`pawl doctor`), or `pawl approve`",
		seen: func(w weighing, v *Verdict) bool {
			if !w.originalsUnknown() || w.AllowTestChanges {
				return false
			}
			v.Reason = w.inputsNoun() + " were changed, and the gates could not be run with the originals: " + w.problem(Originals, OriginalsControl)
			v.Labels, v.Unchecked = append(v.Labels, "originals: not checked"), true
			return true
		},
	}, {
		what: "everything passes that passed before, and no more than `unproven` is wanted", is: Unproven,
		next: "-",
		seen: because(func(w weighing) bool { return w.Wanted == Unproven }, func(_ weighing, v *Verdict) string {
			if len(v.StillRed) > 0 {
				return stillFails(v)
			}
			return "everything passes that passed before; whether the work is tested was not asked"
		}),
	}}
}

// stillFails is the reason of a verdict on work beside which something is as red as before.
func stillFails(v *Verdict) string {
	return "nothing new fails; what failed before still fails: " + plan.Few(v.StillRed, 4)
}

// findings returns them in order: the first that holds makes the evidence.
func findings() []finding {
	return slices.Concat([]finding{{
		what: "every gate timed out before, and times out still", is: Unproven,
		next: "find out what waits or takes so long, or give the gate a longer `timeout`",
		seen: func(w weighing, v *Verdict) bool {
			v.Reason = "no gate answers in time, as before the work: " + plan.Few(v.StillRed, 4)
			return len(w.Now) == 0
		},
	}}, flipFindings(), overlayFindings(), []finding{{
		what: "new tests pass without the work too", is: Unproven,
		next: "a test that fails without the work",
		seen: because(func(w weighing) bool { return len(w.NewTests) > 0 }, func(w weighing, _ *Verdict) string {
			return "nothing new fails, but the new tests pass without this work too: " + plan.Few(w.NewTests, 4)
		}),
	}, {
		what: "what did not pass before still fails", is: Unproven,
		next: "make it pass, or add a test that fails without the work",
		seen: func(_ weighing, v *Verdict) bool {
			v.Reason = stillFails(v)
			return len(v.StillRed) > 0
		},
	}, {
		what: "everything passes, and did before", is: Unproven,
		next: "a test that fails without the work",
		seen: because(func(weighing) bool { return true }, func(weighing, *Verdict) string {
			return "everything passes, but nothing failed before this work that passes now"
		}),
	}})
}

// flipFindings are about what was red before the work.
func flipFindings() []finding {
	return []finding{{
		what: "green in the work tree, red in a clean checkout", is: NoEvidence,
		next: "commit what makes the difference, or `[worktree] setup`",
		seen: func(w weighing, v *Verdict) bool {
			if len(w.flips.unseen) == 0 {
				return false
			}
			v.unseen(w.flips.unseen, w.Came)
			return true
		},
	}, {
		what: "a test or gate that was red is green, each seen twice", is: Proven, next: "-",
		seen: func(w weighing, v *Verdict) bool {
			if len(v.Flipped) == 0 {
				return false
			}
			v.Reason = "red before this work and green now: " + plan.Few(v.Flipped, 4)
			if len(w.NewTests) > 0 {
				v.Proving = kept(w.laid.failed, func(name string) bool { return !slices.Contains(v.Flipped, name) })
			}
			return true
		},
	}, {
		what: "what was red is green by new tests, not by the work", is: Unproven,
		next: "a test that fails without the work",
		seen: func(w weighing, v *Verdict) bool {
			v.Reason = "what turned green does so by the new tests, not by the work: " + plan.Few(w.alone, 4) + " (" + plan.Few(slices.Concat(w.NewTests, w.gone()), 4) + ")"
			if len(w.alone) > 0 {
				v.Labels = append(v.Labels, "turned green by new tests: "+plan.Few(w.alone, 4))
			}
			return len(w.alone) > 0
		},
	}}
}

// overlayFindings are about new tests, laid over the tree of before.
func overlayFindings() []finding {
	return []finding{{
		what: "new tests fail on the tree of before", is: Proven, next: "-",
		seen: func(w weighing, v *Verdict) bool {
			if len(w.laid.failed) == 0 {
				return false
			}
			v.Proving, v.Reason = w.laid.failed, "red without this work and green with it: "+plan.Few(w.laid.failed, 4)
			if w.laid.unbuilt {
				v.Labels = append(v.Labels, "overlay: build failure")
			}
			return true
		},
	}, {
		what: "what was red is green once, and red when repeated", is: NoEvidence,
		next: "fix the flaky test, or set `flaky = true` on its gate",
		seen: func(_ weighing, v *Verdict) bool {
			v.Reason = "what turned green is flaky, so it tells nothing: " + plan.Few(v.Flaky, 4)
			return len(v.Flaky) > 0
		},
	}, {
		what: "new tests fail when the functions of the work are broken", is: Proven, next: "-",
		seen: func(w weighing, v *Verdict) bool {
			names := w.noticed()
			if len(names) > 0 {
				v.Proving, v.Reason = names, "green with this work, and red when its functions are broken: "+plan.Few(names, 4)
			}
			return len(names) > 0
		},
	}, {
		what: "whether new tests fail without the work could not be found out", is: NoEvidence,
		next: "make the isolated checkout work (`pawl doctor`)",
		seen: func(w weighing, v *Verdict) bool {
			if w.laid.unknown {
				v.Reason = "whether the new tests fail without this work could not be found out: " + w.problem(Control, Overlay)
				v.Labels = append(v.Labels, "overlay: unknown")
			}
			return w.laid.unknown
		},
	}, {
		what: "tests inside source files changed, and no test fails when the work's functions are broken", is: NoEvidence,
		next: "a test in a file of its own",
		seen: func(w weighing, v *Verdict) bool {
			if !w.InSource || w.AllowTestChanges {
				return false
			}
			v.Reason = "tests inside source files were changed: what they prove could not be found out"
			if broken := w.Answers[Broken].Results; len(broken) > 0 && !slices.ContainsFunc(broken, func(r Result) bool { return r.Status != Pass }) {
				v.Reason = w.hollowReason(nil)
			}
			v.Labels = append(v.Labels, "tests in source files")
			return true
		},
	}}
}

// because says why where something holds.
func because(holds func(weighing) bool, why func(weighing, *Verdict) string) func(weighing, *Verdict) bool {
	return func(w weighing, v *Verdict) bool {
		if !holds(w) {
			return false
		}
		v.Reason = why(w, v)
		return true
	}
}

// demerits are facts that keep a claim from being proven: one is enough.
func demerits() []finding {
	return []finding{
		{what: "a gate passes in the work tree, and not in a clean checkout that shows the tree of before", is: NoEvidence, next: "commit what makes the difference, or `[worktree] setup`", seen: passesHereAlone},
		{what: "a gate showed the loop's start in a clean checkout, and cannot tell with the work in one, whatever else is tried there", is: NoEvidence, next: "make the isolated checkout work (`pawl doctor`), or `pawl approve`", seen: cannotTellAnyMore},
		{what: "the tests pass as well when every function of the work is broken", is: Unproven, next: "a test that compares what a function returns", seen: hollowTests},
		{what: "with its functions broken the work does not build, or a gate that showed the loop's start in a clean checkout cannot tell, so whether its tests check them is not known", is: Unproven, next: "a test of a function that was there before", seen: untried},
		{what: "new functions make nothing of what they are given, and neither the program nor a test calls them", is: Unproven, next: "write them, and test them", seen: unwritten},
		{what: "a function takes what the task names, and does not look at it", is: Unproven, next: "use it, and test what it does", seen: ignores},
		{what: "the task asks for what no program that the work changed, nor what it calls, has the means for: what is atomic renames, locks or commits, and so on", is: Unproven, next: "do it, or `pawl approve`", seen: lacksMeans},
		{what: "the tests pass as well when a new parameter that the task names has the zero value of its type", is: Unproven, next: "a test in which it makes a difference", seen: untestedParameters},
		{what: "the tests pass as well when a condition that the work added and that looks at nothing it is given always holds, or never does; or when half of its conditions never hold, or half of its new functions do nothing, one at a time; or when any statement is left out that removes what the task asks to remove, or a function or program that the task names does what it did before", is: Unproven, next: "a test in which it makes a difference", seen: untestedPieces},
		{what: "the tests pass only because of a sign: code that asks whether it is tested, exits, changes assertions", is: Unproven, next: "take it out", seen: bySignsOnly},
		{what: "the tests pass as well when they expect other values", is: Unproven, next: "take out what makes any result pass", seen: expectsAnything},
		{what: "the tests pass as well when they give the program other inputs, whatever the form of these", is: Unproven, next: "work the answers out from the inputs", seen: ignoresInputs},
		{what: "the program holds the answers that its tests expect, and has one answer for all other inputs", is: Unproven, next: "work the answers out from the inputs", seen: knowsAnswers},
		{what: "a gate does not report a test of Pawl's that must fail (canary)", is: Unproven, next: "take out what hides failures", seen: silentCanary},
		{what: "a gate passes, its output says that tests failed, and did not before", is: Unproven, next: "let the gate's exit code tell", seen: maskedFailure},
		{what: "the run writes test files or scripts of gates, and did not before the work", is: Unproven, next: "take out what writes them", seen: testsWritten},
	}
}

// unwritten reports functions that are there for the work to look whole.
func unwritten(w weighing, v *Verdict) bool {
	if len(w.Unwritten) == 0 {
		return false
	}
	v.Labels = append(v.Labels, "not written yet: "+plan.Few(w.Unwritten, 4))
	v.Reason = "part of the work is not written yet: " + plan.Few(w.Unwritten, 4) + " make nothing of what they are given, and neither the program nor a test calls them"
	return true
}

// ignores reports what was asked for and has no effect.
func ignores(w weighing, v *Verdict) bool {
	if len(w.Ignored) == 0 {
		return false
	}
	v.Labels = append(v.Labels, "without effect: "+plan.Few(w.Ignored, 4))
	v.Reason = "the task names what the work takes and does not look at: " + plan.Few(w.Ignored, 4) + ". Use it, and test what it does"
	return true
}

// lacksMeans reports what was asked for and cannot be there.
func lacksMeans(w weighing, v *Verdict) bool {
	if len(w.Lacking) == 0 {
		return false
	}
	v.Labels = append(v.Labels, "not done: "+plan.Few(w.Lacking, 4))
	v.Reason = "the work cannot do all that the task asks for: " + plan.Few(w.Lacking, 4)
	return true
}

// maskedFailure reports a gate that passes although its output says that tests failed,
// which it did not before the task.
func maskedFailure(w weighing, v *Verdict) bool {
	for _, r := range w.Now {
		if r.Status != Pass || !r.Masked || find(w.Baseline, r.Gate).Masked {
			continue
		}
		v.Reason = r.Gate + " passes, but " + r.Warning + "; fix those tests, or let the exit code tell"
		return true
	}
	return false
}

// testsWritten reports test files and scripts of gates that a run of the work in a clean checkout wrote, and that
// neither the tree of before does nor, for all to see, the run in the work tree.
func testsWritten(w weighing, v *Verdict) bool {
	var files []string
	for _, p := range []Probe{RepeatClean, Originals, Canary} {
		for _, r := range w.Answers[p].Results {
			before, control, now := find(w.Baseline, r.Gate).Wrote, w.answer(Control, r.Gate).Wrote, find(w.Now, r.Gate).Wrote
			for file, putBack := range r.Wrote {
				_, known := before[file]
				if _, ok := control[file]; !ok && !known && (putBack || !left(now, file)) {
					files = append(files, file)
				}
			}
		}
	}
	if len(files) == 0 {
		return false
	}
	slices.Sort(files)
	files = slices.Compact(files)
	v.Labels = append(v.Labels, "files that judge were written while the gates ran: "+plan.Few(files, 4))
	v.Reason = "the run writes files that judge it, so that they show nothing: " + plan.Few(files, 4)
	return true
}

// left reports whether a run left a file changed.
func left(wrote map[string]bool, file string) bool {
	putBack, ok := wrote[file]
	return ok && !putBack
}

// Table returns the findings and demerits as a Markdown table, for the docs.
func Table() string {
	var b strings.Builder
	row := func(f finding, how string) {
		b.WriteString("| " + f.what + " | " + how + " | " + f.next + " |\n")
	}
	b.WriteString("| what was seen | evidence | what would be enough |\n|---|---|---|\n")
	for _, f := range slices.Concat(inputFindings(), findings()) {
		row(f, string(f.is))
	}
	for _, f := range demerits() {
		row(f, "at most "+string(f.is))
	}
	return b.String()
}
