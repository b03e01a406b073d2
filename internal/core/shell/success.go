package shell

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// AlwaysSucceeds reports whether a script exits with 0 whatever its programs do: `true`, `make test ||
// true`, `make test; exit 0`. It knows only builtins of the shell, and returns false in doubt.
func AlwaysSucceeds(script string) bool {
	list, ok := Parse(script)
	return ok && !slices.ContainsFunc(list, mayEndEarly) && listSucceeds(list)
}

func listSucceeds(list []*syntax.Stmt) bool {
	return len(list) > 0 && succeeds(list[len(list)-1])
}

// mayEndEarly reports whether something in a statement may end the script with another exit code, or
// give its words another meaning.
func mayEndEarly(s *syntax.Stmt) (early bool) {
	syntax.Walk(s, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl, *syntax.ArithmExp, *syntax.DeclClause:
			early = true
		case *syntax.ParamExp:
			early = early || n.Exp != nil && (n.Exp.Op == syntax.ErrorUnset || n.Exp.Op == syntax.ErrorUnsetOrNull)
		case *syntax.CallExpr:
			name := commandName(n)
			endsOrChanges := []string{"", ".", "source", "eval", "exec", "set", "shopt", "trap", "kill", "return", "alias", "command", "builtin", "break", "continue"}
			early = early || slices.Contains(endsOrChanges, name) && len(n.Args) > 0 || name == "exit" && !succeedsCall(n)
		}
		return !early
	})
	return early
}

// succeeds reports whether a statement that is run to its end exits with 0.
func succeeds(s *syntax.Stmt) bool {
	if s.Background {
		return true
	}
	if s.Negated || slices.ContainsFunc(s.Redirs, func(r *syntax.Redirect) bool { return r.Word == nil || r.Word.Lit() != "/dev/null" }) {
		return false
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return succeedsCall(c)
	case *syntax.Subshell:
		return listSucceeds(c.Stmts)
	case *syntax.Block:
		return listSucceeds(c.Stmts)
	case *syntax.BinaryCmd:
		switch c.Op {
		case syntax.OrStmt:
			return succeeds(c.X) || succeeds(c.Y)
		case syntax.AndStmt:
			return succeeds(c.X) && succeeds(c.Y)
		}
		return succeeds(c.Y)
	}
	return false
}

func succeedsCall(c *syntax.CallExpr) bool {
	switch commandName(c) {
	case "true", ":", "echo":
		return true
	case "exit":
		return len(c.Args) == 2 && c.Args[1].Lit() == "0"
	}
	return false
}

// commandName returns the literal name of a command, "" if it is computed.
func commandName(c *syntax.CallExpr) string {
	if len(c.Args) == 0 {
		return ""
	}
	return c.Args[0].Lit()
}
