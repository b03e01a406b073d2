// Package sign finds suspicious lines in a change: a disabled check, code that asks
// whether it is being tested, an early exit past the tests. Only lines that were added count, and only outside of tests.
//
// A sign is not a verdict: each has an honest use. It is reported with file and line, so that
// the user need not search for it.
//
//	for _, s := range sign.NewChange("calc.py", before, after).Signs() {
//		fmt.Println(s) // calc.py:12 switches a check off: x = f()  # type: ignore
//	}
//
// The rules are data, in rules.go.
package sign

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-dev/pawl/internal/regex"
)

// Sign is one place in a change.
type Sign struct {
	Path string `json:"path" jsonschema:"of the file, from the repository's top"`
	Line int    `json:"line,omitempty" jsonschema:"in the file as it is now; 0 for the file as a whole"`
	In   string `json:"in,omitempty" jsonschema:"the function or table that the line stands in"`
	Kind Kind   `json:"kind" jsonschema:"what it is about: suppression, exit"`
	Does string `json:"does" jsonschema:"what it does, in words: switches a check off"`
	Text string `json:"text,omitempty" jsonschema:"the line"`
	// MadeFrom is a file that a generated one says it is made with, "" = unknown.
	MadeFrom string `json:"-"`
	// AllowedBy matches text that asks for it: then it is not a sign, see Tests.IsRequested.
	AllowedBy string `json:"-"`
	// OnlyTaskAllows: not in a test, for tests are what it is about.
	OnlyTaskAllows bool `json:"-"`
}

func (s Sign) String() string {
	where := s.Path
	if s.Line > 0 {
		where = fmt.Sprintf("%s:%d", s.Path, s.Line)
	}
	if s.In != "" {
		where += " in " + s.In
	}
	if s.Text == "" {
		return where + " " + s.Does
	}
	return where + " " + s.Does + ": " + s.Text
}

// Limits on what is read of a line, and shown of it: a bundle is one long line.
const (
	maxLine = 2000
	maxText = 120
)

// Change is a file before and after a change. It caches its views. It is not safe for
// concurrent use.
type Change struct {
	File          string
	Before, After []byte
	view, tests   func() *view // as a program, and as a file of tests
}

// NewChange makes the change of a file; before is nil for a new one.
func NewChange(file string, before, after []byte) *Change {
	viewed := func(tests bool) func() *view {
		return sync.OnceValue(func() *view { return newView(file, before, after, tests) })
	}
	return &Change{File: file, Before: before, After: after, view: viewed(false), tests: viewed(true)}
}

// Signs returns the signs in the added lines, in their order. A line has one sign at most,
// that of the first rule that matches.
func (c *Change) Signs() []Sign {
	return signsOf(c.view().hits(programRules()(c.view().programName)))
}

// TestSigns is Signs for a test file.
func (c *Change) TestSigns() []Sign {
	return signsOf(c.tests().hits(testRules()(c.tests().programName)))
}

func signsOf(hits []hit) []Sign {
	var found []Sign
	for _, h := range hits {
		found = append(found, h.Sign)
	}
	return found
}

// FirstAdded returns the location of the first added line of code, or false if there is none.
func (c *Change) FirstAdded() (Sign, bool) {
	v := c.view()
	for n, added := range v.added {
		if added && strings.TrimSpace(v.uncommented[n]) != "" {
			return v.sign(n, "", ""), true
		}
	}
	return Sign{}, false
}

// hit is a sign with the rule that matched, and the last line of the match.
type hit struct {
	Sign
	rule rule
	last int
}

// hits finds the signs of a file by rules.
func (v *view) hits(rules *ruleSet) []hit {
	var found []hit
	candidates := rules.candidates(v)
	for n := range v.text {
		if !v.added[n] {
			continue
		}
		for i, may := range candidates(n) {
			if !may {
				continue
			}
			r := rules.rules[i]
			if last, ok := v.matches(r, n); ok {
				s := v.sign(n, r.kind, r.does)
				s.AllowedBy, s.OnlyTaskAllows = v.allowedBy(r, n), r.onlyTaskAllows
				found = append(found, hit{s, r, last})
				break
			}
		}
	}
	return found
}

