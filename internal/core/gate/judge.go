package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Observation is everything that was seen of one claim.
type Observation struct {
	Gates    []Gate   `json:"gates,omitempty"` // those that ran, for their settings
	Baseline []Result `json:"baseline"`        // on the tree the task starts from
	Now      []Result `json:"now"`             // on the tree that will be kept
	Changed  bool     `json:"changed"`         // the tree differs from the task's start, Pawl's own marks aside
	// OldTests are gate inputs that are not as they were: test files that were changed
	// or deleted, and whatever else is neither work nor a new test.
	OldTests []string `json:"old_tests,omitempty"`
	// Inputs are those of them that are no tests.
	Inputs []string `json:"inputs,omitempty"`
	// NewTests are test files that were added or changed: what can be laid over
	// the tree of before.
	NewTests []string `json:"new_tests,omitempty"`
	// NewCases: files that tests read are among them, and old tests may read them too.
	NewCases bool `json:"new_cases,omitempty"`
	// InSource: source files that hold tests were changed, so that a test's text
	// may have changed with them.
	InSource bool `json:"in_source,omitempty"`
	// Lost: one of these lost a test that it held.
	Lost bool `json:"lost,omitempty"`
	// Breakable: the work added functions that can be broken, see Broken.
	Breakable bool `json:"breakable,omitempty"`
	// Signs are those in the work that can be neutralized, each in words that follow
	// "because of", see Neutral.
	Signs []string `json:"signs,omitempty"`
	// Canary: tests that must fail can be laid beside those of the tree, see Canary.
	Canary bool `json:"canary,omitempty"`
	// Linked: the work is in a language whose packages may be installed as links to
	// the work tree, so that a run in another place may judge the code of this one.
	Linked           bool          `json:"linked,omitempty"`
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
	// originals; kept, but at most unverified until granted.
	TestsChanged bool `json:"tests_changed,omitempty"`
	// Unchecked: old tests were changed, and what the originals say is not known:
	// no review makes up for that.
	Unchecked bool     `json:"unchecked,omitempty"`
	FullGreen bool     `json:"full_green"`       // every gate passed, or was allowed to stay red
	Labels    []string `json:"labels,omitempty"` // what a report should name
	Reason    string   `json:"reason"`           // one line, for the agent and the person
}

