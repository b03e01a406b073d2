package testdiff

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"strings"
)

// readGo reads the tests of a Go file: its functions for the go command, with what
// they assert. A file that does not parse has the tests that were found until there.
func readGo(content []byte) []test {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", content, parser.SkipObjectResolution|parser.ParseComments)
	if file == nil || err != nil && len(file.Decls) == 0 {
		return nil
	}
	var tests []test
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Body == nil || !isGoTest(f.Name.Name) {
			continue
		}
		t := test{name: f.Name.Name, line: set.Position(f.Pos()).Line, body: goText(set, f.Body)}
		t.readBody(set, f)
		tests = append(tests, t)
	}
	whole := test{name: wholeFile, line: 1, group: true}
	for _, group := range file.Comments {
		if c := group.List[0]; c.Pos() < file.Package && strings.HasPrefix(c.Text, "//go:build ") {
			whole.line, whole.skipped = set.Position(c.Pos()).Line, hides(c.Text)
		}
	}
	return append(tests, whole)
}

// hides: a build constraint that no usual build meets.
func hides(constraint string) bool {
	return strings.Contains(constraint, "ignore") || strings.Contains(constraint, "never") || strings.Contains(constraint, "skip")
}

func isGoTest(name string) bool {
	for _, prefix := range []string{"Test", "Fuzz", "Example", "Benchmark"} {
		if strings.HasPrefix(name, prefix) && name != "TestMain" {
			return true
		}
	}
	return false
}

// fails and asserts are the names of calls that fail a test.
const (
	goFails   = " Error Errorf Fatal Fatalf Fail FailNow "
	goAsserts = " assert require is check qt must "
)

// readBody finds what a test asserts: the conditions on which it fails, calls of
// assertion packages, and the rows of its tables.
func (t *test) readBody(set *token.FileSet, f *ast.FuncDecl) {
	if len(f.Body.List) > 0 {
		_, t.empty = f.Body.List[0].(*ast.ReturnStmt)
	}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			if failsIn(n.Body) {
				t.asserts = append(t.asserts, "if "+shape(set, n.Cond))
			}
		case *ast.CallExpr:
			t.call(set, n)
		case *ast.CompositeLit:
			for _, row := range n.Elts {
				if _, keyed := row.(*ast.KeyValueExpr); !keyed {
					t.asserts = append(t.asserts, "row "+goText(set, row))
				}
			}
			return false
		}
		return true
	})
}

func (t *test) call(set *token.FileSet, c *ast.CallExpr) {
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	switch x, _ := sel.X.(*ast.Ident); {
	case x == nil:
	case strings.HasPrefix(sel.Sel.Name, "Skip"):
		t.skipped = t.skipped || x.Name == "t" || x.Name == "b" || x.Name == "f"
	case strings.Contains(goAsserts, " "+x.Name+" "):
		t.asserts = append(t.asserts, shape(set, c))
	case strings.Contains(goFails, " "+sel.Sel.Name+" "):
		t.asserts = append(t.asserts, "fails")
	}
}

func failsIn(body *ast.BlockStmt) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			if sel, ok := c.Fun.(*ast.SelectorExpr); ok {
				found = found || strings.Contains(goFails, " "+sel.Sel.Name+" ")
			}
		}
		return !found
	})
	return found
}

// shape is an expression with a blank for each variable: what it is called does
// not matter.
func shape(set *token.FileSet, e ast.Expr) string {
	called := map[*ast.Ident]bool{}
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok {
				called[id] = true
			}
		case *ast.SelectorExpr:
			called[n.Sel] = true
		}
		return true
	})
	type edit struct {
		id   *ast.Ident
		name string
	}
	var edits []edit
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && !called[id] && id.Name != "nil" && id.Name != "true" && id.Name != "false" {
			edits = append(edits, edit{id, id.Name})
			id.Name = "_"
		}
		return true
	})
	text := goText(set, e)
	for _, ed := range edits {
		ed.id.Name = ed.name
	}
	return text
}

// goText is a node as gofmt writes it, without white space.
func goText(set *token.FileSet, n any) string {
	var b bytes.Buffer
	if printer.Fprint(&b, set, n) != nil { // a node that the parser made can be printed
		return ""
	}
	return squeeze(b.String())
}
