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

// Limits of the text that is read line by line. More is read of its tail than of its head, because
// summaries come last.
const (
	maxTextHead = 256 << 10
	maxTextTail = 1 << 20
	maxTextLine = 2000
)

// plainOutput is output without terminal control sequences, split into lines.
type plainOutput struct {
	raw   []byte
	lines []string
}

// cursorColumn matches a move of the cursor within its line. Some progress printers use it like a
// carriage return.
var cursorColumn = regex.New("\x1b\\[[0-9]*G")

func plainText(output []byte) plainOutput {
	p := plainOutput{raw: output}
	if bytes.IndexByte(output, 0x1b) >= 0 {
		p.raw = ansi.ReplaceAll(output, nil)
	}
	text := output
	if len(text) > maxTextHead+maxTextTail {
		text = slices.Concat(text[:maxTextHead], []byte("\n"), text[len(text)-maxTextTail:])
	}
	for l := range strings.Lines(Plain(cursorColumn.ReplaceAllString(string(text), "\r"))) {
		l = strings.TrimRight(l, "\n")
		if len(l) > maxTextLine {
			l = strings.ToValidUTF8(l[:maxTextLine], "")
		}
		p.lines = append(p.lines, l)
	}
	return p
}

func (p plainOutput) matches(re *regex.Regex) bool {
	return slices.ContainsFunc(p.lines, re.MatchString)
}

// notStarted matches messages of shells and package managers that could not start a command.
var notStarted = regex.New(`^(?:(?:/\S*/)?(?:ba|da|z)?sh: (?:line \d+: |\d+: )?\S+: (?:command )?not found` +
	`|zsh: command not found: \S+|\S+: \d+: \S+: not found|env: .\S+.: No such file or directory` +
	`|npm (?:ERR!|error) (?:Missing script: .*|could not determine executable to run|code E(?:404|NOENT|JSONPARSE))` +
	`|error Command ".*" not found\.| ERR_PNPM_(?:NO_SCRIPT|RECURSIVE_EXEC_FIRST_FAIL|NO_IMPORTER_MANIFEST_FOUND).*|error: Script not found ".*"` +
	`|make(?:\[\d+\])?: \*\*\* No rule to make target .*|make(?:\[\d+\])?: .*: No such file or directory` +
	`|\S*python[\d.]*: (?:No module named \S+|can't open file .*)|timeout: failed to run command .*|error: Failed to spawn: .*` +
	`|bundler: command not found: .*|Could not open input file: .*|node:internal/modules/cjs/loader:\d+ .*)$`)

// wrapperFailed matches messages in which a package manager or make reports that its script failed.
var wrapperFailed = regex.New(`^(?:npm (?:ERR!|error) Test failed\.  See above for more details\.` +
	`|npm (?:ERR!|error) Lifecycle script .* failed with error:|error Command failed with exit code \d+\.` +
	`|.?ELIFECYCLE.? +(?:Test failed\. See above for more details\.|Command failed with exit code \d+\.)` +
	`|error: script ".*" exited with code \d+` +
	`|make(?:\[\d+\])?: \*\*\* \[.*\] Error \d+)$`)

// readOutput returns the test results of one call in a run, and the runner's name. It reads a
// machine-readable report if there is one, otherwise the text.
func readOutput(c testrun.Call, run Run, text plainOutput) (dialect.Results, string) {
	if rep, framework, ok := readReport(c, text); ok {
		if c.Runner != "" {
			framework = c.Runner
		}
		textResults, _ := dialect.Read(framework, text.lines) // Reports do not contain coverage failures.
		rep.GateFailed, rep.Interrupted = textResults.GateFailed, textResults.Interrupted
		return rep, framework
	}
	results, framework := readText(c, text)
	if len(results.Failing) == 0 {
		if rep, ok := readReportFile(c, run.Files); ok && (len(rep.Failing) > 0 || !results.HasSummary) {
			rep.GateFailed, rep.RunnerError, rep.Interrupted = results.GateFailed, results.RunnerError, results.Interrupted
			return rep, framework
		}
	}
	return results, framework
}

func readText(c testrun.Call, text plainOutput) (dialect.Results, string) {
	if results, ok := dialect.Read(c.Runner, text.lines); ok && (results.LineKinds > 0 || !c.FromScript) {
		return results, c.Runner
	}
	framework, results := dialect.Recognize(text.lines)
	if c.Runner != "" && framework == "" {
		framework = c.Runner
	}
	return results, framework
}

// readReport finds a report in the output: JSON, XML, events of `go test -json`, or TAP.
func readReport(c testrun.Call, text plainOutput) (dialect.Results, string, bool) {
	if results, framework, ok := jsonReport(text.raw); ok {
		return results, framework, true
	}
	if c.Runner == "go" && bytes.Contains(text.raw, []byte(`{"Time":`)) && bytes.Contains(text.raw, []byte(`"Action":"`)) {
		return parseReport(GoJSON, text.raw, "go")
	}
	if at := indexLine(text.raw, "<?xml", "<testsuite"); at >= 0 {
		if results, _, ok := parseReport(JUnit, text.raw[at:], ""); ok {
			return results, "", true
		}
	}
	if marks := tapMarks(c, text.lines); marks > 0 {
		results := tapResults(text.lines)
		results.LineKinds = max(results.LineKinds, marks)
		framework := "tap"
		if c.Runner == "" && len(c.Words) > 0 && path.Base(c.Words[0]) == "perl" {
			framework = "prove"
		}
		return results, framework, results.LineKinds > 0
	}
	return dialect.Results{}, "", false
}

// indexLine returns the offset of the first line that begins with one of the marks, or -1.
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

func parseReport(format string, text []byte, framework string) (dialect.Results, string, bool) {
	rep, err := Parse(format, bytes.NewReader(text))
	results := rep.results()
	return results, framework, err == nil && results.LineKinds > 0
}

// results converts a report to the results of a dialect.
func (r Report) results() dialect.Results {
	s := dialect.Results{Failing: r.Failing, FirstError: r.FirstError, OtherFailure: len(r.Failing) > 0 || r.BuildFailed}
	for _, status := range r.Tests {
		if status == "pass" {
			s.Passed++
		} else {
			s.Failed++
		}
	}
	s.HasSummary = len(r.Tests) > 0 || s.OtherFailure
	if s.HasSummary {
		s.LineKinds = 2
	}
	return s
}

// tapRunners lists the runners that may print TAP; "" is an unknown runner.
var tapRunners = []string{"", "bats", "node", "tap", "ava", "mocha", "vitest", "jest", "prove", "ctest", "bun", "deno"}

var (
	tapHeader  = regex.New(`^TAP version 1\d$`)
	tapTrailer = regex.New(`^# (?:tests|pass|fail|skip|todo) +\d+$|^# \{ total: \d+.* \}$|^# Looks like you .*$|^# ok$`)
)

// tapMarks counts the kinds of TAP lines that occur: header, plan, test points, trailer. A single
// kind only counts for a runner that always prints TAP.
func tapMarks(c testrun.Call, lines []string) int {
	if !slices.Contains(tapRunners, c.Runner) {
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
		case tapNumberedPoint.MatchString(line):
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

// tapNumberedPoint matches a test point with a number, as programs print it.
var tapNumberedPoint = regex.New(`^(?:not )?ok \d+(?: .*)?$`)

// tapResults reads a TAP stream whose head may be cut off. It therefore ignores a plan that does
// not match and unfinished subtests.
func tapResults(lines []string) dialect.Results {
	rep, err := Parse(TAP, strings.NewReader(strings.Join(lines, "\n")+"\n"))
	if err != nil {
		return dialect.Results{}
	}
	results := rep.results()
	trailer, _ := dialect.Read("tap", lines)
	results.Failing = slices.DeleteFunc(results.Failing, func(n string) bool { return rep.Tests[n] == "" && strings.HasPrefix(n, "planned ") })
	planned := len(results.Failing) < len(rep.Failing)
	results.OtherFailure = len(results.Failing) > 0
	if planned && strings.HasPrefix(results.FirstError, "planned ") {
		results.FirstError = ""
	}
	if trailer.HasSummary {
		results.Failed, results.Passed, results.Skipped = max(results.Failed, trailer.Failed), max(results.Passed, trailer.Passed), trailer.Skipped
	}
	results.HasSummary = results.HasSummary || trailer.HasSummary
	if planned && !results.OtherFailure && !trailer.HasSummary {
		results.HasSummary = false // the stream was cut: a missing test may have failed
	}
	results.NoTests = len(rep.Tests) == 0 && !results.OtherFailure && slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "1..0") })
	results.LineKinds = max(results.LineKinds, trailer.LineKinds)
	return results
}

// readReportFile reads the report file that the command names.
func readReportFile(c testrun.Call, files func(string) ([]byte, error)) (dialect.Results, bool) {
	if files == nil {
		return dialect.Results{}, false
	}
	if file, ok := strings.CutPrefix(reportKind(c.Words), JUnit+":"); ok {
		if b, err := files(file); err == nil {
			results, _, ok := parseReport(JUnit, b, c.Runner)
			return results, ok
		}
	}
	if file, ok := optionValue(c.Words, "--outputFile"); ok && file != "" {
		if b, err := files(file); err == nil {
			results, _, ok := jsonReport(b)
			return results, ok
		}
	}
	return dialect.Results{}, false
}
