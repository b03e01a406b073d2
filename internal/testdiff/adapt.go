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

// A task may ask for what old tests cannot outlive: a function takes another parameter, a type
// gets another name, a limit another value, a feature goes. Whoever does such a task adapts the
// tests, and so does a cheat that hides something else under it. What the agent made of a test is
// therefore not believed: Adapt takes the old text, and changes in it what the work itself changed and
// the task names, as the agent's version has it. Nothing that came beside it is in the result.
// Whether the work passes that is for the gates to tell.

// Work is what a claim did to the program, as far as its tests may have to follow.
type Work struct {
	Task    string             // the text of what was asked for
	Recast  map[string]bool    // functions that are called in another way, or give another result
	Fewer   map[string]int     // how many parameters less they take
	Gone    map[string]bool    // names that the program does not declare any more
	Came    map[string]bool    // names that it did not declare
	Left    map[string]bool    // names that a file of it declared, and does not have at all any more
	Swapped map[[2]string]bool // words and numbers of its lines with those in their place now, see AddSwapped
	// StandsIn reports whether tests could import something under a name that is no library and no
	// part of the program that was there.
	StandsIn func(module string) bool
	// Declares reports whether the program gives a name to something, or is in a file of that name.
	Declares func(name string) bool
	// Untested reports whether what the program still has under a name is in no other file of tests; where
	// the work changed it, in none that is as it was.
	Untested func(name string) bool
}

// Adapted is an old test file as the work asks for it.
type Adapted struct {
	Was   string // where it was
	File         // where it is now, nil content: all of its tests may go
	Fewer bool   // some may
}

// Adapt returns the old test files that the work asks to be other than they were; after are those that
// were changed and those that are new. Old files of which nothing may change are left out. It returns
// nothing at all if a test is gone that may not be, or does not run any more.
func (w Work) Adapt(before, after []File) []Adapted {
	a := adaptation{Work: w, said: Words(w.Task), parts: map[string]bool{}, pairs: map[string]string{}, images: map[string]string{}, taken: map[*span]bool{}}
	for word := range a.said {
		for _, part := range partsOf(word) {
			a.parts[part] = true
		}
	}
	var now []testText
	for _, f := range after {
		if t, known := readText(f); known {
			now = append(now, t)
		}
	}
	var all []Adapted
	for _, f := range before {
		old, known := readText(f)
		if !known {
			continue
		}
		adapted := Adapted{Was: f.Path, File: f}
		switch is := old.among(now); {
		case is != nil:
			adapted.Path = is.Path
			adapted.Content, adapted.Fewer = a.adapt(old, *is)
		case a.mayAllGo(old):
			adapted.Content, adapted.Fewer = nil, true
		default:
			return nil
		}
		if a.lost {
			return nil
		}
		if adapted.Path != f.Path || !bytes.Equal(adapted.Content, f.Content) {
			all = append(all, adapted)
		}
	}
	return all
}

// adaptation holds what is derived from a work once.
type adaptation struct {
	Work

	said          map[string]bool   // words of the task
	parts         map[string]bool   // what its words consist of
	pairs, images map[string]string // what stands for what was there, and the reverse: one for all files
	known         map[string]bool   // tokens of the old file
	lost          bool              // a test is, which may not be
	declared      map[string]bool   // names, by statements that came
	taken         map[*span]bool    // tests that have the place of one with another name
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
	t := testText{File: f, l: l, s: source.Bare(string(f.Content), l.style), plain: source.Uncommented(string(f.Content), l.style)}
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
		if loadsBefore.MatchString(sp.name) {
			continue
		}
		beside(sp.from)
		if at = max(at, sp.to); sp.group { // what stands in it is its tests', but for its head
			at = sp.head + source.LineEnd(t.plain[sp.head:])
			continue
		}
		t.tests = append(t.tests, sp)
	}
	beside(len(t.plain))
	return t, true
}

// loadsBefore matches what runs before tests and is none.
var loadsBefore = regex.New(`(?i)^(?:init|main|TestMain|set_?up\w*|tear_?down\w*|before\w*|after\w*|pytest_\w*)$`)

