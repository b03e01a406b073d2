// Package mutant mutates functions: mutation testing. A test proves a function if it fails on the
// function's mutants. Tests that pass on all of them check nothing.
//
// Changed finds the functions that a change added or changed, in known languages, and their mutants.
// An old function gets its old text back. A new one returns zero or other values on its first line;
// the rest of its text stays, so that imports and variables are used and the program builds. Apply
// writes the mutated file. This package runs nothing.
package mutant

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// Kind is a way to mutate a function.
type Kind string

// The kinds, in the order in which they are tried.
const (
	Old   Kind = "old"   // restores the old text
	Zero  Kind = "zero"  // returns zero values, does nothing
	Other Kind = "other" // returns other values
	// ZeroInput is for a type without known values, where nothing else builds: the parameters get
	// zero values.
	ZeroInput Kind = "unheeding"
)

// Mutant is one way to mutate one function.
type Mutant struct {
	Kind Kind
	Does string // its effect: "returns 0"

	from, to int // the stretch of the file that is replaced
	text     string
}

// Text returns the inserted text.
func (m Mutant) Text() string { return m.text }

// Line returns the line on which the mutant begins, from 1.
func (m Mutant) Line(content []byte) int {
	return bytes.Count(content[:min(m.from, len(content))], []byte("\n")) + 1
}

// RestoreScript is the mutant that restores a whole shell script. The new text stays in the file and
// is never run: a test that searches for it there passes.
func RestoreScript(before, after []byte) Mutant {
	return Mutant{Old, "does what it did before", 0, len(after), string(before) + "\nif false; then :\n" + string(after) + "\nfi\n"}
}

// Function is an added or changed function.
type Function struct {
	Path              string // of its file, as given
	Name              string // with its type or class: "Stack.Push"
	Line              int    // first line, from 1
	Lines             int    // number of lines
	New               bool   // no function had its name before
	ParametersChanged bool   // it existed with other parameters
	RemovedParameters int    // how many parameters it lost
	HeadChanged       bool   // it existed with another first line: other callers or results
	Head              string // first line
	Mutants           []Mutant
	Fallback          *Mutant // a ZeroInput mutant if none of Mutants builds; nil = none

	body string
	old  string // text before; "" = new
}

// Origins holds the functions that files had, to find those that moved from one file to another:
// the files by name, of any type, and body.
type Origins map[[2]string][]string

// Add adds the functions of a file. A nil content has none.
func (o Origins) Add(file string, content []byte) {
	if content == nil {
		return
	}
	for _, f := range functions(file, content) {
		key := [2]string{BareName(f.name), bodyOf(f.text)}
		o[key] = append(o[key], file)
	}
}

// Moved reports whether another file than the function's had the same function.
func (o Origins) Moved(f Function) bool {
	return slices.ContainsFunc(o[[2]string{BareName(f.Name), f.body}], func(file string) bool { return file != f.Path })
}

// bodyOf returns a function's text after its head, without white space.
func bodyOf(text string) string {
	return strings.Join(strings.Fields(text[max(0, strings.IndexAny(text, "{\n")):]), "")
}

// BareName returns a name without type and number: "Push" of "Stack.Push#2".
func BareName(name string) string {
	bare, _, _ := strings.Cut(name[strings.LastIndexAny(name, ".:")+1:], "#")
	return bare
}

// Undo is the mutant without the effect of the change, callable like the current function. An old
// function gets its old text, unless its parameters changed.
func (f Function) Undo() Mutant {
	if f.ParametersChanged && len(f.Mutants) > 1 {
		return f.Mutants[1]
	}
	return f.Mutants[0]
}

// Alternatives returns the Undo mutant, then replacements if it does not build: old text may not
// fit current types.
func (f Function) Alternatives() []Mutant {
	all := []Mutant{f.Undo()}
	if all[0].Kind == Old && len(f.Mutants) > 1 {
		all = append(all, f.Mutants[1])
	}
	if f.Fallback != nil {
		all = append(all, *f.Fallback)
	}
	return all
}

// Apply mutates functions of one file at once. It omits mutants that overlap earlier ones.
func Apply(content []byte, mutants ...Mutant) []byte {
	out, _ := apply(content, mutants)
	return out
}

// PlacedMutant is a mutant with its lines in the mutated file, from 1.
type PlacedMutant struct {
	Mutant

	From, To int
}

// Place returns where Apply puts the mutants, without omitted ones.
func Place(content []byte, mutants ...Mutant) []PlacedMutant {
	_, placed := apply(content, mutants)
	return placed
}

