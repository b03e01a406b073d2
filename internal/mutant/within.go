package mutant

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// Within reports whether all that changed in a file lies in functions that are there
// and can be broken, beside what has no effect of its own: imports, types, the lines
// that hold functions together. Only then a tree with all of them broken does nothing
// of what the change did. It is false where that cannot be told.
func Within(file string, before, after []byte) bool {
	if !Knows(file) || generated(after) {
		return false
	}
	old := map[string]string{}
	for _, f := range functions(file, before) {
		old[f.name] = f.plain
	}
	for _, f := range functions(file, after) {
		if plain, known := old[f.name]; len(f.mutants) == 0 && (!known || plain != f.plain) {
			return false
		}
		delete(old, f.name)
	}
	if len(old) > 0 { // that one is gone is an effect, which no broken function takes back
		return false
	}
	var was, is outside
	if strings.HasSuffix(file, ".go") {
		was, is = goOutside(before), goOutside(after)
	} else {
		l := languageOf(file)
		was, is = l.outside(string(before)), l.outside(string(after))
	}
	return !was.unread && !is.unread && slices.Equal(was.acts, is.acts) && keeps(is.holds, was.holds)
}

// Emptied are the alternatives of mutants that break all functions which a change added to a file or changed
// in it, where tests name what was added. Numbers and texts that it gave a name are
// others. All else stays as it is now, so that the program builds: also a function that
// takes other parameters and that no test names, and one whose old text names such a
// function, or one that is gone (see Misfits). It is false where an added function cannot
// be broken.
func Emptied(file string, before, after []byte, misfits map[string]bool) ([][]Mutant, bool) {
	if !Knows(file) || generated(after) {
		return nil, false
	}
	old := map[string]bool{}
	for _, f := range functions(file, before) {
		old[f.name] = true
	}
	for _, f := range functions(file, after) {
		if !old[f.name] && len(f.mutants) == 0 {
			return nil, false
		}
	}
	var all [][]Mutant
	for _, f := range Changed(file, before, after) {
		if m := f.Stub(); !(f.Recast && misfits[f.Name]) && (m.Kind != Old || !names(m.text, misfits)) {
			all = append(all, f.Alternatives())
		}
	}
	for _, name := range Declared(file, before, after) {
		if m, ok := otherValue(after, name); ok {
			all = append(all, []Mutant{m})
		}
	}
	return all, true
}

// Misfits are the functions of a file that old text cannot call any more: those that are
// gone, and those that take other parameters and that tests do not name.
func Misfits(file string, before, after []byte, tests string) []string {
	is := map[string]bool{}
	for _, f := range functions(file, after) {
		is[f.name] = true
	}
	var found []string
	for _, f := range functions(file, before) {
		if !is[f.name] {
			found = append(found, f.name)
		}
	}
	for _, f := range Changed(file, before, after) {
		if f.Recast && !Names(tests, f.Name) {
			found = append(found, f.Name)
		}
	}
	return found
}

// otherValue gives a name another number or text, where one is all that it stands for.
func otherValue(content []byte, name string) (Mutant, bool) {
	of := regex.New(`(?m)^[^\n"'=]*\b` + regexp.QuoteMeta(name) + `\b[^\n"'=]*=[ \t]*(?:-?()\d[\d_.]*|["']()[^"'\\\n]*["'])[;,]?[ \t]*(?:(?://|#).*)?$`)
	m := of.FindSubmatchIndex(content)
	if m == nil {
		return Mutant{}, false
	}
	at := max(m[2], m[4])
	return Mutant{Other, "has another value", at, at, "7"}, true
}

// names reports whether a text names one of some functions.
func names(text string, functions map[string]bool) bool {
	for name := range functions {
		if Names(text, name) {
			return true
		}
	}
	return false
}

