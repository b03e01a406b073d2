package gate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

// Observation is everything that was seen of one claim.
type Observation struct {
	Gates    []Gate   `json:"gates,omitempty"`  // those that ran, for their settings
	Baseline []Result `json:"baseline"`         // on the tree the task starts from
	Now      []Result `json:"now"`              // on the tree that will be kept
	Wanted   Evidence `json:"wanted,omitempty"` // of the claim, "" = proven
	Changed  bool     `json:"changed"`          // the tree differs from the task's start, Pawl's own marks aside
	// OldTests are gate inputs that are not as they were: test files that were changed
	// or deleted, and whatever else is neither work nor a new test.
	OldTests []string `json:"old_tests,omitempty"`
	// Explained: all that was done to them is what the task asks for, though it does not pass
	// with the originals. Then it counts as approved.
	Explained bool `json:"explained,omitempty"`
	// Gone are old tests that are in no file any more, by their files.
	Gone []string `json:"gone,omitempty"`
	// Inputs are those of them that are not tests.
	Inputs []string `json:"inputs,omitempty"`
	// NewTests are test files that were added or changed: what can be laid over
	// the tree of before.
	NewTests []string `json:"new_tests,omitempty"`
	// NewCases: files that tests read are among them, and old tests may read them too.
	NewCases bool `json:"new_cases,omitempty"`
	// Added are the tests that the work added, by gate and by the names that they have in
	// their files, where a gate reports none by id and can be run for these alone.
	Added map[string][]string `json:"added,omitempty"`
	// InSource: source files that hold tests were changed, so that a test's text
	// may have changed with them.
	InSource bool `json:"in_source,omitempty"`
	// Lost: one of these has more that differs in its tests than new ones.
	TestsLost bool `json:"lost,omitempty"`
	// Breakable: the work added functions that can be broken, see Broken.
	Breakable bool `json:"breakable,omitempty"`
	// Functions are the names of those that the work added or changed, with their files.
	Functions []string `json:"functions,omitempty"`
	// Unwritten are functions that the work added, that make nothing of what they are given
	// and that neither the program nor its tests call.
	Unwritten []string `json:"unwritten,omitempty"`
	// Ignored are parameters that the task names, which functions of the work take and do
	// not look at, each with its place.
	Ignored []string `json:"ignored,omitempty"`
	// Lacking are what the task asks for and no program of the work, nor what it calls, has the means
	// for, each with its file.
	Lacking []string `json:"lacking,omitempty"`
	// Parameters are new ones that the task names, each with the place of its function, see
	// ZeroParameters.
	Parameters []string `json:"parameters,omitempty"`
	// Pieces are conditions and functions that the work added, see OneByOne.
	Pieces []string `json:"pieces,omitempty"`
	// Signs are those in the work that can be neutralized, each in words that follow
	// "because of", see Neutral.
	Signs []string `json:"signs,omitempty"`
	// Canary: tests that must fail can be laid beside those of the tree, see Canary.
	Canary bool `json:"canary,omitempty"`
	// Values: other values can stand in the tests, see OtherExpected.
	Values bool `json:"values,omitempty"`
	// Answering: the work is a program, or part of one, and answers what it is asked, see OtherInputs.
	Answering bool `json:"answering,omitempty"`
	// Held are places in the program that hold nothing but what its tests expect, or read it.
	Held []string `json:"held,omitempty"`
	// Shown are the gates that showed the loop's start in a clean checkout: such a place worked then.
	Shown []string `json:"shown,omitempty"`
	// Came is what git ignores and came or changed since the loop began, where a clean
	// checkout does not show what the work tree does.
	Came             []string      `json:"came,omitempty"`
	AllowTestChanges bool          `json:"allow_test_changes,omitempty"`
	NoRatchet        bool          `json:"no_ratchet,omitempty"` // tests that passed may go
	Answers          map[Probe]Run `json:"answers,omitempty"`
}

