package testrun

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/pawl-dev/pawl/internal/core/shell"
)

// followed is the flow of a command that others of a list come after.
func (f flow) followed(rest []*syntax.Stmt) flow {
	switch {
	case len(rest) == 0:
	case keeps(rest, "PIPESTATUS"):
		f.pipefail = true
	case keeps(rest, "?"), f.errexit:
	default:
		f = f.masked("; " + nameOf(rest[0]))
		f.echo, f.echoPipe = echoOfCode(rest[0], "?"), echoOfCode(rest[0], "PIPESTATUS")
	}
	return f
}

// keeps reports whether what follows a command ends with that command's code, as
// the variable code holds it: `; exit $?`, or `; c=$?; …; exit $c`.
func keeps(rest []*syntax.Stmt, code string) bool {
	first, ok := rest[0].Cmd.(*syntax.CallExpr)
	if !ok {
		return false
	}
	if exitsWith(first, code) {
		return true
	}
	if len(first.Args) > 0 || len(first.Assigns) != 1 || parameter(first.Assigns[0].Value) != code {
		return false
	}
	return slices.ContainsFunc(rest[1:], func(stmt *syntax.Stmt) bool {
		call, ok := stmt.Cmd.(*syntax.CallExpr)
		return ok && exitsWith(call, first.Assigns[0].Name.Value)
	})
}

// exitsWith: `exit $NAME` or `return $NAME`.
func exitsWith(call *syntax.CallExpr, name string) bool {
	return ends(call) && len(call.Args) == 2 && parameter(call.Args[1]) == name
}

func ends(call *syntax.CallExpr) bool {
	return len(call.Args) > 0 && (shell.Constant(call.Args[0]) == "exit" || shell.Constant(call.Args[0]) == "return")
}

// parameter is the name of the variable that is all of a word.
func parameter(word *syntax.Word) string {
	if word == nil || len(word.Parts) != 1 {
		return ""
	}
	part := word.Parts[0]
	if quoted, ok := part.(*syntax.DblQuoted); ok && len(quoted.Parts) == 1 {
		part = quoted.Parts[0]
	}
	if exp, ok := part.(*syntax.ParamExp); ok && exp.Exp == nil && !exp.Length {
		return exp.Param.Value
	}
	return ""
}

// fails reports whether a command always ends with an error: `false`, `exit 1`,
// `{ echo broken; exit 1; }`, and `exit $?` behind `||`.
func fails(stmt *syntax.Stmt) bool {
	switch cmd := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		if len(cmd.Args) == 1 && shell.Constant(cmd.Args[0]) == "false" {
			return true
		}
		if !ends(cmd) {
			return false
		}
		return len(cmd.Args) == 1 || parameter(cmd.Args[1]) == "?" || strings.Trim(shell.Constant(cmd.Args[1]), "0") != ""
	case *syntax.Block:
		return len(cmd.Stmts) > 0 && explicit(cmd.Stmts)
	case *syntax.Subshell:
		return len(cmd.Stmts) > 0 && explicit(cmd.Stmts)
	}
	return false
}

// explicit: a list ends with an error of its own, not with that of an `echo`
// before it.
func explicit(stmts []*syntax.Stmt) bool {
	last := stmts[len(stmts)-1]
	call, ok := last.Cmd.(*syntax.CallExpr)
	if ok && ends(call) && len(stmts) > 1 && (len(call.Args) == 1 || parameter(call.Args[1]) == "?") {
		return false
	}
	return fails(last)
}

// echoOfCode is the line that `echo "exit: $?"` prints, with \x00 for the code,
// which the variable code holds.
func echoOfCode(stmt *syntax.Stmt, code string) string {
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(stmt.Redirs) > 0 || len(call.Args) < 2 || shell.Constant(call.Args[0]) != "echo" {
		return ""
	}
	words := make([]string, 0, len(call.Args)-1)
	for _, arg := range call.Args[1:] {
		text, ok := template(arg.Parts, code)
		if !ok {
			return ""
		}
		words = append(words, text)
	}
	line := strings.Join(words, " ")
	if strings.Count(line, "\x00") != 1 || strings.HasPrefix(line, "-") || strings.ContainsAny(line, "\\\n") {
		return ""
	}
	return line
}

// template is the text of a word, with \x00 for the value of one variable; false
// if it depends on anything else.
func template(parts []syntax.WordPart, variable string) (string, bool) {
	var b strings.Builder
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			b.WriteString(part.Value)
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			inner, ok := template(part.Parts, variable)
			if !ok {
				return "", false
			}
			b.WriteString(inner)
		case *syntax.ParamExp:
			if part.Param.Value != variable || part.Exp != nil || part.Length {
				return "", false
			}
			b.WriteByte(0)
		default:
			return "", false
		}
	}
	return b.String(), true
}

// writesFile: a redirection of output, other than of one stream to another.
func writesFile(r *syntax.Redirect) bool {
	switch r.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
		return true
	}
	return false
}

// keepsOutput reports whether a redirection writes to a file that can be read afterwards.
func keepsOutput(r *syntax.Redirect) bool {
	return writesFile(r) && shell.Constant(r.Word) != nowhere
}

// setOptions follows `set -e` and `set -o pipefail`.
func (f *flow) setOptions(stmt *syntax.Stmt) {
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) < 2 || shell.Constant(call.Args[0]) != "set" {
		return
	}
	words := make([]string, len(call.Args))
	for i, arg := range call.Args {
		words[i] = shell.Constant(arg)
	}
	f.options(words[1:])
}

// options reads the flags that a shell and its `set` share.
func (f *flow) options(words []string) {
	for i, word := range words {
		if len(word) < 2 || word[0] != '-' && word[0] != '+' {
			continue
		}
		on := word[0] == '-'
		if strings.Contains(word[1:], "e") {
			f.errexit = on
		}
		if strings.HasSuffix(word, "o") && i+1 < len(words) {
			switch words[i+1] {
			case "pipefail":
				f.pipefail = on
			case "errexit":
				f.errexit = on
			}
		}
	}
}

// quiet are commands that hardly fail, or whose failure nobody takes for that of
// a test.
var quiet = []string{
	"", ":", ".", "[", "cat", "cd", "clear", "command", "cp", "date", "echo", "env", "exit", "export", "head", "hash", "ls", "mkdir", "mv",
	"printf", "pushd", "popd", "pwd", "return", "rm", "set", "sleep", "source", "tail", "test", "touch", "true", "type", "ulimit", "unset", "which",
}

// harmless reports whether all of a command is quiet.
func harmless(stmt *syntax.Stmt) bool {
	switch cmd := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		return len(cmd.Args) == 0 || slices.Contains(quiet, shell.Constant(cmd.Args[0]))
	case *syntax.BinaryCmd:
		return harmless(cmd.X) && harmless(cmd.Y)
	}
	return false
}

// nameOf returns the name of a command: its first word.
func nameOf(stmt *syntax.Stmt) string {
	switch cmd := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		if len(cmd.Args) > 0 {
			if name := shell.Constant(cmd.Args[0]); name != "" {
				return name
			}
		}
	case *syntax.BinaryCmd:
		return nameOf(cmd.X)
	}
	return "…"
}
