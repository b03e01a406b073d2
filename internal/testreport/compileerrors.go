package testreport

import (
	"slices"
	"strings"
	"sync"

	"github.com/pawl-dev/pawl/internal/regex"
)

// compiler is a tool that turns source into what tests run, or reads it as a whole first.
type compiler struct {
	// error matches a line in which it says what it could not build.
	error *regex.Regex
	// beside matches what it prints within a few lines of that and programs do not; nil
	// where the line itself is like no other's.
	beside *regex.Regex
}

// besideLines is how far from its error a compiler says something else.
const besideLines = 12

// compilers are those whose errors are known.
var compilers = sync.OnceValue(func() []compiler {
	row := func(error, beside string) compiler {
		c := compiler{error: regex.New(`^(?:` + error + `)`)}
		if beside != "" {
			c.beside = regex.New(`^(?:` + beside + `)`)
		}
		return c
	}
	return []compiler{
		// gcc and clang for C, C++ and Objective-C, swiftc
		row(`\S+\.(?:[chm]|cc|cpp|cxx|mm|hh|hpp|hxx|inl|ipp|tpp|swift):\d+:(?:\d+:)? (?:fatal )?error: \S`,
			` +\d+ \| |compilation terminated\.$|\d+ (?:warnings? and \d+ )?errors? generated\.$|\S+: In (?:\w+ )*function |\S+: At (?:global scope|top level):$`),
		row(`collect2: error: ld returned \d+ exit status$|clang(?:\+\+)?: error: linker command failed with exit code`, ""),
		// javac, and what runs it
		row(`\S+\.java:\d+: error: \S`, `\d+ errors?$`),
		row(`\[ERROR\] COMPILATION ERROR :`, ""),
		row(`> Compilation failed; see the compiler `, ""),
		row(`e: (?:file://)?\S+\.kts?:\(?\d+`, ""), // kotlinc
		// rustc
		row("error: could not compile `|error: aborting due to (?:\\d+ )?previous errors?", ""),
		row(`\S+\.[cm]?tsx?(?:\(\d+,\d+\): |:\d+:\d+ - )error TS\d+: `, ""),
		row(`\S+\.(?:cs|fs|vb)\(\d+,\d+\): error [A-Z]+\d+: `, ""),
		row(`FAIL\t\S+ \[build failed\]$`, ""),
		// what reads a file as a whole before it runs it
		row(`SyntaxError: `, ` +at (?:wrapSafe|compileSourceTextModule|internalCompileFunction|compileFunction)\b`),
		row(`(?:SyntaxError|IndentationError|TabError): `, ` {4,}\^+\s*$`),
		row(`\S+: (?:line )?\d+: (?:Syntax error: |syntax error near unexpected token |syntax error: unexpected end of file)`, ""),
	}
})

// testFailed matches what an assertion says, or a program that crashes: then some test
// ran. What runners say is read by their dialects.
var testFailed = regex.New(`: Assertion .* failed\.?$|^Assertion failed: |\bAssertion(?:Failed)?Error\b|^Exception in thread "|\bpanicked at ` +
	`|^(?:.*: )?(?:Aborted|Segmentation fault)\b.*$|\] (?:Aborted|Segmentation fault)\b|^not ok \d`)

// unbuilt returns what could not be built in a run that failed for that, by what compilers
// print. What tests print by themselves does not count: one of which anything says that it
// failed was built.
func (v Verdict) unbuilt(text plain) (line string, ok bool) {
	named := slices.ContainsFunc(v.Failing, func(name string) bool { return !strings.HasSuffix(name, " [build failed]") })
	if v.ExitCode == 0 || v.ExitCode == UnknownExit || v.Failed > 0 || named || text.has(testFailed) {
		return "", false
	}
	for _, c := range compilers() {
		if line, ok = c.stopped(text.lines); ok {
			return line, true
		}
	}
	return "", false
}

// stopped returns the first line in which the compiler says that it could not build something.
func (c compiler) stopped(lines []string) (line string, ok bool) {
	for i, line := range lines {
		if !c.error.MatchString(line) {
			continue
		}
		near := lines[max(0, i-besideLines):min(len(lines), i+besideLines+1)]
		if c.beside == nil || slices.ContainsFunc(near, c.beside.MatchString) {
			return line, true
		}
	}
	return "", false
}
