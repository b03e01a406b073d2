package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
)

// stateFaults finds init functions and package variables that could change.
// A variable is constant enough if it is made by one of the functions in
// constant, or if it is an unexported table that no file of its package writes.
func stateFaults(files []source) []string {
	written := map[string]bool{} // folder + "." + name
	for _, s := range files {
		if !s.test {
			for _, name := range writes(s) {
				written[path.Dir(s.path)+"."+name] = true
			}
		}
	}
	var faults []string
	for _, s := range files {
		if s.test {
			continue
		}
		for _, d := range s.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.Name == "init" {
					faults = append(faults, s.at(d.Pos())+": no init functions: what they do is hidden, and every start pays for it")
				}
			case *ast.GenDecl:
				for _, v := range variables(d) {
					if why := mutable(s, v, written); why != "" {
						faults = append(faults, fmt.Sprintf("%s: package variable %s %s", s.at(v.name.Pos()), v.name.Name, why))
					}
				}
			}
		}
	}
	return faults
}

type variable struct {
	name     *ast.Ident
	value    ast.Expr // nil: none
	embedded bool     // filled by go:embed
}

func variables(d *ast.GenDecl) []variable {
	var all []variable
	if d.Tok != token.VAR {
		return nil
	}
	for _, spec := range d.Specs {
		v := spec.(*ast.ValueSpec)
		embedded := embeds(d.Doc) || embeds(v.Doc)
		for i, name := range v.Names {
			one := variable{name: name, embedded: embedded}
			if i < len(v.Values) {
				one.value = v.Values[i]
			}
			if name.Name != "_" {
				all = append(all, one)
			}
		}
	}
	return all
}

func embeds(doc *ast.CommentGroup) bool {
	return doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool {
		return strings.HasPrefix(c.Text, "//go:embed ")
	})
}

// mutable says why v could change, or "".
func mutable(s source, v variable, written map[string]bool) string {
	if written[path.Dir(s.path)+"."+v.name.Name] {
		return "is written to"
	}
	if v.embedded {
		return ""
	}
	value := v.value
	if pointer, ok := value.(*ast.UnaryExpr); ok && pointer.Op == token.AND {
		value = pointer.X
	}
	switch value := value.(type) {
	case *ast.CallExpr:
		fun := value.Fun
		if generic, ok := fun.(*ast.IndexExpr); ok {
			fun = generic.X
		}
		if name, ok := qualified(fun, s.imports()); ok && slices.Contains(strings.Fields(constant), name) {
			return ""
		}
		if _, conversion := fun.(*ast.ArrayType); conversion && !v.name.IsExported() {
			return ""
		}
		return "is made by a function that is not known to make constants"
	case *ast.CompositeLit:
		if v.name.IsExported() {
			return "is exported, so that anyone may change it"
		}
		return ""
	case *ast.SelectorExpr:
		// Another name for a sentinel of another package.
		if strings.HasPrefix(strings.ToLower(v.name.Name), "err") {
			return ""
		}
	case nil:
		return "has no value of its own, so somebody must set it"
	}
	return "should be a constant or a function"
}

// writes lists the package variables that s may change: assigned, incremented,
// ranged into, emptied, or their address taken.
func writes(s source) []string {
	var names []string
	add := func(e ast.Expr) {
		if x := base(e); x != nil && ofPackage(s, x) {
			names = append(names, x.Name)
		}
	}
	ast.Inspect(s.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				for _, e := range n.Lhs {
					add(e)
				}
			}
		case *ast.IncDecStmt:
			add(n.X)
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				add(n.Key)
				add(n.Value)
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				add(n.X)
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && (f.Name == "delete" || f.Name == "clear") && len(n.Args) > 0 {
				add(n.Args[0])
			}
		}
		return true
	})
	return names
}

// base is the variable that e is a part of, or nil.
func base(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// ofPackage reports whether x may be a package variable. The parser resolves names
// within a file: what it left open is declared in another file of the package.
func ofPackage(s source, x *ast.Ident) bool {
	return x.Obj == nil || s.ast.Scope.Lookup(x.Name) == x.Obj
}

func TestNoPackageState(t *testing.T) {
	t.Parallel()
	report(t, stateFaults(sources(t)))
}