// among is the file in which old tests are now: their own, or the new one that has most of them; nil if
// there is none.
func (t testText) among(files []testText) *testText {
	if i := slices.IndexFunc(files, func(f testText) bool { return f.Path == t.Path }); i >= 0 {
		return &files[i]
	}
	shared := func(f testText) (n int) {
		for _, test := range t.tests {
			if f.test(test.name) != nil || len(t.tests) == 1 && len(f.tests) == 1 {
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

// test is the test of a name.
func (t testText) test(name string) *span {
	if i := slices.IndexFunc(t.tests, func(sp span) bool { return sp.name == name }); i >= 0 {
		return &t.tests[i]
	}
	return nil
}

// edit replaces a stretch of a text.
type edit struct {
	from, to int
	text     string
}

// adapt is an old file with what of it may be as it is now, and whether it has fewer tests.
func (a *adaptation) adapt(old, now testText) (adapted []byte, fewer bool) {
	a.known = Words(old.plain)
	edits, _ := a.statements(now, old.beside, now.beside)
	a.lost = a.lost || now.silenced() && !old.silenced()
	for _, t := range old.tests {
		is := now.test(t.name)
		if is == nil && a.mayGo(old, t, &now) {
			edits, fewer = append(edits, edit{t.from, t.to, old.nothing(t)}), true
			continue
		}
		if is == nil {
			is = a.renamedTest(old, t, now)
		}
		if a.lost = a.lost || is == nil || slices.ContainsFunc(compare(t.test, is.test), func(k Kind) bool { return k != Changed }); a.lost {
			return old.Content, false
		}
		more, _ := a.statements(now, old.statements(t.head, t.to), now.ofTest(*is))
		edits = append(edits, more...)
	}
	text := applied(string(old.Content), edits)
	if text = a.imports(old, now, text); looksAsync.MatchString(text) && !looksAsync.MatchString(string(old.Content)) && awaitsNothing.MatchString(text) {
		return old.Content, false // nobody would await the tests
	}
	return []byte(text), fewer
}

// looksAsync and awaitsNothing match a test of Python's unittest that nobody awaits.
var looksAsync, awaitsNothing = regex.New(`(?m)^\s+async\s+def\s+test`), regex.New(`\bTestCase\b`)

// silenced reports whether a file or a group of tests is skipped, or a test stands alone.
func (t testText) silenced() bool {
	spans := t.l.spans(t.s)
	return t.l.loose(t.s, spans).skipped || slices.ContainsFunc(spans, func(sp span) bool { return sp.focused || sp.group && sp.skipped })
}

// renamedTest is the test with another name that has all of an old one's statements, of which no other is
// that; nil if there is none: then the old one is gone.
func (a *adaptation) renamedTest(old testText, t span, now testText) *span {
	for i, is := range now.tests {
		at := &now.tests[i]
		if old.test(is.name) != nil || a.taken[at] {
			continue
		}
		before := a.save()
		if _, whole := a.statements(now, old.statements(t.head, t.to), now.ofTest(is)); whole {
			a.taken[at] = true
			return at
		}
		a.goBack(before)
	}
	return nil
}

// statements are the edits that make old statements what they are now. One that has no counterpart, or
// differs from it in what the work does not ask for, stays as it was; then they are not whole.
func (a *adaptation) statements(now testText, was, is []statement) (edits []edit, whole bool) {
	found := 0
	a.declared = map[string]bool{}
	at := 0
	for _, s := range was {
		for i := at; i < len(is); i++ {
			text, same := a.stands(s, is[i])
			if !same {
				continue
			}
			found++
			if at = i + 1; strings.TrimSpace(text) != strings.TrimSpace(s.text) {
				lead := s.text[:len(s.text)-len(strings.TrimLeft(s.text, " \t\r\n"))]
				text = a.declarations(slices.Concat(is[:i], now.beside), text, lead) + lead + strings.TrimSpace(text)
				edits = append(edits, edit{s.at, s.at + len(s.text), text})
			}
			break
		}
	}
	return edits, found == len(was)
}

// declarations are those statements that came which declare what a text has and the old file has not.
// Only a value may come that way.
func (a *adaptation) declarations(came []statement, text, lead string) (found string) {
	for _, name := range slices.Sorted(maps.Keys(Words(text))) {
		if a.known[name] || a.Came[name] || a.images[name] != "" || a.declared[name] || !isName(name) {
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

// nothing is what stands for a test that went.
func (t testText) nothing(sp span) string {
	if t.l.extent != indents {
		return ""
	}
	line := t.plain[sp.from:]
	return line[:source.Indent(line)] + "pass\n"
}

// applied is a text with edits.
func applied(text string, edits []edit) string {
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(b.from, a.from) })
	for _, e := range edits {
		text = text[:e.from] + e.text + text[e.to:]
	}
	return text
}

// mayAllGo reports whether all tests of a file may.
func (a *adaptation) mayAllGo(old testText) bool {
	return len(old.tests) > 0 && !slices.ContainsFunc(old.tests, func(t span) bool { return !a.mayGo(old, t, nil) })
}

var (
	// goes begins the part of a task that says what is to be removed.
	goes = regex.New(`(?i)\b(?:remov|delet|drop|retir|get(?:ting)? rid of|strip)\w*\b`)
	// withTests ends it where tests are to go as well.
	withTests = regex.New(`(?i)(?:\band|\bwith|\bincluding|\bplus|,|\+)\s+(?:(?:all|of|its|their|the|old)\s+)*tests?\b`)
	// clause ends what a task says of one thing.
	clause = regex.New(`[;:,]\s|\.\s|\s-\s`)
	// pathsIn matches the files that it names.
	pathsIn = regex.New(`[\w/.-]+\.\w+`)
	// filler says nothing of what is removed.
	filler = regex.New(`(?i)^(?:.|an|all|any|the|of|for|from|in|and|or|it|its|to|their|old|unused|deprecated|obsolete|support|features?|functions?|methods?|class|modules?|package|code|files?|tests?|form|option|format|command|endpoint|api)$`)
)

// mayGo reports whether a test may be gone: the task asks to remove its file, or what it tests, by a name
// that it calls, or by all that the task says of it; and nothing that stays is untested then.
func (a *adaptation) mayGo(old testText, t span, now *testText) bool {
	at := goes.FindStringIndex(a.Task)
	if at == nil {
		return false
	}
	object := a.Task[at[1]:]
	if end := clause.FindStringIndex(object); end != nil {
		object = object[:end[0]]
	}
	byName := slices.ContainsFunc(pathsIn.FindAllString(object, -1), func(file string) bool { return file == old.Path || file == path.Base(old.Path) })
	with := withTests.FindStringIndex(object)
	if with != nil {
		object = object[:with[0]]
	}
	calls := Words(old.plain[t.from:t.to])
	where := strings.ToLower(path.Base(old.Path) + " " + t.name)
	called, said, all := byName, 0, 0
	for word := range Words(object) {
		called = called || a.Gone[word] && calls[word]
		if filler.MatchString(word) {
			continue
		}
		all++
		if strings.Contains(where, strings.ToLower(word)) || with == nil && calls[word] {
			said++
		}
	}
	for name := range calls {
		if called = called || with != nil && a.Gone[name]; !a.Gone[name] && !old.looksElsewhere(name, t, now) && a.Untested(name) {
			return false
		}
	}
	least := 2
	if with != nil {
		least = 1
	}
	return called || said >= max(least, all)
}

// looksElsewhere reports whether another test of a file has a name, and is still there.
func (t testText) looksElsewhere(name string, but span, now *testText) bool {
	return now != nil && slices.ContainsFunc(t.tests, func(other span) bool {
		return other.name != but.name && now.test(other.name) != nil && Words(t.plain[other.from:other.to])[name]
	})
}

// savedPairs are the pairs of an adaptation at one time, to go back to.
type savedPairs struct{ pairs, images map[string]string }

func (a *adaptation) save() savedPairs { return savedPairs{maps.Clone(a.pairs), maps.Clone(a.images)} }

func (a *adaptation) goBack(s savedPairs) { a.pairs, a.images = s.pairs, s.images }