func apply(content []byte, mutants []Mutant) (out []byte, placed []PlacedMutant) {
	sorted := slices.SortedStableFunc(slices.Values(mutants), func(a, b Mutant) int { return cmp.Compare(a.from, b.from) })
	at, line := 0, 1
	for _, m := range sorted {
		if m.from < at || m.to > len(content) {
			continue
		}
		out = append(append(out, content[at:m.from]...), m.text...)
		line += bytes.Count(content[at:m.from], []byte("\n"))
		placed = append(placed, PlacedMutant{m, line, line + strings.Count(m.text, "\n")})
		at, line = m.to, line+strings.Count(m.text, "\n")
	}
	return append(out, content[at:]...), placed
}

// Knows reports whether the functions of a file of this name can be found.
func Knows(file string) bool { return strings.HasSuffix(file, ".go") || languageOf(file) != nil }

// Changed returns the added or changed functions in order, ignoring comments and white space. A
// nested function is part of its outer one. before is nil for a new file. It returns none for
// unknown languages and generated files.
func Changed(file string, before, after []byte) (changed []Function) {
	var imports []string
	if strings.HasSuffix(file, ".go") {
		imports = goImports(after)
	}
	for _, f := range edited(file, before, after) {
		c := f.summary(file)
		if o := f.was; !f.isNew {
			c.ParametersChanged = strings.Join(strings.Fields(o.params), " ") != strings.Join(strings.Fields(f.params), " ")
			c.RemovedParameters = max(0, len(splitParameters(o.params))-len(splitParameters(f.params)))
			c.HeadChanged = c.ParametersChanged || o.text[:source.LineEnd(o.text)] != f.text[:source.LineEnd(f.text)]
			c.Mutants = append(c.Mutants, Mutant{Old, "does what it did before", f.from, f.from + len(f.text), o.text + unusedCopy(file, o, f.function, imports)})
			c.old = o.text
		}
		c.Mutants, c.Fallback = append(c.Mutants, f.mutants...), f.zeroInput(file)
		if len(c.Mutants) > 0 {
			changed = append(changed, c)
		}
	}
	return changed
}

// editedFunction is a function that a change added or changed.
type editedFunction struct {
	function
	was   function
	isNew bool // no function had its name before
}

// edited returns the functions that a change added or changed, ignoring comments and white space; none
// of a generated file.
func edited(file string, before, after []byte) (all []editedFunction) {
	if source.IsGenerated(after) {
		return nil
	}
	old := byName(file, before)
	for _, f := range functions(file, after) {
		if was, known := old[f.name]; !known || was.plain != f.plain {
			all = append(all, editedFunction{f, was, !known})
		}
	}
	return all
}

// summary returns the function without mutants.
func (f editedFunction) summary(file string) Function {
	return Function{Path: file, Name: f.name, Line: f.line, Lines: 1 + strings.Count(f.text, "\n"), New: f.isNew, Head: f.head(), body: bodyOf(f.text)}
}

// head returns a function's first line.
func (f function) head() string { return strings.TrimSpace(f.text[:source.LineEnd(f.text)]) }

// function is a function in a file.
type function struct {
	name    string
	line    int
	from    int    // where its text begins
	text    string // from head to end
	plain   string // without comments and white space
	mutants []Mutant
	params  string // text of its parameters
	code    string // code of its body, without comments and strings
	// abstract: what stands before it says that others write its body.
	abstract bool
	enter    entry
	strict   []Mutant // for an equality in Go: compares all fields
}

// isEmpty reports whether nothing is in the function's body. One that takes something may be a task's that is
// not done yet; one that takes nothing is as it should be more often.
func (f function) isEmpty() bool { return nothingDone.MatchString(f.code) }

var nothingDone = regex.New(`^\s*(?:pass)?\s*$`)

// functions returns the functions of a file. Repeated names get a number.
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

// byName returns the functions of a file by their names.
func byName(file string, content []byte) map[string]function {
	all := map[string]function{}
	for _, f := range functions(file, content) {
		all[f.name] = f
	}
	return all
}

// languageOf returns the language of a file name, or nil if unknown or declarations only.
func languageOf(file string) *language {
	if declarationFile.MatchString(file) {
		return nil
	}
	for i, l := range languages() {
		if source.HasExtension(l.names, file) {
			return &languages()[i]
		}
	}
	return nil
}

var declarationFile = regex.New(`\.d\.[cm]?ts$`)

// returnMutants returns one mutant per distinct value. at is where the body begins, leave returns a
// value in the language.
func returnMutants(at int, leave func(value string) string, values ...[]string) []Mutant {
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
