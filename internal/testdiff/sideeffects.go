package testdiff

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

var (
	// sets assigns to a part of something that has a name.
	sets = regex.New(`(?m)(?:^|[{;(,]|=>|\bfor|\bas)[ \t]*(\w+)((?:\.\w+|\[[^\]\n]*\])+)[ \t]*(?:[-+|&]?=[^=]|,[^\n=()]*=[^=]|\bin\b)`)
	// makes gives a name to what is made there: a call gives it, or it is written there.
	makes = regex.New(`(?m)(?:^|[{;(]|=>)[ \t]*(?:(?:const|let|var|final|auto|[A-Z]\w*(?:<[^\n>]*>)?)[ \t]+)?(\w+)[ \t]*(?::[^=\n]*)?:?=[ \t]*(?:(?:await|new)\b|[\[{'"0-9]|[\w.]+\()`)
	// callsImported calls something that an import may have given a name to.
	callsImported = regex.New(`(?:^|[^.\w@])(\w+)(?:\.\w+)*\(`)
	// reachesInto gets at what other tests use by no name of its own.
	reachesInto = regex.New(`(?m)(?:^|[^.\w])(?:setattr|delattr|vars|globals|exec|eval|reload)\(|\b(?:__dict__|__setattr__|__delattr__|__class__|__globals__|__code__|__builtins__|builtins|sys\.modules|` +
		`defineProperty|require\.cache|globalThis|unsafe|class_eval|define_method|instance_variable_set)\b|\.prototype\b|\bObject\.assign\([ \t]*\w|\bpatch(?:\.\w+)*\([^\n]*\)\.start\(`)
	// opensClass continues with a class of Ruby's that another file began.
	opensClass = regex.New(`(?m)^(?:class|module) \w+[ \t]*$`)
	ownObject  = regex.New(`^(?:self|this|cls)$`)
	function   = regex.New(`^[ \t]*(?:async[ \t]+)?def\b`)
)

// MayChangeOthers reports whether a test file may change tests in other files of the same process.
// It sets what it did not create, calls imports when loaded, or replaces what others import. In
// doubt it says yes: the caller then also runs without the file. declares reports whether the
// program declares a name.
func MayChangeOthers(f File, declares func(name string) bool) bool {
	t, known := readText(f)
	if !known {
		return false
	}
	if t.isGo() {
		return goChangesOthers(string(f.Content), declares)
	}
	if reachesInto.MatchString(t.plain) || strings.HasSuffix(f.Path, ".rb") && opensClass.MatchString(t.plain) || t.testsNothing() {
		return true
	}
	made := map[string]bool{}
	for _, m := range makes.FindAllStringSubmatch(t.plain, -1) {
		made[m[1]] = true
	}
	return slices.ContainsFunc(sets.FindAllStringSubmatch(t.plain, -1), func(m []string) bool {
		own := made[m[1]]
		if ownObject.MatchString(m[1]) { // a part of it may be another's
			parts := strings.FieldsFunc(m[2], func(r rune) bool { return strings.ContainsRune(".[]", r) })
			own = len(parts) < 2
		}
		return !own
	}) || t.callsWhenLoaded()
}

// testsNothing reports whether a file has neither tests nor assertions, and is no package marker.
func (t testText) testsNothing() bool {
	return len(t.tests) == 0 && !t.l.assert.MatchString(t.s.Code) && strings.TrimSpace(t.plain) != ""
}

// callsWhenLoaded reports whether the file calls an import outside functions.
func (t testText) callsWhenLoaded() bool {
	imported := map[string]bool{}
	for _, s := range t.uses {
		for _, token := range s.tokens {
			imported[token] = true
		}
	}
	inside := -1 // how far in the function stands that a line is in
	for _, s := range t.beside {
		text := strings.TrimLeft(s.text, "\r\n")
		indent := source.Indent(text)
		if inside >= 0 && indent > inside || indent > 0 && t.l.extent != indents {
			continue
		}
		if inside = -1; function.MatchString(text) {
			inside = indent
		} else if slices.ContainsFunc(callsImported.FindAllStringSubmatch(text, -1), func(m []string) bool { return imported[m[1]] }) && !strings.HasPrefix(text[indent:], "@") {
			return true
		}
	}
	return false
}

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
