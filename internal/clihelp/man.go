package clihelp

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/alecthomas/kong"
)

// WriteManPages writes a manual page for the tool and for each command into dir, with the exit codes
// of loops. Packagers call it by `pawl help --man DIR`.
func WriteManPages(root *kong.Node, dir string, exits []Row) error {
	for _, n := range Commands(root) {
		path := filepath.Join(dir, ManName(n)+".1")
		if err := os.WriteFile(path, []byte(manPage(n, exits)), 0o644); err != nil {
			return fmt.Errorf("write a manual page: %w", err)
		}
	}
	return nil
}

// ManName returns the name of a command's manual page, such as pawl-plan-new.
func ManName(n *kong.Node) string { return strings.ReplaceAll(Name(n), " ", "-") }

// manPage returns the manual page of a command. It has no date, so that builds are reproducible.
func manPage(n *kong.Node, exits []Row) string {
	var m roff
	fmt.Fprintf(&m, ".TH %s 1 \"\" Pawl \"Pawl manual\"\n", strings.ToUpper(ManName(n)))
	m.section("name")
	m.text(ManName(n) + " - " + n.Help)
	m.section("synopsis")
	if n.Parent == nil {
		m.text("pawl COMMAND")
		for _, g := range groups(n) {
			m.rows("commands: "+g[0].Group.Title, commandRows(g))
		}
		m.section("exit status")
		m.text("pawl run and pawl resume, by the loop's outcome:")
		for _, r := range exits {
			m.row(r)
		}
		return m.String()
	}
	m.text(synopsis(n))
	if n.Leaf() {
		m.rows("arguments", argumentRows(n))
		for _, g := range flagGroups(n) {
			m.rows(g.title, g.rows)
		}
	} else {
		m.rows("commands", commandRows(shownCommands(n)))
	}
	if n.Detail != "" {
		m.section("description")
		m.detail(n.Detail)
	}
	m.section("see also")
	m.text(ManName(n.Parent) + "(1)")
	return m.String()
}

// roff writes text of manual pages.
type roff struct{ strings.Builder }

func (m *roff) section(title string) { fmt.Fprintf(m, ".SH %s\n", escapeRoff(strings.ToUpper(title))) }

func (m *roff) text(s string) { m.WriteString(escapeRoff(s) + "\n") }

func (m *roff) rows(title string, rows []Row) {
	if len(rows) == 0 {
		return
	}
	m.section(title)
	for _, r := range rows {
		m.row(r)
	}
}

func (m *roff) row(r Row) {
	fmt.Fprintf(m, ".TP\n\\fB%s\\fR\n%s\n", escapeRoff(r.Name), escapeRoff(r.Help))
}

// detail writes paragraphs. Examples, which are indented, stay as they are.
func (m *roff) detail(text string) {
	example := false
	for l := range strings.SplitSeq(text, "\n") {
		if indented := strings.HasPrefix(l, " "); l != "" && indented != example {
			m.WriteString(map[bool]string{true: ".EX\n", false: ".EE\n"}[indented])
			example = indented
		}
		switch {
		case l != "":
			m.text(l)
		case example:
			m.WriteString("\n")
		default:
			m.WriteString(".PP\n")
		}
	}
	if example {
		m.WriteString(".EE\n")
	}
}

// escapeRoff escapes text so that roff prints it unchanged: dashes and quotes stay as in a shell, no
// line is a request, and the output is ASCII.
func escapeRoff(s string) string {
	var b strings.Builder
	if strings.HasPrefix(s, ".") {
		b.WriteString(`\&`)
	}
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteByte(' ')
		case r == '-':
			b.WriteString(`\-`)
		case r > unicode.MaxASCII || strings.ContainsRune("\\'`^~", r):
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
