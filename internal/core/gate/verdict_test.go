package gate_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

// parseResult returns the result of the only gate of these cases, from a short notation. "fail A+ B- !pkg"
// is a failed run in which A passed, B failed and pkg is incomplete; "build" adds a build failure.
func parseResult(s string) gate.Result {
	words := strings.Fields(s)
	r := gate.Result{Gate: "test", Command: "test", Status: gate.Status(words[0])}
	if r.Status == gate.Unknown {
		r.Reason = "killed"
	}
	for _, w := range words[1:] {
		name := strings.ReplaceAll(strings.TrimRight(w, "+-"), "_", " ")
		switch {
		case w == "build":
			r.BuildFailed = true
			continue
		case strings.HasPrefix(w, "says:"):
			r.Tail = w
			continue
		case w == "empty" || w == "left" || w == "flaky":
			r.NoTestsFound, r.LeftFiles, r.Flaky = r.NoTestsFound || w == "empty", r.LeftFiles || w == "left", r.Flaky || w == "flaky"
			continue
		case strings.HasPrefix(w, "!"):
			r.IncompleteGroups = append(r.IncompleteGroups, w[1:])
			continue
		}
		if r.Tests == nil {
			r.Tests = map[string]gate.Status{}
		}
		r.Tests[name] = gate.Pass
		if strings.HasSuffix(w, "-") {
			r.Tests[name] = gate.Fail
			r.Failing = append(r.Failing, name)
		}
	}
	return r
}

func parseResults(s string) []gate.Result {
	if s == "" {
		return nil
	}
	return []gate.Result{parseResult(s)}
}

// expectedVerdict is what a case expects, the parts that matter.
type expectedVerdict struct {
	status   gate.Status
	evidence gate.Evidence
	names    []string // broken, flipped, proving or flaky, whichever there are
	reason   string   // words in it
	probes   string   // requested probes, in order
	changed  bool     // TestsChanged
	green    bool     // FullGreen
}

type verdictCase struct {
	name        string
	before, now string
	old, new    string // test files
	allow       bool
	inSource    bool
	lost        bool
	cases       bool // files that tests read are among the new
	same        bool // the tree did not change
	shown       bool // a clean checkout showed the loop's start
	answers     map[gate.Probe]string
	want        expectedVerdict
}

// decide asks Next for probes, answers them as the story says ("" = impossible), and returns the
// verdict with the requested probes.
func (s verdictCase) decide(t *testing.T) (gate.Verdict, string) {
	t.Helper()
	o := gate.Observation{
		Baseline: parseResults(s.before), Now: parseResults(s.now), Changed: !s.same,
		Inputs: gate.InputChanges{Changed: strings.Fields(s.old), Allowed: s.allow},
		Tests:  gate.TestChanges{New: strings.Fields(s.new), NewData: s.cases, InlineChanged: s.inSource, OldInlineChanged: s.lost},
		Runs:   map[gate.Probe]gate.Run{},
	}
	if s.shown {
		o.Clean.ReproducedAtStart = []string{"test"}
	}
	var asked []string
	for {
		p, gates := gate.NextProbe(o)
		if p == "" {
			return gate.Decide(o), strings.Join(asked, " ")
		}
		if _, again := o.Runs[p]; again || len(asked) > 10 {
			t.Fatalf("%s is asked for again", p)
		}
		if !cmp.Equal(gates, []string{"test"}) {
			t.Errorf("%s is to run gates %q", p, gates)
		}
		if p != gate.Canary && p != gate.OtherExpected { // these have separate tests
			asked = append(asked, string(p))
		}
		answer := gate.Run{Results: parseResults(s.answers[p])}
		if s.answers[p] == "" {
			answer.Problem = "no space left on device"
		}
		o.Runs[p] = answer
	}
}

func checkVerdicts(t *testing.T, stories []verdictCase) {
	t.Helper()
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			v, asked := s.decide(t)
			names := slices.Concat(v.Regressed, v.Flipped, v.Proving, v.Flaky)
			if !strings.Contains(v.Reason, s.want.reason) || v.Reason == "" || strings.Contains(v.Reason, "\n") {
				t.Errorf("reason %q, want %q in it", v.Reason, s.want.reason)
			}
			got := expectedVerdict{v.Status, v.Evidence, names, s.want.reason, asked, v.NeedsChangedInputs, v.FullGreen}
			if diff := cmp.Diff(s.want, got, cmp.AllowUnexported(expectedVerdict{})); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
		})
	}
}

