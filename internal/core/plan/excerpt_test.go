package plan_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

func TestExcerptKeepsBothEnds(t *testing.T) {
	t.Parallel()
	var counted []string
	for i := range 100 {
		counted = append(counted, fmt.Sprint(i+1))
	}
	long := strings.Repeat("a", 300) + strings.Repeat("z", 300)
	tests := []struct {
		name, in    string
		lines, size int
		want        string
	}{
		{"fits", "a\n\n\tb", 5, 200, "a\n\n\tb"},
		{"nothing", " \n\r\n", 5, 200, ""},
		{"blank lines around it", "\n\na  \n \n", 5, 200, "a"},
		{"head and tail", strings.Join(counted, "\n"), 7, 200, "1\n2\n[… 94 lines left out …]\n97\n98\n99\n100"},
		{"one line more than fits", "1\n2\n3\n4\n5\n6", 5, 200, "1\n[… 2 lines left out …]\n4\n5\n6"},
		{"a long line", long, 5, 800, strings.Repeat("a", 64) + "…" + strings.Repeat("z", 33)},
		{"colours", "\x1b[31mFAIL\x1b[0m x", 5, 200, "FAIL x"},
		{"a title that does not end hides its line only", "\x1b]0;title\nFAIL", 5, 200, "FAIL"},
		{"progress", " 10 %\r 50 %\r100 %\r\ndone", 5, 200, "100 %\ndone"},
		{"not UTF-8", "a\xffb\x00c", 5, 200, "abc"},
		{"right to left", "a\u202eb", 5, 200, "ab"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, plan.Excerpt(tt.in, tt.lines, tt.size)); diff != "" {
				t.Errorf("Excerpt (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzExcerpt: whatever a command prints, its excerpt keeps its bounds, is plain
// text, and an excerpt of it is itself.
func FuzzExcerpt(f *testing.F) {
	f.Add("a\nb\nc\nd\ne", uint8(3), uint16(200))
	f.Add(strings.Repeat("x", 5000), uint8(60), uint16(4000))
	f.Add("\x1b[31mé\r\n\x9d…", uint8(0), uint16(0))
	f.Fuzz(func(t *testing.T, text string, lines uint8, size uint16) {
		most, bytes := 3+int(lines), 200+int(size)
		got := plan.Excerpt(text, most, bytes)
		if n := strings.Count(got, "\n") + 1; n > most || len(got) > bytes {
			t.Errorf("%d lines and %d bytes, at most %d and %d", n, len(got), most, bytes)
		}
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
			t.Errorf("not plain: %q", got)
		}
		if again := plan.Excerpt(got, most, bytes); again != got {
			t.Errorf("an excerpt of it is another text:\n%q\n%q", got, again)
		}
	})
}
