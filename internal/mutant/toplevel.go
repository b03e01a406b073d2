package mutant

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// OnlyFunctionsChanged reports whether all changes in a file are in functions that can be mutated,
// besides inert lines: imports, types, class heads. Only then a tree with all of them mutated lacks
// the whole change. In doubt it says no.
func OnlyFunctionsChanged(file string, before, after []byte) bool {
	if !Knows(file) || source.IsGenerated(after) {
		return false
	}
	if slices.ContainsFunc(edited(file, before, after), func(f editedFunction) bool { return len(f.mutants) == 0 }) {
		return false
	}
	is := byName(file, after)
	for name := range byName(file, before) {
		if _, stays := is[name]; !stays { // no mutant restores a removed function
			return false
		}
	}
	old, now := topLevelOf(file, before), topLevelOf(file, after)
	return !old.unread && !now.unread && slices.Equal(old.effects, now.effects) && source.ContainsAll(now.inert, old.inert)
}

// MutateAll returns the alternatives of mutants for all added or changed functions, where tests
// name what was added. Numbers and texts that no function uses change too. All else stays, so that the program
// builds: also a function with other parameters that no test names. A function whose old text names
// such a function calls a copy of its old text, or stays if there is none (see UncallableOld). It
// returns false if an added function has no mutant.
func MutateAll(file string, before, after []byte, misfits Uncallable) ([][]Mutant, bool) {
	if !Knows(file) || source.IsGenerated(after) {
		return nil, false
	}
	if slices.ContainsFunc(edited(file, before, after), func(f editedFunction) bool { return f.isNew && len(f.mutants) == 0 }) {
		return nil, false
	}
	var all [][]Mutant
	for _, f := range Changed(file, before, after) {
		if ways := f.fitting(misfits); len(ways) > 0 {
			all = append(all, ways)
		}
	}
	var used strings.Builder // a test that only looks at such a value says nothing of the functions
	for _, f := range functions(file, after) {
		used.WriteString(Code(file, []byte(f.text)))
	}
	for _, name := range Declared(file, before, after) {
		if m, ok := otherValue(after, name); ok && !Names(used.String(), name) {
			all = append(all, []Mutant{m})
		}
	}
	return all, true
}

// fitting returns a function's mutants that fit callers which stay as they are; none if it stays too.
func (f Function) fitting(misfits Uncallable) []Mutant {
	switch head, misfit := misfits[f.Name]; {
	case f.ParametersChanged && misfit && head != "":
		return []Mutant{oldCopy(f, misfits)}
	case f.ParametersChanged && misfit:
		return nil
	case f.Undo().Kind != Old || !slices.ContainsFunc(slices.Collect(maps.Keys(misfits)), func(name string) bool { return Names(f.old, name) }):
		return f.Alternatives()
	}
	if m, ok := callingCopies(f, misfits); ok {
		return []Mutant{m}
	}
	return nil
}

// UncallableOld returns the functions that old text cannot call: removed ones, and those with other
// parameters that tests do not name. These have a copy where a compiler checks its calls.
func UncallableOld(file string, before, after []byte, tests string) Uncallable {
	is, was, found := byName(file, after), byName(file, before), Uncallable{}
	for name := range was {
		if _, stays := is[name]; !stays {
			found[name] = ""
		}
	}
	for _, f := range Changed(file, before, after) {
		if f.ParametersChanged && !Names(tests, f.Name) {
			found[f.Name] = copyHead(file, was[f.Name])
		}
	}
	return found
}

// otherValue gives a name another number or text, if that is its whole value.
func otherValue(content []byte, name string) (Mutant, bool) {
	of := regex.New(`(?m)^[^\n"'=]*\b` + regexp.QuoteMeta(name) + `\b[^\n"'=]*=[ \t]*(?:-?()\d[\d_.]*|["']()[^"'\\\n]*["'])[;,]?[ \t]*(?:(?://|#).*)?$`)
	m := of.FindSubmatchIndex(content)
	if m == nil {
		return Mutant{}, false
	}
	at := max(m[2], m[4])
	return Mutant{Other, "has another value", at, at, "7"}, true
}

// Declared returns the constants, variables and types that a change declared at the file's top
// level.
func Declared(file string, before, after []byte) []string {
	o := topLevelOf(file, after)
	lines := slices.Concat(o.effects, o.inert)
	if !strings.HasSuffix(file, ".go") {
		lines = slices.DeleteFunc(lines, func(line string) bool {
			return !bytes.HasPrefix(after, []byte(line)) && !bytes.Contains(after, []byte("\n"+line))
		})
	}
	var found []string
	for _, line := range lines {
		name := cmp.Or(declares.FindStringSubmatch(line)[1:]...)
		if strings.HasSuffix(file, ".go") {
			name = firstWord.FindString(line)
		}
		if name != "" && !Names(string(before), name) {
			found = append(found, name)
		}
	}
	return found
}

