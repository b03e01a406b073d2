// Command types checks the types of the module's packages and their tests for other
// systems than this one, from source:
//
//	types -root .. windows darwin
//
// It says what does not compile there. go vet finds a little more, and compiles the
// standard library for each system first, which takes minutes; make cross does that.
package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	root := flag.String("root", ".", "folder of the module")
	flag.Parse()
	code := 0
	for _, system := range flag.Args() {
		problems, err := check(*root, system)
		if err != nil {
			problems = append(problems, err.Error())
		}
		for _, p := range problems {
			fmt.Fprintf(os.Stderr, "%s: %s\n", system, p)
			code = 1
		}
	}
	os.Exit(code)
}

// check returns the type errors of a module's packages and tests on a system.
func check(root, system string) ([]string, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
			packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedTypesInfo,
		Dir: root, Tests: true, ParseFile: parserOf(root),
		Env: append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0"),
	}, "./...")
	if err != nil {
		return nil, fmt.Errorf("load packages: %w", err)
	}
	var problems []string
	for _, pkg := range loaded {
		if strings.HasSuffix(pkg.ID, ".test") { // what go test writes lies outside of the module
			continue
		}
		for _, e := range pkg.Errors {
			problems = append(problems, e.Error())
		}
	}
	slices.Sort(problems)
	return slices.Compact(problems), nil // a package with tests is loaded twice
}

// parserOf parses files. Of those outside of the module only declarations count.
func parserOf(root string) func(*token.FileSet, string, []byte) (*ast.File, error) {
	return func(fset *token.FileSet, name string, text []byte) (*ast.File, error) {
		file, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
		if err != nil || strings.HasPrefix(name, root+string(filepath.Separator)) {
			return file, err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				f.Body = nil
			}
		}
		return file, nil
	}
}
