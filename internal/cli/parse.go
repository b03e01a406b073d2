package cli

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/pawl-dev/pawl/internal/clihelp"
	"github.com/pawl-dev/pawl/internal/figure"
)

// helpTexts explains each command with examples, after a line "== COMMAND".
//
//go:embed help.txt
var helpTexts string

// newParser makes the parser of a grammar: a *grammar, or a struct with some of its fields.
func newParser(g any) *kong.Kong {
	return kong.Must(g,
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
}

// explainCommands sets the help texts of n and the commands below it.
func explainCommands(n *kong.Node) {
	_, text, _ := strings.Cut("\n"+helpTexts, "\n== "+clihelp.Name(n)+"\n")
	text, _, _ = strings.Cut(text, "\n== ")
	n.Detail = strings.TrimRight(text, "\n")
	for _, c := range n.Children {
		explainCommands(c)
	}
}

// decodeDuration reads a duration as the configuration does.
func decodeDuration(ctx *kong.DecodeContext, target reflect.Value) error {
	var text string
	if err := ctx.Scan.PopValueInto("duration", &text); err != nil {
		return err //nolint:wrapcheck // the error names the flag
	}
	d, err := figure.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("want a duration such as 90s, 10m, 8h or 2d, not %q", text)
	}
	target.SetInt(int64(d))
	return nil
}

// singleCommandGrammar returns a grammar of only the command that the arguments name, nil for none. Building
// the parser of all commands took half the time of `pawl version`.
func singleCommandGrammar(args []string) any {
	if len(args) == 0 {
		return nil
	}
	return grammarOf(args[:1], func(f reflect.StructField) reflect.Type { return f.Type })
}

// firstHelpGrammar returns a grammar of the commands for the first week, without their flags. rootHelp
// needs no more. Building the parser of all commands took a third of its time.
func firstHelpGrammar() any {
	return grammarOf(clihelp.EssentialCommands(), func(f reflect.StructField) reflect.Type {
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

// grammarOf returns a grammar of the commands with these names, nil for none. typeOf returns the type
// of each.
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
	words, asked := parseHelpRequest(args)
	if asked && len(words) == 0 {
		a.print(a.text(clihelp.Help(newParser(firstHelpGrammar()).Model.Node, a.columns)))
		return nil
	}
	if alone := singleCommandGrammar(args); alone != nil && !asked {
		if ctx, err := newParser(alone).Parse(args); err == nil {
			return a.runParsed(ctx)
		} // the whole grammar explains an error better, because it knows all commands
	}
	k := newParser(&grammar{})
	if asked {
		if len(words) == 1 && words[0] == "exit-codes" {
			a.printf("%s", codesText())
			return nil
		}
		if len(words) == 1 && words[0] == "--all" {
			a.print(a.text(clihelp.All(k.Model.Node, a.columns)))
			return nil
		}
		if len(words) == 2 && words[0] == "--man" {
			return clihelp.WriteManPages(k.Model.Node, words[1], exitRows())
		}
		n, rest := clihelp.FindCommand(k.Model.Node, words)
		if len(n.Children) > 0 && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
			if _, err := k.Parse(words); err != nil {
				return clihelp.ParseError(n, rest, err)
			}
		}
		a.print(a.text(clihelp.Help(n, a.columns)))
		return nil
	}
	ctx, err := k.Parse(args)
	if err != nil {
		n, rest := clihelp.FindCommand(k.Model.Node, args)
		return clihelp.ParseError(n, rest, err)
	}
	return a.runParsed(ctx)
}

// runParsed runs the parsed command.
func (a *app) runParsed(ctx *kong.Context) error {
	if what := ctx.Selected().Tag.Get("user"); what != "" {
		if err := a.requireUser(what); err != nil {
			return err
		}
	}
	defer a.releaseSignals()
	if err := ctx.BindToProvider(func() (context.Context, error) { return a.untilSignal(), nil }); err != nil {
		return fmt.Errorf("bind the context of commands: %w", err)
	}
	return a.commandError(ctx.Run(a))
}

// parseHelpRequest reports whether the arguments ask for help, and with which words. Examples are no
// arguments, `help list`, `list --help` and `list -h`.
func parseHelpRequest(args []string) (words []string, asked bool) {
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
