package thloop_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPageNamesItsTests checks that the tests named in each row of the page exist.
func TestPageNamesItsTests(t *testing.T) {
	t.Parallel()
	read := func(paths ...string) string {
		var all strings.Builder
		for _, path := range paths {
			data, err := os.ReadFile(filepath.FromSlash(path))
			if err != nil {
				t.Fatal(err)
			}
			all.Write(data)
		}
		return all.String()
	}
	tests := read("thloop_test.go", "channel_test.go", "fuzz_test.go", "../../statefile/th_test.go", "../../statefile/thcalls_test.go", "../../statefile/thbounds_test.go")
	named := regexp.MustCompile("`((?:Test|Fuzz)\\w+)(?:/([^`]+))?`").FindAllStringSubmatch(read("../../../docs/reference/th-loop.md"), -1)
	if len(named) < 50 {
		t.Fatalf("only %d tests are named", len(named))
	}
	for _, m := range named {
		_, body, ok := strings.Cut(tests, "\nfunc "+m[1]+"(")
		body, _, _ = strings.Cut(body, "\n}\n")
		if !ok || m[2] != "" && !strings.Contains(body, `{"`+m[2]+`"`) && !strings.Contains(body, `{name: "`+m[2]+`"`) && !strings.Contains(body, "\""+m[2]+"\",") {
			t.Errorf("there is no test %s/%s", m[1], m[2])
		}
	}
}
