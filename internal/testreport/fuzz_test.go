package testreport_test

import (
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/testreport"
)

// checkReport checks properties that every report has, whatever its input.
func checkReport(t *testing.T, r testreport.Report) {
	t.Helper()
	if !slices.IsSorted(r.Failing) || !slices.IsSorted(r.Incomplete) {
		t.Errorf("not sorted: %q %q", r.Failing, r.Incomplete)
	}
	for id, s := range r.Tests {
		if s != gate.Pass && s != gate.Fail {
			t.Errorf("%q is %q", id, s)
		}
		if _, named := slices.BinarySearch(r.Failing, id); s == gate.Fail && !named {
			t.Errorf("%q failed and is not named", id)
		}
	}
	if strings.ContainsAny(r.FirstError, "\n\x1b") || len(r.FirstError) > 1000 {
		t.Errorf("first error is not a line: %q", r.FirstError)
	}
}

// fuzzStream checks that the size of the pieces does not change a report, and neither does noise
// around it.
func fuzzStream(f *testing.F, format string) {
	f.Fuzz(func(t *testing.T, in string) {
		whole, err := testreport.Parse(format, strings.NewReader(in))
		if err != nil {
			t.Fatal(err)
		}
		checkReport(t, whole)
		pieces, err := testreport.Parse(format, iotest.OneByteReader(strings.NewReader(in)))
		if err != nil || !cmp.Equal(whole, pieces) {
			t.Errorf("in pieces: %v\n%s", err, cmp.Diff(whole, pieces))
		}
		noisy, err := testreport.Parse(format, strings.NewReader("> npm test\n"+in+"\n:: done\n"))
		if err != nil || !cmp.Equal(whole, noisy) {
			t.Errorf("with noise: %v\n%s", err, cmp.Diff(whole, noisy))
		}
	})
}

func FuzzGoJSON(f *testing.F) {
	f.Add(`{"Action":"run","Package":"p","Test":"T"}` + "\n" + `{"Action":"fail","Package":"p"}`)
	f.Add(`{"Action":"output","Package":"p","Output":"panic: x\n"}`)
	f.Add(`{"Action":"fail","Package":"p","FailedBuild":"p"}`)
	fuzzStream(f, testreport.GoJSON)
}

func FuzzTAP(f *testing.F) {
	f.Add("1..2\nok 1 - a\nnot ok 2 - b # TODO\n")
	f.Add("    ok 1 - a\nok 1 - b {\n    not ok 1\n}\n")
	f.Add("not ok 1\n  ---\n  message: 'x'\n  ...\nBail out! y")
	fuzzStream(f, testreport.TAP)
}

func FuzzJUnit(f *testing.F) {
	f.Add(`<testsuites><testsuite name="a"><testcase name="b"><failure message="c">d</failure></testcase></testsuite></testsuites>`)
	f.Add(`<?xml version="1.0" encoding="latin1"?><testsuite><error/><testcase><skipped/></testcase></testsuite> & <`)
	f.Fuzz(func(t *testing.T, in string) {
		whole, err := testreport.Parse(testreport.JUnit, strings.NewReader(in))
		checkReport(t, whole)
		again, errAgain := testreport.Parse(testreport.JUnit, iotest.HalfReader(strings.NewReader(in)))
		if !cmp.Equal(whole, again) || (err == nil) != (errAgain == nil) {
			t.Errorf("in pieces: %v, %v\n%s", err, errAgain, cmp.Diff(whole, again))
		}
	})
}

// FuzzAddGoTestJSON checks that the added flag can be removed again, and that it is added once.
func FuzzAddGoTestJSON(f *testing.F) {
	f.Add("go vet ./... && go test ./...")
	f.Add("CGO_ENABLED=0 go 'test' -run 'x y'; true")
	f.Fuzz(func(t *testing.T, in string) {
		out, changed := testreport.AddGoTestJSON(in)
		if strings.ReplaceAll(out, " -json", "") != strings.ReplaceAll(in, " -json", "") {
			t.Errorf("%q became %q", in, out)
		}
		if changed && testreport.Detect(out) != testreport.GoJSON {
			t.Errorf("%q prints no report", out)
		}
		if again, more := testreport.AddGoTestJSON(out); changed && (more || again != out) {
			t.Errorf("%q became %q", out, again)
		}
	})
}