func TestVerdictIsRelativeToBaseline(t *testing.T) {
	t.Parallel()
	const none = gate.EvidenceUnknown
	checkVerdicts(t, []verdictCase{
		{
			name: "what passed fails", before: "pass A+ B+", now: "fail A+ B-",
			want: expectedVerdict{status: gate.Fail, evidence: none, names: []string{"B"}, reason: "fails, but passed when the task started: B"},
		},
		{
			name: "a green gate without ids is red", before: "pass", now: "fail",
			want: expectedVerdict{status: gate.Fail, evidence: none, names: []string{"test"}, reason: "test"},
		},
		{
			name: "a new test fails in a green gate", before: "pass A+", now: "fail A+ N-",
			want: expectedVerdict{status: gate.Fail, evidence: none, names: []string{"test"}, reason: "fails, but passed when the task started: N"},
		},
		{
			name: "a test is gone", before: "pass A+ B+", now: "pass A+",
			want: expectedVerdict{status: gate.Fail, evidence: none, names: []string{"B"}, reason: "was not run now: B"},
		},
		{
			name: "a test is gone, which the task may do", before: "pass A+ B+", now: "pass A+", allow: true,
			want: expectedVerdict{status: gate.Pass, evidence: gate.Unproven, reason: "no test failed before", green: true},
		},
		{
			name: "a case of a test has another name", before: "pass p.A+ p.A/port:4711+ s+ s_>_c+", now: "pass p.A+ p.A/port:1234+ s+",
			want: expectedVerdict{status: gate.Pass, evidence: gate.Unproven, reason: "everything passes", green: true},
		},
		{
			name: "a package does not build", before: "pass p.A+ q.B+", now: "fail q.B+ !p build", allow: true,
			want: expectedVerdict{status: gate.Fail, evidence: none, names: []string{"p.A"}, reason: "p.A"},
		},
		{
			name: "red stays red", before: "fail A+ B-", now: "fail A+ B-",
			want: expectedVerdict{status: gate.Pass, evidence: gate.Unproven, reason: "nothing new fails; what failed before still fails: B"},
		},
		{
			name: "red without ids judges only the end", before: "fail", now: "fail",
			want: expectedVerdict{status: gate.Pass, evidence: gate.Unproven, reason: "nothing new fails"},
		},
		{
			name: "a new red test in a red suite", before: "fail A+ B-", now: "fail A+ B- N-",
			want: expectedVerdict{status: gate.Fail, evidence: none, names: []string{"test"}, reason: "fails, but passed when the task started: N"},
		},
		{
			name: "could not tell", before: "pass", now: "unknown",
			want: expectedVerdict{status: gate.Unknown, evidence: none, reason: "test gave no clear result: killed"},
		},
		{
			name: "red now, and nobody knows what was", before: "unknown", now: "fail",
			want: expectedVerdict{status: gate.Unknown, evidence: none, reason: "there is no result from before the task"},
		},
		{
			name: "green now, and nobody knows what was", before: "unknown A-", now: "pass A+",
			want: expectedVerdict{status: gate.Pass, evidence: gate.Unproven, reason: "everything passes", green: true},
		},
		{name: "no gate", want: expectedVerdict{status: gate.Pass, evidence: none, reason: "no gate", green: true}},
		{
			name: "no work", before: "pass A+", now: "pass A+", same: true,
			want: expectedVerdict{status: gate.Pass, evidence: none, reason: "nothing changed", green: true},
		},
		{
			name: "flaky by its own word", before: "pass A+", now: "pass A+ flaky",
			want: expectedVerdict{status: gate.Pass, evidence: gate.Unproven, reason: "everything passes", green: true},
		},
	})
}

