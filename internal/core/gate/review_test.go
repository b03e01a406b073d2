package gate_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

const validOpinion = `{"verdict":"pass","findings":[],"evidence":[{"what":"the limit is checked","where":"app.go:12"}]}`

func TestOpinionsAreParsed(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		text string
		err  string // "" = it is one
	}{
		"alone":                  {validOpinion, ""},
		"in a fence":             {"```json\n" + validOpinion + "\n```", ""},
		"in a fence at the end":  {"I read all of it.\n\n```\n" + validOpinion + "\n```\n", ""},
		"a fence in a string":    {`{"verdict":"unsure","findings":[{"file":"","line":0,"what":"is ` + "```" + ` meant?","severity":"minor"}],"evidence":[]}`, ""},
		"prose":                  {"It is fine: pass.", "not JSON"},
		"JSON within prose":      {"My answer is " + validOpinion + ", I think.", "not JSON"},
		"prose behind":           {validOpinion + "\nThat is all.", "nothing else"},
		"two of them":            {validOpinion + validOpinion, "nothing else"},
		"two fences":             {"```\n" + validOpinion + "\n```\nor\n```\n" + validOpinion + "\n```", "not JSON"},
		"another verdict":        {`{"verdict":"PASS","findings":[],"evidence":[]}`, "verdict"},
		"no verdict":             {`{"findings":[],"evidence":[]}`, "verdict"},
		"another field":          {`{"verdict":"pass","findings":[],"evidence":[],"note":"x"}`, "unknown field"},
		"another type":           {`{"verdict":"pass","findings":"none","evidence":[]}`, "not the JSON"},
		"nothing":                {"", "not JSON"},
		"endless":                {strings.Repeat(" ", 300<<10), "too long"},
		"the word of the worker": {"<promise>DONE</promise>", "not JSON"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, err := gate.ParseOpinion(c.text)
			switch {
			case c.err == "" && (err != nil || o.Verdict == ""):
				t.Errorf("%+v, %v", o, err)
			case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
				t.Errorf("%+v, %v, want an error that says %q", o, err, c.err)
			}
		})
	}
}

