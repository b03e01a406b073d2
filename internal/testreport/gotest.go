package testreport

import (
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

// goEvent is one line of `go test -json`. See `go doc test2json`, and `go help buildjson` for the
// build events.
type goEvent struct {
	Action      string
	Package     string
	Test        string
	Output      string
	FailedBuild string
}

// goReader converts the events back to what `go test` prints without -json: the output of failed
// tests and packages, and one line for each package that passed.
type goReader struct {
	text    io.Writer
	rep     Report
	running map[string]*goTest // by package and test; the key of a package has an empty test
	err     error
}

type goTest struct {
	id     string
	output []byte
	// Only for packages:
	failed   bool // one of its tests failed
	panicked bool // a line of its output begins like a panic
}

// maxTestOutput limits the output that is kept of one running test, in bytes.
const maxTestOutput = 64 << 10

func (g *goReader) line(line string) error {
	var e goEvent
	if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &e) != nil || e.Action == "" {
		g.print(line + "\n")
		return g.err
	}
	switch e.Action {
	case "run":
		g.testOf(e)
	case "output":
		g.addOutput(e)
	case "build-output":
		g.print(e.Output)
		if isGoError(e.Output) {
			g.rep.firstError(e.Output)
		}
	case "build-fail":
		g.rep.BuildFailed = true
	case "pass", "fail", "skip":
		if e.Test != "" {
			g.endTest(e)
		} else {
			g.endPackage(e)
		}
	}
	return g.err
}

func (g *goReader) print(s string) {
	if g.err == nil {
		_, g.err = io.WriteString(g.text, s)
	}
}

func goKey(e goEvent) string { return e.Package + "\x00" + e.Test }

func (g *goReader) testOf(e goEvent) *goTest {
	t := g.running[goKey(e)]
	if t == nil {
		id := e.Package
		if e.Test != "" {
			id += "." + e.Test
		}
		t = &goTest{id: id}
		g.running[goKey(e)] = t
	}
	return t
}

func (g *goReader) addOutput(e goEvent) {
	if strings.HasPrefix(e.Output, "=== ") {
		return
	}
	t := g.testOf(e)
	if len(t.output) > 2*maxTestOutput {
		t.output = append(t.output[:0], t.output[len(t.output)-maxTestOutput:]...)
	}
	t.output = append(t.output, e.Output...)
	if goPanic.MatchString(e.Output) {
		g.testOf(goEvent{Package: e.Package}).panicked = true
	}
}

func (g *goReader) endTest(e goEvent) {
	t := g.testOf(e)
	delete(g.running, goKey(e))
	switch e.Action {
	case "pass":
		g.rep.add(t.id, gate.Pass)
	case "fail":
		g.addFailure(t)
		g.testOf(goEvent{Package: e.Package}).failed = true
	}
}

func (g *goReader) addFailure(t *goTest) {
	g.rep.add(t.id, gate.Fail)
	g.print(string(t.output))
	g.rep.firstError(firstGoError(t.output))
}

func firstGoError(output []byte) string {
	for line := range strings.Lines(string(output)) {
		if isGoError(Plain(strings.TrimRight(line, "\n"))) {
			return line
		}
	}
	return ""
}

func (g *goReader) endPackage(e goEvent) {
	p := g.testOf(e)
	delete(g.running, goKey(e))
	g.endUnfinished(e.Package, p)
	if e.Action != "fail" {
		g.print(lastLine(p.output))
		return
	}
	g.print(string(p.output))
	g.rep.firstError(firstGoError(p.output))
	if p.panicked { // A panic ends the whole package: tests without a result were not deleted.
		g.rep.addIncomplete(e.Package)
	}
	switch {
	case e.FailedBuild != "":
		g.rep.BuildFailed = true
		g.failPackage(e.Package, " [build failed]")
	case !p.failed:
		g.failPackage(e.Package, "")
	}
}

// failPackage records a package that failed without a failed test.
func (g *goReader) failPackage(pkg, why string) {
	g.rep.Failing = append(g.rep.Failing, pkg+why)
	g.rep.addIncomplete(pkg)
}

// endUnfinished fails the tests of pkg that started but did not end, because the process died.
func (g *goReader) endUnfinished(pkg string, p *goTest) {
	for _, key := range slices.Sorted(maps.Keys(g.running)) {
		name, ok := strings.CutPrefix(key, pkg+"\x00")
		if !ok || name == "" {
			continue
		}
		g.addFailure(g.running[key])
		delete(g.running, key)
		p.failed = true
		g.rep.addIncomplete(pkg)
	}
}

func (g *goReader) report() Report {
	for _, key := range slices.Sorted(maps.Keys(g.running)) {
		pkg, test, _ := strings.Cut(key, "\x00")
		if p := g.running[key]; p != nil && test == "" {
			delete(g.running, key)
			g.endUnfinished(pkg, p)
			g.print(string(p.output))
			g.rep.addIncomplete(pkg)
		}
	}
	// The remaining tests belong to packages without an event of the package itself.
	for _, key := range slices.Sorted(maps.Keys(g.running)) {
		pkg, _, _ := strings.Cut(key, "\x00")
		g.endUnfinished(pkg, &goTest{})
	}
	return g.rep
}

func lastLine(b []byte) string {
	s := strings.TrimRight(string(b), "\n")
	if s == "" {
		return ""
	}
	return s[strings.LastIndexByte(s, '\n')+1:] + "\n"
}
