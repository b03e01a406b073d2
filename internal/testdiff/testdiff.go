// Package testdiff lists changes of tests in a file: changed, deleted, renamed,
// skipped, focused, emptied, each with its line.
//
//	for _, c := range testdiff.Compare("user_test.go", before, after) {
//		fmt.Println(c.Line, c.Kind, c.Name)
//	}
//
// It reads structure, not meaning: where tests begin and end, how they are marked, and their
// assertions. Languages are data: anchored patterns over code without comments and strings. New
// tests, renamed helpers and white space are no change. A user must read what a changed assertion
// means. For an unknown language it returns nothing: then only the files are named.
// Work.Adapt makes the changes of old tests that a task asks for, and no others.
package testdiff

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// Kind is the kind of a test change.
type Kind string

// The kinds.
const (
	Changed Kind = "changed" // an assertion is missing
	Deleted Kind = "deleted"
	Renamed Kind = "renamed"
	Merged  Kind = "merged" // its values are in another test, as in a row of its table
	Moved   Kind = "moved"  // to where the runner does not look, see File
	Skipped Kind = "skipped"
	Focused Kind = "focused" // the others do not run
	Emptied Kind = "emptied" // no assertion is left or reached
)

// Change is the change of one test.
type Change struct {
	Kind Kind
	Line int    // in the new file; in the old one if removed
	Name string // of the test; "old → new" if renamed
}

// test is a test, or a group of tests.
type test struct {
	name             string
	line             int
	skipped, focused bool
	empty            bool     // its assertions are not reached
	assertions       []string // without white space
	body             string   // without white space and comments
	text             string   // the same with its head and what is above it
	group            bool
	computed         bool // its name is an expression
}

// Compare returns what was done to the tests of a file, in the order of lines. nil means no file.
func Compare(path string, before, after []byte) []Change {
	was, known := read(path, before)
	if !known {
		return nil
	}
	now, _ := read(path, after)
	return compareTests(was, now, valuesIn(path, after))
}

// CompareSplit returns what was done to the tests of a removed file that one of the new files, now, has
// most of: what stands as it was in the others is no change.
func CompareSplit(gone, now File, others []File) []Change {
	was, known := read(gone.Path, gone.Content)
	if !known {
		return nil
	}
	is, _ := read(now.Path, now.Content)
	if keepsBeside(gone, append([]File{now}, others...)) {
		for _, other := range others {
			there, _ := read(other.Path, other.Content)
			was = slices.DeleteFunc(was, func(old test) bool {
				return old.name != wholeFile && slices.ContainsFunc(there, func(t test) bool { return t.name == old.name && old.stands(t) })
			})
		}
	}
	return compareTests(was, is, valuesIn(now.Path, now.Content))
}

// stands reports whether a test is what it was; of a group, its head.
func (t test) stands(now test) bool {
	if t.group != now.group || len(compare(t, now)) > 0 {
		return false
	}
	head := func(body string) string { return body[:max(0, strings.IndexAny(body, ":{"))] }
	return t.group && head(t.body) == head(now.body) || !t.group && t.body == now.body
}

// keepsBeside reports whether all that a file has beside its tests is in other files: what the tests call.
func keepsBeside(gone File, files []File) bool {
	has := map[string]bool{}
	for _, f := range files {
		t, _ := readText(f)
		for _, s := range t.beside {
			has[strings.Join(s.tokens, " ")] = true
		}
	}
	old, _ := readText(gone)
	return !slices.ContainsFunc(old.beside, func(s statement) bool { return !has[strings.Join(s.tokens, " ")] && !startsTests.MatchString(s.text) })
}

// startsTests matches what a file of tests does if it is run as a program.
var startsTests = regex.New(`^\s*(?:if __name__ ==|unittest\.main\(\))`)