func TestFlippedTestsProveWork(t *testing.T) {
	t.Parallel()
	const (
		repeats = "repeat-before repeat-clean"
		all     = "repeat-before repeat-clean control repeat-after"
	)
	checkVerdicts(t, []verdictCase{
		{
			name: "a test turned green", before: "fail A+ B-", now: "pass A+ B+",
			answers: map[gate.Probe]string{gate.RepeatBefore: "fail A+ B-", gate.RepeatClean: "pass A+ B+"},
			want:    expectedVerdict{status: gate.Pass, evidence: gate.Proven, names: []string{"B"}, reason: "passes now: B", probes: repeats, green: true},
		},
		{
			name: "one of two turned green", before: "fail A- B-", now: "fail A+ B-",
			answers: map[gate.Probe]string{gate.RepeatBefore: "fail A- B-", gate.RepeatClean: "fail A+ B-"},
			want:    expectedVerdict{status: gate.Pass, evidence: gate.Proven, names: []string{"A"}, reason: "passes now: A", probes: repeats},
		},
		{
			name: "a gate turned green", before: "fail", now: "pass",
			answers: map[gate.Probe]string{gate.RepeatBefore: "fail", gate.RepeatClean: "pass"},
			want:    expectedVerdict{status: gate.Pass, evidence: gate.Proven, names: []string{"test"}, reason: "passes now: test", probes: repeats, green: true},
		},
		{
			name: "green before when repeated", before: "fail A-", now: "pass A+",
			answers: map[gate.Probe]string{gate.RepeatBefore: "pass A+"},
			want:    expectedVerdict{status: gate.Pass, evidence: gate.EvidenceUnknown, names: []string{"A"}, reason: "flaky", probes: "repeat-before", green: true},
		},
		{
			name: "red after when repeated", before: "fail A-", now: "pass A+",
			answers: map[gate.Probe]string{gate.RepeatBefore: "fail A-", gate.RepeatClean: "fail A-", gate.Control: "fail A-", gate.RepeatAfter: "fail A-"},
			want:    expectedVerdict{status: gate.Pass, evidence: gate.EvidenceUnknown, names: []string{"A"}, reason: "flaky", probes: all, green: true},
		},
		{
			name: "a gate that does not repeat", before: "fail", now: "pass",
			answers: map[gate.Probe]string{gate.RepeatBefore: "unknown"},
			want:    expectedVerdict{status: gate.Pass, evidence: gate.EvidenceUnknown, reason: "gave no clear result there a second time: test", probes: "repeat-before", green: true},
		},
		{
			name: "a package that now builds", before: "fail q.A+ !p build", now: "pass q.A+ p.B+",
			answers: map[gate.Probe]string{gate.RepeatBefore: "fail q.A+ !p build", gate.RepeatClean: "pass q.A+ p.B+"},
			want:    expectedVerdict{status: gate.Pass, evidence: gate.Proven, names: []string{"p.B"}, reason: "p.B", probes: repeats, green: true},
		},
		{
			name: "a package that now builds, and a test of the agent's", before: "fail !p build", now: "pass p.B+ p.Mine+", new: "p/mine_test.go",
			answers: map[gate.Probe]string{gate.Originals: "pass p.B+", gate.RepeatBefore: "fail !p build", gate.RepeatOriginals: "pass p.B+"},
			want: expectedVerdict{
				status: gate.Pass, evidence: gate.Proven, names: []string{"p.B"}, reason: "p.B",
				probes: "originals repeat-before repeat-originals control", green: true,
			},
		},
		{
			name: "a lint in the same gate", before: "fail A+", now: "pass A+",
			answers: map[gate.Probe]string{gate.RepeatBefore: "fail A+", gate.RepeatClean: "pass A+"},
			want:    expectedVerdict{status: gate.Pass, evidence: gate.Proven, names: []string{"test"}, reason: "test", probes: repeats, green: true},
		},
		{
			name: "the red test was deleted", before: "fail A+ B-", now: "pass A+",
			want: expectedVerdict{status: gate.Pass, evidence: gate.Unproven, reason: "everything passes", green: true},
		},
		{
			name: "tests inside source files, without ids", before: "fail", now: "pass", inSource: true, lost: true,
			want: expectedVerdict{status: gate.Pass, evidence: gate.EvidenceUnknown, reason: "inside source files", green: true},
		},
		{
			name: "they move, as the user allows", before: "pass", now: "pass", inSource: true, allow: true,
			want: expectedVerdict{status: gate.Pass, evidence: gate.Unproven, reason: "everything passes", green: true},
		},
		{
			name: "tests inside source files, with ids", before: "fail A-", now: "pass A+", inSource: true,
			answers: map[gate.Probe]string{gate.RepeatBefore: "fail A-", gate.RepeatClean: "pass A+"},
			want:    expectedVerdict{status: gate.Pass, evidence: gate.Proven, names: []string{"A"}, reason: "A", probes: repeats, green: true},
		},
	})
}

