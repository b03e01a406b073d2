package clihelp

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"github.com/pawl-dev/pawl/internal/term"
)

// Help returns the text of --help for a command, or for the tool.
//
// Its lines have at most columns columns; 0 = unknown.
func Help(n *kong.Node, columns int) string {
	var b strings.Builder
	if n.Parent == nil {
		rootHelp(&b, n, false)
		return term.Wrap(b.String(), columns)
	}
	fmt.Fprintf(&b, "%s: %s\n\nusage: %s\n", Name(n), n.Help, synopsis(n))
	if n.Leaf() {
		section(&b, "arguments", argumentRows(n))
		for _, g := range flagGroups(n) {
			section(&b, g.title, g.rows)
		}
	} else {
		section(&b, "commands", commandRows(shownCommands(n)))
	}
	text := term.Wrap(b.String(), columns)
	if n.Detail != "" {
		text += "\n" + wrapDetail(n.Detail, columns)
	}
	return text
}

// All returns the text of help --all: every command, by group.
func All(root *kong.Node, columns int) string {
	var b strings.Builder
	rootHelp(&b, root, true)
	return term.Wrap(b.String(), columns)
}

// wrapDetail wraps paragraphs. Examples, which are indented, stay as they are.
func wrapDetail(text string, columns int) string {
	if columns == 0 {
		return text + "\n"
	}
	var b, paragraph strings.Builder
	flush := func() {
		if paragraph.Len() > 0 {
			b.WriteString(term.Wrap(paragraph.String()+"\n", columns))
		}
		paragraph.Reset()
	}
	for l := range strings.SplitSeq(text, "\n") {
		switch {
		case l == "" || strings.HasPrefix(l, " "):
			flush()
			b.WriteString(l + "\n")
		case paragraph.Len() > 0:
			paragraph.WriteString(" " + l)
		default:
			paragraph.WriteString(l)
		}
	}
	flush()
	return b.String()
}

// EssentialCommands lists the commands that pawl --help shows: what a new user needs first.
func EssentialCommands() []string {
	return []string{"demo", "init", "plan", "run", "start", "watch", "status", "tell", "stop", "resume", "report", "undo", "install", "doctor"}
}

// rootHelp writes the help of the tool with the essential commands, or with all.
func rootHelp(b *strings.Builder, n *kong.Node, all bool) {
	fmt.Fprintf(b, "%s\n\nusage: pawl COMMAND\n", n.Help)
	if all {
		width := widestName(commandRows(shownCommands(n)))
		for _, g := range groups(n) {
			writeRows(b, g[0].Group.Title, commandRows(g), width)
		}
	} else {
		var commands []*kong.Node
		for _, name := range EssentialCommands() {
			if i := slices.IndexFunc(n.Children, func(c *kong.Node) bool { return c.Name == name }); i >= 0 {
				commands = append(commands, n.Children[i])
			}
		}
		section(b, "first commands", commandRows(commands))
	}
	section(b, "more help", []Row{
		{"pawl help --all", "list every command"},
		{"pawl COMMAND --help", "explain one command, with examples"},
		{"pawl help exit-codes", "list the exit codes"},
	})
}

func section(b *strings.Builder, title string, rows []Row) {
	writeRows(b, title, rows, widestName(rows))
}

func widestName(rows []Row) int {
	width := 0
	for _, r := range rows {
		width = max(width, utf8.RuneCountInString(r.Name))
	}
	return width
}

func writeRows(b *strings.Builder, title string, rows []Row, width int) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", title)
	for _, r := range rows {
		fmt.Fprintf(b, "  %-*s  %s\n", width, r.Name, r.Help)
	}
}
