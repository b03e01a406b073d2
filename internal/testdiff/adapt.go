package testdiff

import (
	"bytes"
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// A task may ask for what old tests cannot survive: another parameter, name or limit, a removed
// feature. An honest agent then adapts the tests; a cheat hides something else in that change. So
// Adapt ignores the agent's version except for changes that the work made too and the task names. It
// applies these to the old text, and nothing else. The gates decide whether the work passes it.

// Work is what a claim did to the program, as far as its tests may have to follow.
type Work struct {
	Task              string             // the text of the task
	ChangedSignatures map[string]bool    // functions with other parameters or results
	RemovedParameters map[string]int     // how many parameters they lost
	RemovedNames      map[string]bool    // names that the program no longer declares
	AddedNames        map[string]bool    // names that it did not declare
	VanishedNames     map[string]bool    // names declared by a file that no longer mentions them
	Replacements      map[[2]string]bool // old and new words or numbers in a line, see AddReplacements
	ProgramWords      map[string]bool    // words that they have
	NewFiles          map[string]bool    // files that it added
	// MayShadow reports whether tests could import something new under a module's name: no library
	// and no old part of the program.
	MayShadow func(module string) bool
	// Declares reports whether the program declares a name, or has a file of that name.
	Declares func(name string) bool
	// Untested reports whether no other test file mentions a name that the program still has. If
	// the work changed it, changed test files do not count.
	Untested func(name string) bool
}

// Adapted is an old test file as the task asks for it.
type Adapted struct {
	Was   string // its old path
	File         // where it is now, nil content: all of its tests may go
	Fewer bool   // some of its tests may be removed
}

// Adapt returns the old test files that the task asks to change; after are the changed and new
// ones. It omits files of which nothing may change. It returns nothing if a test is missing that
// may not be, or does not run.
func (w Work) Adapt(before, after []File) []Adapted {
	a := adaptation{Work: w, taskWords: Words(w.Task), taskWordParts: map[string]bool{}, pairing: pairing{pairs: map[string]string{}, images: map[string]string{}}, usedTests: map[*span]bool{}, removals: w.removals()}
	for word := range a.taskWords {
		for _, part := range partsOf(word) {
			a.taskWordParts[part] = true
		}
	}
	var now []testText
	for _, f := range after {
		if t, known := readText(f); known {
			now = append(now, t)
		}
	}
	var all []Adapted
	places := map[string]bool{}
	for _, f := range before {
		old, known := readText(f)
		if !known {
			if i := slices.IndexFunc(after, func(is File) bool { return is.Path == f.Path }); i >= 0 && (a.matchText(f, after[i]) || a.growsText(f, after[i])) {
				all = append(all, Adapted{Was: f.Path, File: after[i]})
			}
			continue
		}
		adapted := a.adaptFile(old, now)
		if adapted == nil || a.testLost {
			return nil
		}
		for _, file := range adapted {
			if places[file.Path] {
				return nil // one would hide what the other says
			}
			places[file.Path] = true
			if file.Path != f.Path || !bytes.Equal(file.Content, f.Content) {
				all = append(all, file)
			}
		}
	}
	return all
}

// adaptation is a work with values derived once.
type adaptation struct {
	Work

	taskWords     map[string]bool // words of the task
	taskWordParts map[string]bool // words that they consist of
	pairing
	known       map[string]bool // tokens of the old file
	onlyCode    map[string]bool // tokens of the old file that are nowhere in quotes
	imported    map[string]bool // names that it imports
	testLost    bool            // a test is missing that may not be
	declared    map[string]bool // names, by added statements
	usedTests   map[*span]bool  // tests that replace one with another name
	removals    []removal       // what the task asks to remove
	dropped     map[string]bool // variables of removed statements
	inNamedTest bool            // the task names the test
}

// testText is a test file: its tests, and the statements beside them.
type testText struct {
	File

	l            language
	s            source.Source
	plain        string // without comments
	tests        []span
	beside, uses []statement
}

func readText(f File) (testText, bool) {
	l, known := languageOf(f.Path)
	if !known {
		return testText{}, false
	}
	t := testText{File: f, l: l, s: source.Bare(string(f.Content), l.style()), plain: source.Uncommented(string(f.Content), l.style())}
	at := 0
	beside := func(to int) {
		for _, s := range t.statements(at, max(at, to)) {
			if importing.MatchString(s.text) {
				t.uses = append(t.uses, s)
			} else {
				t.beside = append(t.beside, s)
			}
		}
	}
	for _, sp := range l.spans(t.s) {
		if setupFunction.MatchString(sp.name) {
			continue
		}
		beside(sp.from)
		if at = max(at, sp.to); sp.group { // its content belongs to its tests, except for its head
			at = sp.head + source.LineEnd(t.plain[sp.head:])
			continue
		}
		t.tests = append(t.tests, sp)
	}
	beside(len(t.plain))
	return t, true
}

// setupFunction matches functions that run before tests.
var setupFunction = regex.New(`(?i)^(?:init|main|TestMain|set_?up\w*|tear_?down\w*|before\w*|after\w*|pytest_\w*)$`)

// counterpart returns the file that contains old tests now: the same path, or the new file with
// most of them; nil if none.
func (t testText) counterpart(files []testText) *testText {
	if i := slices.IndexFunc(files, func(f testText) bool { return f.Path == t.Path }); i >= 0 {
		return &files[i]
	}
	shared := func(f testText) (n int) {
		for _, test := range t.tests {
			switch {
			case f.test(test.name) != nil:
				n += 2
			case len(t.tests) == 1 && len(f.tests) == 1: // it may have another name
				n++
			}
		}
		return n
	}
	if len(files) == 0 {
		return nil
	}
	best := slices.MaxFunc(files, func(a, b testText) int { return cmp.Compare(shared(a), shared(b)) })
	if shared(best) == 0 && (len(t.tests) > 0 || path.Base(best.Path) != path.Base(t.Path)) {
		return nil
	}
	return &best
}

// test returns the test of a name.
func (t testText) test(name string) *span {
	if i := slices.IndexFunc(t.tests, func(sp span) bool { return sp.name == name }); i >= 0 {
		return &t.tests[i]
	}
	return nil
}

// edit replaces a part of a text.
type edit struct {
	from, to int
	text     string
}

// adapt returns an old file with the allowed changes, and whether it has fewer tests.
func (a *adaptation) adapt(old, now testText) (adapted []byte, fewer bool) {
	a.read(old)
	edits, _ := a.statements(old, now, old.beside, now.beside)
	a.testLost = a.testLost || now.skipsTests() && !old.skipsTests()
	for _, t := range old.tests {
		is := now.test(t.name)
		if is == nil && a.mayRemove(old, t, &now) {
			edits, fewer = append(edits, edit{t.from, t.to, old.emptyBody(t)}), true
			continue
		}
		if is == nil {
			is = a.renamedTest(old, t, now)
		}
		if a.testLost = a.testLost || is == nil || slices.ContainsFunc(compare(t.test, is.test), func(k Kind) bool { return k != Changed }); a.testLost {
			return old.Content, false
		}
		a.expectTest(t.name)
		more, _ := a.statements(old, now, old.statements(t.head, t.to), now.ofTest(*is))
		a.expectTest("")
		edits = append(edits, more...)
	}
	text := applyEdits(string(old.Content), edits)
	if text = a.imports(old, now, text); asyncTest.MatchString(text) && !asyncTest.MatchString(string(old.Content)) && unittestCase.MatchString(text) {
		return old.Content, false // nobody would await the tests
	}
	return []byte(text), fewer
}

// read makes an old file the one that is adapted.
func (a *adaptation) read(old testText) {
	a.known = Words(old.plain)
	count := func(text string) map[string]int {
		n := map[string]int{}
		for _, token := range tokens.FindAllString(text, -1) {
			n[token]++
		}
		return n
	}
	a.onlyCode, a.imported = map[string]bool{}, map[string]bool{}
	inCode := count(old.s.Code)
	for token, n := range count(old.plain) {
		a.onlyCode[token] = n == inCode[token]
	}
	for _, line := range old.imported() {
		maps.Copy(a.imported, old.boundNames(line))
	}
}

// asyncTest and unittestCase match a Python test that unittest never awaits.
var asyncTest, unittestCase = regex.New(`(?m)^\s+async\s+def\s+test`), regex.New(`\bTestCase\b`)

// skipsTests reports whether a file or group of tests is skipped, or only one test is focused.
func (t testText) skipsTests() bool {
	spans := t.l.spans(t.s)
	return t.l.outsideTests(t.s, spans).skipped || slices.ContainsFunc(spans, func(sp span) bool { return sp.focused || sp.group && sp.skipped })
}

// renamedTest returns the only new test with all statements of an old one, or nil: then the old one
// is missing.
func (a *adaptation) renamedTest(old testText, t span, now testText) *span {
	for i, is := range now.tests {
		at := &now.tests[i]
		if old.test(is.name) != nil || a.usedTests[at] {
			continue
		}
		before := a.pairing.copy()
		if _, whole := a.statements(old, now, old.statements(t.head, t.to), now.ofTest(is)); whole {
			a.usedTests[at] = true
			return at
		}
		a.pairing = before
	}
	return nil
}

// statements returns the edits from old to new statements. An old statement without an allowed
// counterpart stays, unless the task asks to remove what it calls and nothing is in its place; then
// whole is false.
func (a *adaptation) statements(old, now testText, was, is []statement) (edits []edit, whole bool) {
	found := 0
	a.declared, a.dropped = map[string]bool{}, map[string]bool{}
	var drops []edit // since the last counterpart
	at, gone := 0, 0
	for _, s := range was {
		if s.at < gone {
			continue
		}
		i, text := a.counterpart(s, is[at:])
		if i < 0 {
			if e, may := a.mayDrop(old, now, s); may {
				drops, gone = append(drops, e), e.to
			}
			continue
		}
		found++
		if i == 0 {
			edits = append(edits, drops...)
		}
		drops = nil
		i += at
		if at = i + 1; strings.TrimSpace(text) != strings.TrimSpace(s.text) {
			lead := s.text[:len(s.text)-len(strings.TrimLeft(s.text, " \t\r\n"))]
			text = a.declarations(slices.Concat(is[:i], now.beside), text, lead) + lead + strings.TrimSpace(text)
			edits = append(edits, edit{s.at, s.at + len(s.text), text})
		}
	}
	if at == len(is) {
		edits = append(edits, drops...)
	}
	return edits, found == len(was)
}

// counterpart returns the first new statement that an old one may have become, with its text; -1 for
// none.
func (a *adaptation) counterpart(s statement, is []statement) (int, string) {
	for i := range is {
		if text, same := a.adaptStatement(s, is[i]); same {
			return i, text
		}
	}
	return -1, ""
}

// declarations returns the added statements that declare what a text uses and the old file lacks.
// Only values are allowed.
func (a *adaptation) declarations(came []statement, text, lead string) (found string) {
	for _, name := range slices.Sorted(maps.Keys(Words(text))) {
		if a.known[name] || a.AddedNames[name] || a.images[name] != "" || a.declared[name] || !isName(name) {
			continue
		}
		for _, s := range came {
			m := declares.FindStringSubmatchIndex(s.text)
			if m == nil || s.text[m[2]:m[3]] != name || !a.isValue(s.text) {
				continue
			}
			a.declared[name] = true
			text := s.text
			if m[4] >= 0 { // a language may not let the other stand unused
				text = text[:m[4]] + "_" + text[m[5]:]
			}
			text = strings.TrimSpace(text)
			found += a.declarations(came, text, lead) + "\n" + strings.TrimLeft(lead, "\r\n") + text
			break
		}
	}
	return found
}

// emptyBody returns what replaces a removed test.
func (t testText) emptyBody(sp span) string {
	if t.l.extent != indents {
		return ""
	}
	line := t.plain[sp.from:]
	return line[:source.Indent(line)] + "pass\n"
}

// applyEdits applies edits to a text.
func applyEdits(text string, edits []edit) string {
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(b.from, a.from) })
	for _, e := range edits {
		text = text[:e.from] + e.text + text[e.to:]
	}
	return text
}

// pairing is what an adaptation has decided so far. A copy brings it back after a try that failed.
type pairing struct {
	pairs, images map[string]string // new tokens for old ones, and the reverse, for all files
	correction    []string          // the value of the named test that is corrected: old and new
}

func (p pairing) copy() pairing {
	return pairing{maps.Clone(p.pairs), maps.Clone(p.images), p.correction}
}
