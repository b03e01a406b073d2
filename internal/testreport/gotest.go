package testreport

import (
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

// goEvent is one line of `go test -json`; see `go doc test2json` and, for the
// build events, `go help buildjson`.
type goEvent struct {
	Action      string
	Package     string
	Test        string
	Output      string
	FailedBuild string
}

// goReader rebuilds from the events what `go test` prints without -json: output
// of failed tests and packages, and one line for each package that passed.
type goReader struct {
	text io.Writer
	rep  Report
	open map[string]*goTest // by package and test; a package itself has test ""
	err  error
}

type goTest struct {
	id     string
	output []byte
	// Of a package:
	failed   bool // some test of it failed
	panicked bool // a line of its output looks so
}

// keepOutput bounds what is held of the output of one running test, in bytes.
const keepOutput = 64 << 10

func newGoReader(text io.Writer) *goReader {
	return &goReader{text: text, open: map[string]*goTest{}}
}

func (g *goReader) line(line string) error {
	var e goEvent
	if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &e) != nil || e.Action == "" {
		g.print(line + "\n")
		return g.err
	}
	switch e.Action {
	case "run":
		g.test(e)
	case "output":
		g.output(e)
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

func (g *goReader) test(e goEvent) *goTest {
	t := g.open[goKey(e)]
	if t == nil {
		id := e.Package
		if e.Test != "" {
			id += "." + e.Test
		}
		t = &goTest{id: id}
		g.open[goKey(e)] = t
	}
	return t
}

func (g *goReader) output(e goEvent) {
	if strings.HasPrefix(e.Output, "=== ") {
		return
	}
	t := g.test(e)
	if len(t.output) > 2*keepOutput {
		t.output = append(t.output[:0], t.output[len(t.output)-keepOutput:]...)
	}
	t.output = append(t.output, e.Output...)
	if goPanic.MatchString(e.Output) {
		g.test(goEvent{Package: e.Package}).panicked = true
	}
}

func (g *goReader) endTest(e goEvent) {
	t := g.test(e)
	delete(g.open, goKey(e))
	switch e.Action {
	case "pass":
		g.rep.add(t.id, gate.Pass)
	case "fail":
		g.fail(t)
		g.test(goEvent{Package: e.Package}).failed = true
	}
}

func (g *goReader) fail(t *goTest) {
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
	p := g.test(e)
	delete(g.open, goKey(e))
	g.endUnfinished(e.Package, p)
	if e.Action != "fail" {
		g.print(lastLine(p.output))
		return
	}
	g.print(string(p.output))
	g.rep.firstError(firstGoError(p.output))
	if p.panicked { // that ends the whole package: what did not run was not deleted
		g.rep.cutShort(e.Package)
	}
	switch {
	case e.FailedBuild != "":
		g.rep.BuildFailed = true
		g.failPackage(e.Package, " [build failed]")
	case !p.failed:
		g.failPackage(e.Package, "")
	}
}

// failPackage notes a package that failed other than by one of its tests.
func (g *goReader) failPackage(pkg, why string) {
	g.rep.Failing = append(g.rep.Failing, pkg+why)
	g.rep.cutShort(pkg)
}

// endUnfinished fails the tests of pkg that began and never ended: the process
// died under them.
func (g *goReader) endUnfinished(pkg string, p *goTest) {
	for _, key := range slices.Sorted(maps.Keys(g.open)) {
		name, ok := strings.CutPrefix(key, pkg+"\x00")
		if !ok || name == "" {
			continue
		}
		g.fail(g.open[key])
		delete(g.open, key)
		p.failed = true
		g.rep.cutShort(pkg)
	}
}

func (g *goReader) report() Report {
	for _, key := range slices.Sorted(maps.Keys(g.open)) {
		pkg, test, _ := strings.Cut(key, "\x00")
		if p := g.open[key]; p != nil && test == "" {
			delete(g.open, key)
			g.endUnfinished(pkg, p)
			g.print(string(p.output))
			g.rep.cutShort(pkg)
		}
	}
	// What is left are tests of packages that never said a word themselves.
	for _, key := range slices.Sorted(maps.Keys(g.open)) {
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