// A clean checkout decides if it reproduces the baseline, and otherwise does not.
func TestRepeatInCleanCheckout(t *testing.T) {
	t.Parallel()
	const all = "repeat-before repeat-clean control repeat-after"
	repeats := func(before, clean, control, after string) map[gate.Probe]string {
		return map[gate.Probe]string{gate.RepeatBefore: before, gate.RepeatClean: clean, gate.Control: control, gate.RepeatAfter: after}
	}
	proven := func(probes string, names ...string) expectedVerdict {
		return expectedVerdict{status: gate.Pass, evidence: gate.Proven, names: names, reason: names[0], probes: probes, green: true}
	}
	unseen := expectedVerdict{status: gate.Pass, evidence: gate.EvidenceUnknown, reason: "passes in the work tree and fails in a clean checkout", probes: all, green: true}
	checkVerdicts(t, []verdictCase{
		{name: "a forged product", before: "fail says:FAIL", now: "pass", answers: repeats("fail says:again", "fail", "fail says:FAIL", "pass"), want: unseen},
		{name: "a forged product, nothing to build there", before: "fail says:cc", now: "pass", answers: repeats("fail says:FAIL", "fail", "fail says:FAIL", "pass"), want: unseen},
		{name: "a forged package", before: "fail A- B+", now: "pass A+ B+", answers: repeats("fail A- B+", "fail A- B+", "fail A- B+", "pass A+ B+"), want: unseen},
		{name: "one of two is forged", before: "fail A- B- C+", now: "pass A+ B+ C+", answers: repeats("fail A- B- C+", "fail A- B+ C+", "fail A- B- C+", "pass A+ B+ C+"), want: unseen},
		{
			name: "forged, beside a new test that fails without the work", before: "fail A- B+", now: "pass A+ B+ N+", new: "n_test.go",
			answers: repeats("fail A- B+", "fail A- B+ N-", "fail A- B+", "pass A+ B+ N+"), want: unseen,
		},
		{
			name: "dependencies are missing there", before: "fail says:wrong", now: "pass",
			answers: repeats("fail says:wrong", "fail", "fail says:no_such_module", "pass"), want: proven(all, "test"),
		},
		{
			name: "they are missing, and a test tells", before: "fail A- B+", now: "pass A+ B+",
			answers: repeats("fail A- B+", "fail A- B-", "fail A- B-", "pass A+ B+"), want: proven(all, "A"),
		},
		{
			name: "flaky where dependencies are missing", before: "fail says:wrong", now: "pass",
			answers: repeats("fail says:wrong", "fail", "fail says:no_such_module", "fail"),
			want:    expectedVerdict{status: gate.Pass, evidence: gate.EvidenceUnknown, names: []string{"test"}, reason: "flaky", probes: all, green: true},
		},
		{
			name: "it cannot run there", before: "fail A-", now: "pass A+",
			answers: repeats("fail A-", "unknown", "", "pass A+"), want: proven("repeat-before repeat-clean repeat-after", "A"),
		},
		{
			name: "there is no such place", before: "fail A-", now: "pass A+",
			answers: repeats("fail A-", "", "", "pass A+"), want: proven("repeat-before repeat-clean repeat-after", "A"),
		},
		{
			name: "it leaves something behind", before: "fail A-", now: "pass A+",
			answers: repeats("fail A-", "pass A+ left", "", "pass A+"), want: proven("repeat-before repeat-clean repeat-after", "A"),
		},
		{
			name: "by which it knows the next run", before: "fail A-", now: "pass A+",
			answers: repeats("fail A-", "pass A+ left", "", "fail A-"),
			want:    expectedVerdict{status: gate.Pass, evidence: gate.EvidenceUnknown, names: []string{"A"}, reason: "flaky", probes: "repeat-before repeat-clean repeat-after", green: true},
		},
	})
	v, _ := verdictCase{before: "fail A-", now: "pass A+", answers: repeats("fail A-", "", "", "pass A+")}.decide(t)
	if diff := cmp.Diff([]string{"could not be repeated in a clean checkout: test"}, v.Labels); diff != "" {
		t.Error(diff)
	}
	v, _ = verdictCase{before: "fail A- B+", now: "pass A+ B+", answers: repeats("fail A- B+", "fail A- B+", "fail A- B+", "pass A+ B+")}.decide(t)
	if diff := cmp.Diff([]string{"passes in the work tree and fails in a clean checkout: A"}, v.Labels); diff != "" {
		t.Error(diff)
	}
}

