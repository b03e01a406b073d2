package cli

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/regex"
)

// newParser makes the parser of a grammar: *grammar, or a struct with some of its fields.
func newParser(g any) (*kong.Kong, error) {
	k, err := kong.New(g,
		kong.Name("pawl"),
		kong.Description("Pawl runs a coding agent in a loop until your tests show that the work is done."),
		kong.NoDefaultHelp(),
		kong.TypeMapper(reflect.TypeFor[time.Duration](), kong.MapperFunc(decodeDuration)),
		kong.Exit(func(int) {}),
		kong.PostBuild(func(k *kong.Kong) error {
			explainCommands(k.Model.Node)
			return nil
		}),
	)
	if err != nil {
		return nil, fmt.Errorf("read the grammar of the command line: %w", err)
	}
	return k, nil
}

// decodeDuration reads a duration as the configuration does.
func decodeDuration(ctx *kong.DecodeContext, target reflect.Value) error {
	var text string
	if err := ctx.Scan.PopValueInto("duration", &text); err != nil {
		return err //nolint:wrapcheck // it names the flag
	}
	d, err := figure.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("want a duration such as 90s, 10m, 8h or 2d, not %q", text)
	}
	target.SetInt(int64(d))
	return nil
}

// commandAlone is a grammar of the command that the arguments name, and nil if they name
// none. To build the parser of all commands took half the time of `pawl version`.
func commandAlone(args []string) any {
	if len(args) == 0 {
		return nil
	}
	return grammarOf(args[:1], func(f reflect.StructField) reflect.Type { return f.Type })
}

// firstCommands is a grammar of the commands of the first week without their flags: all
// that rootHelp reads. To build the parser of all commands took a third of its time.
func firstCommands() any {
	return grammarOf(firstWeek(), func(f reflect.StructField) reflect.Type {
		var kept []reflect.StructField
		for _, f := range reflect.VisibleFields(f.Type) {
			_, isArgument := f.Tag.Lookup("arg")
			_, isCommand := f.Tag.Lookup("cmd")
			if isCommand {
				f.Type = reflect.TypeFor[struct{}]()
			}
			if isArgument || isCommand {
				kept = append(kept, reflect.StructField{Name: f.Name, Type: f.Type, Tag: f.Tag})
			}
		}
		return reflect.StructOf(kept)
	})
}

// grammarOf is a grammar of the commands with these names, each of the type that typeOf
// gives it, and nil if there are none.
func grammarOf(names []string, typeOf func(reflect.StructField) reflect.Type) any {
	var fields []reflect.StructField
	for _, f := range reflect.VisibleFields(reflect.TypeFor[grammar]()) {
		if slices.Contains(names, cmp.Or(f.Tag.Get("name"), strings.ToLower(f.Name))) {
			fields = append(fields, reflect.StructField{Name: f.Name, Type: typeOf(f), Tag: f.Tag})
		}
	}
	if fields == nil {
		return nil
	}
	return reflect.New(reflect.StructOf(fields)).Interface()
}

// dispatch runs the command that the arguments name, or prints help.
func (a *app) dispatch(args []string) error {
	if len(args) == 1 && args[0] == "--version" {
		args = []string{"version"}
	}
	words, asked := helpAsked(args)
	if asked && len(words) == 0 {
		return a.firstHelp()
	}
	if alone := commandAlone(args); alone != nil && !asked {
		k, err := newParser(alone)
		if err != nil {
			return err
		}
		if ctx, err := k.Parse(args); err == nil {
			return a.perform(ctx)
		} // an error is told by the whole grammar, which knows what else was meant
	}
	k, err := newParser(&grammar{})
	if err != nil {
		return err
	}
	if asked {
		if len(words) == 1 && words[0] == "exit-codes" {
			a.printf("%s", codesText())
			return nil
		}
		if len(words) == 1 && words[0] == "--all" {
			a.print(a.text(allHelp(k.Model.Node, a.columns)))
			return nil
		}
		if len(words) == 2 && words[0] == "--man" {
			return writeManPages(k.Model.Node, words[1])
		}
		n, rest := named(k.Model.Node, words)
		if len(n.Children) > 0 && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
			if _, err := k.Parse(words); err != nil {
				return usage(n, rest, err)
			}
		}
		a.print(a.text(helpText(n, a.columns)))
		return nil
	}
	ctx, err := k.Parse(args)
	if err != nil {
		n, rest := named(k.Model.Node, args)
		return usage(n, rest, err)
	}
	return a.perform(ctx)
}

// firstHelp prints what pawl --help does.
func (a *app) firstHelp() error {
	k, err := newParser(firstCommands())
	if err != nil {
		return err
	}
	a.print(a.text(helpText(k.Model.Node, a.columns)))
	return nil
}

// perform runs the command that was parsed.
func (a *app) perform(ctx *kong.Context) error {
	if what := ctx.Selected().Tag.Get("user"); what != "" {
		if err := a.requireUser(what); err != nil {
			return err
		}
	}
	defer a.releaseSignals()
	if err := ctx.BindToProvider(func() (context.Context, error) { return a.untilSignal(), nil }); err != nil {
		return fmt.Errorf("bind the context of commands: %w", err)
	}
	return a.ended(ctx.Run(a))
}

