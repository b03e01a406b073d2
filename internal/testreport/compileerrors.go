package testreport

import (
	"slices"
	"strings"
	"sync"

	"github.com/pawl-dev/pawl/internal/regex"
)

// compiler describes the error output of a tool that compiles sources before tests run, or of an
// interpreter that parses a whole file first.
type compiler struct {
	// error matches a line of a compile error.
	error *regex.Regex
	// context matches a line that only the compiler prints near its error, so that a test's output
	// is not mistaken for one. It is nil if the error line alone is distinctive.
	context *regex.Regex
}

// contextLines is the maximum distance in lines between an error and its context.
const contextLines = 12

// compilers returns the compilers whose errors are known.
var compilers = sync.OnceValue(func() []compiler {
	row := func(error, beside string) compiler {
		c := compiler{error: regex.New(`^(?:` + error + `)`)}
		if beside != "" {
			c.context = regex.New(`^(?:` + beside + `)`)
		}
		return c
	}
	return []compiler{
		// gcc and clang for C, C++ and Objective-C, and swiftc
		row(`\S+\.(?:[chm]|cc|cpp|cxx|mm|hh|hpp|hxx|inl|ipp|tpp|swift):\d+:(?:\d+:)? (?:fatal )?error: \S`,
			` +\d+ \| |compilation terminated\.$|\d+ (?:warnings? and \d+ )?errors? generated\.$|\S+: In (?:\w+ )*function |\S+: At (?:global scope|top level):$`),
		row(`collect2: error: ld returned \d+ exit status$|clang(?:\+\+)?: error: linker command failed with exit code`, ""),
		// javac, Maven and Gradle
		row(`\S+\.java:\d+: error: \S`, `\d+ errors?$`),
		row(`\[ERROR\] COMPILATION ERROR :`, ""),
		row(`> Compilation failed; see the compiler `, ""),
		row(`e: (?:file://)?\S+\.kts?:\(?\d+`, ""), // kotlinc
		// rustc
		row("error: could not compile `|error: aborting due to (?:\\d+ )?previous errors?", ""),
		row(`\S+\.[cm]?tsx?(?:\(\d+,\d+\): |:\d+:\d+ - )error TS\d+: `, ""),
		row(`\S+\.(?:cs|fs|vb)\(\d+,\d+\): error [A-Z]+\d+: `, ""),
		row(`FAIL\t\S+ \[build failed\]$`, ""),
		// interpreters that parse a whole file before they run it
		row(`SyntaxError: `, ` +at (?:wrapSafe|compileSourceTextModule|internalCompileFunction|compileFunction)\b`),
		row(`(?:SyntaxError|IndentationError|TabError): `, ` {4,}\^+\s*$`),
		row(`\S+: (?:line )?\d+: (?:Syntax error: |syntax error near unexpected token |syntax error: unexpected end of file)`, ""),
	}
})

// testFailed matches the message of an assertion or of a crash, which show that a test ran. The
// dialects read the output of runners.
var testFailed = regex.New(`: Assertion .* failed\.?$|^Assertion failed: |\bAssertion(?:Failed)?Error\b|^Exception in thread "|\bpanicked at ` +
	`|^(?:.*: )?(?:Aborted|Segmentation fault)\b.*$|\] (?:Aborted|Segmentation fault)\b|^not ok \d`)

// compileError returns the first compile error of a failed run. It returns false if anything shows
// that a test ran, because tests may print such lines themselves.
func (v Verdict) compileError(text plainOutput) (line string, ok bool) {
	named := slices.ContainsFunc(v.Failing, func(name string) bool { return !strings.HasSuffix(name, " [build failed]") })
	if v.ExitCode == 0 || v.ExitCode == UnknownExit || v.Failed > 0 || named || text.matches(testFailed) {
		return "", false
	}
	for _, c := range compilers() {
		if line, ok = c.errorLine(text.lines); ok {
			return line, true
		}
	}
	return "", false
}

// errorLine returns the first line with an error of the compiler.
func (c compiler) errorLine(lines []string) (line string, ok bool) {
	for i, line := range lines {
		if !c.error.MatchString(line) {
			continue
		}
		near := lines[max(0, i-contextLines):min(len(lines), i+contextLines+1)]
		if c.context == nil || slices.ContainsFunc(near, c.context.MatchString) {
			return line, true
		}
	}
	return "", false
}