// Verdict says whether the tree stands and what tells it from the one before.
type Verdict struct {
	// Status is fail only if something that passed at the start does not now,
	// and unknown if a gate could not tell.
	Status   Status   `json:"status"`
	Evidence Evidence `json:"evidence"`
	Broken   []string `json:"broken,omitempty"`    // tests or gates that passed at the start and fail or are gone
	StillRed []string `json:"still_red,omitempty"` // fail now and did not pass at the start
	Flipped  []string `json:"flipped,omitempty"`   // red before and green after, each twice
	// Proving are the new or changed tests that fail on the tree of before.
	Proving []string `json:"proving,omitempty"`
	// TurnedGreen are gates without test ids among Flipped: they count for every
	// task since they were seen red.
	TurnedGreen []string `json:"turned_green,omitempty"`
	Flaky       []string `json:"flaky,omitempty"` // flipped once, not when repeated
	// TestsChanged: the gates pass with the agent's tests only, not with the
	// originals; kept, but at most unverified until approved.
	TestsChanged bool `json:"tests_changed,omitempty"`
	// TestsGone: of these, old tests are gone, and the gates pass with them.
	TestsGone bool `json:"tests_gone,omitempty"`
	// Unchecked: old tests were changed, and what the originals say is not known:
	// no review makes up for that.
	Unchecked bool `json:"unchecked,omitempty"`
	// Hollow: its tests pass as well when each function of the work is broken.
	Hollow bool `json:"hollow,omitempty"`
	// InAnyCase: its tests were seen to pass where they should have failed.
	InAnyCase bool     `json:"in_any_case,omitempty"`
	FullGreen bool     `json:"full_green"`       // every gate passed, or was allowed to stay red
	Labels    []string `json:"labels,omitempty"` // what a report should name
	Reason    string   `json:"reason"`           // one line, for the agent and the user
	// Enough is what would make it proven, where something that was seen keeps it from
	// that; "": a test that fails without the work.
	Enough string `json:"enough,omitempty"`
}

// Decide concludes from what was seen. A probe that Next asks for and that has
// no answer yet counts as not found out: it can only weaken the evidence.
func Decide(o Observation) Verdict {
	old := o.oldRed()
	o = o.withoutOldRed()
	now := o.against(o.Now)
	v := Verdict{Status: o.status(now), Evidence: NoEvidence, StillRed: now.red, Broken: once(o.broken(now))}
	for _, name := range o.gates() {
		v.StillRed = append(v.StillRed, old[name]...)
	}
	v.StillRed = once(v.StillRed)
	v.FullGreen = o.fullGreen(v, old)
	for _, r := range o.Now {
		if r.Flaky {
			v.Labels = append(v.Labels, "flaky: "+r.Gate)
		}
		if r.Warning != "" {
			v.Labels = append(v.Labels, r.Gate+": "+r.Warning)
		}
	}
	for _, g := range o.Gates {
		if g.InWorkTree && len(o.Now) > 0 {
			v.Labels = append(v.Labels, "decided in the work tree (isolated = false): "+g.Name)
		}
	}
	switch {
	case v.Status == Fail:
		v.Reason = o.failReason(v.Broken)
	case v.Status == Unknown:
		v.Reason = o.unknownReason(now.unknown)
	case len(o.Now) == 0:
		v.Reason = "there is no gate: nothing could tell"
	case !o.Changed:
		v.Reason = "nothing was changed since the task began"
	default:
		o.withoutHung().weigh(&v)
	}
	return v
}

// status of the gates alone, relative to the baseline.
func (o Observation) status(now comparison) Status {
	switch {
	case len(o.broken(now)) > 0:
		return Fail
	case len(now.unknown) > 0:
		return Unknown
	}
	return Pass
}

// broken: a test that is gone counts, unless tests may change or test files
// did, in which case the run with the originals decides.
func (o Observation) broken(now comparison) []string {
	if o.AllowTestChanges || len(o.OldTests) > 0 {
		return slices.Concat(now.broken, o.takenAway())
	}
	return slices.Concat(now.broken, now.missing)
}

// takenAway are the gates that no longer start where gate inputs were changed: a script
// is gone, or is none any more, and the agent can put it back.
func (o Observation) takenAway() []string {
	var names []string
	for _, r := range o.Now {
		if len(o.OldTests) > 0 && r.CannotStart {
			names = append(names, r.Gate)
		}
	}
	return names
}

// fullGreen reports whether every gate passed, or may be red; old are tests that failed before
// and fail still.
func (o Observation) fullGreen(v Verdict, old map[string][]string) bool {
	if v.Status != Pass {
		return false
	}
	for _, r := range o.Now {
		allowed := slices.ContainsFunc(o.Gates, func(g Gate) bool { return g.Name == r.Gate && g.AllowBaseline })
		if (r.Status != Pass || len(old[r.Gate]) > 0) && !allowed {
			return false
		}
	}
	return true
}

// OnlyChangedReason says which changed gate inputs make the difference.
func (o Observation) OnlyChangedReason(needed []string) string {
	if o.OnlyGone() {
		return "old tests are gone: " + plan.Few(o.Gone, 4)
	}
	return "the gates pass only with the changed " + o.inputsNoun() + ", not with the originals: " + plan.Few(needed, 4)
}

// OnlyGone reports whether old tests are gone, and the gates pass with them.
func (o Observation) OnlyGone() bool { return len(o.Gone) > 0 && !o.originalsFail() }

