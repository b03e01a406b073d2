// Package clihelp documents the command line: help texts, completion scripts of shells, manual pages,
// and error messages for wrong calls.
//
//	fmt.Print(clihelp.Help(node, 80))
//
// It uses the parser's model of the commands in package cli. In addition it knows the commands that a
// new user needs, and other tools' names for commands and flags.
package clihelp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// FindCommand returns the innermost command that the arguments name, and the arguments after it.
func FindCommand(n *kong.Node, args []string) (*kong.Node, []string) {
	for len(args) > 0 {
		i := slices.IndexFunc(n.Children, func(c *kong.Node) bool { return c.Name == args[0] })
		if i < 0 {
			break
		}
		n, args = n.Children[i], args[1:]
	}
	return n, args
}

func commandNames(n *kong.Node) (names []string) {
	for _, c := range shownCommands(n) {
		names = append(names, c.Name)
	}
	return names
}

// Commands returns n and all commands below it.
func Commands(n *kong.Node) []*kong.Node {
	all := []*kong.Node{n}
	for _, c := range shownCommands(n) {
		all = append(all, Commands(c)...)
	}
	return all
}

// shownCommands returns the commands below n that are not hidden.
func shownCommands(n *kong.Node) []*kong.Node {
	return slices.DeleteFunc(slices.Clone(n.Children), func(c *kong.Node) bool { return c.Hidden })
}

// Name returns the command as a user types it: pawl plan show.
func Name(n *kong.Node) string {
	if n.Parent == nil {
		return n.Name
	}
	return Name(n.Parent) + " " + n.Name
}

// groups returns the commands by group, in the order of the grammar.
func groups(n *kong.Node) [][]*kong.Node {
	var out [][]*kong.Node
	for _, c := range shownCommands(n) {
		if last := len(out) - 1; last >= 0 && out[last][0].Group.Key == c.Group.Key {
			out[last] = append(out[last], c)
		} else {
			out = append(out, []*kong.Node{c})
		}
	}
	return out
}

// shownFlags returns the flags of a command that are not hidden.
func shownFlags(n *kong.Node) []*kong.Flag {
	return slices.DeleteFunc(slices.Clone(n.Flags), func(f *kong.Flag) bool { return f.Hidden })
}

// operands returns the arguments of a command, without flags.
func operands(n *kong.Node) []string {
	if !n.Leaf() {
		return []string{"COMMAND"}
	}
	var words []string
	for _, p := range n.Positional {
		name := argumentName(p)
		if !p.Required {
			name = "[" + name + "]"
		}
		words = append(words, name)
	}
	return words
}

// argumentLabel returns an argument's name in messages.
func argumentLabel(p *kong.Positional) string { return strings.ToUpper(p.Name) }

func argumentName(p *kong.Positional) string {
	name := argumentLabel(p)
	if p.IsCumulative() {
		name += "…"
	}
	return name
}

// synopsis returns the form of a call: pawl log [LOOP] [--json] [--follow] [--verify].
func synopsis(n *kong.Node) string {
	words := append([]string{Name(n)}, operands(n)...)
	flags := shownFlags(n)
	if len(flags) > maxSynopsisFlags {
		return strings.Join(append(words, "[FLAGS]"), " ")
	}
	for _, f := range flags {
		word := flagSynopsis(f)
		if !f.Required {
			word = "[" + word + "]"
		}
		if f.IsSlice() {
			word += "…"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// maxSynopsisFlags is the maximum number of flags in a synopsis; more are written as FLAGS.
const maxSynopsisFlags = 6

func flagSynopsis(f *kong.Flag) string {
	if f.IsBool() {
		return "--" + f.Name
	}
	return "--" + f.Name + " " + f.FormatPlaceHolder()
}

// Row is a name with its help text.
type Row struct{ Name, Help string }

func commandRows(commands []*kong.Node) []Row {
	var rows []Row
	for _, c := range commands {
		rows = append(rows, Row{strings.Join(append([]string{c.Name}, operands(c)...), " "), c.Help})
	}
	return rows
}

func argumentRows(n *kong.Node) []Row {
	var rows []Row
	for _, p := range n.Positional {
		rows = append(rows, Row{argumentName(p), p.Help})
	}
	return rows
}

// flagGroup holds the flags of one group.
type flagGroup struct {
	title string
	rows  []Row
}

// flagGroups returns a command's flags by group, those without a group last.
func flagGroups(n *kong.Node) []flagGroup {
	var grouped []flagGroup
	rest := flagGroup{title: "flags"}
	for _, f := range shownFlags(n) {
		r := Row{flagSynopsis(f), f.Help}
		if f.HasDefault && f.Default != "" && f.Default != "false" {
			r.Help += " (" + f.Default + ")"
		}
		if f.Short != 0 {
			r.Name = fmt.Sprintf("-%c, %s", f.Short, r.Name)
		}
		title := ""
		if f.Group != nil && f.Group != n.Group {
			title = "flags: " + strings.ToLower(f.Group.Title)
		}
		switch last := len(grouped) - 1; {
		case title == "":
			rest.rows = append(rest.rows, r)
		case last >= 0 && grouped[last].title == title:
			grouped[last].rows = append(grouped[last].rows, r)
		default:
			grouped = append(grouped, flagGroup{title, []Row{r}})
		}
	}
	return append(grouped, rest)
}
