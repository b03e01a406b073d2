package testreport_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/testreport"
)

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

type tests = map[string]gate.Status

func TestParseWholeReports(t *testing.T) {
	t.Parallel()
	cases := []struct {
		file, format string
		want         testreport.Report
	}{
		{"mixed.go-json", testreport.GoJSON, testreport.Report{
			Tests:       tests{"ex/a.TestX": "fail", "ex/a.TestX/s": "fail", "ex/a.TestX/ok": "pass", "ex/d.TestD": "pass"},
			Failing:     []string{"ex/a.TestX", "ex/a.TestX/s", "ex/b [build failed]", "ex/c"},
			FirstError:  `b/b.go:1:34: cannot use "x" (untyped string constant) as int value in return statement`,
			BuildFailed: true,
			Incomplete:  []string{"ex/b", "ex/c"},
		}},
		{"nested.tap", testreport.TAP, testreport.Report{
			Tests: tests{
				"fail.js": "fail", "fail.js > adds": "pass", "fail.js > neg": "fail", "fail.js > deep": "pass",
				"fail.js > deep > below": "pass", "braces": "pass", "braces > inside": "pass",
			},
			Failing:    []string{"fail.js", "fail.js > neg", "planned 3 tests, ran 4"},
			FirstError: "not ok neg: should be equal",
			Incomplete: []string{""},
		}},
		{"surefire.xml", testreport.JUnit, testreport.Report{
			Tests: tests{
				"com.ex.Sum.adds": "pass", "com.ex.Sum.neg": "fail", "com.ex.Sum.crash": "fail",
				"outer.bare": "pass", "com.ex.Twice.same": "fail", "com.ex.Retry.flaky": "pass",
			},
			Failing:    []string{"com.ex.Sum.crash", "com.ex.Sum.neg", "com.ex.Twice.same", "setup"},
			FirstError: "com.ex.Sum.neg: expected -3 to be 3",
			Incomplete: []string{"setup"},
		}},
	}
	for _, c := range cases {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			got, err := testreport.Parse(c.format, strings.NewReader(read(t, c.file)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("report (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseIrregularReports(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, format, in string
		want             testreport.Report
	}{
		{"nothing", testreport.GoJSON, "", testreport.Report{}},
		{
			"a test that died", testreport.GoJSON,
			`{"Action":"run","Package":"p","Test":"T"}` + "\n" + `{"Action":"output","Package":"p","Test":"T","Output":"fatal error: all goroutines are asleep\n"}`,
			testreport.Report{Tests: tests{"p.T": "fail"}, Failing: []string{"p.T"}, Incomplete: []string{"p"}, FirstError: "fatal error: all goroutines are asleep"},
		},
		{
			"a package that exited under its test", testreport.GoJSON,
			`{"Action":"start","Package":"p"}` + "\n" + `{"Action":"output","Package":"p","Output":"x\n"}` + "\n" +
				`{"Action":"run","Package":"p","Test":"T"}` + "\n" + `{"Action":"pass","Package":"p"}`,
			testreport.Report{Tests: tests{"p.T": "fail"}, Failing: []string{"p.T"}, Incomplete: []string{"p"}},
		},
		{
			"cut before the package ended", testreport.GoJSON,
			`{"Action":"output","Package":"p","Output":"x\n"}` + "\n" + `{"Action":"run","Package":"p","Test":"T"}`,
			testreport.Report{Tests: tests{"p.T": "fail"}, Failing: []string{"p.T"}, Incomplete: []string{"p"}},
		},
		{
			"a test that prints of panics and passes", testreport.GoJSON,
			`{"Action":"run","Package":"p","Test":"T"}` + "\n" + `{"Action":"output","Package":"p","Test":"T","Output":"panic: caught\n"}` + "\n" +
				`{"Action":"pass","Package":"p","Test":"T"}` + "\n" + `{"Action":"pass","Package":"p"}`,
			testreport.Report{Tests: tests{"p.T": "pass"}},
		},
		{
			"bail out", testreport.TAP, "ok 1 - a\nBail out! no database\n",
			testreport.Report{Tests: tests{"a": "pass"}, Failing: []string{"Bail out! no database"}, Incomplete: []string{""}, FirstError: "Bail out! no database"},
		},
		{
			"fewer than planned", testreport.TAP, "1..2\nok 1 - a\n",
			testreport.Report{Tests: tests{"a": "pass"}, Failing: []string{"planned 2 tests, ran 1"}, Incomplete: []string{""}, FirstError: "planned 2 tests, ran 1"},
		},
		{
			"bats without dashes", testreport.TAP, "1..3\nok 1 adds\nnot ok 2 neg\n# (in test file fail.bats, line 2)\nok 3 later # skip later\n",
			testreport.Report{Tests: tests{"adds": "pass", "neg": "fail"}, Failing: []string{"neg"}, FirstError: "not ok neg"},
		},
		{
			"no descriptions, and the same twice", testreport.TAP, "ok\nok 2\nok 3 - x\nnot ok 4 - x\nok 5 - a \\# b\n",
			testreport.Report{Tests: tests{"1": "pass", "2": "pass", "x": "pass", "x #2": "fail", `a \# b`: "pass"}, Failing: []string{"x #2"}, FirstError: "not ok x #2"},
		},
		{
			"colour and an unclosed block", testreport.TAP, "\x1b[31mnot ok\x1b[0m 1 - a\n  ---\n  at: x\nok 2 - b\n",
			testreport.Report{Tests: tests{"a": "fail", "b": "pass"}, Failing: []string{"a"}, FirstError: "not ok a"},
		},
		{
			"two documents", testreport.JUnit, `<testsuite name="a"><testcase name="x"/></testsuite>` + "\n" + `<?xml version="1.0"?><testsuite name="b"><testcase name="y"/></testsuite>`,
			testreport.Report{Tests: tests{"a.x": "pass", "b.y": "pass"}},
		},
		{
			"latin 1", testreport.JUnit, "<?xml version=\"1.0\" encoding=\"windows-1252\"?><testsuite><testcase name=\"na\xefve\"/></testsuite>",
			testreport.Report{Tests: tests{"naïve": "pass"}},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := testreport.Parse(c.format, strings.NewReader(c.in))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("report (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseErrorsNameThePlace(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, format, in, want string }{
		{"unknown format", "subunit", "", `unknown format "subunit"`},
		{"no xml at all", testreport.JUnit, strings.Repeat("no report here\n", 1000), "no testsuite in it"},
		{"xml that breaks off", testreport.JUnit, `<testsuite><testcase name="a"/>`, "unexpected EOF"},
		{"xml that does not nest", testreport.JUnit, `<testsuite><a></b></testsuite>`, "closes nothing"},
		{"xml of a broken tag", testreport.JUnit, `<testsuite><testcase name="a"/><`, "XML syntax error"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := testreport.Parse(c.format, strings.NewReader(c.in))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error = %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestLongNoiseBeforeXML(t *testing.T) {
	t.Parallel()
	for n := 4070; n < 4110; n++ {
		in := strings.Repeat("x", n) + `<testsuite name="s"><testcase name="a"/></testsuite>`
		got, err := testreport.Parse(testreport.JUnit, strings.NewReader(in))
		if err != nil || got.Tests["s.a"] != gate.Pass {
			t.Fatalf("after %d bytes of noise: %v, %v", n, got, err)
		}
	}
}

func TestStreamWritesReadableText(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	s, err := testreport.NewStream(testreport.GoJSON, &text)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []byte(read(t, "mixed.go-json")) { // in the smallest pieces
		if _, err := s.Write([]byte{b}); err != nil {
			t.Fatal(err)
		}
	}
	s.Report()
	want := `go: downloading nothing, really
# ex/b [ex/b.test]
b/b.go:1:34: cannot use "x" (untyped string constant) as int value in return statement
FAIL	ex/b [build failed]
    a_test.go:4: got -3 want 3
--- FAIL: TestX/s (0.00s)
--- FAIL: TestX (0.00s)
FAIL	ex/a	0.006s
panic: main

goroutine 1 [running]:
FAIL	ex/c	0.005s
ok  	ex/d	(cached)
?   	ex/none	[no test files]
{"Action":"star
`
	if diff := cmp.Diff(want, text.String()); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

func TestStreamCutsEndlessLine(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	s, err := testreport.NewStream(testreport.TAP, &text)
	if err != nil {
		t.Fatal(err)
	}
	chunk := []byte(strings.Repeat("x", 1<<16))
	for range 64 {
		if _, err := s.Write(chunk); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Write([]byte("\nnot ok 1 - after\n")); err != nil {
		t.Fatal(err)
	}
	if got := s.Report().Failing; !cmp.Equal(got, []string{"after"}) {
		t.Errorf("failing = %v", got)
	}
	if text.Len() > 2<<20 {
		t.Errorf("passed on %d bytes of one line", text.Len())
	}
}

func TestEndlessReportIsLimited(t *testing.T) {
	t.Parallel()
	flood := strings.Repeat("ok\n", 400_000) + "1..400001\n"
	got, err := testreport.Parse(testreport.TAP, strings.NewReader(flood))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(got.Tests); n != 250_000 {
		t.Errorf("%d tests are kept", n)
	}
	if !cmp.Equal(got.Failing, []string{"planned 400001 tests, ran 400000"}) {
		t.Errorf("failing %q", got.Failing)
	}
}

func TestReadIgnoresOtherErrors(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, in string
		names    []string
		first    string
	}{
		{"green", "ok  \tex\t0.1s\nFAILED: nothing\n", nil, ""},
		{"prose", "we saw --- FAIL: TestX yesterday\n2 failed\n", nil, ""},
		{
			"a failing test", "\x1b[1m--- FAIL: TestX (0.00s)\x1b[0m\n    --- FAIL: TestX/s (0.00s)\n        a_test.go:4: got -3\nFAIL\nFAIL\tex\t0.1s\n",
			[]string{"TestX", "TestX/s"},
			"a_test.go:4: got -3",
		},
		{"a build", "# ex/b\nb/b.go:1:34: no such thing\nFAIL\tex/b [build failed]\r\n", []string{"ex/b [build failed]"}, "b/b.go:1:34: no such thing"},
		{"a panic", "--- FAIL: TestP (0.00s)\npanic: nil map [recovered]\n", []string{"TestP"}, "panic: nil map [recovered]"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := testreport.Read(testreport.Run{Command: "go test ./...", ExitCode: 1, Output: []byte(c.in)})
			if !cmp.Equal(got.Failing, c.names) || got.FirstError != c.first {
				t.Errorf("got %q, %q; want %q, %q", got.Failing, got.FirstError, c.names, c.first)
			}
		})
	}
}

func TestPlainRemovesControlCharacters(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"\x1b[31mred\x1b[0m":                     "red",
		"\x1b]8;;http://x\x07link\x1b]8;;\x1b\\": "link",
		"10 %\r50 %\rdone\r\nnext":               "done\nnext",
		"bell\a and \xff":                        "bell and �",
	} {
		if got := testreport.Plain(in); got != want {
			t.Errorf("Plain(%q) = %q, want %q", in, got, want)
		}
	}
}
