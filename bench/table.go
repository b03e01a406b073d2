package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/pawl-dev/pawl/internal/atomicfile"
)

const (
	peersBegin  = "<!-- printed by: go run ./bench peers -page docs/explanation/how-fast.md -->\n"
	growthBegin = "<!-- printed by: go run ./bench -only 'a task' -page docs/explanation/how-fast.md -->\n"
	tableEnds   = "<!-- end -->\n"
)

// table has a header and rows.
type table [][]string

func (t table) print(w io.Writer) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range t {
		fmt.Fprintln(out, strings.Join(row, "\t"))
	}
	return out.Flush()
}

func (t table) markdown() string {
	var s strings.Builder
	for i, row := range t {
		fmt.Fprintf(&s, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			s.WriteString("|" + strings.Repeat("---|", len(row)) + "\n")
		}
	}
	return s.String()
}

// writeInto replaces the table on a page that begins so.
func (t table) writeInto(page, tableBegins string) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, begins := strings.Cut(string(text), tableBegins)
	_, after, ends := strings.Cut(rest, tableEnds)
	if !begins || !ends {
		return fmt.Errorf("%s has no place for a table", page)
	}
	return atomicfile.Write(page, []byte(before+tableBegins+t.markdown()+tableEnds+after), 0o644)
}
