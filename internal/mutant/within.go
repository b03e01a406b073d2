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
	if strings.HasSuffix(file, ".go") {
		was, ok := goRest(before)
		is, okToo := goRest(after)
		return ok && okToo && slices.Equal(was, is)
	}
	l := languageOf(file)
	return slices.Equal(l.rest(string(before)), l.rest(string(after)))
}

// goRest is what a Go file does outside of such functions: its constants, variables,
// types with tags and init functions. It is false for one that does not parse.
func goRest(content []byte) (rest []string, ok bool) {
	if len(bytes.TrimSpace(content)) == 0 {
		return nil, true
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", content, parser.SkipObjectResolution)
	if err != nil {
		return nil, false
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.GenDecl:
			text := printed(set, d)
			if d.Tok == token.CONST || d.Tok == token.VAR || d.Tok == token.TYPE && strings.Contains(text, "`") {
				rest = append(rest, text) // the tags of a type tell libraries what to do
			}
		case *ast.FuncDecl:
			if d.Name.Name == "init" || d.Name.Name == "_" {
				rest = append(rest, printed(set, d))
			}
		}
	}
	slices.Sort(rest)
	return rest, true
}

// rest are the lines outside of functions that may do something, sorted.
func (l *language) rest(text string) (rest []string) {
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
		if plain := strings.TrimSpace(line); plain != "" && !inert.MatchString(plain) {
			rest = append(rest, strings.TrimSpace(text[at:at+len(line)]))
		}
		at += len(line)
	}
	slices.Sort(rest)
	return rest
}

// inert are lines that have no effect of their own, in bare code.
var inert = regexp.MustCompile(`^(?:` +
	`(?:import|from|package|use|using|extern crate)\b.*|#\s*include\b.*|#\s*pragma once` + // imports
	`|(?:export\s+)?(?:default\s+)?(?:pub(?:\([^)]*\))?\s+)?(?:(?:public|private|protected|abstract|final|static|sealed)\s+)*(?:class|interface|type|struct|enum|trait|impl|mod|namespace|record)\b.*` +
	`|export\s*(?:default\s*)?(?:\{.*|\*.*|async)?|(?:module\.)?exports(?:\.\w+)?\s*=\s*\{?[\w$,\s]*\}?;?` + // what is shown outside
	`|(?:export\s+)?(?:const|let|var)?\s*[;,]?` + // what is left of const f = () => …
	`|(?:pub|static|async|public|private|protected|inline|extern|final|override)(?:\s+\w+)*:?` + // what stands before a name
	`|[\w$,\s]*[})\];,]*|[{(\[]` + // lists of names, and what closes
	`|@[\w.]+|#\[(?:derive|inline)\b.*|(?:"{3}|'{3}|"|')\s*(?:"{3}|'{3}|"|')?;?)$`) // annotations, and text that stands alone
