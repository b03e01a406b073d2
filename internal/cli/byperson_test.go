package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/guard"
)

// What only a user may do stands twice: a command refuses it in a loop's own
// processes (byPerson), and the guard denies the agent the command. The guard knows
// no command line but by its words, so what refuses is looked up in the sources.
func TestTheGuardDeniesWhatOnlyAPersonMayDo(t *testing.T) {
	t.Parallel()
	words := map[string]string{} // of the command, by the name of its type
	commandWords(reflect.TypeFor[grammar](), "pawl", words)
	asking := asksForAPerson(t)
	if len(asking) < 12 {
		t.Errorf("no more than %d commands ask for a user: %v", len(asking), asking)
	}
	for _, name := range asking {
		command := words[name]
		switch {
		case command == "":
			t.Errorf("%s is no command of the grammar", name)
			continue
		case name == "startCmd":
			// It begins a loop in the agent's session, for the user who asks the agent
			// for one. What takes another loop over is denied.
			command += " --take brisk-otter"
		}
		rules := guard.Rules{Root: "/w/repo", StateDir: "/home/u/.local/state/pawl", Home: "/home/u"}
		for _, line := range []string{command, "env -u PAWL_LOOP " + command + " x"} {
			v := guard.Judge(guard.Call{Tool: "Bash", Input: map[string]any{"command": line}, Dir: "/w/repo"}, rules)
			if v.Decision != guard.Deny || v.Rule != guard.RuleState {
				t.Errorf("%s: %s %q, though %s asks for a user", line, v.Decision, v.Rule, name)
			}
		}
	}
}

// commandWords notes what is typed for each command of a struct that lists some.
func commandWords(list reflect.Type, before string, words map[string]string) {
	for field := range list.Fields() {
		if _, ok := field.Tag.Lookup("cmd"); !ok {
			continue
		}
		name := field.Tag.Get("name")
		if name == "" {
			name = strings.ToLower(field.Name)
		}
		words[field.Type.Name()] = before + " " + name
		commandWords(field.Type, before+" "+name, words)
	}
}

// asksForAPerson are the types of commands that call byPerson, by the sources here.
func asksForAPerson(t *testing.T) []string {
	t.Helper()
	sources, err := fs.Glob(os.DirFS("."), "*.go")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, source := range sources {
		if strings.HasSuffix(source, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), source, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && calls(f, "byPerson") {
				names = append(names, receiver(t, f))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func calls(f *ast.FuncDecl, method string) bool {
	found := false
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if ok {
			s, isMethod := call.Fun.(*ast.SelectorExpr)
			found = found || isMethod && s.Sel.Name == method
		}
		return true
	})
	return found
}

// receiver is the name of a method's type. A function would hide whose word it is.
func receiver(t *testing.T, f *ast.FuncDecl) string {
	t.Helper()
	if f.Recv == nil {
		t.Fatalf("%s calls byPerson and is no command's method", f.Name.Name)
	}
	of := f.Recv.List[0].Type
	if p, ok := of.(*ast.StarExpr); ok {
		of = p.X
	}
	return of.(*ast.Ident).Name
}
