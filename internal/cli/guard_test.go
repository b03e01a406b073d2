package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/guard"
)

// The table of rules on the guard's page is made from the catalogue; UPDATE=1
// writes it anew.
func TestGuardPage(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "docs", "reference", "guard.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(page), "do not edit -->\n")
	_, tail, ends := strings.Cut(rest, "<!-- end of the rules -->")
	if !ok || !ends {
		t.Fatal("there is no place for the rules")
	}
	var b strings.Builder
	b.WriteString("| rule | looks at | what it stops | for example | what the agent is told |\n|---|---|---|---|---|\n")
	for _, r := range guard.Catalogue() {
		example := strings.ReplaceAll(r.Example, "|", `\|`)
		fmt.Fprintf(&b, "| `%s` | %s | %s | `%s` | %s |\n", r.ID, r.Scope, r.What, example, strings.NewReplacer("<", "&lt;", "|", `\|`).Replace(r.Instead))
	}
	want := head + "do not edit -->\n" + b.String() + "<!-- end of the rules -->" + tail
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(page)); diff != "" {
		t.Errorf("guard.md is stale (UPDATE=1 go test writes it):\n%s", diff)
	}
}
