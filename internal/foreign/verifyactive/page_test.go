package verifyactive_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPageNamesItsTests checks that the tests named in each row of docs/reference/verify-loop.md
// exist.
func TestPageNamesItsTests(t *testing.T) {
	t.Parallel()
	const top = "../../.."
	read := func(path string) string {
		t.Helper()
		data, err := os.ReadFile(filepath.FromSlash(path))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	var sources strings.Builder
	for _, dir := range []string{"foreign/verifyactive", "statefile", "core/loop", "prompt", "verify", "proc"} {
		files, err := filepath.Glob(filepath.FromSlash(top + "/internal/" + dir + "/*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			sources.WriteString(read(file))
		}
	}
	rows := 0
	for line := range strings.SplitSeq(read(top+"/docs/reference/verify-loop.md"), "\n") {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if len(cells) != 5 || cells[4] == "test" {
			continue
		}
		rows++
		for name := range strings.SplitSeq(cells[4], ", ") {
			if strings.HasSuffix(name, ".txtar") {
				read(top + "/internal/hook/testdata/" + name)
				continue
			}
			test, sub, _ := strings.Cut(name, "/")
			if !strings.Contains(sources.String(), "func "+test+"(t *testing.T)") || sub != "" && !strings.Contains(sources.String(), `"`+sub+`"`) {
				t.Errorf("%s: there is no test %s", cells[0], name)
			}
		}
	}
	if rows < 60 {
		t.Errorf("only %d rows were found", rows)
	}
}