// inputsNoun says what was changed of what gates read.
func (o Observation) inputsNoun() string {
	switch {
	case len(o.Inputs) == 0:
		return "tests"
	case len(o.Inputs) == len(o.OldTests):
		return "gate inputs"
	}
	return "tests and gate inputs"
}

// Silenced reports whether a gate that told of tests tells of none.
func (o Observation) Silenced() bool {
	return slices.ContainsFunc(o.Now, func(r Result) bool { return find(o.Baseline, r.Gate).silenced(r) })
}

// cannotTell reports whether a run was not possible, or a gate of it is unknown.
func (o Observation) cannotTell(p Probe) bool {
	run, ok := o.Answers[p]
	return ok && (run.Problem != "" || slices.ContainsFunc(run.Results, func(r Result) bool { return r.Status == Unknown }))
}

// problem says why probes told nothing.
func (o Observation) problem(probes ...Probe) string {
	for _, p := range probes {
		run, ok := o.Answers[p]
		if !ok {
			continue
		}
		if run.Problem != "" {
			return run.Problem + run.remedy()
		}
		for _, r := range run.Results {
			if r.Status == Unknown && r.Reason != "" {
				return r.Gate + ": " + r.Reason + run.remedy()
			}
		}
	}
	var last Run
	for _, p := range probes {
		if run, ok := o.Answers[p]; ok {
			last = run
		}
	}
	if names := o.differs(); len(names) > 0 {
		return "on the tree of before these go otherwise in a clean checkout than here: " + plan.Few(names, 4) +
			`; if they are flaky: flaky = true for their gate in pawl.toml` + last.remedy()
	}
	return "in a checkout of their own, the gates do not show what they show here" + last.remedy()
}

// differs are the tests, or gates without, that end otherwise on the tree of before in a clean
// checkout than they did where the task began.
func (o Observation) differs() []string {
	var names []string
	for _, before := range o.Baseline {
		there := o.answer(Control, before.Gate)
		known := len(names)
		for _, id := range slices.Sorted(maps.Keys(before.Tests)) {
			if s, ran := there.Tests[id]; ran && s != before.Tests[id] {
				names = append(names, id)
			}
		}
		if len(before.Tests) == 0 && before.Status == there.Status {
			names = append(names, kept(slices.Concat(there.Failing, before.Failing), func(name string) bool {
				return slices.Contains(there.Failing, name) != slices.Contains(before.Failing, name)
			})...)
		}
		if there.Status != "" && there.Status != before.Status && len(names) == known {
			names = append(names, before.Gate)
		}
	}
	return names
}

// remedy is what the user can do about a place that does not tell.
func (r Run) remedy() string {
	if r.Lacks != "" {
		return "; " + r.Lacks
	}
	return "; if it lacks what git ignores: [worktree] setup in pawl.toml (setup = [\"npm ci\"]) makes checkouts ready"
}

func (o Observation) failReason(broken []string) string {
	since := ""
	if len(o.OldTests) > 0 {
		since = "; changed since: " + plan.Few(o.OldTests, 4)
	}
	for _, r := range o.Now {
		if before := find(o.Baseline, r.Gate); before.silenced(r) {
			then := max(before.told(), before.Passed+before.Failed)
			return fmt.Sprintf("%s: it told of tests when the task began, and now it reports none (%d tests then, 0 now)", r.Gate, then) + since + besideReason(o.Came)
		}
		if slices.Contains(o.takenAway(), r.Gate) {
			return r.Gate + ": " + r.Reason + since
		}
		if r.Status == Fail {
			if r.TimedOut {
				return r.Gate + ": " + r.Reason + since
			}
			reason := r.Gate + ": fails, and did not when the task began"
			if slices.Equal(broken, []string{r.Gate}) {
				broken = r.Failing // the gate alone says nothing new
			}
			if len(broken) > 0 {
				reason += ": " + plan.Few(broken, 4)
			}
			if why := cmp.Or(r.FirstError, r.Reason); why != "" {
				reason += ": " + why
			}
			return reason
		}
	}
	return "passed when the task began and was not run now: " + plan.Few(broken, 4) + since
}

func (o Observation) unknownReason(unknown []string) string {
	for _, r := range o.Now {
		if r.Gate != unknown[0] {
			continue
		}
		if r.Status == Unknown {
			return fmt.Sprintf("%s could not tell: %s", r.Gate, r.Reason)
		}
	}
	return fmt.Sprintf("%s fails, and whether it did when the task began could not be found out", unknown[0])
}

// kept are those that pass.
func kept(names []string, pass func(string) bool) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !pass(name) })
}
