package statefile_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPlanLoopPageNamesItsTests checks that the test named in each row of the page exists.
func TestPlanLoopPageNamesItsTests(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.FromSlash("../../docs/reference/plan-loop.md"))
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, glob := range []string{"plan*_test.go", "../foreign/planloop/*_test.go"} {
		files, err := filepath.Glob(filepath.FromSlash(glob))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(`(?m)^func (Test\w*?)\(t `).FindAllStringSubmatch(string(source), -1) {
				name := strings.TrimPrefix(strings.TrimPrefix(m[1], "TestPlanLoop"), "Test")
				there[strings.TrimPrefix(name, "Golden")] = true
			}
		}
	}
	rows := 0
	for line := range strings.SplitSeq(string(page), "\n") {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if len(cells) != 5 || cells[4] == "test" || strings.HasPrefix(cells[0], "-") {
			continue
		}
		rows++
		for name := range strings.SplitSeq(cells[4], ", ") {
			if script, ok := strings.CutSuffix(strings.Trim(name, "`"), ".txtar"); ok {
				if _, err := os.Stat(filepath.Join("..", "..", "cmd", "pawl", "testdata", "script", script+".txtar")); err != nil {
					t.Errorf("%q: %v", cells[0], err)
				}
			} else if !there[name] {
				t.Errorf("%q: there is no test %s", cells[0], name)
			}
		}
	}
	if rows < 26 {
		t.Errorf("only %d rows were read", rows)
	}
}