func TestAllowedFailuresAndLabelsOfVerdict(t *testing.T) {
	t.Parallel()
	o := gate.Observation{
		Gates:    []gate.Gate{{Name: "test", AllowBaseline: true}},
		Baseline: parseResults("fail A-"), Now: parseResults("fail A- flaky"), Changed: true,
	}
	v := gate.Decide(o)
	if !v.FullGreen {
		t.Error("a red that is allowed to stay is held against the end")
	}
	if diff := cmp.Diff([]string{"flaky: test"}, v.Labels); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"A"}, v.StillRed); diff != "" {
		t.Error(diff)
	}
	five := gate.Decide(gate.Observation{Baseline: parseResults("pass A+ B+ C+ D+ E+ F+"), Now: parseResults("fail A- B- C- D- E- F-"), Changed: true})
	if !strings.Contains(five.Reason, "A, B, C, D and 2 more") {
		t.Errorf("reason %q", five.Reason)
	}
	unbuilt := gate.Decide(gate.Observation{
		Baseline: parseResults("pass p.A+"), Now: parseResults("pass p.A+ p.N+"), Changed: true, Tests: gate.TestChanges{New: []string{"n_test.go"}},
		Runs: map[gate.Probe]gate.Run{gate.Control: {Results: parseResults("pass p.A+")}, gate.Overlay: {Results: parseResults("fail !p build")}},
	})
	if diff := cmp.Diff([]string{"overlay: build failure"}, unbuilt.Labels); diff != "" {
		t.Error(diff)
	}
}

// A gate that waits forever because a pipe replaced its script is reported with the script.
func TestTimeoutNamesChangedScript(t *testing.T) {
	t.Parallel()
	v := gate.Decide(gate.Observation{
		Changed: true, Inputs: gate.InputChanges{Changed: []string{"check.sh"}, NonTests: []string{"check.sh"}},
		Baseline: []gate.Result{{Gate: "check", Status: gate.Pass}},
		Now:      []gate.Result{{Gate: "check", Status: gate.Fail, TimedOut: true, Reason: "timed out after 10m0s"}},
	})
	if want := "check: timed out after 10m0s; changed since: check.sh"; v.Status != gate.Fail || v.Reason != want {
		t.Errorf("%s: %q, want %q", v.Status, v.Reason, want)
	}
}

// A gate whose script the agent removed has failed, whatever its result was before.
func TestGateThatNoLongerStartsHasFailed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		inputs []string
		want   gate.Status
	}{
		"its script is gone": {[]string{"check.sh"}, gate.Fail},
		"nobody knows why":   {nil, gate.Unknown},
	} {
		red := []gate.Result{{Gate: "check", Status: gate.Fail, ExitCode: 1}}
		now := []gate.Result{{Gate: "check", Status: gate.Unknown, ExitCode: 127, CannotStart: true, Reason: "not found"}}
		v := gate.Decide(gate.Observation{Changed: true, Inputs: gate.InputChanges{Changed: c.inputs, NonTests: c.inputs}, Baseline: red, Now: now})
		if v.Status != c.want || c.want == gate.Fail && v.Reason != "check: not found; changed since: check.sh" {
			t.Errorf("%s: %s: %s", name, v.Status, v.Reason)
		}
	}
}
