package mutant

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"

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
		case inert.MatchString(plain):
			o.holds = append(o.holds, whole)
		default:
			o.acts = append(o.acts, whole)
		}
	}
	slices.Sort(o.acts)
	return o
}

// closes are lines that only close what is open, or are left of a function's head.
var closes = regexp.MustCompile(`^[\s})\];,]*$|^(?:(?:export|default|const|let|var|pub|static|async|public|private|protected|inline|extern|final|override)\b\s*)+[;,]?$`)

// inert are lines that have no effect of their own, in bare code.
var inert = regexp.MustCompile(`^(?:` +
	`(?:import|from|package|use|using|extern crate)\b.*|#\s*include\b.*|#\s*pragma once` + // imports
	`|(?:export\s+)?(?:default\s+)?(?:pub(?:\([^)]*\))?\s+)?(?:(?:public|private|protected|abstract|final|static|sealed)\s+)*(?:class|interface|type|struct|enum|trait|impl|mod|namespace|record)\b.*` +
	`|export\s*(?:default\s*)?(?:\{.*|\*.*|async)?|(?:module\.)?exports(?:\.\w+)?\s*=\s*\{?[\w$,\s]*\}?;?` + // what is shown outside
	`|(?:export\s+)?(?:const|let|var)?\s*[;,]?` + // what is left of const f = () => …
	`|(?:pub|static|async|public|private|protected|inline|extern|final|override)(?:\s+\w+)*:?` + // what stands before a name
	`|[\w$,\s]*[})\];,]*|[{(\[]` + // lists of names, and what closes
	`|@[\w.]+|#\[(?:derive|inline)\b.*|(?:"{3}|'{3}|"|')\s*(?:"{3}|'{3}|"|')?;?)$`) // annotations, and text that stands alone
