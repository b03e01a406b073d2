// Package testdiff names what was done to the tests of a file: changed, deleted,
// renamed, skipped, focused, emptied, each with its line.
//
//	for _, c := range testdiff.Compare("user_test.go", before, after) {
//		fmt.Println(c.Line, c.Kind, c.Name)
//	}
//
// It reads structure, not meaning: where tests begin and end, how they are marked,
// and which assertions stand in them. Languages are data: anchored patterns over
// their code, with comments and the insides of strings left out. New tests, other
// names for helpers and other white space are not a change. What a changed assertion
// means is for a user to read. A language that it does not know gives nothing: then
// the files alone are named. Work.Adapt makes the changes of old tests that a task asks for, and no
// others.
package testdiff

import (
	"cmp"
	"slices"
	"strings"
)

// Kind of a change.
type Kind string

// The kinds.
const (
	Changed Kind = "changed" // an assertion that was there is not there any more
	Deleted Kind = "deleted"
	Renamed Kind = "renamed"
	Moved   Kind = "moved" // where the runner does not look; see Files
	Skipped Kind = "skipped"
	Focused Kind = "focused" // so that the others do not run
	Emptied Kind = "emptied" // no assertion is left, or none is reached
)

// Change is one of one test.
type Change struct {
	Kind Kind
	Line int    // as the file is now; where it was, for what is gone
	Name string // of the test; "old → new" of a renamed one
}

// test is one in a file, or a group of them.
type test struct {
	name             string
	line             int
	skipped, focused bool
	empty            bool     // what it asserts is not reached
	asserts          []string // without white space
	body             string   // without white space and comments
	group            bool
}

// Compare names what was done to the tests of a file, in the order of their lines.
// A file that is not there is nil.
func Compare(path string, before, after []byte) []Change {
	was, known := read(path, before)
	now, _ := read(path, after)
	if !known {
		return nil
	}
	var changes []Change
	add := func(k Kind, line int, name string) { changes = append(changes, Change{k, line, name}) }
	left := index(now)
	var gone []test
	for _, old := range was {
		same := left[old.name]
		if len(same) == 0 && old.name == wholeFile {
			same = []test{{name: wholeFile, line: old.line, group: old.group}}
		}
		if len(same) == 0 {
			gone = append(gone, old)
			continue
		}
		left[old.name] = same[1:]
		for _, k := range compare(old, same[0]) {
			add(k, same[0].line, old.name)
		}
	}
	fresh := newOnes(now, left)
	for _, old := range gone {
		i := slices.IndexFunc(fresh, func(t test) bool { return t.group == old.group && alike(old, t) })
		if i < 0 {
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

// Added are the names of tests that a file has and did not have, each behind those of the
// groups that it is in: "calc > adds". Those that are skipped or end before they assert are
// left out.
func Added(path string, before, after []byte) []string {
	was, _ := read(path, before)
	now, _ := read(path, after)
	known := index(was)
	var names []string
	for _, t := range now {
		if _, ok := known[t.name]; !ok && !t.group && !t.skipped && !t.empty && t.name != wholeFile {
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

// newOnes are those of now that no test of before was compared with.
func newOnes(now []test, left map[string][]test) []test {
	var fresh []test
	for _, t := range now {
		if slices.ContainsFunc(left[t.name], func(l test) bool { return l.line == t.line }) {
			fresh = append(fresh, t)
		}
	}
	return fresh
}

// compare are the kinds of change of one test.
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
	case len(old.asserts) > 0 && !old.empty && (len(now.asserts) == 0 || now.empty):
		kinds = append(kinds, Emptied)
	case !holds(now.asserts, old.asserts):
		kinds = append(kinds, Changed)
	}
	return kinds
}

// holds: all of some assertions are among others, as often.
func holds(all, some []string) bool {
	left := map[string]int{}
	for _, a := range all {
		left[a]++
	}
	for _, a := range some {
		if left[a]--; left[a] < 0 {
			return false
		}
	}
	return true
}

// alike: the one may be the other under another name.
func alike(a, b test) bool {
	if a.body == "" || b.body == "" {
		return false
	}
	return a.body == b.body || !a.group && len(a.asserts) > 0 && holds(b.asserts, a.asserts) || similarity(a.body, b.body) >= 0.6
}

// similarity is the share of what two texts have in common, by pieces of four
// bytes, from 0 to 1.
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

// File is one that is gone, or that is new.
type File struct {
	Path    string
	Content []byte
}

// Where tells what became of a file that is gone: the most similar of the new ones,
// if half of it is the same; "" if none is.
func Where(gone File, fresh []File) string {
	const enough = 0.5
	best, where := enough, ""
	for _, f := range fresh {
		if s := similarity(squeeze(string(gone.Content)), squeeze(string(f.Content))); s >= best {
			best, where = s, f.Path
		}
	}
	return where
}

// squeeze takes white space out.
func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }
