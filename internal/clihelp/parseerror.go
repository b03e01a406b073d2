package clihelp

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/regex"
)

// ParseError converts an error of the parser to an error for users: what is wrong, and the most
// similar correct word as a hint. n is the command and rest are the arguments after it.
func ParseError(n *kong.Node, rest []string, err error) error {
	what, _, _ := strings.Cut(err.Error(), ", did you mean ")
	hint := fmt.Sprintf("%s lists them", helpCommand(n))
	flag, isFlag := strings.CutPrefix(what, "unknown flag --")
	near := ""
	switch {
	case isFlag:
		near = nearestFlag(n, flag)
	case len(n.Children) > 0 && len(rest) > 0:
		near = nearestCommand(n, rest[0])
	}
	if near != "" {
		hint = "did you mean " + near + "?"
	}
	switch {
	case isFlag && strings.Contains(flag, " "): // no name of a flag, but words in quotes
		what = fmt.Sprintf("%q begins with a dash, so it is read as a flag", plan.OneLine("--"+flag, 40))
		hint = fmt.Sprintf("put -- before it:  %s -- '--…'", Name(n))
	case strings.HasPrefix(what, "unexpected argument ") && len(n.Children) > 0:
		what = "there is no command " + strings.TrimPrefix(what, "unexpected argument ")
		if len(rest) > 0 && !strings.HasPrefix(rest[0], "-") { // not what follows it
			what = "there is no command " + rest[0]
		}
	case strings.HasPrefix(what, "expected one of ") && len(n.Children) > 0:
		what = Name(n) + " needs a command: " + strings.Join(commandNames(n), ", ")
	case strings.HasPrefix(what, "expected "), strings.HasPrefix(what, "missing flags: "):
		what = Name(n) + " needs " + missingArguments(n, what)
		hint = "usage: " + synopsis(n)
	case strings.Contains(what, ": expected ") && (strings.HasSuffix(what, "(<EOL>)") || strings.Contains(what, " flag); perhaps try ")):
		flag, rest, _ := strings.Cut(what, ": expected ")
		what, hint = missingValue(n, flag, rest)
	default:
		what = inHelpWords(n, what)
		takesWords := slices.ContainsFunc(n.Positional, func(p *kong.Positional) bool { return p.Name == "command" || p.Name == "text" })
		if strings.HasPrefix(what, "unknown flag ") && near == "" && takesWords { // words may look like flags
			hint = "if it is not a flag of Pawl, quote the words, or put -- before them"
		}
	}
	return failure.New(failure.Usage, hint, "%s", what)
}

// helpCommand returns the command that prints the help of n.
func helpCommand(n *kong.Node) string {
	if n.Parent == nil {
		return "pawl help --all"
	}
	return Name(n) + " --help"
}

// missingValue returns the error for a flag whose value is missing, or looks like a flag.
func missingValue(n *kong.Node, flag, rest string) (what, hint string) {
	if _, near, ok := strings.Cut(rest, "perhaps try "); ok {
		_, value, _ := strings.Cut(strings.TrimSuffix(near, "?"), "=")
		value = strings.Trim(value, `"`)
		if help := numberHelp(n, flag); help != "" && negativeNumber.MatchString(value) {
			return fmt.Sprintf("%s: %s is less than 0", flag, value), help
		}
		return fmt.Sprintf("%s needs a value, and %s looks like a flag", flag, value), fmt.Sprintf("if it is the value:  %s=%s", flag, value)
	}
	return flag + " needs a value", helpCommand(n) + " lists them"
}

// negativeNumber matches an argument that begins like a negative number.
var negativeNumber = regex.New(`^-[0-9.]`)

// numberHelp returns the help of a flag whose value is a number from 0, else "".
func numberHelp(n *kong.Node, flag string) string {
	for _, group := range n.AllFlags(true) {
		for _, f := range group {
			if "--"+f.Name == flag && amountPlaceholder.MatchString(f.PlaceHolder) {
				return fmt.Sprintf("%s %s: %s", flag, f.PlaceHolder, f.Help)
			}
		}
	}
	return ""
}

// amountPlaceholder matches the placeholders of flags for numbers, durations and percentages.
var amountPlaceholder = regex.New(`^(?:N|USD|[0-9]+[smhd%])$`)

// inHelpWords replaces the parser's words in a message by those of the help.
func inHelpWords(n *kong.Node, what string) string {
	for _, p := range n.Positional {
		what = strings.ReplaceAll(what, "<"+p.Name+">", argumentLabel(p))
	}
	what, _, _ = strings.Cut(what, `, expecting "`)
	if head, list, ok := strings.Cut(what, " must be one of "); ok {
		list, got, _ := strings.Cut(list, " but got ")
		return fmt.Sprintf("%s must be one of %s, not %s", head, strings.NewReplacer(`"`, "", ",", ", ").Replace(list), got)
	}
	return strings.NewReplacer("expected a valid 64 bit int", "expected a whole number").Replace(what)
}

// missingArguments returns the message for missing arguments, named as in the help.
func missingArguments(n *kong.Node, what string) string {
	var names []string
	for _, p := range n.Positional {
		if strings.Contains(what, "<"+p.Name+">") {
			names = append(names, argumentName(p))
		}
	}
	if flags, ok := strings.CutPrefix(what, "missing flags: "); ok {
		names = append(names, strings.ReplaceAll(flags, "=", " "))
	}
	if len(names) == 0 {
		return strings.TrimPrefix(what, "expected ")
	}
	return strings.Join(names, " and ")
}

// nearestCommand returns the command that was probably meant: one with a similar name, or one that
// other tools call so. It returns "" if there is none.
func nearestCommand(n *kong.Node, written string) string {
	if near := failure.Nearest(written, commandNames(n)); near != "" {
		return near
	}
	if n.Parent != nil {
		return ""
	}
	return map[string]string{
		"cancel": "stop", "abort": "stop", "kill": "stop", "end": "stop", "quit": "stop",
		"ls": "list", "ps": "list", "show": "status", "info": "status", "history": "log", "journal": "log",
		"continue": "resume", "unpause": "resume", "retry": "resume", "grant": "approve", "accept": "approve",
		"deny": "reject", "refuse": "reject", "revert": "undo", "rollback": "undo",
		"message": "tell", "say": "tell", "send": "tell", "setup": "install", "check": "verify", "test": "verify",
	}[strings.ToLower(written)]
}

// nearestFlag is nearestCommand for a flag, with its dashes.
func nearestFlag(n *kong.Node, written string) string {
	var names []string
	for _, group := range n.AllFlags(true) {
		for _, f := range group {
			names = append(names, f.Name)
		}
	}
	words := strings.FieldsFunc(strings.ToLower(written), func(r rune) bool { return r == '-' || r == '_' })
	for i, word := range words {
		words[i] = cmp.Or(map[string]string{
			"time": "duration", "turns": "iterations", "loops": "iterations", "rounds": "iterations", "iters": "iterations",
			"budget": "cost", "usd": "cost", "price": "cost",
		}[word], word)
	}
	near := failure.Nearest(written, names)
	if near = cmp.Or(near, failure.Nearest(strings.Join(words, "-"), names)); near == "" {
		return ""
	}
	return "--" + near
}
