package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/guard"
)

// Tables on hand-written pages are generated from the code; UPDATE=1 writes them again.
func TestTablesOnPagesAreUpToDate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ page, table, end string }{
		{"guard.md", guardTable(), "<!-- end of the rules -->"},
		{"evidence.md", gate.Table(), "<!-- end of the table -->"},
	} {
		path := filepath.Join("..", "..", "docs", "reference", c.page)
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		head, rest, ok := strings.Cut(string(page), "do not edit -->\n")
		_, tail, ends := strings.Cut(rest, c.end)
		if !ok || !ends {
			t.Fatalf("%s has no place for its table", c.page)
		}
		want := head + "do not edit -->\n" + c.table + c.end + tail
		if os.Getenv("UPDATE") != "" {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if diff := cmp.Diff(want, string(page)); diff != "" {
			t.Errorf("%s is stale (UPDATE=1 go test writes it):\n%s", c.page, diff)
		}
	}
}

func guardTable() string {
	var b strings.Builder
	b.WriteString("| rule | looks at | what it stops | for example | advice to the agent |\n|---|---|---|---|---|\n")
	for _, r := range guard.Catalogue() {
		example := strings.ReplaceAll(r.Example, "|", `\|`)
		fmt.Fprintf(&b, "| `%s` | %s | %s | `%s` | %s |\n", r.ID, r.Scope, r.What, example, strings.NewReplacer("<", "&lt;", "|", `\|`).Replace(r.Instead))
	}
	return b.String()
}