// helpAsked tells whether the arguments ask for help, and with which words: none
// at all, `help list`, `list --help`, `list -h`.
func helpAsked(args []string) (words []string, asked bool) {
	if len(args) == 0 {
		return nil, true
	}
	if args[0] == "help" || args[0] == "--help" || args[0] == "-h" {
		return args[1:], true
	}
	for i, arg := range args {
		switch arg {
		case "--":
			return nil, false
		case "-h", "--help":
			return args[:i], true
		}
	}
	return nil, false
}

// named is the innermost command that the arguments name, and what follows it.
func named(n *kong.Node, args []string) (*kong.Node, []string) {
	for len(args) > 0 {
		i := slices.IndexFunc(n.Children, func(c *kong.Node) bool { return c.Name == args[0] })
		if i < 0 {
			break
		}
		n, args = n.Children[i], args[1:]
	}
	return n, args
}

// usage puts what the parser says of a command, and of the arguments behind it, into
// the tool's voice: what is wrong, and the nearest thing that would be right as a hint.
func usage(n *kong.Node, rest []string, err error) error {
	what, _, _ := strings.Cut(err.Error(), ", did you mean ")
	hint := fmt.Sprintf("%s lists what there is", helpCommand(n))
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
		hint = fmt.Sprintf("put -- before it:  %s -- '--…'", commandName(n))
	case strings.HasPrefix(what, "unexpected argument ") && len(n.Children) > 0:
		what = "there is no command " + strings.TrimPrefix(what, "unexpected argument ")
		if len(rest) > 0 && !strings.HasPrefix(rest[0], "-") { // not what follows it
			what = "there is no command " + rest[0]
		}
	case strings.HasPrefix(what, "expected one of ") && len(n.Children) > 0:
		what = commandName(n) + " needs a command: " + strings.Join(commandNames(n), ", ")
	case strings.HasPrefix(what, "expected "), strings.HasPrefix(what, "missing flags: "):
		what = commandName(n) + " needs " + missing(n, what)
		hint = "usage: " + synopsis(n)
	case strings.Contains(what, ": expected ") && (strings.HasSuffix(what, "(<EOL>)") || strings.Contains(what, " flag); perhaps try ")):
		flag, rest, _ := strings.Cut(what, ": expected ")
		what, hint = unvalued(n, flag, rest)
	default:
		what = plainer(n, what)
		if strings.HasPrefix(what, "unknown flag ") && near == "" && takesWords(n) {
			hint = "if it is no flag of Pawl's, quote the words, or put -- before them"
		}
	}
	return failure.New(failure.Usage, hint, "%s", what)
}

// helpCommand is the command that lists what n takes.
func helpCommand(n *kong.Node) string {
	if n.Parent == nil {
		return "pawl help --all"
	}
	return commandName(n) + " --help"
}

// takesWords tells whether a command is given words that may look like flags: a shell
// command, or text.
func takesWords(n *kong.Node) bool {
	return slices.ContainsFunc(n.Positional, func(p *kong.Positional) bool { return p.Name == "command" || p.Name == "text" })
}

// unvalued is what to say of a flag whose value is missing, or looks like a flag.
func unvalued(n *kong.Node, flag, rest string) (what, hint string) {
	if _, near, ok := strings.Cut(rest, "perhaps try "); ok {
		_, value, _ := strings.Cut(strings.TrimSuffix(near, "?"), "=")
		value = strings.Trim(value, `"`)
		if help := numberHelp(n, flag); help != "" && negative.MatchString(value) {
			return fmt.Sprintf("%s: %s is less than 0", flag, value), help
		}
		return fmt.Sprintf("%s needs a value, and %s looks like a flag", flag, value), fmt.Sprintf("if it is the value:  %s=%s", flag, value)
	}
	return flag + " needs a value", helpCommand(n) + " lists what there is"
}

// negative matches a number below 0, be it an amount, a time or a share.
var negative = regex.New(`^-[0-9.]`)

// numberHelp is what help says of a flag whose value is a number from 0, else "".
func numberHelp(n *kong.Node, flag string) string {
	for _, group := range n.AllFlags(true) {
		for _, f := range group {
			if "--"+f.Name == flag && amount.MatchString(f.PlaceHolder) {
				return fmt.Sprintf("%s %s: %s", flag, f.PlaceHolder, f.Help)
			}
		}
	}
	return ""
}

// amount matches the placeholders of such flags.
var amount = regex.New(`^(?:N|USD|[0-9]+[smhd%])$`)

// plainer names arguments as help does and leaves out what only the parser
// understands.
func plainer(n *kong.Node, what string) string {
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

// missing names the arguments that the parser expected as help shows them.
func missing(n *kong.Node, what string) string {
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

func commandNames(n *kong.Node) (names []string) {
	for _, c := range shownOf(n) {
		names = append(names, c.Name)
	}
	return names
}

// nearestCommand is the command that was probably meant, by a mistyped name or by
// the word that other tools have for it; "" if there is none.
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

// nearestFlag is the same for a flag of a command, as it is typed.
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