func TestOpinionApprovesChangedTests(t *testing.T) {
	t.Parallel()
	yes := func(file string) gate.ChangedTest {
		return gate.ChangedTest{File: file, Needed: true, Why: "the signature changed"}
	}
	no, mute := yes("a_test.go"), yes("a_test.go")
	no.Needed, mute.Why = false, " "
	cases := map[string]struct {
		tests []gate.ChangedTest
		want  []string
	}{
		"one of two":          {[]gate.ChangedTest{yes("a_test.go")}, []string{"a_test.go"}},
		"both":                {[]gate.ChangedTest{yes("./a_test.go"), yes("sub/b_test.go")}, []string{"a_test.go", "sub/b_test.go"}},
		"none":                {nil, nil},
		"not needed":          {[]gate.ChangedTest{no}, nil},
		"without a why":       {[]gate.ChangedTest{mute}, nil},
		"yes and no":          {[]gate.ChangedTest{yes("a_test.go"), no}, nil},
		"one nobody asked of": {[]gate.ChangedTest{yes("c_test.go"), yes("b_test.go")}, nil},
	}
	for name, c := range cases {
		if diff := cmp.Diff(c.want, gate.Opinion{Tests: c.tests}.Approvals([]string{"a_test.go", "sub/b_test.go"})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestReviewOpinionIsChecked(t *testing.T) {
	t.Parallel()
	there := func(where string) bool { return where == "app.go:12" || where == "4f2a" }
	wrong := gate.Finding{File: "app.go", Line: 3, What: "the answer is written out", Severity: "blocker"}
	slight := gate.Finding{File: "app.go", What: "a long line", Severity: "minor"}
	at := func(places ...string) (out []gate.Citation) {
		for _, p := range places {
			out = append(out, gate.Citation{What: "w", Where: p})
		}
		return out
	}
	cases := map[string]struct {
		o      gate.Opinion
		status gate.Status
		reason string
	}{
		"passes with evidence":        {gate.Opinion{Verdict: "pass", Evidence: at("app.go:12", "4f2a")}, gate.Pass, "it points at app.go:12, 4f2a"},
		"passes with a remark":        {gate.Opinion{Verdict: "pass", Findings: []gate.Finding{slight}, Evidence: at("4f2a")}, gate.Pass, "it points at 4f2a"},
		"passes without evidence":     {gate.Opinion{Verdict: "pass"}, gate.Unknown, "it passes the work but names no evidence"},
		"makes up one place":          {gate.Opinion{Verdict: "pass", Evidence: at("app.go:12", "app.go:99")}, gate.Unknown, `it points at "app.go:99", which does not exist`},
		"passes what it calls wrong":  {gate.Opinion{Verdict: "pass", Findings: []gate.Finding{slight, wrong}, Evidence: at("4f2a")}, gate.Unknown, "it passes the work but calls this a blocker: app.go:3: the answer is written out"},
		"fails, the worst first":      {gate.Opinion{Verdict: "fail", Findings: []gate.Finding{slight, wrong}}, gate.Fail, "app.go:3: the answer is written out"},
		"fails for something slight":  {gate.Opinion{Verdict: "fail", Findings: []gate.Finding{slight}}, gate.Fail, "app.go: a long line"},
		"fails and says nothing":      {gate.Opinion{Verdict: "fail"}, gate.Unknown, "it fails the work but names no fault"},
		"is not sure":                 {gate.Opinion{Verdict: "unsure", Evidence: at("4f2a")}, gate.Unknown, "the reviewer is not sure"},
		"is not sure, and says why":   {gate.Opinion{Verdict: "unsure", Findings: []gate.Finding{{What: "no database here"}}}, gate.Unknown, "the reviewer is not sure: no database here"},
		"is no verdict at all (zero)": {gate.Opinion{}, gate.Unknown, "the reviewer is not sure"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if status, reason := c.o.Assess(there); status != c.status || reason != c.reason {
				t.Errorf("%s: %q, want %s: %q", status, reason, c.status, c.reason)
			}
		})
	}
}

func TestPlacesAreParsed(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		file string
		to   int
	}{
		"a/b.go:12": {"a/b.go", 12}, "b.go:3-9": {"b.go", 9}, "c:/x.go:1": {"c:/x.go", 1}, "answer:2": {"answer", 2},
		"b.go": {}, "b.go:0": {}, "b.go:9-3": {}, ":3": {}, "b.go:99999999999": {}, "b.go:+3": {}, "b.go:1-": {}, "b.go:-1": {}, "b.go:x": {}, "": {},
	}
	for where, want := range cases {
		file, to, ok := gate.ParsePlace(where)
		if ok != (want.to > 0) || ok && (file != want.file || to != want.to) {
			t.Errorf("%q: %q to %d, %v", where, file, to, ok)
		}
	}
}

// A review has a separate level of evidence: it never proves what a test proves.
func TestReviewIsNeverProven(t *testing.T) {
	t.Parallel()
	for e, want := range map[gate.Evidence]gate.Evidence{
		gate.EvidenceUnknown: gate.Reviewed, gate.Unproven: gate.Reviewed, gate.Reviewed: gate.Reviewed, gate.Proven: gate.Proven,
	} {
		if got := gate.AfterReview(e); got != want {
			t.Errorf("%s becomes %s, want %s", e, got, want)
		}
	}
	if gate.Reviewed.Satisfies(gate.Proven) || !gate.Reviewed.Satisfies(gate.Unproven) {
		t.Error("the levels are mixed up")
	}
}

// The schema for agents describes what ParseOpinion reads.
func TestReviewSchemaMatchesOpinion(t *testing.T) {
	t.Parallel()
	var schema struct {
		Properties map[string]struct {
			Items struct{ Properties map[string]any }
		}
	}
	if err := json.Unmarshal([]byte(gate.OpinionSchema), &schema); err != nil {
		t.Fatal(err)
	}
	names := func(v any) map[string]bool {
		out := map[string]bool{}
		for f := range reflect.TypeOf(v).Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			out[name] = true
		}
		return out
	}
	got := map[string]map[string]bool{"": {}, "findings": {}, "evidence": {}, "tests": {}}
	for name, p := range schema.Properties {
		got[""][name] = true
		for item := range p.Items.Properties {
			got[name][item] = true
		}
	}
	want := map[string]map[string]bool{"": names(gate.Opinion{}), "findings": names(gate.Finding{}), "evidence": names(gate.Citation{}), "tests": names(gate.ChangedTest{})}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Whatever is read as an opinion is bounded, says one of three things, and passes
// nothing where no evidence exists.
func FuzzParseOpinion(f *testing.F) {
	f.Add(validOpinion)
	f.Add("```json\n" + validOpinion + "\n```")
	f.Add(`{"verdict":"fail","findings":[{"file":"a","line":1,"what":"w","severity":"blocker"}],"evidence":null}`)
	f.Fuzz(func(t *testing.T, text string) {
		o, err := gate.ParseOpinion(text)
		if err != nil {
			return
		}
		if len(o.Findings) > 20 || len(o.Evidence) > 20 {
			t.Errorf("%d findings, %d pieces of evidence", len(o.Findings), len(o.Evidence))
		}
		if s, why := o.Assess(func(string) bool { return false }); s == gate.Pass || why == "" {
			t.Errorf("%s: %q without any evidence", s, why)
		}
	})
}
