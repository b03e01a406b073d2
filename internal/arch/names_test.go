package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// callFaults finds uses of names that the policy keeps to a few folders, and of
// the clock in core.
func callFaults(files []source) []string {
	policy, clock := rows(calls), strings.Fields(inCore)
	var faults []string
	for _, s := range files {
		if s.test || s.folder == "bench" || strings.HasPrefix(s.folder, "tools/") {
			continue
		}
		known := s.imports()
		ast.Inspect(s.ast, func(n ast.Node) bool {
			name, ok := qualified(n, known)
			if !ok {
				return true
			}
			for _, r := range policy {
				if covers(r.left, name) && !covers(r.right, s.folder) {
					faults = append(faults, fmt.Sprintf("%s: %s may not use %s", s.at(n.Pos()), s.folder, name))
				}
			}
			if strings.HasPrefix(s.folder, "core/") && slices.Contains(clock, name) {
				faults = append(faults, fmt.Sprintf("%s: core may not use %s: an event carries its time", s.at(n.Pos()), name))
			}
			return true
		})
	}
	return faults
}

// qualified is the "package.Name" that n is, for an imported package.
func qualified(n ast.Node, known map[string]string) (string, bool) {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	x, ok := sel.X.(*ast.Ident)
	if !ok || x.Obj != nil { // Obj: a variable that hides the package
		return "", false
	}
	p, ok := known[x.Name]
	return path.Base(p) + "." + sel.Sel.Name, ok
}

// packageNameFaults finds packages whose name says nothing or whose
// documentation is missing.
func packageNameFaults(files []source) []string {
	var faults []string
	doc := map[string]string{} // folder → its package comment
	for _, s := range files {
		if s.test {
			continue
		}
		name := s.ast.Name.Name
		if slices.Contains(strings.Fields(meaningless), name) {
			faults = append(faults, fmt.Sprintf("%s: package name %q says nothing", s.path, name))
		}
		doc[path.Dir(s.path)] += s.ast.Doc.Text()
	}
	for _, s := range files {
		dir := path.Dir(s.path)
		text, ok := doc[dir]
		if !ok || s.test {
			continue
		}
		begin := "Package " + s.ast.Name.Name + " "
		if s.ast.Name.Name == "main" {
			begin = "Command " + path.Base(dir) + " " // what a program is for, rather than what main is
		}
		if !strings.HasPrefix(text, begin) {
			faults = append(faults, fmt.Sprintf("%s: its package comment does not begin with %q", dir, begin))
		}
		delete(doc, dir)
	}
	return faults
}

// sizeFaults finds files, functions and parameter lists that are too long.
func sizeFaults(files []source) []string {
	var faults []string
	for _, s := range files {
		if ast.IsGenerated(s.ast) {
			continue
		}
		if n := s.fset.File(s.ast.Pos()).LineCount(); n > maxFileLines {
			faults = append(faults, fmt.Sprintf("%s: %d lines; at most %d", s.path, n, maxFileLines))
		}
		if s.test {
			continue
		}
		for _, d := range s.ast.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := functionLines(s, f); n > maxFunctionLines {
				faults = append(faults, fmt.Sprintf("%s: %s has %d lines; at most %d", s.at(f.Pos()), f.Name.Name, n, maxFunctionLines))
			}
			if n := parameters(f); n > maxParameters {
				faults = append(faults, fmt.Sprintf("%s: %s has %d parameters; at most %d", s.at(f.Pos()), f.Name.Name, n, maxParameters))
			}
		}
	}
	return faults
}

// functionLines counts the lines between the braces.
func functionLines(s source, f *ast.FuncDecl) int {
	if f.Body == nil {
		return 0
	}
	return max(0, s.fset.Position(f.Body.Rbrace).Line-s.fset.Position(f.Body.Lbrace).Line-1)
}

// parameters counts what f takes beside a context.
func parameters(f *ast.FuncDecl) int {
	n := 0
	for _, field := range f.Type.Params.List {
		if sel, ok := field.Type.(*ast.SelectorExpr); ok && sel.Sel.Name == "Context" {
			continue
		}
		n += max(1, len(field.Names))
	}
	return n
}

// clientFaults finds a client's words outside of its adapter.
func clientFaults(files []source) []string {
	var faults []string
	for _, s := range files {
		if s.test || slices.Contains(strings.Fields(clientFolders), s.folder) {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				text, err := strconv.Unquote(lit.Value)
				name := strings.TrimSuffix(strings.TrimPrefix(text, `json:"`), `"`)
				if err == nil && slices.Contains(strings.Fields(clientWords), name) {
					faults = append(faults, fmt.Sprintf("%s: %s is a client's word: its codec has it in ours", s.at(lit.Pos()), name))
				}
			}
			return true
		})
	}
	return faults
}

func TestNamesAndSizes(t *testing.T) {
	t.Parallel()
	files := sources(t)
	report(t, callFaults(files))
	report(t, packageNameFaults(files))
	report(t, sizeFaults(files))
	report(t, clientFaults(files))
}
