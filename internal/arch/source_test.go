package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/pawl-dev/pawl"

// source is one Go file of this module.
type source struct {
	path   string // from the module's root, with slashes: "internal/git/git.go"
	folder string // as the policy writes it: "git", "core/loop", "cmd/pawl"
	test   bool   // a _test.go file, or one of a package for tests
	fset   *token.FileSet
	ast    *ast.File
}

func (s source) at(p token.Pos) string {
	return fmt.Sprintf("%s:%d", s.path, s.fset.Position(p).Line)
}

// imports maps the names by which s knows the packages it imports to their paths.
func (s source) imports() map[string]string {
	names := map[string]string{}
	for _, spec := range s.ast.Imports {
		p, _ := strconv.Unquote(spec.Path.Value)
		name := path.Base(p)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = p
	}
	return names
}

func parse(t *testing.T, path string, text []byte) source {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, path, text, parser.ParseComments)
	if err != nil {
		t.Fatalf("parse: %v", err)
	}
	dir := path[:max(0, strings.LastIndexByte(path, '/'))]
	return source{
		path:   path,
		folder: strings.TrimPrefix(dir, "internal/"),
		test:   strings.HasSuffix(path, "_test.go") || forTests(dir),
		fset:   fset,
		ast:    f,
	}
}

// forTests tells a folder of helpers for tests: agenttest, and what is below it.
func forTests(dir string) bool {
	return strings.Contains(dir+"/", "test/")
}

// root is the folder of go.mod.
func root(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// walk calls visit with each file that belongs to the repository: what git
// ignores, git's own folder and nested modules are left out. Paths have slashes
// and start at the root.
func walk(t *testing.T, visit func(path string)) {
	t.Helper()
	base := root(t)
	ignored := []string{".git", ".cache", "bin", "node_modules"}
	err := fs.WalkDir(os.DirFS(base), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains(ignored, d.Name()) || strings.HasPrefix(d.Name(), "coverage") {
				return fs.SkipDir
			}
			return nil
		}
		if d.Type().IsRegular() {
			visit(p)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// sources parses every Go file of the repository.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	walk(t, func(p string) {
		if !strings.HasSuffix(p, ".go") || strings.Contains(p, "testdata/") {
			return
		}
		all = append(all, parse(t, p, read(t, p)))
	})
	if len(all) == 0 {
		t.Fatal("no source found")
	}
	return all
}

func read(t testing.TB, p string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), filepath.FromSlash(p)))
	if err != nil {
		t.Fatal(err)
	}
	return text
}