// compareTests returns what was done to tests; values are those of the new file.
func compareTests(was, now []test, values []string) []Change {
	var changes []Change
	add := func(k Kind, line int, name string) { changes = append(changes, Change{k, line, name}) }
	left := index(now)
	var gone []test
	for _, old := range unchangedFirst(was, left) {
		same := left[old.name]
		if len(same) == 0 && old.name == wholeFile {
			same = []test{{name: wholeFile, line: old.line, group: old.group}}
		}
		if len(same) == 0 {
			gone = append(gone, old)
			continue
		}
		at := max(0, slices.IndexFunc(same, old.hasBodyOf))
		left[old.name] = slices.Delete(slices.Clone(same), at, at+1)
		for _, k := range compare(old, same[at]) {
			add(k, same[at].line, old.name)
		}
	}
	fresh := newOnes(now, left)
	for _, old := range gone {
		i := slices.IndexFunc(fresh, func(t test) bool { return t.group == old.group && similarTests(old, t) })
		merged := len(fresh) > 0 && old.mergedInto(values) || old.becameCase(now)
		switch {
		case merged && i >= 0 && old.becameOther(fresh[i]):
			add(Renamed, fresh[i].line, old.name+" → "+fresh[i].name)
			fresh = slices.Delete(fresh, i, i+1)
			continue
		case merged && (i < 0 || len(compare(old, fresh[i])) > 0):
			add(Merged, old.line, old.name)
			continue
		case i < 0:
			add(Deleted, old.line, old.name)
			continue
		}
		add(Renamed, fresh[i].line, old.name+" → "+fresh[i].name)
		for _, k := range compare(old, fresh[i]) {
			add(k, fresh[i].line, fresh[i].name)
		}
		fresh = slices.Delete(fresh, i, i+1)
	}
	for _, t := range fresh { // a new test may silence the others
		if t.focused && len(was) > 0 {
			add(Focused, t.line, t.name)
		}
	}
	slices.SortStableFunc(changes, func(a, b Change) int { return cmp.Compare(a.Line, b.Line) })
	return changes
}

// unchangedFirst returns the tests with those first that are still there as they were: a test of
// another class may have the same name, and must not be compared with them.
func unchangedFirst(was []test, now map[string][]test) []test {
	var unchanged, others []test
	for _, old := range was {
		if slices.ContainsFunc(now[old.name], old.hasBodyOf) {
			unchanged = append(unchanged, old)
		} else {
			others = append(others, old)
		}
	}
	return slices.Concat(unchanged, others)
}

func (t test) hasBodyOf(other test) bool { return t.body == other.body }

// Added returns the names of new tests behind their groups, such as "calc > adds". It omits skipped
// tests, those that end before they assert, and those whose names are computed.
func Added(path string, before, after []byte) []string {
	was, _ := read(path, before)
	now, _ := read(path, after)
	known := index(was)
	var names []string
	for _, t := range now {
		if _, ok := known[t.name]; !ok && !t.group && !t.computed && !t.skipped && !t.empty && t.name != wholeFile {
			names = append(names, t.name)
		}
	}
	return names
}

func index(tests []test) map[string][]test {
	byName := map[string][]test{}
	for _, t := range tests {
		byName[t.name] = append(byName[t.name], t)
	}
	return byName
}

// newOnes returns the current tests that were not compared with an old one.
func newOnes(now []test, left map[string][]test) []test {
	var fresh []test
	for _, t := range now {
		if slices.ContainsFunc(left[t.name], func(l test) bool { return l.line == t.line }) {
			fresh = append(fresh, t)
		}
	}
	return fresh
}

// compare returns the kinds of change of one test.
func compare(old, now test) []Kind {
	var kinds []Kind
	if now.skipped && !old.skipped {
		kinds = append(kinds, Skipped)
	}
	if now.focused && !old.focused {
		kinds = append(kinds, Focused)
	}
	switch {
	case old.group:
	case len(old.assertions) > 0 && !old.empty && (len(now.assertions) == 0 || now.empty):
		kinds = append(kinds, Emptied)
	case !source.ContainsAll(now.assertions, old.assertions):
		kinds = append(kinds, Changed)
	}
	return kinds
}

// similarTests reports whether b may be a under another name.
func similarTests(a, b test) bool {
	if a.body == "" || b.body == "" {
		return false
	}
	return a.body == b.body || !a.group && len(a.assertions) > 0 && source.ContainsAll(b.assertions, a.assertions) || similarity(a.body, b.body) >= 0.6
}

// similarity returns the common share of two texts, by pieces of four bytes, from 0 to 1.
func similarity(a, b string) float64 {
	const n = 4
	if len(a) < n || len(b) < n {
		return 0
	}
	seen := map[string]int{}
	for i := range len(a) - n + 1 {
		seen[a[i:i+n]]++
	}
	common := 0
	for i := range len(b) - n + 1 {
		if seen[b[i:i+n]] > 0 {
			seen[b[i:i+n]]--
			common++
		}
	}
	return 2 * float64(common) / float64(len(a)+len(b)-2*(n-1))
}

// File is a removed or a new file.
type File struct {
	Path    string
	Content []byte
}

// FindMoved returns the most similar new file if half of it is the same, or "".
func FindMoved(gone File, fresh []File) string {
	const enough = 0.5
	best, where := enough, ""
	for _, f := range fresh {
		if s := similarity(squeeze(string(gone.Content)), squeeze(string(f.Content))); s >= best {
			best, where = s, f.Path
		}
	}
	return where
}

// squeeze removes white space.
func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }
