package gate_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

// run is the result of the one gate of these cases, from a notation a person
// can read: "fail A+ B- !pkg" is a red run in which A passed, B failed and not
// every test of pkg was heard; "build" adds a build failure.
func run(s string) gate.Result {
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
		case w == "flaky":
			r.Flaky = true
			continue
		case strings.HasPrefix(w, "!"):
			r.Incomplete = append(r.Incomplete, w[1:])
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

func one(s string) []gate.Result {
	if s == "" {
		return nil
	}
	return []gate.Result{run(s)}
}

// judged is what a case expects, the parts that matter.
type judged struct {
	status   gate.Status
	evidence gate.Evidence
	names    []string // broken, flipped, proving or flaky, whichever there are
	reason   string   // words in it
	probes   string   // those asked for, in order
	changed  bool     // TestsChanged
	green    bool     // FullGreen
}

type story struct {
	name        string
	before, now string
	old, new    string // test files
	allow       bool
	inSource    bool
	same        bool // the tree did not change
	answers     map[gate.Probe]string
	want        judged
}

// tell asks Next for probes, answers them as the story says ("" = not possible)
// and returns the verdict with the probes asked for.
func (s story) tell(t *testing.T) (gate.Verdict, string) {
	t.Helper()
	o := gate.Observation{
		Baseline: one(s.before), Now: one(s.now), Changed: !s.same,
		OldTests: strings.Fields(s.old), NewTests: strings.Fields(s.new),
		AllowTestChanges: s.allow, InSource: s.inSource,
		Answers: map[gate.Probe]gate.Run{},
	}
	var asked []string
	for {
		p, gates := gate.Next(o)
		if p == "" {
			return gate.Judge(o), strings.Join(asked, " ")
		}
		if _, again := o.Answers[p]; again || len(asked) > 10 {
			t.Fatalf("%s is asked for again", p)
		}
		if !cmp.Equal(gates, []string{"test"}) {
			t.Errorf("%s is to run gates %q", p, gates)
		}
		asked = append(asked, string(p))
		answer := gate.Run{Results: one(s.answers[p])}
		if s.answers[p] == "" {
			answer.Problem = "no space left on device"
		}
		o.Answers[p] = answer
	}
}

func check(t *testing.T, stories []story) {
	t.Helper()
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			v, asked := s.tell(t)
			var names []string
			for _, n := range [][]string{v.Broken, v.Flipped, v.Proving, v.Flaky} {
				names = append(names, n...)
			}
			if !strings.Contains(v.Reason, s.want.reason) || v.Reason == "" || strings.Contains(v.Reason, "\n") {
				t.Errorf("reason %q, want %q in it", v.Reason, s.want.reason)
			}
			got := judged{v.Status, v.Evidence, names, s.want.reason, asked, v.TestsChanged, v.FullGreen}
			if diff := cmp.Diff(s.want, got, cmp.AllowUnexported(judged{})); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRelativeToTheBaseline(t *testing.T) {
	t.Parallel()
	const none = gate.NoEvidence
	check(t, []story{
		{
			name: "what passed fails", before: "pass A+ B+", now: "fail A+ B-",
			want: judged{status: gate.Fail, evidence: none, names: []string{"B"}, reason: "passed when the task began, not now: B"},
		},
		{
			name: "a green gate without ids is red", before: "pass", now: "fail",
			want: judged{status: gate.Fail, evidence: none, names: []string{"test"}, reason: "test"},
		},
		{
			name: "a new test fails in a green gate", before: "pass A+", now: "fail A+ N-",
			want: judged{status: gate.Fail, evidence: none, names: []string{"test"}, reason: "test"},
		},
		{
			name: "a test is gone", before: "pass A+ B+", now: "pass A+",
			want: judged{status: gate.Fail, evidence: none, names: []string{"B"}, reason: "was not run now: B"},
		},
		{
			name: "a test is gone, which the task may do", before: "pass A+ B+", now: "pass A+", allow: true,
			want: judged{status: gate.Pass, evidence: gate.Consistent, reason: "nothing failed before", green: true},
		},
		{
			name: "a case of a test has another name", before: "pass p.A+ p.A/port:4711+ s+ s_>_c+", now: "pass p.A+ p.A/port:1234+ s+",
			want: judged{status: gate.Pass, evidence: gate.Consistent, reason: "everything passes", green: true},
		},
		{
			name: "a package does not build", before: "pass p.A+ q.B+", now: "fail q.B+ !p build", allow: true,
			want: judged{status: gate.Fail, evidence: none, names: []string{"p.A"}, reason: "p.A"},
		},
		{
			name: "red stays red", before: "fail A+ B-", now: "fail A+ B-",
			want: judged{status: gate.Pass, evidence: gate.Consistent, reason: "nothing turned red; what did not pass before still fails: B"},
		},
		{
			name: "red without ids judges only the end", before: "fail", now: "fail",
			want: judged{status: gate.Pass, evidence: gate.Consistent, reason: "nothing turned red"},
		},
		{
			name: "a new red test in a red suite", before: "fail A+ B-", now: "fail A+ B- N-",
			want: judged{status: gate.Pass, evidence: gate.Consistent, reason: "nothing turned red"},
		},
		{
			name: "could not tell", before: "pass", now: "unknown",
			want: judged{status: gate.Unknown, evidence: none, reason: "test could not tell: killed"},
		},
		{
			name: "red now, and nobody knows what was", before: "unknown", now: "fail",
			want: judged{status: gate.Unknown, evidence: none, reason: "could not be found out"},
		},
		{
			name: "green now, and nobody knows what was", before: "unknown A-", now: "pass A+",
			want: judged{status: gate.Pass, evidence: gate.Consistent, reason: "everything passes", green: true},
		},
		{name: "no gate", want: judged{status: gate.Pass, evidence: none, reason: "no gate", green: true}},
		{
			name: "no work", before: "pass A+", now: "pass A+", same: true,
			want: judged{status: gate.Pass, evidence: none, reason: "nothing was changed", green: true},
		},
		{
			name: "flaky by its own word", before: "pass A+", now: "pass A+ flaky",
			want: judged{status: gate.Pass, evidence: gate.Consistent, reason: "everything passes", green: true},
		},
	})
}

func TestFlips(t *testing.T) {
	t.Parallel()
	const repeats = "repeat-before repeat-after"
	check(t, []story{
		{
			name: "a test turned green", before: "fail A+ B-", now: "pass A+ B+",
			answers: map[gate.Probe]string{gate.RepeatBefore: "fail A+ B-", gate.RepeatAfter: "pass A+ B+"},
			want:    judged{status: gate.Pass, evidence: gate.Discriminating, names: []string{"B"}, reason: "green now: B", probes: repeats, green: true},
		},
		{
			name: "one of two turned green", before: "fail A- B-", now: "fail A+ B-",
			answers: map[gate.Probe]string{gate.RepeatBefore: "fail A- B-", gate.RepeatAfter: "fail A+ B-"},
			want:    judged{status: gate.Pass, evidence: gate.Discriminating, names: []string{"A"}, reason: "green now: A", probes: repeats},
		},
		{
			name: "a gate turned green", before: "fail", now: "pass",
			answers: map[gate.Probe]string{gate.RepeatBefore: "fail", gate.RepeatAfter: "pass"},
			want:    judged{status: gate.Pass, evidence: gate.Discriminating, names: []string{"test"}, reason: "green now: test", probes: repeats, green: true},
		},
		{
			name: "green before when repeated", before: "fail A-", now: "pass A+",
			answers: map[gate.Probe]string{gate.RepeatBefore: "pass A+", gate.RepeatAfter: "pass A+"},
			want:    judged{status: gate.Pass, evidence: gate.NoEvidence, names: []string{"A"}, reason: "flaky", probes: repeats, green: true},
		},
		{
			name: "red after when repeated", before: "fail A-", now: "pass A+",
			answers: map[gate.Probe]string{gate.RepeatBefore: "fail A-", gate.RepeatAfter: "fail A-"},
			want:    judged{status: gate.Pass, evidence: gate.NoEvidence, names: []string{"A"}, reason: "flaky", probes: repeats, green: true},
		},
		{
			name: "a gate that does not repeat", before: "fail", now: "pass",
			answers: map[gate.Probe]string{gate.RepeatBefore: "unknown", gate.RepeatAfter: "pass"},
			want:    judged{status: gate.Pass, evidence: gate.NoEvidence, names: []string{"test"}, reason: "flaky", probes: repeats, green: true},
		},
		{
			name: "a package that now builds", before: "fail q.A+ !p build", now: "pass q.A+ p.B+",
			answers: map[gate.Probe]string{gate.RepeatBefore: "fail q.A+ !p build", gate.RepeatAfter: "pass q.A+ p.B+"},
			want:    judged{status: gate.Pass, evidence: gate.Discriminating, names: []string{"p.B"}, reason: "p.B", probes: repeats, green: true},
		},
		{
			name: "a package that now builds, and a test of the agent's", before: "fail !p build", now: "pass p.B+ p.Mine+", new: "p/mine_test.go",
			answers: map[gate.Probe]string{gate.Originals: "pass p.B+", gate.RepeatBefore: "fail !p build", gate.RepeatOriginals: "pass p.B+"},
			want: judged{
				status: gate.Pass, evidence: gate.Discriminating, names: []string{"p.B"}, reason: "p.B",
				probes: "originals repeat-before repeat-originals control", green: true,
			},
		},
		{
			name: "a lint in the same gate", before: "fail A+", now: "pass A+",
			answers: map[gate.Probe]string{gate.RepeatBefore: "fail A+", gate.RepeatAfter: "pass A+"},
			want:    judged{status: gate.Pass, evidence: gate.Discriminating, names: []string{"test"}, reason: "test", probes: repeats, green: true},
		},
		{
			name: "the red test was deleted", before: "fail A+ B-", now: "pass A+",
			want: judged{status: gate.Pass, evidence: gate.Consistent, reason: "everything passes", green: true},
		},
		{
			name: "tests inside source files, without ids", before: "fail", now: "pass", inSource: true,
			want: judged{status: gate.Pass, evidence: gate.NoEvidence, reason: "inside source files", green: true},
		},
		{
			name: "tests inside source files, with ids", before: "fail A-", now: "pass A+", inSource: true,
			answers: map[gate.Probe]string{gate.RepeatBefore: "fail A-", gate.RepeatAfter: "pass A+"},
			want:    judged{status: gate.Pass, evidence: gate.Discriminating, names: []string{"A"}, reason: "A", probes: repeats, green: true},
		},
	})
}

func TestSettingsAndLabels(t *testing.T) {
	t.Parallel()
	o := gate.Observation{
		Gates:    []gate.Gate{{Name: "test", AllowBaseline: true}},
		Baseline: one("fail A-"), Now: one("fail A- flaky"), Changed: true,
	}
	v := gate.Judge(o)
	if !v.FullGreen {
		t.Error("a red that is allowed to stay is held against the end")
	}
	if diff := cmp.Diff([]string{"flaky: test"}, v.Labels); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"A"}, v.StillRed); diff != "" {
		t.Error(diff)
	}
	five := gate.Judge(gate.Observation{Baseline: one("pass A+ B+ C+ D+ E+ F+"), Now: one("fail A- B- C- D- E- F-"), Changed: true})
	if !strings.Contains(five.Reason, "A, B, C, D and 2 more") {
		t.Errorf("reason %q", five.Reason)
	}
	unbuilt := gate.Judge(gate.Observation{
		Baseline: one("pass p.A+"), Now: one("pass p.A+ p.N+"), Changed: true, NewTests: []string{"n_test.go"},
		Answers: map[gate.Probe]gate.Run{gate.Control: {Results: one("pass p.A+")}, gate.Overlay: {Results: one("fail !p build")}},
	})
	if diff := cmp.Diff([]string{"overlay: build failure"}, unbuilt.Labels); diff != "" {
		t.Error(diff)
	}
}