var (
	firstWord = regex.New(`^\w+`)
	declares  = regex.New(`^(?:(?:export|default|pub(?:\([^)]*\))?|public|private|protected|static|final|abstract|declare)\s+)*` +
		`(?:(?:const|let|var|class|interface|type|enum|struct|trait|record|static)\s+(?:mut\s+)?(\w+)|#\s*define\s+(\w+))|^(\w+)\s*(?::[^=]*)?=[^=]|^`)
)

// Names reports whether a text contains a function's name without its type.
func Names(text, function string) bool {
	name, _, _ := strings.Cut(function[strings.LastIndexByte(function, '.')+1:], "#")
	return source.HasWord(text, name)
}

// topLevel is the code outside functions, sorted.
type topLevel struct {
	effects []string // lines with an effect
	inert   []string // imports and types: an added one has no effect, a changed one may have
	unread  bool     // it could not be read
}

// topLevelOf returns the top level of a file; that of an unknown language is empty.
func topLevelOf(file string, content []byte) topLevel {
	if strings.HasSuffix(file, ".go") {
		return goTopLevel(content)
	}
	if l := languageOf(file); l != nil {
		return l.topLevel(string(content))
	}
	return topLevel{}
}

// goTopLevel returns Go's top level. Constants, variables, types with tags (which libraries read)
// and init functions have an effect.
func goTopLevel(content []byte) (o topLevel) {
	if len(bytes.TrimSpace(content)) == 0 {
		return o
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", content, parser.SkipObjectResolution)
	if err != nil {
		return topLevel{unread: true}
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if text := printed(set, spec); d.Tok == token.IMPORT || d.Tok == token.TYPE && !strings.Contains(text, "`") {
					o.inert = append(o.inert, text)
				} else {
					o.effects = append(o.effects, text)
				}
			}
		case *ast.FuncDecl:
			if d.Name.Name == "init" || d.Name.Name == "_" {
				o.effects = append(o.effects, printed(set, d))
			}
		}
	}
	slices.Sort(o.effects)
	return o
}

func (l *language) topLevel(text string) (o topLevel) {
	code := []byte(l.bare(text).Code)
	for _, f := range l.functions(text) {
		for i := f.from; i < f.from+len(f.text); i++ {
			if code[i] != '\n' {
				code[i] = ' '
			}
		}
	}
	at := 0
	for line := range strings.Lines(string(code)) {
		plain, whole := strings.TrimSpace(line), strings.TrimSpace(text[at:at+len(line)])
		at += len(line)
		switch {
		case plain == "" || closingLine.MatchString(plain):
		case inertLine.MatchString(plain), l.inertLines != nil && l.inertLines.MatchString(plain):
			o.inert = append(o.inert, whole)
		default:
			o.effects = append(o.effects, whole)
		}
	}
	slices.Sort(o.effects)
	return o
}

// closingLine matches lines that only close brackets, or remain of a function's head.
var closingLine = regex.New(`^[\s})\];,]*$|^(?:(?:export|default|const|let|var|pub|static|async|public|private|protected|inline|extern|final|override)\b\s*)+[;,]?$`)

// inertLine matches code lines without an effect.
var inertLine = regex.New(`^(?:` +
	`(?:import|from|package|use|using|extern crate)\b.*|#\s*include\b.*|#\s*pragma once` + // imports
	`|(?:export\s+)?(?:default\s+)?(?:pub(?:\([^)]*\))?\s+)?(?:(?:public|private|protected|abstract|final|static|sealed)\s+)*(?:class|interface|type|struct|enum|trait|impl|mod|namespace|record)\b.*` +
	`|export\s*(?:default\s*)?(?:\{.*|\*.*|async)?|(?:module\.)?exports(?:\.\w+)?\s*=\s*\{?[\w$,\s]*\}?;?` + // exports
	`|(?:export\s+)?(?:const|let|var)?\s*[;,]?` + // the rest of const f = () => …
	`|(?:pub|static|async|public|private|protected|inline|extern|final|override)(?:\s+\w+)*:?` + // modifiers before a name
	`|[\w$,\s]*[})\];,]*|[{(\[]` + // lists of names, closing brackets
	`|@[\w.]+|#\[(?:derive|inline)\b.*|(?:"{3}|'{3}|"|')\s*(?:"{3}|'{3}|"|')?;?)$`) // annotations, and bare strings
