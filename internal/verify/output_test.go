package verify

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestTailHasWholeLines(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, in, want string }{
		{"short", "a\nb\n", "a\nb\n"},
		{"cut in a line", strings.Repeat("é", maxTail) + "\nlast\n", "last\n"},
		{"one line only", "x" + strings.Repeat("é", maxTail), strings.Repeat("é", maxTail/2)},
		{"bytes", "\xff\xfe\x00ok", "�ok"},
	}
	for _, c := range cases {
		o := newOutput("", "", nil)
		for chunk := range slices.Chunk([]byte(c.in), 1000) {
			if _, err := o.Write(chunk); err != nil {
				t.Fatal(err)
			}
		}
		if got := o.end(); got != c.want {
			t.Errorf("%s: %d bytes, %.20q; want %d, %.20q", c.name, len(got), got, len(c.want), c.want)
		}
	}
}

func TestLogNamesAreUnique(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"go test ./...": "go-test", "../../etc/passwd": "etc-passwd", "": "gate", "…": "gate",
		strings.Repeat("x", 200): strings.Repeat("x", 80),
	} {
		if got := logName(name, ""); got != want {
			t.Errorf("logName(%q) = %q, want %q", name, got, want)
		}
	}
	if got := logName(strings.Repeat("x", 200), "repeat"); got != strings.Repeat("x", 73)+"-repeat" {
		t.Errorf("the runs of a gate with a long name write to one log: %q", got)
	}
	dir := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if o := newOutput(dir, "x", nil); o.log != nil {
		t.Error("a log in what is not a folder")
	}
}

func TestHeadIsKeptIfTheTailIsIncomplete(t *testing.T) {
	t.Parallel()
	long := "first\n" + strings.Repeat("é", maxHead) + "\n" + strings.Repeat("x\n", 3*maxTail) + "last\n"
	for in, want := range map[string]string{"a\nb\n": "", long: "first"} {
		o := newOutput("", "", nil)
		for chunk := range slices.Chunk([]byte(in), 1000) {
			if _, err := o.Write(chunk); err != nil {
				t.Fatal(err)
			}
		}
		if tail := o.end(); !strings.HasSuffix(in, tail) {
			t.Errorf("the tail is %.20q", tail)
		}
		if got := o.begin(); got != want {
			t.Errorf("the head is %.40q, want %.20q", got, want)
		}
	}
}

// A test whose line stood in the beginning and in the end would be counted twice.
func TestHeadAndTailDoNotOverlap(t *testing.T) {
	t.Parallel()
	for _, lines := range []int{100, 500, 700, 3000} {
		o := &output{}
		for i := range lines {
			if _, err := fmt.Fprintf(o, "ok %04d adds\n", i); err != nil {
				t.Fatal(err)
			}
		}
		end := o.end()
		seen := map[string]bool{}
		for line := range strings.Lines(o.begin() + "\n" + end) {
			if line != "\n" && seen[line] {
				t.Fatalf("of %d lines %q is there twice", lines, line)
			}
			seen[line] = true
		}
		if n := len(seen); n < min(lines, (maxHead+maxTail)/14) {
			t.Errorf("%d of %d lines are there", n, lines)
		}
	}
}
