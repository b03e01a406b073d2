package arch

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"testing"
)

// TestExpressionsAreValid compiles the regular expressions that are written as
// constants: package regex does so at the first use, which a user would meet.
func TestExpressionsAreValid(t *testing.T) {
	t.Parallel()
	files := sources(t)
	constants := map[string]ast.Expr{} // "folder name" to value
	for _, s := range files {
		for _, decl := range s.ast.Decls {
			if d, ok := decl.(*ast.GenDecl); ok && d.Tok == token.CONST {
				for _, spec := range d.Specs {
					for i, name := range spec.(*ast.ValueSpec).Names {
						if values := spec.(*ast.ValueSpec).Values; i < len(values) {
							constants[s.folder+" "+name.Name] = values[i]
						}
					}
				}
			}
		}
	}
	compiled := 0
	for _, s := range files {
		ast.Inspect(s.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 || !isRegex(call.Fun) {
				return true
			}
			if expression, ok := text(s.folder, call.Args[0], constants); ok {
				compiled++
				if _, err := regexp.Compile(expression); err != nil {
					t.Errorf("%s: %v", s.at(call.Pos()), err)
				}
			}
			return true
		})
	}
	if compiled < 200 {
		t.Errorf("%d expressions were found, at least 200 are there", compiled)
	}
}

// isRegex tells a call of regex.New, also by the short name that tables give it.
func isRegex(fun ast.Expr) bool {
	switch f := fun.(type) {
	case *ast.SelectorExpr:
		p, ok := f.X.(*ast.Ident)
		return ok && p.Name == "regex" && f.Sel.Name == "New"
	case *ast.Ident:
		return f.Name == "re"
	}
	return false
}

// text is the value of a string that is put together from constants.
func text(folder string, e ast.Expr, constants map[string]ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return s, err == nil
	case *ast.ParenExpr:
		return text(folder, e.X, constants)
	case *ast.Ident:
		value := constants[folder+" "+e.Name]
		if e.Obj != nil { // resolved within its file
			value = nil
			if spec, ok := e.Obj.Decl.(*ast.ValueSpec); ok && e.Obj.Kind == ast.Con && len(spec.Values) == 1 {
				value = spec.Values[0]
			}
		}
		return text(folder, value, constants)
	case *ast.BinaryExpr:
		left, ok := text(folder, e.X, constants)
		right, also := text(folder, e.Y, constants)
		return left + right, ok && also && e.Op == token.ADD
	}
	return "", false
}