// Declared are the names of constants, variables and types that a change declared in a
// file, at its top.
func Declared(file string, before, after []byte) []string {
	var lines []string
	if strings.HasSuffix(file, ".go") {
		o := goOutside(after)
		lines = slices.Concat(o.acts, o.holds)
	} else if l := languageOf(file); l != nil {
		o := l.outside(string(after))
		lines = slices.DeleteFunc(slices.Concat(o.acts, o.holds), func(line string) bool {
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

// Names reports whether a text holds the name of a function, without its type or class.
func Names(text, function string) bool {
	name, _, _ := strings.Cut(function[strings.LastIndexByte(function, '.')+1:], "#")
	for at := 0; ; at++ {
		i := strings.Index(text[at:], name)
		if i < 0 || name == "" {
			return false
		}
		at += i
		if !isWord(text, at-1) && !isWord(text, at+len(name)) {
			return true
		}
	}
}

// isWord reports whether a letter, a digit or an underscore stands somewhere in a text.
func isWord(text string, at int) bool {
	return at >= 0 && at < len(text) && (text[at] == '_' || text[at] >= 0x80 || '0' <= text[at] && text[at] <= '9' || 'a' <= text[at]|0x20 && text[at]|0x20 <= 'z')
}

// outside is what stands outside of functions in a file, sorted.
type outside struct {
	acts   []string // does something
	holds  []string // imports and types: one that comes does nothing, one that changes may
	unread bool     // it could not be read
}

// keeps tells whether all of some lines are there still, each as often.
func keeps(now, then []string) bool {
	n := map[string]int{}
	for _, line := range now {
		n[line]++
	}
	for _, line := range then {
		if n[line]--; n[line] < 0 {
			return false
		}
	}
	return true
}

// goOutside: constants, variables, types with tags, which tell libraries what to do,
// and init functions act.
func goOutside(content []byte) (o outside) {
	if len(bytes.TrimSpace(content)) == 0 {
		return o
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", content, parser.SkipObjectResolution)
	if err != nil {
		return outside{unread: true}
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if text := printed(set, spec); d.Tok == token.IMPORT || d.Tok == token.TYPE && !strings.Contains(text, "`") {
					o.holds = append(o.holds, text)
				} else {
					o.acts = append(o.acts, text)
				}
			}
		case *ast.FuncDecl:
			if d.Name.Name == "init" || d.Name.Name == "_" {
				o.acts = append(o.acts, printed(set, d))
			}
		}
	}
	slices.Sort(o.acts)
	return o
}

func (l *language) outside(text string) (o outside) {
	code := []byte(source.Bare(text, l.style).Code)
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
		case plain == "" || closes.MatchString(plain):
		case inert.MatchString(plain), l.holds != nil && l.holds.MatchString(plain):
			o.holds = append(o.holds, whole)
		default:
			o.acts = append(o.acts, whole)
		}
	}
	slices.Sort(o.acts)
	return o
}

// closes are lines that only close what is open, or are left of a function's head.
var closes = regex.New(`^[\s})\];,]*$|^(?:(?:export|default|const|let|var|pub|static|async|public|private|protected|inline|extern|final|override)\b\s*)+[;,]?$`)

// inert are lines that have no effect of their own, in bare code.
var inert = regex.New(`^(?:` +
	`(?:import|from|package|use|using|extern crate)\b.*|#\s*include\b.*|#\s*pragma once` + // imports
	`|(?:export\s+)?(?:default\s+)?(?:pub(?:\([^)]*\))?\s+)?(?:(?:public|private|protected|abstract|final|static|sealed)\s+)*(?:class|interface|type|struct|enum|trait|impl|mod|namespace|record)\b.*` +
	`|export\s*(?:default\s*)?(?:\{.*|\*.*|async)?|(?:module\.)?exports(?:\.\w+)?\s*=\s*\{?[\w$,\s]*\}?;?` + // what is shown outside
	`|(?:export\s+)?(?:const|let|var)?\s*[;,]?` + // what is left of const f = () => …
	`|(?:pub|static|async|public|private|protected|inline|extern|final|override)(?:\s+\w+)*:?` + // what stands before a name
	`|[\w$,\s]*[})\];,]*|[{(\[]` + // lists of names, and what closes
	`|@[\w.]+|#\[(?:derive|inline)\b.*|(?:"{3}|'{3}|"|')\s*(?:"{3}|'{3}|"|')?;?)$`) // annotations, and text that stands alone
