package testreport

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/testreport/dialect"
	"github.com/pawl-dev/pawl/internal/testreport/testrun"
)

// Bounds of the text that is read line by line: its head and, as summaries come
// last, more of its tail.
const (
	maxTextHead = 256 << 10
	maxTextTail = 1 << 20
	maxTextLine = 2000
)

// plain is output without terminal control, in lines.
type plain struct {
	raw   []byte
	lines []string
}

// column is a move of the cursor within its line, which a pretty printer uses as
// it would a carriage return.
var column = regex.New("\x1b\\[[0-9]*G")

func plainText(output []byte) plain {
	p := plain{raw: output}
	if bytes.IndexByte(output, 0x1b) >= 0 {
		p.raw = ansi.ReplaceAll(output, nil)
	}
	text := output
	if len(text) > maxTextHead+maxTextTail {
		text = slices.Concat(text[:maxTextHead], []byte("\n"), text[len(text)-maxTextTail:])
	}
	for l := range strings.Lines(Plain(column.ReplaceAllString(string(text), "\r"))) {
		l = strings.TrimRight(l, "\n")
		if len(l) > maxTextLine {
			l = strings.ToValidUTF8(l[:maxTextLine], "")
		}
		p.lines = append(p.lines, l)
	}
	return p
}

func (p plain) has(re *regex.Regex) bool { return slices.ContainsFunc(p.lines, re.MatchString) }

// notRun are lines of shells and package managers that could not start what they
// were asked for.
var notRun = regex.New(`^(?:(?:/\S*/)?(?:ba|da|z)?sh: (?:line \d+: |\d+: )?\S+: (?:command )?not found` +
	`|zsh: command not found: \S+|\S+: \d+: \S+: not found|env: .\S+.: No such file or directory` +
	`|npm (?:ERR!|error) (?:Missing script: .*|could not determine executable to run|code E(?:404|NOENT|JSONPARSE))` +
	`|error Command ".*" not found\.| ERR_PNPM_(?:NO_SCRIPT|RECURSIVE_EXEC_FIRST_FAIL|NO_IMPORTER_MANIFEST_FOUND).*|error: Script not found ".*"` +
	`|make(?:\[\d+\])?: \*\*\* No rule to make target .*|make(?:\[\d+\])?: .*: No such file or directory` +
	`|\S*python[\d.]*: (?:No module named \S+|can't open file .*)|timeout: failed to run command .*|error: Failed to spawn: .*` +
	`|bundler: command not found: .*|Could not open input file: .*|node:internal/modules/cjs/loader:\d+ .*)$`)

// wrapperFailed are lines in which a package manager or make says that the
// script it ran ended with an error.
var wrapperFailed = regex.New(`^(?:npm (?:ERR!|error) Test failed\.  See above for more details\.` +
	`|npm (?:ERR!|error) Lifecycle script .* failed with error:|error Command failed with exit code \d+\.` +
	`|.?ELIFECYCLE.? +(?:Test failed\. See above for more details\.|Command failed with exit code \d+\.)` +
	`|error: script ".*" exited with code \d+` +
	`|make(?:\[\d+\])?: \*\*\* \[.*\] Error \d+)$`)

// listen returns the test results of one call in a run, and the runner's name.
// It reads a machine-readable report if there is one, otherwise the text.
func listen(c testrun.Call, run Run, text plain) (dialect.Said, string) {
	if rep, framework, ok := machine(c, text); ok {
		if c.Runner != "" {
			framework = c.Runner
		}
		spoken, _ := dialect.Read(framework, text.lines) // what no report tells: coverage, no tests
		rep.Gate, rep.Stopped = spoken.Gate, spoken.Stopped
		return rep, framework
	}
	said, framework := spoken(c, text)
	if len(said.Failing) == 0 {
		if rep, ok := filed(c, run.Files); ok && (len(rep.Failing) > 0 || !said.Summed) {
			rep.Gate, rep.Broken, rep.Stopped = said.Gate, said.Broken, said.Stopped
			return rep, framework
		}
	}
	return said, framework
}

func spoken(c testrun.Call, text plain) (dialect.Said, string) {
	if said, ok := dialect.Read(c.Runner, text.lines); ok && (said.Marks > 0 || !c.Through) {
		return said, c.Runner
	}
	framework, said := dialect.Recognize(text.lines)
	if c.Runner != "" && framework == "" {
		framework = c.Runner
	}
	return said, framework
}

// machine finds a report in the output: JSON, XML, events of `go test -json`, or
// TAP.
func machine(c testrun.Call, text plain) (dialect.Said, string, bool) {
	if said, framework, ok := jsonReport(text.raw); ok {
		return said, framework, true
	}
	if c.Runner == "go" && bytes.Contains(text.raw, []byte(`{"Time":`)) && bytes.Contains(text.raw, []byte(`"Action":"`)) {
		return parsed(GoJSON, text.raw, "go")
	}
	if at := indexLine(text.raw, "<?xml", "<testsuite"); at >= 0 {
		if said, _, ok := parsed(JUnit, text.raw[at:], ""); ok {
			return said, "", true
		}
	}
	if marks := tapMarks(c, text.lines); marks > 0 {
		said := tapSaid(text.lines)
		said.Marks = max(said.Marks, marks)
		framework := "tap"
		if c.Runner == "" && len(c.Words) > 0 && path.Base(c.Words[0]) == "perl" {
			framework = "prove"
		}
		return said, framework, said.Marks > 0
	}
	return dialect.Said{}, "", false
}

