// Package mutant breaks functions on purpose: mutation testing. A test proves a
// function if it fails when the function is broken; tests that pass all the same
// only looked as if they did.
//
// Changed finds the functions that a change added or changed, in the languages that
// are known, and for each the ways to break it. An old function gets its old text
// back. A new one leaves at its first line with the zero values of its types, or with
// others; its own text stays behind that, so that what it imports and declares is
// still used and the program builds. Apply writes the broken file. Nothing is run
// here.
package mutant

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// Kind is a way to break a function.
type Kind string

// The kinds, in the order in which they are tried.
const (
	Old   Kind = "old"   // as it was before the change
	Zero  Kind = "zero"  // returns the zero values of its types, does nothing
	Other Kind = "other" // returns other values
	// Unheeding is for where none of these builds, as no value of its type is known: it
	// takes zero values, whatever it is given.
	Unheeding Kind = "unheeding"
)

// Mutant is one way to break one function.
type Mutant struct {
	Kind Kind
	Does string // what the broken function does: "returns 0"

	from, to int // the stretch of the file that is replaced
	text     string
}

// Text is what a mutant puts in the place of what it replaces.
func (m Mutant) Text() string { return m.text }

// Line is the line of a file on which a mutant's text begins, from 1.
func (m Mutant) Line(content []byte) int {
	return bytes.Count(content[:min(m.from, len(content))], []byte("\n")) + 1
}

// Back is the mutant that makes a whole file what it was before a change.
func Back(before, after []byte) Mutant {
	return Mutant{Old, "does what it did before", 0, len(after), string(before)}
}

// Function is one that a change added or changed.
type Function struct {
	Path    string // of its file, as it was given
	Name    string // with its type or class: "Stack.Push"
	Line    int    // that it begins on, from 1
	Lines   int    // how many it has
	New     bool   // no function had its name before
	Recast  bool   // it had, and takes other parameters now
	Fewer   int    // parameters than it took before
	Anew    bool   // it had, and has another first line now: it is called in another way, or gives another result
	Head    string // its first line, of stubs, equalities and what is not used
	Mutants []Mutant
	Last    *Mutant // for where none of Mutants builds, of the kind Unheeding; nil where there is none

	body string
}

// StoodIn reports whether a function was moved: another file had one of its name, of whatever
// type, that did the same.
func (f Function) StoodIn(file string, content []byte) bool {
	return slices.ContainsFunc(functions(file, content), func(o function) bool {
		return BareName(o.name) == BareName(f.Name) && bodyOf(o.text) == f.body
	})
}

// bodyOf is a function's text behind its head, without white space.
func bodyOf(text string) string {
	return strings.Join(strings.Fields(text[max(0, strings.IndexAny(text, "{\n")):]), "")
}

// BareName is a function's name without its type and number: "Push" of "Stack.Push#2".
func BareName(name string) string {
	bare, _, _ := strings.Cut(name[strings.LastIndexAny(name, ".:")+1:], "#")
	return bare
}

// Stub is the mutant that does nothing of what a change did and can be called as the
// function is now: an old function is as it was, unless that took other parameters.
func (f Function) Stub() Mutant {
	if f.Recast && len(f.Mutants) > 1 {
		return f.Mutants[1]
	}
	return f.Mutants[0]
}

// Alternatives are the mutant that Stub is and those that take its place where it does not
// build: what types are now, old text may not fit.
func (f Function) Alternatives() []Mutant {
	all := []Mutant{f.Stub()}
	if all[0].Kind == Old && len(f.Mutants) > 1 {
		all = append(all, f.Mutants[1])
	}
	if f.Last != nil {
		all = append(all, *f.Last)
	}
	return all
}

// Apply breaks functions of one file at once. Mutants that overlap are left out, the
// later ones; so is none of another file's.
func Apply(content []byte, mutants ...Mutant) []byte {
	out, _ := apply(content, mutants)
	return out
}

// Placed is a mutant with the lines that its text takes in a broken file, from 1.
type Placed struct {
	Mutant

	From, To int
}

// Place says where mutants are in what Apply makes of them, those that it leaves out aside.
func Place(content []byte, mutants ...Mutant) []Placed {
	_, placed := apply(content, mutants)
	return placed
}

func apply(content []byte, mutants []Mutant) (out []byte, placed []Placed) {
	sorted := slices.SortedStableFunc(slices.Values(mutants), func(a, b Mutant) int { return cmp.Compare(a.from, b.from) })
	at, line := 0, 1
	for _, m := range sorted {
		if m.from < at || m.to > len(content) {
			continue
		}
		out = append(append(out, content[at:m.from]...), m.text...)
		line += bytes.Count(content[at:m.from], []byte("\n"))
		placed = append(placed, Placed{m, line, line + strings.Count(m.text, "\n")})
		at, line = m.to, line+strings.Count(m.text, "\n")
	}
	return append(out, content[at:]...), placed
}

