package testreport

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/pawl-dev/pawl/internal/core/shell"
)

// Detect returns the kind of report that a shell command prints or writes:
// "go-json" or "tap" on its standard output, "junit:PATH" for a file, "" if
// unknown. It reads only simple commands one after another (`a && b`, `a; b`),
// since a pipe may change what is printed.
func Detect(command string) string {
	for _, call := range calls(command) {
		if f := detect(call.words); f != "" {
			return f
		}
	}
	return ""
}

// WithIDs adds -json to each plain `go test` of a shell command, so that its
// results come by test; false, and the command as it was, where there is none
// or something in the command would see the difference.
func WithIDs(command string) (string, bool) {
	if Detect(command) != "" {
		return command, false
	}
	return withFlag(command, "-json", notATestRun)
}

// Uncached adds -count=1 to each `go test -json`, so that a repeat is one.
func Uncached(command string) string {
	command, _ = withFlag(command, "-count=1", setsCount)
	return command
}

// withFlag adds a flag to each `go test` of a shell command that has no word which rules it
// out. It returns false if there is none.
func withFlag(command, flag string, rulesOut func(word string) bool) (string, bool) {
	out, from := "", 0
	for _, call := range calls(command) {
		if len(call.words) < 2 || call.words[0] != "go" || call.words[1] != "test" || slices.ContainsFunc(call.words, rulesOut) {
			continue
		}
		out += command[from:call.ends[1]] + " " + flag
		from = call.ends[1]
	}
	return out + command[from:], from > 0
}

func notATestRun(word string) bool {
	switch strings.TrimLeft(word, "-") {
	case "c", "h", "help", "n":
		return strings.HasPrefix(word, "-")
	}
	return false
}

func setsCount(word string) bool {
	return strings.HasPrefix(strings.TrimLeft(word, "-"), "count") && strings.HasPrefix(word, "-")
}

// call is one simple command of constant words.
type call struct {
	words []string
	ends  []int // of the words, in bytes
}

// calls are the simple commands of a list, in order; none if any part of it is
// not one, so that nothing is told of what is not understood.
func calls(command string) []call {
	list, _ := shell.Parse(command)
	var out []call
	for _, stmt := range list {
		found, ok := listed(stmt)
		if !ok {
			return nil
		}
		out = append(out, found...)
	}
	return out
}

func listed(stmt *syntax.Stmt) ([]call, bool) {
	if len(stmt.Redirs) > 0 || stmt.Background || stmt.Negated || stmt.Coprocess {
		return nil, false
	}
	switch cmd := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		return []call{simple(cmd)}, true
	case *syntax.DeclClause: // export NAME=…
		return nil, true
	case *syntax.BinaryCmd:
		if cmd.Op != syntax.AndStmt {
			return nil, false
		}
		left, okLeft := listed(cmd.X)
		right, okRight := listed(cmd.Y)
		return append(left, right...), okLeft && okRight
	}
	return nil, false
}

func simple(cmd *syntax.CallExpr) call {
	var c call
	for _, word := range cmd.Args {
		c.words = append(c.words, shell.Constant(word))
		c.ends = append(c.ends, int(word.End().Offset()))
	}
	return c
}

// junitFlags name the file a runner writes its XML to.
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

func detect(words []string) string {
	words = unwrap(words)
	if len(words) == 0 {
		return ""
	}
	name := words[0][strings.LastIndexByte(words[0], '/')+1:]
	for _, flag := range junitFlags(name) {
		if path, _ := option(words, flag); path != "" {
			return JUnit + ":" + path
		}
	}
	switch name {
	case "go":
		if len(words) > 1 && words[1] == "test" && (slices.Contains(words, "-json") || slices.Contains(words, "--json")) {
			return GoJSON
		}
	case "bats":
		if f, ok := option(words, "--formatter"); !ok && !slices.Contains(words, "-p") && !slices.Contains(words, "--pretty") || f == "tap" {
			return TAP
		}
	case "ava":
		if slices.Contains(words, "--tap") {
			return TAP
		}
	case "node", "mocha", "vitest", "tap", "jest":
		for _, flag := range []string{"--test-reporter", "--reporter", "-R"} {
			if f, _ := option(words, flag); f == "tap" || f == "tap-flat" {
				return TAP
			}
		}
	}
	return ""
}

// unwrap drops what only finds, times or limits the command that follows.
func unwrap(words []string) []string {
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

// option is the value of a flag given as `flag=v` or `flag v`.
func option(words []string, flag string) (string, bool) {
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
