package cli

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"github.com/pawl-dev/pawl/internal/term"
)

// helpTexts explain each command with examples, behind a line "== COMMAND".
//
//go:embed help.txt
var helpTexts string

// explainCommands gives n and the commands below it their texts.
func explainCommands(n *kong.Node) {
	_, text, _ := strings.Cut("\n"+helpTexts, "\n== "+commandName(n)+"\n")
	text, _, _ = strings.Cut(text, "\n== ")
	n.Detail = strings.TrimRight(text, "\n")
	for _, c := range n.Children {
		explainCommands(c)
	}
}

// helpText is what --help prints for a command, or for the tool.
//
// Its text is laid out for columns, 0 where nothing is known of them.
func helpText(n *kong.Node, columns int) string {
	var b strings.Builder
	if n.Parent == nil {
		rootHelp(&b, n, false)
		return term.Wrap(b.String(), columns)
	}
	fmt.Fprintf(&b, "%s: %s\n\nusage: %s\n", commandName(n), n.Help, synopsis(n))
	if n.Leaf() {
		section(&b, "arguments", argumentRows(n))
		for _, g := range flagGroups(n) {
			section(&b, g.title, g.rows)
		}
	} else {
		section(&b, "commands", commandRows(shownOf(n)))
	}
	text := term.Wrap(b.String(), columns)
	if n.Detail != "" {
		text += "\n" + detail(n.Detail, columns)
	}
	return text
}

// allHelp is what help --all prints: every command, by group.
func allHelp(root *kong.Node, columns int) string {
	var b strings.Builder
	rootHelp(&b, root, true)
	return term.Wrap(b.String(), columns)
}

// detail lays paragraphs out anew; examples, which are indented, stay as they are.
func detail(text string, columns int) string {
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

// firstWeek lists the commands that pawl --help shows: what a new user needs first.
func firstWeek() []string {
	return []string{"demo", "init", "plan", "run", "start", "watch", "status", "tell", "stop", "resume", "report", "undo", "install", "doctor"}
}

// rootHelp prints the commands of the first week, or all of them.
func rootHelp(b *strings.Builder, n *kong.Node, all bool) {
	fmt.Fprintf(b, "%s\n\nusage: pawl COMMAND\n", n.Help)
	if all {
		width := widest(commandRows(shownOf(n)))
		for _, g := range groups(n) {
			aligned(b, g[0].Group.Title, commandRows(g), width)
		}
	} else {
		var commands []*kong.Node
		for _, name := range firstWeek() {
			if i := slices.IndexFunc(n.Children, func(c *kong.Node) bool { return c.Name == name }); i >= 0 {
				commands = append(commands, n.Children[i])
			}
		}
		section(b, "first commands", commandRows(commands))
	}
	section(b, "more help", []row{
		{"pawl help --all", "list every command"},
		{"pawl COMMAND --help", "explain one command, with examples"},
		{"pawl help exit-codes", "list the exit codes"},
	})
}

// groups are the commands by their group, in the order of the grammar.
func groups(n *kong.Node) [][]*kong.Node {
	var out [][]*kong.Node
	for _, c := range shownOf(n) {
		if last := len(out) - 1; last >= 0 && out[last][0].Group.Key == c.Group.Key {
			out[last] = append(out[last], c)
		} else {
			out = append(out, []*kong.Node{c})
		}
	}
	return out
}

// shownOf are the commands below n that people have a use for.
func shownOf(n *kong.Node) []*kong.Node {
	return slices.DeleteFunc(slices.Clone(n.Children), func(c *kong.Node) bool { return c.Hidden })
}

// row is a name and what it means.
type row struct{ name, help string }

func section(b *strings.Builder, title string, rows []row) { aligned(b, title, rows, widest(rows)) }

func widest(rows []row) int {
	width := 0
	for _, r := range rows {
		width = max(width, utf8.RuneCountInString(r.name))
	}
	return width
}

func aligned(b *strings.Builder, title string, rows []row, width int) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", title)
	for _, r := range rows {
		fmt.Fprintf(b, "  %-*s  %s\n", width, r.name, r.help)
	}
}

func commandRows(commands []*kong.Node) []row {
	var rows []row
	for _, c := range commands {
		rows = append(rows, row{strings.Join(append([]string{c.Name}, operands(c)...), " "), c.Help})
	}
	return rows
}

func argumentRows(n *kong.Node) []row {
	var rows []row
	for _, p := range n.Positional {
		rows = append(rows, row{argumentName(p), p.Help})
	}
	return rows
}

// flagGroup is flags that belong together.
type flagGroup struct {
	title string
	rows  []row
}

// shownFlags are a command's flags without those that no user types.
func shownFlags(n *kong.Node) []*kong.Flag {
	return slices.DeleteFunc(slices.Clone(n.Flags), func(f *kong.Flag) bool { return f.Hidden })
}

// flagGroups are a command's flags by group, those without a group last.
func flagGroups(n *kong.Node) []flagGroup {
	var grouped []flagGroup
	rest := flagGroup{title: "flags"}
	for _, f := range shownFlags(n) {
		r := row{flagSynopsis(f), flagHelp(f)}
		if f.Short != 0 {
			r.name = fmt.Sprintf("-%c, %s", f.Short, r.name)
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
			grouped = append(grouped, flagGroup{title, []row{r}})
		}
	}
	return append(grouped, rest)
}

func flagHelp(f *kong.Flag) string {
	if f.HasDefault && f.Default != "" && f.Default != "false" {
		return fmt.Sprintf("%s (%s)", f.Help, f.Default)
	}
	return f.Help
}

// flagsInSynopsis is how many flags a synopsis names before it says FLAGS.
const flagsInSynopsis = 6

// synopsis is the whole call: pawl log [LOOP] [--json] [--follow] [--verify].
func synopsis(n *kong.Node) string {
	words := append([]string{commandName(n)}, operands(n)...)
	flags := shownFlags(n)
	if len(flags) > flagsInSynopsis {
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

// operands are what follows a command's name, flags aside.
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

func flagSynopsis(f *kong.Flag) string {
	if f.IsBool() {
		return "--" + f.Name
	}
	return "--" + f.Name + " " + f.FormatPlaceHolder()
}

// argumentLabel is an argument's name in messages.
func argumentLabel(p *kong.Positional) string { return strings.ToUpper(p.Name) }

func argumentName(p *kong.Positional) string {
	name := argumentLabel(p)
	if p.IsCumulative() {
		name += "…"
	}
	return name
}

// commandName is the command as it is typed: pawl plan show.
func commandName(n *kong.Node) string {
	if n.Parent == nil {
		return n.Name
	}
	return commandName(n.Parent) + " " + n.Name
}
