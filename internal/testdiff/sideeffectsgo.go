package testdiff

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// goFile is a Go file with the types that it declares itself.
type goFile struct {
	types.Info

	declares func(name string) bool // the program
}

// goChangesOthers reports whether a Go test file may change other tests of its package. Something
// runs before them, it writes to what it does not declare, adds a method to a program's type, or
// redefines a predeclared name.
func goChangesOthers(content string, declares func(name string) bool) bool {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", content, parser.SkipObjectResolution)
	if err != nil || strings.Contains(content, "//go:linkname") {
		return true
	}
	f := goFile{types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}, declares}
	alone := types.Config{Error: func(error) {}} // of one file much is not known
	pkg, _ := alone.Check("", set, []*ast.File{file}, &f.Info)
	shapes := slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"unsafe"` }) ||
		slices.ContainsFunc(pkg.Scope().Names(), func(name string) bool { return types.Universe.Lookup(name) != nil })
	ast.Inspect(file, func(n ast.Node) bool {
		shapes = shapes || f.changesOthers(n)
		return !shapes
	})
	return shapes || slices.ContainsFunc(file.Decls, f.runsBefore)
}

// changesOthers reports whether a node writes to what the file does not declare, or declares a
// method of that.
func (f goFile) changesOthers(n ast.Node) bool {
	others := func(e ast.Expr) bool { return e != nil && !f.isOwn(e) }
	switch n := n.(type) {
	case *ast.FuncDecl:
		return n.Recv != nil && others(n.Recv.List[0].Type) && slices.ContainsFunc(slices.Collect(maps.Keys(Words(types.ExprString(n.Recv.List[0].Type)))), f.declares)
	case *ast.AssignStmt:
		return n.Tok != token.DEFINE && slices.ContainsFunc(n.Lhs, others)
	case *ast.IncDecStmt:
		return others(n.X)
	case *ast.RangeStmt:
		return n.Tok == token.ASSIGN && (others(n.Key) || others(n.Value))
	case *ast.UnaryExpr:
		return n.Op == token.AND && others(n.X)
	}
	return false
}

// isOwn reports whether an expression refers to a declaration of the file, or to nothing named.
func (f goFile) isOwn(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		o := f.ObjectOf(e)
		_, imported := o.(*types.PkgName)
		return e.Name == "_" || o != nil && !imported
	case *ast.SelectorExpr:
		return f.isOwn(e.X)
	case *ast.IndexExpr:
		return f.isOwn(e.X)
	case *ast.IndexListExpr:
		return f.isOwn(e.X)
	case *ast.StarExpr:
		return f.isOwn(e.X)
	case *ast.ParenExpr:
		return f.isOwn(e.X)
	case *ast.SliceExpr:
		return f.isOwn(e.X)
	}
	return true
}

// runsBefore reports whether a declaration runs before the package's tests.
func (f goFile) runsBefore(d ast.Decl) (runs bool) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return d.Recv == nil && (d.Name.Name == "init" || d.Name.Name == "TestMain")
	case *ast.GenDecl:
		ast.Inspect(d, func(n ast.Node) bool {
			_, later := n.(*ast.FuncLit)
			_, calls := n.(*ast.CallExpr)
			runs = runs || calls && d.Tok == token.VAR
			return !later
		})
	}
	return runs
}
