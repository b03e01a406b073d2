package testdiff

import (
	"cmp"
	"maps"
	"slices"
)

// A file of tests may be split, as the program is that it tests. Then each of its tests is adapted in the
// file that has it now.

// adaptFile returns an old file where its tests are now, nil if they may not be gone.
func (a *adaptation) adaptFile(old testText, now []testText) (all []Adapted) {
	is := old.counterpart(now)
	if is == nil || is.Path != old.Path && !slices.ContainsFunc(old.tests, func(t span) bool { return is.test(t.name) != nil }) {
		is = cmp.Or(a.movedTo(old, now), is)
	}
	switch {
	case is != nil:
		pieces := a.pieces(old, is, now)
		for _, p := range pieces {
			content, fewer := a.adapt(p.old, *p.now)
			all = append(all, Adapted{old.Path, File{p.now.Path, content}, fewer || len(pieces) > 1})
		}
	case a.mayRemoveAll(old):
		return []Adapted{{Was: old.Path, File: File{Path: old.Path}, Fewer: true}}
	}
	return all
}

// piece is an old file cut down to the tests that one file has now.
type piece struct {
	old testText
	now *testText
}

// pieces returns an old file by the files that have its tests: is, and new ones.
func (a *adaptation) pieces(old testText, is *testText, files []testText) []piece {
	in := map[*testText][]span{}
	order := []*testText{is}
	for _, t := range old.tests {
		at := is
		for i := range files {
			if is.test(t.name) == nil && a.NewFiles[files[i].Path] && files[i].test(t.name) != nil {
				at = &files[i]
				break
			}
		}
		if in[at] = append(in[at], t); !slices.Contains(order, at) {
			order = append(order, at)
		}
	}
	if len(order) == 1 {
		return []piece{{old, is}}
	}
	var all []piece
	for _, at := range order {
		all = append(all, piece{old.only(in[at]), at})
	}
	return all
}

// only returns a file without its other tests.
func (t testText) only(tests []span) testText {
	var edits []edit
	for _, other := range t.tests {
		if !slices.ContainsFunc(tests, func(sp span) bool { return sp.from == other.from }) {
			edits = append(edits, edit{other.from, other.to, t.emptyBody(other)})
		}
	}
	cut, _ := readText(File{t.Path, []byte(applyEdits(string(t.Content), edits))})
	return cut
}

// movedTo returns the new file in which each test of an old one may be under another name, or nil.
func (a *adaptation) movedTo(old testText, files []testText) *testText {
	for i := range files {
		if !a.NewFiles[files[i].Path] || len(old.tests) == 0 {
			continue
		}
		before, used := a.pairing.copy(), maps.Clone(a.usedTests)
		a.read(old)
		a.statements(old, files[i], old.beside, files[i].beside) // for the names that they give
		all := !slices.ContainsFunc(old.tests, func(t span) bool { return a.renamedTest(old, t, files[i]) == nil })
		a.pairing = before
		if a.usedTests = used; all {
			return &files[i]
		}
	}
	return nil
}
