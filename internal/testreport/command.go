package testreport

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/pawl-dev/pawl/internal/core/shell"
)

// Detect returns the kind of report that a shell command produces: "go-json" or "tap" on standard
// output, "junit:PATH" in a file, or "" if unknown. It only reads lists of simple commands (`a &&
// b`, `a; b`), because a pipe may change the output.
func Detect(command string) string {
	for _, call := range simpleCommands(command) {
		if f := reportKind(call.words); f != "" {
			return f
		}
	}
	return ""
}

// AddGoTestJSON adds -json to each plain `go test` of a shell command, to get results per test. It
// returns false and the unchanged command if it adds nothing. That is the case if there is no such
// `go test`, or if the command processes its output.
func AddGoTestJSON(command string) (string, bool) {
	if Detect(command) != "" {
		return command, false
	}
	out, from := "", 0
	for _, call := range simpleCommands(command) {
		if len(call.words) < 2 || call.words[0] != "go" || call.words[1] != "test" || slices.ContainsFunc(call.words, isNoRunFlag) {
			continue
		}
		out += command[from:call.ends[1]] + " -json"
		from = call.ends[1]
	}
	return out + command[from:], from > 0
}

func isNoRunFlag(word string) bool {
	switch strings.TrimLeft(word, "-") {
	case "c", "h", "help", "n":
		return strings.HasPrefix(word, "-")
	}
	return false
}

// simpleCommand is a simple command of constant words.
type simpleCommand struct {
	words []string
	ends  []int // end offset of each word, in bytes
}

// simpleCommands returns the simple commands of a list, in order. It returns nil if any part of the
// list is another construct, so that no caller acts on half of a command.
func simpleCommands(command string) []simpleCommand {
	list, _ := shell.Parse(command)
	var out []simpleCommand
	for _, stmt := range list {
		found, ok := commandsOf(stmt)
		if !ok {
			return nil
		}
		out = append(out, found...)
	}
	return out
}

func commandsOf(stmt *syntax.Stmt) ([]simpleCommand, bool) {
	if len(stmt.Redirs) > 0 || stmt.Background || stmt.Negated || stmt.Coprocess {
		return nil, false
	}
	switch cmd := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		return []simpleCommand{newSimpleCommand(cmd)}, true
	case *syntax.DeclClause: // export NAME=…
		return nil, true
	case *syntax.BinaryCmd:
		if cmd.Op != syntax.AndStmt {
			return nil, false
		}
		left, okLeft := commandsOf(cmd.X)
		right, okRight := commandsOf(cmd.Y)
		return append(left, right...), okLeft && okRight
	}
	return nil, false
}

func newSimpleCommand(cmd *syntax.CallExpr) simpleCommand {
	var c simpleCommand
	for _, word := range cmd.Args {
		c.words = append(c.words, shell.Constant(word))
		c.ends = append(c.ends, int(word.End().Offset()))
	}
	return c
}

// junitFlags returns the flags with which a runner is told the path of its JUnit XML file.
func junitFlags(runner string) []string {
	switch runner {
	case "pytest", "py.test":
		return []string{"--junitxml", "--junit-xml"}
	case "phpunit":
		return []string{"--log-junit"}
	case "ctest":
		return []string{"--output-junit"}
	case "gotestsum":
		return []string{"--junitfile"}
	}
	return nil
}

func reportKind(words []string) string {
	words = unwrapRunner(words)
	if len(words) == 0 {
		return ""
	}
	name := words[0][strings.LastIndexByte(words[0], '/')+1:]
	for _, flag := range junitFlags(name) {
		if path, _ := optionValue(words, flag); path != "" {
			return JUnit + ":" + path
		}
	}
	switch name {
	case "go":
		if len(words) > 1 && words[1] == "test" && (slices.Contains(words, "-json") || slices.Contains(words, "--json")) {
			return GoJSON
		}
	case "bats":
		if f, ok := optionValue(words, "--formatter"); !ok && !slices.Contains(words, "-p") && !slices.Contains(words, "--pretty") || f == "tap" {
			return TAP
		}
	case "ava":
		if slices.Contains(words, "--tap") {
			return TAP
		}
	case "node", "mocha", "vitest", "tap", "jest":
		for _, flag := range []string{"--test-reporter", "--reporter", "-R"} {
			if f, _ := optionValue(words, flag); f == "tap" || f == "tap-flat" {
				return TAP
			}
		}
	}
	return ""
}

// unwrapRunner drops programs that only find, time or limit the command after them.
func unwrapRunner(words []string) []string {
	for len(words) > 1 {
		rest, ok := shell.Unwrap(words)
		switch {
		case ok:
			words = rest
		case len(words) > 2 && shell.CommandName(words[0]) == "python" && words[1] == "-m":
			words = words[2:]
		default:
			return words
		}
	}
	return words
}

// optionValue returns the value of a flag given as `flag=v` or `flag v`.
func optionValue(words []string, flag string) (string, bool) {
	for i, w := range words {
		if v, ok := strings.CutPrefix(w, flag+"="); ok {
			return v, true
		}
		if w == flag && i+1 < len(words) {
			return words[i+1], true
		}
	}
	return "", false
}