// rule is a pattern to find, in one line or across several.
type rule struct {
	kind        Kind
	does        string       // text of the sign
	names       string       // globs of file names, "" = every program's
	text        *regex.Regex // matches the unchanged line, with comments; nil = none
	uncommented *regex.Regex // matches the line without comments; nil = none
	code        *regex.Regex // matches the line without comments and the content of strings; nil = none
	across      *regex.Regex // matches the code of the whole file; the sign is at the start; nil = none

	replaceFunc     func(string) string // computes the replacement of a match; the rule applies only if that differs
	assignsImported bool                // finds changes of imported and global values, see view.assignsImported
	unlessBelow     *regex.Regex        // no sign if a statement of the block below matches
	allowedBy       string              // pattern: no sign if the task, a document or a test matches it; $1 is the rule's first group
	onlyTaskAllows  bool                // allowedBy: only in the task or a document
	unlessMain      bool                // no sign in a file that is started as a program
	replacements    []replacement       // neutralize the sign, see Neutralize; nil = it is only reported
	hasContext      bool                // names of tests in lines around it are neutralized too
	everyLine       bool                // the replacements apply to each line of the match
	keepInMain      bool                // not neutralized in a file that is started as a program
	needsDate       bool                // neutralized only if a date is near
	outsideLoops    bool                // neutralized only outside of loops
}

func truncate(line string) string {
	if r := []rune(line); len(r) > maxText {
		return string(r[:maxText]) + "…"
	}
	return line
}

// fewSigns is how many signs all readers get to see.
const fewSigns = 8

// RareFirst returns signs in an order in which none crowds out another: of each kind the first,
// then of each the second, and so on. Few signs stay in the order of their files.
func RareFirst(signs []Sign) []Sign {
	if len(signs) <= fewSigns {
		return signs
	}
	seen, rank := map[Kind]int{}, map[Sign]int{}
	for _, s := range signs {
		if _, ok := rank[s]; !ok {
			seen[s.Kind]++
			rank[s] = seen[s.Kind]
		}
	}
	sorted := slices.Clone(signs)
	slices.SortStableFunc(sorted, func(a, b Sign) int { return cmp.Compare(rank[a], rank[b]) })
	return sorted
}

// Within returns a function that reports whether a sign has the same file and kind and lies
// within this many lines from this one.
func (s Sign) Within(lines int) func(Sign) bool {
	return func(other Sign) bool {
		return other.Path == s.Path && other.Kind == s.Kind && other.Line >= s.Line && other.Line < s.Line+lines
	}
}

// Kind is the kind of a sign.
type Kind string

// The kinds of signs, each with why a reviewer would want to see it.
const (
	Suppression      Kind = "suppression"   // a suppressed check finds nothing
	TestDetection    Kind = "test question" // a program that knows that it is tested can answer the tests and nobody else
	Caller           Kind = "caller"        // a program that knows that it is tested can answer the tests and nobody else
	CIDetection      Kind = "ci question"   // code that works only in CI fails for users
	Exit             Kind = "exit"          // a process that ends itself, or decides its status at the end, ends before a test can fail
	ExitHook         Kind = "exit hook"     // a process that ends itself, or decides its status at the end, ends before a test can fail
	Patch            Kind = "patch"         // a program that changes assertions, runners or clocks changes what the tests say and not what it does
	ReadsTests       Kind = "reads tests"   // a program that reads the expected values need not compute them
	Equality         Kind = "equality"      // a value that is equal to everything passes every comparison
	DroppedError     Kind = "dropped error" // a hidden error is not fixed
	HiddenCode       Kind = "hidden code"   // a line that is too long to read, see Unreadable
	HiddenName       Kind = "hidden name"   // a name built from parts is not found by searches and checks
	Date             Kind = "date"          // code that depends on the date may fail tomorrow
	OtherProgram     Kind = "other program" // another program may be missing, and its result is not this work
	Shadow           Kind = "shadow"        // a file with the name of a module or command replaces it for others
	RemovedExport    Kind = "gone"          // code that uses the removed name breaks
	Answers          Kind = "answers"       // a table of test inputs works for no other input
	Stub             Kind = "stub"          // a function that ignores its arguments may be unfinished
	Unused           Kind = "unused"        // code that only tests call does not change the program
	HollowTest       Kind = "hollow test"   // an assertion that may not be reached checks nothing
	GeneratedFile    Kind = "product"       // the next build of a generated file loses the change
	Data             Kind = "data"          // a gate that reads the data may check something else now
	AlwaysPasses     Kind = "in any case"   // tests that cannot fail prove nothing
	Unread           Kind = "unread"        // a value that nothing reads has no effect: the feature may be missing
	Wait             Kind = "wait"          // a fixed wait fails where it is too short
	Untested         Kind = "untested"      // only a reviewer can tell whether it is right
	TestDouble       Kind = "double"        // a copy in the tests is tested instead of the program
	MissingMechanism Kind = "means"         // work without the mechanism that the task needs may not do it
)
