package testdiff

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

var (
	// goes begins the part of a task that says what is to be removed.
	goes = regex.New(`(?i)\b(?:remov|delet|drop|retir|get(?:ting)? rid of|strip)\w*\b`)
	// withTests ends it where tests are to go as well.
	withTests = regex.New(`(?i)(?:\band|\bwith|\bincluding|\bplus|,|\+)\s+(?:(?:all|of|its|their|the|old)\s+)*(?:tests?|checks?|specs?)\b`)
	// clause ends what a task says of one thing; a comma does before what is no further thing.
	clause = regex.New(`[;:]\s|\.\s|\s-\s|,\s`)
	// further begins another thing of a list.
	further = regex.New("^(?:(?:and|or|with|including|plus)\\b|[`\"']|\\S+(?:,|\\s+(?:and|or)\\b|$))")
	// pathsIn matches the files that it names.
	pathsIn = regex.New(`[\w/.-]+\.\w+`)
	// filler says nothing of what is removed.
	filler = regex.New(`(?i)^(?:.|an|all|any|the|of|for|from|in|and|or|it|its|to|their|old|unused|deprecated|obsolete|support|features?|functions?|methods?|class|modules?|package|code|files?|tests?|checks?|form|option|settings?|flag|fields?|rules?|format|command|endpoint|api)$`)
)

// removal is something that a task asks to remove.
type removal struct {
	withTests bool            // its tests, too
	words     map[string]bool // what it says of it
	files     []string        // those that it names, also as tests
}

// RemovalTexts returns the parts of a task that say what is to be removed.
func RemovalTexts(task string) (objects []string) {
	for _, at := range goes.FindAllStringIndex(task, -1) {
		object := task[at[1]:]
		for _, end := range clause.FindAllStringIndex(object, -1) {
			if object[end[0]] != ',' || !further.MatchString(object[end[1]:]) {
				object = object[:end[0]]
				break
			}
		}
		objects = append(objects, object)
	}
	return objects
}

// removals returns what the task asks to remove.
func (w Work) removals() (all []removal) {
	for _, object := range RemovalTexts(w.Task) {
		r := removal{files: pathsIn.FindAllString(object, -1)}
		if with := withTests.FindStringIndex(object); with != nil {
			r.withTests, object = true, object[:with[0]]
		}
		r.words = Words(object)
		all = append(all, r)
	}
	return all
}

// removes reports whether the task asks to remove what has a name.
func (a *adaptation) removes(name string) bool {
	return slices.ContainsFunc(a.removals, func(r removal) bool { return r.words[name] })
}

// mayRemoveAll reports whether all tests of a file may be removed.
func (a *adaptation) mayRemoveAll(old testText) bool {
	return len(old.tests) > 0 && !slices.ContainsFunc(old.tests, func(t span) bool { return !a.mayRemove(old, t, nil) })
}

// mayRemove reports whether a test may be removed. The task asks to remove its file, a name that it
// calls, or all that the task describes. Nothing that stays may become untested.
func (a *adaptation) mayRemove(old testText, t span, now *testText) bool {
	return slices.ContainsFunc(a.removals, func(r removal) bool { return a.mayRemoveWith(r, old, t, now) })
}

func (a *adaptation) mayRemoveWith(r removal, old testText, t span, now *testText) bool {
	calls := Words(old.plain[t.from:t.to])
	where := strings.ToLower(path.Base(old.Path) + " " + t.name)
	called, said, all := slices.ContainsFunc(r.files, func(file string) bool { return file == old.Path || file == path.Base(old.Path) }), 0, 0
	for word := range r.words {
		called = called || a.RemovedNames[word] && calls[word]
		if filler.MatchString(word) {
			continue
		}
		all++
		if strings.Contains(where, strings.ToLower(word)) || !r.withTests && calls[word] {
			said++
		}
	}
	for name := range calls {
		if called = called || r.withTests && a.RemovedNames[name]; !a.RemovedNames[name] && !old.testedElsewhere(name, t, now) && a.Untested(name) {
			return false
		}
	}
	least := 2
	if r.withTests {
		least = 1
	}
	return called || said >= max(least, all)
}

// testedElsewhere reports whether another remaining test of the file mentions a name.
func (t testText) testedElsewhere(name string, but span, now *testText) bool {
	return now != nil && slices.ContainsFunc(t.tests, func(other span) bool {
		return other.name != but.name && now.test(other.name) != nil && Words(t.plain[other.from:other.to])[name]
	})
}

// mayDrop returns the edit that removes an old statement with its block, if the task asks to remove
// a name that it calls. Nothing that stays may become untested.
func (a *adaptation) mayDrop(old, now testText, s statement) (edit, bool) {
	start := s.at + len(s.text) - len(strings.TrimLeft(s.text, " \t\r\n"))
	e := edit{start, s.at + len(s.text), ""}
	calls := func(name string) bool { return a.RemovedNames[name] && a.removes(name) || a.dropped[name] }
	if !slices.ContainsFunc(s.tokens, calls) {
		return e, false
	}
	switch last := s.tokens[len(s.tokens)-1]; {
	case last == "{":
		e.to = old.s.Block(s.at + strings.LastIndexByte(s.text, '{'))
	case old.l.extent == indents && last == ":":
		e.to = old.s.Indented(start, "")
	case !balanced(s.tokens):
		return e, false
	}
	stays := Words(now.plain)
	for name := range Words(old.plain[e.from:e.to]) {
		if !a.RemovedNames[name] && !stays[name] && a.Untested(name) {
			return e, false
		}
	}
	if m := declares.FindStringSubmatch(s.text); m != nil {
		a.dropped[m[1]] = true
	}
	if old.l.extent == indents {
		e.text = "pass"
	}
	return e, true
}

// balanced reports whether a text closes the brackets that it opens.
func balanced(tokens []string) bool {
	depth := 0
	for _, token := range tokens {
		if depth += source.Depth(token[0]); depth < 0 {
			return false
		}
	}
	return depth == 0
}
