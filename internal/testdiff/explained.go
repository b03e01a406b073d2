package testdiff

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// A task may ask for what old tests cannot outlive: a function takes another parameter, a type
// gets another name, a limit another value, a feature goes. Whoever does such a task adapts the
// tests, and so does a cheat that hides something else under it. The two differ in the text: of a
// test that was adapted each statement is still there, in its order, and differs only by what
// the work itself changed and the task names. Nothing else is explained: that is a user's to approve.

// Work is what a claim did to the program, as far as its tests may have to follow.
type Work struct {
	Task   string          // the text of what was asked for
	Recast map[string]bool // functions that are called in another way, or give another result
	Gone   map[string]bool // names that the program does not declare any more
	Came   map[string]bool // names that it did not declare
	// StandsIn reports whether tests could import something under a name that is no library and no
	// part of the program that was there.
	StandsIn func(module string) bool
	// Untested reports whether what the program still has under a name is in no other test.
	Untested func(name string) bool
}

// Explains reports whether all that differs of old test files is what the work asks of them;
// after are those that were changed and those that are new. Of a language that it cannot read it
// explains nothing. It returns the other files that old tests are in now: whether a runner finds
// them there, their text does not tell.
func (w Work) Explains(before, after []File) (moved []string, explained bool) {
	e := explanation{Work: w, said: words(w.Task), moved: map[string]bool{}}
	for _, f := range after {
		if t, known := readText(f); known {
			e.now = append(e.now, t)
		}
	}
	for _, f := range before {
		if t, known := readText(f); !known || !e.explains(t) {
			return nil, false
		}
	}
	return slices.Sorted(maps.Keys(e.moved)), true
}

// explanation holds what is derived from a work once.
type explanation struct {
	Work

	said  map[string]bool // words of the task
	now   []testText
	moved map[string]bool // files that tests of others are in now

	variables map[string]string // of the text that is compared: those with another name now
}

// testText is a test file: its tests, and the statements beside them.
type testText struct {
	File

	l            language
	s            source.Source
	plain        string // without comments
	silenced     bool   // a group is skipped, or a test is focused
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
	spans := l.spans(t.s)
	t.silenced = l.loose(t.s, spans).skipped
	for _, sp := range spans {
		t.silenced = t.silenced || sp.focused || sp.group && sp.skipped
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

// explains compares an old test file with what there is now.
func (e explanation) explains(old testText) bool {
	var fit []testText // where its tests say what they said
	for _, now := range e.now {
		standsIn := func(s statement) bool { return e.standsIn(s, old) }
		if (old.silenced || !now.silenced) && !now.replacesMore(old) && e.holds(now, old.beside, now.beside) && !slices.ContainsFunc(now.uses, standsIn) {
			fit = append(fit, now)
		}
	}
	whole := func(testText) bool { return true }
	if len(old.tests) == 0 { // all of it is a test
		return e.isIn(fit, old, whole)
	}
	return !slices.ContainsFunc(old.tests, func(t span) bool {
		return !e.isIn(fit, old, func(now testText) bool { return e.keeps(old, t, now) }) && !e.mayGo(old, t)
	})
}

// isIn reports whether one of some files will do, best the one that was there; another is remembered.
func (e explanation) isIn(files []testText, old testText, will func(now testText) bool) bool {
	if slices.ContainsFunc(files, func(now testText) bool { return now.Path == old.Path && will(now) }) {
		return true
	}
	i := slices.IndexFunc(files, will)
	if i >= 0 {
		e.moved[files[i].Path] = true
	}
	return i >= 0
}

// replacesMore reports whether anything in a file, its new tests included, puts something else in the
// place of a part of the program, and was not in another file.
func (t testText) replacesMore(old testText) bool {
	return slices.ContainsFunc(t.statements(0, len(t.plain)), func(s statement) bool {
		return t.replaces(s) && !importing.MatchString(s.text) && !strings.Contains(old.plain, strings.TrimSpace(s.text))
	})
}

// keeps reports whether a test is still there in a file, and says the same.
func (e explanation) keeps(old testText, t span, now testText) bool {
	was := old.statements(t.head, t.to)
	return slices.ContainsFunc(now.tests, func(is span) bool {
		silenced := slices.ContainsFunc(compare(t.test, is.test), func(k Kind) bool { return k != Changed })
		return !silenced && e.holds(now, was, now.statements(is.head, is.to))
	})
}

// holds reports whether all statements of one text stand in another in their order, each as the
// work may have changed it, and nothing between them that could change what they say.
func (e explanation) holds(now testText, was, is []statement) bool {
	known := map[string]bool{}
	for _, s := range was {
		for _, token := range s.tokens {
			known[token] = true
		}
		known[s.call()] = true
	}
	e.variables = map[string]string{}
	end := 0
	for _, s := range is {
		switch {
		case s.at < end: // part of what came
		case len(was) > 0 && e.stands(was[0], s, known):
			was = was[1:]
		case now.helper(s, known) > 0:
			end = now.helper(s, known)
		case !now.harmless(s, known):
			return false
		}
	}
	return len(was) == 0
}

// standsIn reports whether an import is of something that is none of the program's, and that the old
// tests did not import.
func (e explanation) standsIn(s statement, old testText) bool {
	return slices.ContainsFunc(s.tokens, func(name string) bool {
		imported := slices.ContainsFunc(old.uses, func(o statement) bool { return slices.Contains(o.tokens, name) })
		return !imported && !e.said[name] && e.StandsIn(name)
	})
}

var (
	// goes begins the part of a task that says what is to be removed.
	goes = regex.New(`(?i)\b(?:remov|delet|drop|retir|get(?:ting)? rid of|strip)\w*\b`)
	// withTests ends it where tests are to go as well.
	withTests = regex.New(`(?i)(?:\band|\bwith|\bincluding|\bplus|,|\+)\s+(?:(?:all|of|its|their|the|old)\s+)*tests?\b`)
	// clause ends what a task says of one thing.
	clause = regex.New(`[;:,]\s|\.\s|\s-\s`)
	// filler says nothing of what is removed.
	filler = regex.New(`(?i)^(?:.|an|all|any|the|of|for|from|in|and|or|it|its|to|their|old|unused|deprecated|obsolete|support|features?|functions?|methods?|class|modules?|package|code|files?|tests?|form|option|format|command|endpoint|api)$`)
)

// mayGo reports whether a test may be gone: the task asks to remove what it tests, by a name
// that it calls, by all that the task says of it, or together with its tests; and nothing that
// stays is untested then.
func (e explanation) mayGo(old testText, t span) bool {
	at := goes.FindStringIndex(e.Task)
	if at == nil {
		return false
	}
	object := e.Task[at[1]:]
	if end := clause.FindStringIndex(object); end != nil {
		object = object[:end[0]]
	}
	with := withTests.FindStringIndex(object)
	if with != nil {
		object = object[:with[0]]
	}
	calls := words(old.plain[t.from:t.to])
	where := strings.ToLower(path.Base(old.Path) + " " + t.name)
	called, said, all := false, 0, 0
	for word := range words(object) {
		called = called || e.Gone[word] && calls[word]
		if filler.MatchString(word) {
			continue
		}
		all++
		if strings.Contains(where, strings.ToLower(word)) || with == nil && calls[word] {
			said++
		}
	}
	for name := range calls {
		if called = called || with != nil && e.Gone[name]; !e.Gone[name] && e.Untested(name) {
			return false
		}
	}
	return called || said > 0 && (with != nil || said >= max(2, all))
}
