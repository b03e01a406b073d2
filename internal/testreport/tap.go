package testreport

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/regex"
)

var (
	tapPoint     = regex.New(`^(not )?ok\b(?:\s+(\d+))?(?:\s+-(?:\s|$))?\s*(.*)$`)
	tapPlan      = regex.New(`^1\.\.(\d+)(?:\s*#.*)?$`)
	tapBail      = regex.New(`^Bail out!\s*(.*)$`)
	tapDirective = regex.New(`(?i)^\s*(?:todo|skip)`)
	tapMessage   = regex.New(`^\s*message:\s*(\S.*)$`)
)

// tapReader reads the Test Anything Protocol, versions 12 to 14. The id of a test is its
// description: its number changes when a test is added before it. The children of a subtest are
// indented before their parent, or follow it between braces.
type tapReader struct {
	text         io.Writer
	rep          Report
	levels       []tapLevel
	points       int // points in all levels; those after maxTests are dropped
	yaml         int // indentation of the diagnostic block being skipped, or -1
	wantsMessage bool
}

// tapLevel holds the test points of one nesting level.
type tapLevel struct {
	parent string // only known between braces
	points []tapTest
	seen   map[string]int
	ran    int
	plan   int // -1 if there is no plan
}

type tapTest struct {
	id     string
	status gate.Status // "" if skipped or to do
}

func (t *tapReader) line(line string) error {
	_, err := io.WriteString(t.text, line+"\n")
	line = strings.TrimRight(Plain(line), " \t")
	body := strings.TrimLeft(line, " ")
	indent := len(line) - len(body)
	if t.inYAML(indent, body) {
		return err
	}
	depth := indent / 4
	if indent%4 != 0 || depth > 32 || !mayBeTAP(body) {
		return err
	}
	if m := tapPoint.FindStringSubmatch(body); m != nil {
		t.addPoint(depth, m[1] == "", m[2], m[3])
	} else if m := tapPlan.FindStringSubmatch(body); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			t.level(depth).plan = n
		}
	} else if m := tapBail.FindStringSubmatch(body); m != nil {
		t.failRun(strings.TrimSpace("Bail out! " + m[1]))
	} else if body == "}" {
		t.endSubtest(depth, t.level(depth+1).parent)
	}
	return err
}

// mayBeTAP reports whether a line can be TAP by its first byte. It avoids matching most lines.
func mayBeTAP(body string) bool {
	return body != "" && strings.IndexByte("on1B}", body[0]) >= 0
}

// inYAML reports whether a line belongs to the diagnostics of a test point, which may contain
// anything.
func (t *tapReader) inYAML(indent int, body string) bool {
	if t.yaml < 0 {
		if body == "---" && indent > 0 {
			t.yaml = indent
		}
		return t.yaml >= 0
	}
	if m := tapMessage.FindStringSubmatch(body); m != nil && t.wantsMessage {
		if message := strings.Trim(m[1], `'"`); message != "" {
			t.rep.FirstError = oneLine(t.rep.FirstError + ": " + message)
		}
		t.wantsMessage = false
	}
	if indent < t.yaml && body != "" { // The block has no end: this line does not belong to it.
		t.yaml = -1
		return false
	}
	if body == "..." {
		t.yaml = -1
	}
	return true
}

func (t *tapReader) level(depth int) *tapLevel {
	for len(t.levels) <= depth {
		t.levels = append(t.levels, tapLevel{plan: -1, seen: map[string]int{}})
	}
	return &t.levels[depth]
}

func (t *tapReader) addPoint(depth int, ok bool, number, rest string) {
	rest, braces := strings.CutSuffix(rest, "{")
	name, directive := splitDirective(rest)
	level := t.level(depth)
	level.ran++
	if t.points++; t.points > maxTests {
		return
	}
	if name == "" {
		if number == "" {
			number = strconv.Itoa(level.ran)
		}
		name = number
	}
	level.seen[name]++
	if n := level.seen[name]; n > 1 {
		name = fmt.Sprintf("%s #%d", name, n)
	}
	status := gate.Pass
	t.wantsMessage = false
	switch {
	case tapDirective.MatchString(directive):
		status = ""
	case !ok:
		status = gate.Fail
		t.wantsMessage = t.rep.FirstError == ""
		t.rep.firstError("not ok " + name)
	}
	t.endSubtest(depth, name)
	t.level(depth).points = append(t.level(depth).points, tapTest{name, status})
	if braces {
		t.level(depth + 1).parent = name
	}
}

// splitDirective splits a test point at its first unescaped #. What follows it is a directive, or a
// comment such as the duration.
func splitDirective(s string) (name, directive string) {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == '#' && (i == 0 || s[i-1] == ' '):
			return strings.TrimSpace(s[:i]), s[i+1:]
		}
	}
	return strings.TrimSpace(s), ""
}

// endSubtest makes the tests of the level below children of name.
func (t *tapReader) endSubtest(depth int, name string) {
	if len(t.levels) <= depth+1 {
		return
	}
	t.endSubtest(depth+1, "")
	child := t.levels[depth+1]
	t.levels = t.levels[:depth+1]
	for _, p := range child.points {
		if name != "" {
			p.id = name + " > " + p.id
		}
		t.levels[depth].points = append(t.levels[depth].points, p)
	}
	t.checkPlan(child)
}

func (t *tapReader) checkPlan(l tapLevel) {
	if l.plan >= 0 && l.plan != l.ran {
		t.failRun(fmt.Sprintf("planned %d tests, ran %d", l.plan, l.ran))
	}
}

// failRun records a failure of the whole run.
func (t *tapReader) failRun(why string) {
	t.rep.Failing = append(t.rep.Failing, why)
	t.rep.addIncomplete("")
	t.rep.firstError(why)
}

func (t *tapReader) report() Report {
	root := t.level(0)
	t.endSubtest(0, "")
	t.checkPlan(*root)
	for _, p := range t.levels[0].points {
		if p.status != "" {
			t.rep.add(p.id, p.status)
		}
	}
	return t.rep
}
