package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/clihelp"
)

// Each command has a manual page that contains all of its help.
func TestManPagesContainHelp(t *testing.T) {
	t.Parallel()
	agenttest.Needs(t, "groff")
	dir := t.TempDir()
	root := model(t)
	if err := clihelp.WriteManPages(root, dir, exitRows()); err != nil {
		t.Fatal(err)
	}
	words := func(s string) map[string]bool {
		all := map[string]bool{}
		for w := range strings.FieldsSeq(s) {
			all[strings.ToLower(strings.TrimSuffix(w, ":"))] = true
		}
		return all
	}
	for _, n := range clihelp.Commands(root) {
		path := filepath.Join(dir, clihelp.ManName(n)+".1")
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
			continue
		}
		cmd := exec.CommandContext(t.Context(), "groff", "-man", "-Tutf8", "-ww", "-b", "-rLL=400n", "-P-cbou", path)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		page, err := cmd.Output()
		if err != nil || stderr.Len() > 0 {
			t.Errorf("%s: %v\n%s", path, err, &stderr)
		}
		shown := words(string(page))
		want := clihelp.Help(n, 0)
		if n.Parent == nil {
			want, _, _ = strings.Cut(clihelp.All(n, 0), "\nmore help")
		}
		for w := range words(want) {
			if w != "usage" && !shown[w] {
				t.Errorf("%s does not show %q", filepath.Base(path), w)
			}
		}
	}
}
