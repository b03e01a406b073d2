package mutant

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"strings"

	"github.com/pawl-dev/pawl/internal/source"
)

// goFunctions are those of a Go file; none of a file that does not parse.
func goFunctions(content []byte) []function {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", content, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	var found []function
	bare := source.Bare(string(content), goStyle())
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Body == nil || f.Name.Name == "init" || f.Name.Name == "_" {
			continue
		}
		from, to := set.Position(f.Pos()), set.Position(f.End())
		zeros, others := goValues(set, f.Type.Results)
		found = append(found, function{
			name: goName(set, f), line: from.Line, from: from.Offset, text: string(content[from.Offset:to.Offset]), plain: bare.Plain(from.Offset, to.Offset),
			mutants: leaving(set.Position(f.Body.Lbrace).Offset+1, goLeave, zeros, others),
			params:  string(content[set.Position(f.Type.Params.Opening).Offset+1 : set.Position(f.Type.Params.Closing).Offset]),
			code:    bare.Code[set.Position(f.Body.Lbrace).Offset+1 : set.Position(f.Body.Rbrace).Offset],
			strict:  goStrict(set, file, f),
			enter:   entry{at: set.Position(f.Body.Lbrace).Offset + 1, leave: goLeave},
		})
	}
	return found
}

func goStyle() source.Style {
	style := source.CStyle("`", `"`)
	style.Char = true
	return style
}

// goLeave leaves a function in a way that neither the compiler nor vet calls the rest
// unreachable.
func goLeave(value string) string { return strings.TrimSuffix(" if true { return "+value, " ") + " };" }

func goName(set *token.FileSet, f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	of, _, _ := strings.Cut(strings.TrimPrefix(printed(set, f.Recv.List[0].Type), "*"), "[")
	return of + "." + f.Name.Name
}

func printed(set *token.FileSet, n any) string {
	var b bytes.Buffer
	if printer.Fprint(&b, set, n) != nil { // a node that the parser made can be printed
		return ""
	}
	return b.String()
}

// goValues are what a function returns when it is broken: the zero values, and others
// where its types have any that can be written without knowing more of them. An error
// beside other results stays nil: what is returned with one is not looked at.
func goValues(set *token.FileSet, results *ast.FieldList) (zeros, others []string) {
	if results == nil || results.NumFields() == 0 {
		return []string{""}, nil
	}
	var types []string
	for _, field := range results.List {
		for range max(1, len(field.Names)) {
			types = append(types, printed(set, field.Type))
		}
	}
	zero, other := make([]string, len(types)), make([]string, len(types))
	for i, t := range types {
		zero[i] = goZero(t)
		other[i] = zero[i]
		if t != "error" || len(types) == 1 {
			other[i] = goOther(t)
		}
	}
	return []string{strings.Join(zero, ", ")}, []string{strings.Join(other, ", ")}
}

func goZero(t string) string {
	switch {
	case strings.Contains(goNumbers, " "+t+" "):
		return "0"
	case t == "string":
		return word
	case t == "bool":
		return "false"
	case t == "error", strings.HasPrefix(t, "*"), strings.HasPrefix(t, "[]"), strings.HasPrefix(t, "map["):
		return "nil"
	}
	return "*new(" + t + ")"
}

// word is what a broken function returns for text. It is not empty: what is put together
// of it may be a path that something removes, and "" + "/" is everything.
const word = `"pawl"`

const goNumbers = " int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 uintptr byte rune float32 float64 "

// goOther is the zero value where no other is known. That of a bool is not tried: most
// tests of one ask for the one answer only.
func goOther(t string) string {
	switch {
	case strings.Contains(goNumbers, " "+t+" "):
		return "77"
	case t == "error":
		return "func() error { type broken struct{ error }; return broken{} }()"
	case strings.HasPrefix(t, "*"):
		return "new(" + t[1:] + ")"
	case strings.HasPrefix(t, "[]"):
		return "make(" + t + ", 1)"
	}
	return goZero(t)
}