// indexLine is the first line that begins with one of the marks, -1 if none does.
func indexLine(text []byte, marks ...string) int {
	best := -1
	for _, mark := range marks {
		at := bytes.Index(text, []byte("\n"+mark)) + 1
		if bytes.HasPrefix(text, []byte(mark)) {
			at = 0
		} else if at == 0 {
			continue
		}
		if best < 0 || at < best {
			best = at
		}
	}
	return best
}

func parsed(format string, text []byte, framework string) (dialect.Said, string, bool) {
	rep, err := Parse(format, bytes.NewReader(text))
	said := rep.said()
	return said, framework, err == nil && said.Marks > 0
}

// said is a report in the words of a dialect.
func (r Report) said() dialect.Said {
	s := dialect.Said{Failing: r.Failing, FirstError: r.FirstError, Bad: len(r.Failing) > 0 || r.BuildFailed}
	for _, status := range r.Tests {
		if status == "pass" {
			s.Passed++
		} else {
			s.Failed++
		}
	}
	s.Summed = len(r.Tests) > 0 || s.Bad
	if s.Summed {
		s.Marks = 2
	}
	return s
}

// speakTAP are the runners that may print it.
var speakTAP = []string{"", "bats", "node", "tap", "ava", "mocha", "vitest", "jest", "prove", "ctest", "bun", "deno"}

var (
	tapHeader  = regex.New(`^TAP version 1\d$`)
	tapTrailer = regex.New(`^# (?:tests|pass|fail|skip|todo) +\d+$|^# \{ total: \d+.* \}$|^# Looks like you .*$|^# ok$`)
)

// tapMarks counts the kinds of lines of the protocol: header, plan, points,
// trailer. A test point alone tells only of a runner that is known to speak it.
func tapMarks(c testrun.Call, lines []string) int {
	if !slices.Contains(speakTAP, c.Runner) {
		return 0
	}
	var header, plan, point, trailer int
	for _, line := range lines {
		line = strings.TrimRight(line, " \t")
		switch {
		case line == "":
		case tapHeader.MatchString(line):
			header = 1
		case tapPlan.MatchString(line):
			plan = 1
		case tapStrict.MatchString(line):
			point = 1
		case tapTrailer.MatchString(line):
			trailer = 1
		}
	}
	marks := header + plan + point + trailer
	alone := c.Runner == "bats" || c.Runner == "ava" && header > 0
	if marks > 1 && (header > 0 || plan > 0 || point > 0 && trailer > 0) || alone && marks > 0 {
		return marks
	}
	return 0
}

// tapStrict is a test point as programs print it.
var tapStrict = regex.New(`^(?:not )?ok \d+(?: .*)?$`)

// tapSaid reads a stream of which the head may be cut off: neither a plan that
// does not hold nor an unfinished subtest tells anything.
func tapSaid(lines []string) dialect.Said {
	rep, err := Parse(TAP, strings.NewReader(strings.Join(lines, "\n")+"\n"))
	if err != nil {
		return dialect.Said{}
	}
	said := rep.said()
	trailer, _ := dialect.Read("tap", lines)
	said.Failing = slices.DeleteFunc(said.Failing, func(n string) bool { return rep.Tests[n] == "" && strings.HasPrefix(n, "planned ") })
	planned := len(said.Failing) < len(rep.Failing)
	said.Bad = len(said.Failing) > 0
	if planned && strings.HasPrefix(said.FirstError, "planned ") {
		said.FirstError = ""
	}
	if trailer.Summed {
		said.Failed, said.Passed, said.Skipped = max(said.Failed, trailer.Failed), max(said.Passed, trailer.Passed), trailer.Skipped
	}
	said.Summed = said.Summed || trailer.Summed
	if planned && !said.Bad && !trailer.Summed {
		said.Summed = false // cut short: what is missing may have failed
	}
	said.None = len(rep.Tests) == 0 && !said.Bad && slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "1..0") })
	said.Marks = max(said.Marks, trailer.Marks)
	return said
}

// filed is the report that a runner was told to write to a file.
func filed(c testrun.Call, files func(string) ([]byte, error)) (dialect.Said, bool) {
	if files == nil {
		return dialect.Said{}, false
	}
	if file, ok := strings.CutPrefix(detect(c.Words), JUnit+":"); ok {
		if b, err := files(file); err == nil {
			said, _, ok := parsed(JUnit, b, c.Runner)
			return said, ok
		}
	}
	if file, ok := option(c.Words, "--outputFile"); ok && file != "" {
		if b, err := files(file); err == nil {
			said, _, ok := jsonReport(b)
			return said, ok
		}
	}
	return dialect.Said{}, false
}
