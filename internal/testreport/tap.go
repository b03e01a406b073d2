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

// tapReader reads the Test Anything Protocol, versions 12 to 14. A test is
// known by its description, not its number, which shifts when a test is added
// before it. Children of a subtest stand indented before their parent, or
// after it between braces.
type tapReader struct {
	text   io.Writer
	rep    Report
	levels []tapLevel
	kept   int // points in all levels, of which there are at most maxTests
	yaml   int // indentation of the diagnostic block being skipped, -1 outside
	failed bool
}

// tapLevel is one depth of nesting.
type tapLevel struct {
	parent string // known only between braces
	points []tapTest
	seen   map[string]int
	ran    int
	plan   int // -1 until one is read
}

type tapTest struct {
	id     string
	status gate.Status // "" = skipped or to do
}

func newTAPReader(text io.Writer) *tapReader { return &tapReader{text: text, yaml: -1} }

func (t *tapReader) line(line string) error {
	_, err := io.WriteString(t.text, line+"\n")
	line = strings.TrimRight(Plain(line), " \t")
	body := strings.TrimLeft(line, " ")
	indent := len(line) - len(body)
	if t.inYAML(indent, body) {
		return err
	}
	depth := indent / 4
	if indent%4 != 0 || depth > 32 || !tapLine(body) {
		return err
	}
	if m := tapPoint.FindStringSubmatch(body); m != nil {
		t.point(depth, m[1] == "", m[2], m[3])
	} else if m := tapPlan.FindStringSubmatch(body); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			t.level(depth).plan = n
		}
	} else if m := tapBail.FindStringSubmatch(body); m != nil {
		t.broken(strings.TrimSpace("Bail out! " + m[1]))
	} else if body == "}" {
		t.fold(depth, t.level(depth+1).parent)
	}
	return err
}

// tapLine is the quick answer for the most of all lines.
func tapLine(body string) bool {
	return body != "" && strings.IndexByte("on1B}", body[0]) >= 0
}

// inYAML passes over the diagnostics of a test point, which may hold anything.
func (t *tapReader) inYAML(indent int, body string) bool {
	if t.yaml < 0 {
		if body == "---" && indent > 0 {
			t.yaml = indent
		}
		return t.yaml >= 0
	}
	if m := tapMessage.FindStringSubmatch(body); m != nil && t.failed {
		if message := strings.Trim(m[1], `'"`); message != "" {
			t.rep.FirstError = oneLine(t.rep.FirstError + ": " + message)
		}
		t.failed = false
	}
	if indent < t.yaml && body != "" { // never closed: this line is not of the block
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

func (t *tapReader) point(depth int, ok bool, number, rest string) {
	rest, braces := strings.CutSuffix(rest, "{")
	name, directive := tapSplit(rest)
	level := t.level(depth)
	level.ran++
	if t.kept++; t.kept > maxTests {
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
	t.failed = false
	switch {
	case tapDirective.MatchString(directive):
		status = ""
	case !ok:
		status = gate.Fail
		t.failed = t.rep.FirstError == ""
		t.rep.firstError("not ok " + name)
	}
	t.fold(depth, name)
	t.level(depth).points = append(t.level(depth).points, tapTest{name, status})
	if braces {
		t.level(depth + 1).parent = name
	}
}

// tapSplit parts a description from what follows an unescaped #, a directive or
// a comment such as the time it took.
func tapSplit(s string) (name, directive string) {
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

// fold takes the tests of the level below as children of name.
func (t *tapReader) fold(depth int, name string) {
	if len(t.levels) <= depth+1 {
		return
	}
	t.fold(depth+1, "")
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
		t.broken(fmt.Sprintf("planned %d tests, ran %d", l.plan, l.ran))
	}
}

// broken notes a failure of the run as a whole.
func (t *tapReader) broken(why string) {
	t.rep.Failing = append(t.rep.Failing, why)
	t.rep.cutShort("")
	t.rep.firstError(why)
}

func (t *tapReader) report() Report {
	root := t.level(0)
	t.fold(0, "")
	t.checkPlan(*root)
	for _, p := range t.levels[0].points {
		if p.status != "" {
			t.rep.add(p.id, p.status)
		}
	}
	return t.rep
}