// Judge concludes from what was seen. A probe that Next asks for and that has
// no answer yet counts as not found out: it can only weaken the evidence.
func Judge(o Observation) Verdict {
	now := o.against(o.Now)
	v := Verdict{Status: o.status(now), Evidence: NoEvidence, StillRed: now.red, Broken: o.broken(now)}
	v.FullGreen = o.fullGreen(v)
	for _, r := range o.Now {
		if r.Flaky {
			v.Labels = append(v.Labels, "flaky: "+r.Gate)
		}
		if r.Warning != "" {
			v.Labels = append(v.Labels, r.Gate+": "+r.Warning)
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
		o.weigh(&v)
		o.weighBroken(&v)
		o.weighSigns(&v)
		o.weighCanary(&v)
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
		return now.broken
	}
	return slices.Concat(now.broken, now.missing)
}

func (o Observation) fullGreen(v Verdict) bool {
	if v.Status != Pass {
		return false
	}
	for _, r := range o.Now {
		allowed := slices.ContainsFunc(o.Gates, func(g Gate) bool { return g.Name == r.Gate && g.AllowBaseline })
		if r.Status != Pass && !allowed {
			return false
		}
	}
	return true
}

// weigh finds the evidence of a tree that stands.
func (o Observation) weigh(v *Verdict) {
	tests := kept(o.OldTests, func(file string) bool { return !slices.Contains(o.Inputs, file) })
	if len(tests) > 0 {
		v.Labels = append(v.Labels, "tests changed: "+list(tests))
	}
	if len(o.Inputs) > 0 {
		v.Labels = append(v.Labels, "gate inputs changed: "+list(o.Inputs))
	}
	if o.onlyChanged() {
		v.TestsChanged = true
		v.Reason = o.OnlyChangedReason(o.OldTests)
		return
	}
	if o.originalsUnknown() && !o.AllowTestChanges {
		v.Reason = o.inputsNoun() + " were changed, and the gates could not be run with the originals: " + o.problem(Originals, OriginalsControl)
		v.Labels, v.Unchecked = append(v.Labels, "originals: not checked"), true
		return
	}
	f := o.flips()
	alone := o.alone(f.confirmed)
	ownWork := func(name string) bool { return !slices.Contains(alone, name) }
	v.Flipped, v.TurnedGreen = kept(f.confirmed, ownWork), kept(f.turned, ownWork)
	if len(f.unfit) > 0 {
		v.Labels = append(v.Labels, "could not be repeated in a clean checkout: "+list(f.unfit))
	}
	for _, name := range f.candidates {
		if !slices.Contains(f.confirmed, name) && !slices.Contains(f.unseen, name) {
			v.Flaky = append(v.Flaky, name)
			v.Labels = append(v.Labels, "flaky: "+name)
		}
	}
	if len(f.unseen) > 0 {
		v.Flipped, v.TurnedGreen = nil, nil
		v.Labels = append(v.Labels, "green here, red in a clean checkout: "+list(f.unseen))
		v.Reason = "green here, red in a clean checkout: something that git does not see makes the difference: " + list(f.unseen)
		return
	}
	if len(v.Flipped) > 0 {
		v.Evidence = Proven
		v.Reason = "red before this work and green now: " + list(v.Flipped)
		if len(o.NewTests) > 0 {
			v.Proving = kept(o.overlay().failed, func(name string) bool { return !slices.Contains(v.Flipped, name) })
		}
		return
	}
	if len(alone) > 0 {
		v.Labels = append(v.Labels, "turned green by new tests: "+list(alone))
		v.Evidence = Unproven
		v.Reason = "what turned green does so by the new tests, not by the work: " + list(alone) + " (" + list(slices.Concat(o.NewTests, o.gone())) + ")"
		return
	}
	o.weighOverlay(v)
}

// OnlyChangedReason says which changed gate inputs make the difference.
func (o Observation) OnlyChangedReason(needed []string) string {
	return "the gates pass only with the changed " + o.inputsNoun() + ", not with the originals: " + list(needed)
}

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

func (o Observation) weighOverlay(v *Verdict) {
	var l laid
	if o.canBeLaid() {
		l = o.overlay()
	}
	switch {
	case len(l.failed) > 0:
		v.Evidence, v.Proving = Proven, l.failed
		v.Reason = "red without this work and green with it: " + list(l.failed)
		if l.unbuilt {
			v.Labels = append(v.Labels, "overlay: build failure")
		}
	case len(v.Flaky) > 0:
		v.Reason = "what turned green is flaky, so it tells nothing: " + list(v.Flaky)
	case len(o.noticed()) > 0:
		v.Evidence, v.Proving = Proven, o.noticed()
		v.Reason = "green with this work, and red when its functions are broken: " + list(v.Proving)
	case l.unknown:
		v.Reason = "whether the new tests fail without this work could not be found out: " + o.problem(Control, Overlay)
		v.Labels = append(v.Labels, "overlay: unknown")
	case o.InSource:
		v.Reason = "tests inside source files were changed: what they prove could not be found out"
		v.Labels = append(v.Labels, "tests in source files")
	case o.elsewhere():
		v.Reason = "whether the new tests fail without this work could not be found out: without its sources the gates pass there too, " +
			"so they run code from elsewhere (an editable install that leads to the work tree?); " +
			"a virtual environment in the project's folder leads to the code that is judged"
		v.Labels = append(v.Labels, "overlay: runs code from elsewhere")
	case len(o.NewTests) > 0:
		v.Evidence = Unproven
		v.Reason = "nothing turned red, but the new tests pass without this work too: " + list(o.NewTests)
	case len(v.StillRed) > 0:
		v.Evidence = Unproven
		v.Reason = "nothing turned red; what did not pass before still fails: " + list(v.StillRed)
	default:
		v.Evidence = Unproven
		v.Reason = "everything passes, but nothing failed before this work that passes now"
	}
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
	return "in a checkout of their own, the gates do not show what they show here" + last.remedy()
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
		since = "; changed since: " + list(o.OldTests)
	}
	for _, r := range o.Now {
		if before := find(o.Baseline, r.Gate); before.silenced(r) {
			then := max(before.told(), before.Passed+before.Failed)
			return fmt.Sprintf("%s: it told of tests when the task began, and now it reports none (%d tests then, 0 now)", r.Gate, then) + since
		}
		if r.Status == Fail {
			if r.TimedOut {
				return r.Gate + ": " + r.Reason
			}
			reason := r.Gate + ": fails, and did not when the task began"
			if !slices.Equal(broken, []string{r.Gate}) {
				reason += ": " + list(broken)
			}
			if why := cmp.Or(r.FirstError, r.Reason); why != "" {
				reason += ": " + why
			}
			return reason
		}
	}
	return "passed when the task began and was not run now: " + list(broken) + since
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

// list names a few things, and how many more there are.
func list(names []string) string {
	const few = 4
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}
