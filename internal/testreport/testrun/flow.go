package testrun

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/pawl-dev/pawl/internal/core/shell"
)

// followedBy returns the flow of a command that other commands of a list follow.
func (f flow) followedBy(rest []*syntax.Stmt) flow {
	switch {
	case len(rest) == 0:
	case keepsCode(rest, "PIPESTATUS"):
		f.pipefail = true
	case keepsCode(rest, "?"), f.errexit:
	default:
		f = f.withMask("; " + commandName(rest[0]))
		f.EchoLine, f.echoPipe = echoOfCode(rest[0], "?"), echoOfCode(rest[0], "PIPESTATUS")
	}
	return f
}

// keepsCode reports whether a list ends with the exit code of the command before it, which the
// variable code holds: `; exit $?`, or `; c=$?; …; exit $c`.
func keepsCode(rest []*syntax.Stmt, code string) bool {
	first, ok := rest[0].Cmd.(*syntax.CallExpr)
	if !ok {
		return false
	}
	if exitsWith(first, code) {
		return true
	}
	if len(first.Args) > 0 || len(first.Assigns) != 1 || variableOf(first.Assigns[0].Value) != code {
		return false
	}
	return slices.ContainsFunc(rest[1:], func(stmt *syntax.Stmt) bool {
		call, ok := stmt.Cmd.(*syntax.CallExpr)
		return ok && exitsWith(call, first.Assigns[0].Name.Value)
	})
}

// exitsWith reports whether a command is `exit $NAME` or `return $NAME`.
func exitsWith(call *syntax.CallExpr, name string) bool {
	return isExit(call) && len(call.Args) == 2 && variableOf(call.Args[1]) == name
}

func isExit(call *syntax.CallExpr) bool {
	return len(call.Args) > 0 && (shell.Constant(call.Args[0]) == "exit" || shell.Constant(call.Args[0]) == "return")
}

// variableOf returns the name of the variable of which a word consists, or "".
func variableOf(word *syntax.Word) string {
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

// alwaysFails reports whether a command always ends with an error: `false`, `exit 1`, `{ echo broken;
// exit 1; }`, and `exit $?` after `||`.
func alwaysFails(stmt *syntax.Stmt) bool {
	switch cmd := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		if len(cmd.Args) == 1 && shell.Constant(cmd.Args[0]) == "false" {
			return true
		}
		if !isExit(cmd) {
			return false
		}
		return len(cmd.Args) == 1 || variableOf(cmd.Args[1]) == "?" || strings.Trim(shell.Constant(cmd.Args[1]), "0") != ""
	case *syntax.Block:
		return len(cmd.Stmts) > 0 && endsWithError(cmd.Stmts)
	case *syntax.Subshell:
		return len(cmd.Stmts) > 0 && endsWithError(cmd.Stmts)
	}
	return false
}

// endsWithError reports whether a list always ends with an error. In `echo …; exit $?` the exit
// code is that of echo, so this is no error.
func endsWithError(stmts []*syntax.Stmt) bool {
	last := stmts[len(stmts)-1]
	call, ok := last.Cmd.(*syntax.CallExpr)
	if ok && isExit(call) && len(stmts) > 1 && (len(call.Args) == 1 || variableOf(call.Args[1]) == "?") {
		return false
	}
	return alwaysFails(last)
}

// echoOfCode returns the line that `echo "exit: $?"` prints, with \x00 for the exit code. The
// variable code holds it.
func echoOfCode(stmt *syntax.Stmt, code string) string {
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(stmt.Redirs) > 0 || len(call.Args) < 2 || shell.Constant(call.Args[0]) != "echo" {
		return ""
	}
	words := make([]string, 0, len(call.Args)-1)
	for _, arg := range call.Args[1:] {
		text, ok := wordWithCode(arg.Parts, code)
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

// wordWithCode returns the text of a word, with \x00 for the value of one variable. It returns
// false if the text depends on anything else.
func wordWithCode(parts []syntax.WordPart, variable string) (string, bool) {
	var b strings.Builder
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			b.WriteString(part.Value)
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			inner, ok := wordWithCode(part.Parts, variable)
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

// writesFile reports whether a redirection sends output to a file, rather than to another stream.
func writesFile(r *syntax.Redirect) bool {
	switch r.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
		return true
	}
	return false
}

// setOptions applies `set -e` and `set -o pipefail` to the flow.
func (f *flow) setOptions(stmt *syntax.Stmt) {
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) < 2 || shell.Constant(call.Args[0]) != "set" {
		return
	}
	words := make([]string, len(call.Args))
	for i, arg := range call.Args {
		words[i] = shell.Constant(arg)
	}
	f.applyOptions(words[1:])
}

// applyOptions applies the options that a shell and its `set` share.
func (f *flow) applyOptions(words []string) {
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

// quietCommands lists commands that rarely fail, or whose failure does not look like that of a
// test.
var quietCommands = []string{
	"", ":", ".", "[", "cat", "cd", "clear", "command", "cp", "date", "echo", "env", "exit", "export", "head", "hash", "ls", "mkdir", "mv",
	"printf", "pushd", "popd", "pwd", "return", "rm", "set", "sleep", "source", "tail", "test", "touch", "true", "type", "ulimit", "unset", "which",
}

// isQuiet reports whether a command consists of quiet commands.
func isQuiet(stmt *syntax.Stmt) bool {
	switch cmd := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		return len(cmd.Args) == 0 || slices.Contains(quietCommands, shell.Constant(cmd.Args[0]))
	case *syntax.BinaryCmd:
		return isQuiet(cmd.X) && isQuiet(cmd.Y)
	}
	return false
}

// commandName returns the name of a command, which is its first word.
func commandName(stmt *syntax.Stmt) string {
	switch cmd := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		if len(cmd.Args) > 0 {
			if name := shell.Constant(cmd.Args[0]); name != "" {
				return name
			}
		}
	case *syntax.BinaryCmd:
		return commandName(cmd.X)
	}
	return "…"
}

// streams holds, for each output stream of a command, the redirection that discards it, as a user
// would write it. It is "" if the stream is not discarded.
type streams struct{ out, err string }

const devNull = "/dev/null"

// withRedirects returns the streams after redirections, which apply in order: `>/dev/null 2>&1` discards
// both, `2>&1 >/dev/null` only standard output.
func (s streams) withRedirects(redirs []*syntax.Redirect) streams {
	for _, r := range redirs {
		to := shell.Constant(r.Word)
		discard := func(as string) string {
			if to != devNull {
				return ""
			}
			return as + devNull
		}
		second := r.N != nil && r.N.Value == "2"
		switch {
		case r.Op == syntax.RdrAll || r.Op == syntax.AppAll:
			s = streams{discard("&>"), discard("&>")}
		case r.Op == syntax.DplOut && second && to == "1":
			s.err = s.out
		case r.Op == syntax.DplOut && second && to == "-":
			s.err = "2>&-"
		case r.Op == syntax.DplOut && !second && to == "2":
			s.out = s.err
		case r.Op == syntax.DplOut && r.N == nil && to != "1" && to != "-":
			s = streams{discard(">&"), discard(">&")}
		case writesFile(r) && second:
			s.err = discard("2>")
		case writesFile(r) && (r.N == nil || r.N.Value == "1"):
			s.out = discard(">")
		}
	}
	return s
}

// stderrRunners lists the runners that print their summary to standard error; all others use
// standard output.
var stderrRunners = []string{"unittest", "jest", "bun"}

// summaryDiscard returns the redirection that discards a runner's summary, or "". For an unknown runner
// both streams must be discarded.
func (s streams) summaryDiscard(runner string) string {
	switch {
	case s.out != "" && s.err != "":
		return s.out
	case slices.Contains(stderrRunners, runner):
		return s.err
	case runner != "":
		return s.out
	}
	return ""
}
