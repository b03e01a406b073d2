package mutant

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"path"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// goFunctions returns the functions of a Go file, or none if it does not parse.
func goFunctions(content []byte) []function {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", content, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	var found []function
	bare := source.BareFile(".go", string(content))
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Body == nil || f.Name.Name == "init" || f.Name.Name == "_" {
			continue
		}
		from, to := set.Position(f.Pos()), set.Position(f.End())
		zeros, others := goValues(set, f.Type.Results)
		found = append(found, function{
			name: goName(set, f), line: from.Line, from: from.Offset, text: string(content[from.Offset:to.Offset]), plain: bare.Plain(from.Offset, to.Offset),
			mutants: returnMutants(set.Position(f.Body.Lbrace).Offset+1, goReturnFirst, zeros, others),
			params:  string(content[set.Position(f.Type.Params.Opening).Offset+1 : set.Position(f.Type.Params.Closing).Offset]),
			code:    bare.Code[set.Position(f.Body.Lbrace).Offset+1 : set.Position(f.Body.Rbrace).Offset],
			strict:  goStrict(set, file, f),
			enter:   entry{at: set.Position(f.Body.Lbrace).Offset + 1, leave: goReturnFirst},
		})
	}
	return found
}

// goReturnFirst returns from a function so that neither compiler nor vet reports unreachable code.
func goReturnFirst(value string) string {
	return strings.TrimSuffix(" if true { return "+value, " ") + " };"
}

func goName(set *token.FileSet, f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	of, _, _ := strings.Cut(strings.TrimPrefix(printed(set, f.Recv.List[0].Type), "*"), "[")
	return of + "." + f.Name.Name
}

// goImports returns the names of the packages that a Go file imports.
func goImports(content []byte) (names []string) {
	file, err := parser.ParseFile(token.NewFileSet(), "", content, parser.ImportsOnly)
	if err != nil {
		return nil
	}
	for _, spec := range file.Imports {
		name := versionElement.ReplaceAllString(strings.Trim(spec.Path.Value, "`\""), "")
		if name = path.Base(name); spec.Name != nil {
			name = spec.Name.Name
		}
		names = append(names, name)
	}
	return names
}

// versionElement matches the end of an import path that names no package.
var versionElement = regex.New(`/v[0-9]+$`)

func printed(set *token.FileSet, n any) string {
	var b bytes.Buffer
	if printer.Fprint(&b, set, n) != nil { // a node that the parser made can be printed
		return ""
	}
	return b.String()
}

// goValues returns the zero values of a mutant, and other values where the types have any. An error
// beside other results stays nil: callers ignore the rest otherwise.
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
		zero[i] = goZeroValue(t)
		other[i] = zero[i]
		if t != "error" || len(types) == 1 {
			other[i] = goOtherValue(t)
		}
	}
	return []string{strings.Join(zero, ", ")}, []string{strings.Join(other, ", ")}
}

func goZeroValue(t string) string {
	switch {
	case strings.Contains(goNumbers, " "+t+" "):
		return "0"
	case t == "string":
		return textValue
	case t == "bool":
		return "false"
	case t == "error", strings.HasPrefix(t, "*"), strings.HasPrefix(t, "[]"), strings.HasPrefix(t, "map["):
		return "nil"
	}
	return "*new(" + t + ")"
}

// textValue is a mutant's text. It is not empty: it may be part of a path that something removes,
// and "" + "/" is everything.
const textValue = `"pawl"`

const goNumbers = " int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 uintptr byte rune float32 float64 "

// goOtherValue returns another value, or the zero value if none is known. Bools have none: most
// tests ask for one answer only.
func goOtherValue(t string) string {
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
	if f := goFunction(t); f != "" {
		return f
	}
	return goZeroValue(t)
}

// goFunction returns a function of a type that does nothing, or "". A call of nil would crash the test
// before it compares anything.
func goFunction(t string) string {
	if m := goIterator.FindStringSubmatch(t); m != nil {
		return "func(func(" + m[1] + ") bool) {}"
	}
	set := token.NewFileSet()
	e, err := parser.ParseExprFrom(set, "", t, 0)
	f, ok := e.(*ast.FuncType)
	if err != nil || !ok {
		return ""
	}
	zeros, _ := goValues(set, f.Results)
	return t + " { return " + zeros[0] + " }"
}

var goIterator = regex.New(`^iter\.Seq2?\[(.+)\]$`)