// Knows tells whether the functions of a file of this name can be found.
func Knows(file string) bool { return strings.HasSuffix(file, ".go") || languageOf(file) != nil }

// Changed are the functions of a file that are new or other than before, in their
// order. Comments and white space do not count. A function in another is part of it.
// before is nil for a new file; of a language that is not known, and of a file that is
// generated, there are none.
func Changed(file string, before, after []byte) []Function {
	if generated(after) {
		return nil
	}
	was, is := functions(file, before), functions(file, after)
	old := map[string]function{}
	for _, f := range was {
		old[f.name] = f
	}
	var changed []Function
	for _, f := range is {
		o, known := old[f.name]
		if known && o.plain == f.plain {
			continue
		}
		c := Function{Path: file, Name: f.name, Line: f.line, Lines: 1 + strings.Count(f.text, "\n"), New: !known, body: bodyOf(f.text)}
		if known {
			c.Recast = strings.Join(strings.Fields(o.params), " ") != strings.Join(strings.Fields(f.params), " ")
			c.Fewer = max(0, len(splitParameters(o.params))-len(splitParameters(f.params)))
			c.Anew = c.Recast || o.text[:source.LineEnd(o.text)] != f.text[:source.LineEnd(f.text)]
			c.Mutants = append(c.Mutants, Mutant{Old, "does what it did before", f.from, f.from + len(f.text), o.text})
		}
		c.Mutants, c.Last = append(c.Mutants, f.mutants...), f.unheeding(file)
		if len(c.Mutants) > 0 {
			changed = append(changed, c)
		}
	}
	return changed
}

// generated: the first lines say that a program wrote the file.
func generated(content []byte) bool {
	head := string(content[:min(len(content), 1000)])
	return strings.Contains(head, "DO NOT EDIT") || strings.Contains(head, "@generated")
}

// function is one as it stands in a file.
type function struct {
	name    string
	line    int
	from    int    // where its text begins
	text    string // from its head to its end
	plain   string // without comments and white space
	mutants []Mutant
	params  string // text of its parameters
	code    string // bare code of its body
	// abstract: what stands before it says that others write its body.
	abstract bool
	enter    entry
	strict   []Mutant // of an equality in Go: it compares all fields
}

// isEmpty reports whether nothing is in the function's body. One that takes something may be a task's that is
// not done yet; one that takes nothing is as it should be more often.
func (f function) isEmpty() bool { return nothingDone.MatchString(f.code) }

var nothingDone = regex.New(`^\s*(?:pass)?\s*$`)

// functions finds those of a file, without those that are empty by their nature. Of several with one name each but the first gets a
// number.
func functions(file string, content []byte) []function {
	var found []function
	if strings.HasSuffix(file, ".go") {
		found = goFunctions(content)
	} else if l := languageOf(file); l != nil {
		found = l.functions(string(content))
	}
	found = slices.DeleteFunc(found, func(f function) bool { return f.isEmpty() && (f.abstract || len(f.parameters(file)) == 0) })
	seen := map[string]int{}
	for i, f := range found {
		if seen[f.name]++; seen[f.name] > 1 {
			found[i].name += "#" + string(rune('0'+min(seen[f.name], 9)))
		}
	}
	return found
}

// languageOf is the language of a file of this name; nil where it is not known, or where all that stands
// in such a file are types.
func languageOf(file string) *language {
	if typesAlone.MatchString(file) {
		return nil
	}
	for i, l := range languages() {
		for glob := range strings.FieldsSeq(l.names) {
			if ok, err := path.Match(glob, path.Base(file)); ok && err == nil {
				return &languages()[i]
			}
		}
	}
	return nil
}

var typesAlone = regex.New(`\.d\.[cm]?ts$`)

// leaving are the mutants of a function that leaves with values: at is where its body
// begins, leave how its language says that. A value that is given twice is tried once.
func leaving(at int, leave func(value string) string, values ...[]string) []Mutant {
	var all []Mutant
	seen := map[string]bool{}
	for i, kind := range []Kind{Zero, Other}[:min(len(values), 2)] {
		for _, value := range values[i] {
			if seen[value] {
				continue
			}
			seen[value] = true
			does := "returns " + value
			if value == "" {
				does = "does nothing"
			}
			all = append(all, Mutant{kind, does, at, at, leave(value)})
		}
	}
	return all
}
