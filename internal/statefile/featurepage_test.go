package statefile_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestFeatureLoopPageNamesItsTests checks that the test named in each row of the page exists.
func TestFeatureLoopPageNamesItsTests(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.FromSlash("../../docs/reference/feature-loop.md"))
	if err != nil {
		t.Fatal(err)
	}
	var sources []string
	for _, glob := range []string{"feature*_test.go", "../foreign/featureloop/*_test.go", "../planfile/feature_test.go"} {
		files, err := filepath.Glob(filepath.FromSlash(glob))
		if err != nil || len(files) == 0 {
			t.Fatalf("no tests in %s: %v", glob, err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			sources = append(sources, strings.SplitAfter(string(source), "\n}\n")...)
		}
	}
	there := func(test, row string) bool {
		for _, function := range sources {
			if strings.Contains(function, "func "+test+"(t ") && (strings.Contains(function, "{"+strconv.Quote(row)+",") || strings.Contains(function, "\t"+strconv.Quote(row)+",\n")) {
				return true
			}
		}
		return false
	}
	rows := 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		if len(cells) != 5 || cells[4] == "test" || strings.HasPrefix(cells[0], "-") {
			continue
		}
		rows++
		if test, row, _ := strings.Cut(cells[4], "/"); !there(test, row) {
			t.Errorf("%q: there is no test %s", cells[0], cells[4])
		}
	}
	if rows < 60 {
		t.Errorf("only %d rows were read", rows)
	}
}
