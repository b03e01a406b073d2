package mutant

import (
	"fmt"
	"strings"
	"testing"
)

// A function that a file of tests defines itself is found however its language writes it.
func TestHelpersAreFound(t *testing.T) {
	t.Parallel()
	for _, code := range []string{
		"def same(got, want):\n    assert got == want\n",
		"func same(t *testing.T, want int) { if got() != want { t.Fail() } }\n",
		"private static void same(int got, int want) { assertEquals(want, got); }\n",
		"static <T> void same(T got, T want) { assertEquals(want, got); }\n",
		"fn same(got: u8, want: u8) { assert_eq!(got, want) }\n",
		"const same = (got, want) => { if (got !== want) throw new Error() }\n",
		"let same = async function (got, want) { expect(got).toEqual(want) }\n",
		"static int *same(int got, int want) { return got == want ? 0 : &got; }\n",
	} {
		file := &testText{code: "int first(int x) { return x; }\n" + code + "void last(void) {}\n"}
		if !file.isAssertHelper("same", 1) {
			t.Errorf("it compares its second parameter:\n%s", code)
		}
		if file.isAssertHelper("same", 2) || file.isAssertHelper("first", 0) || file.isAssertHelper("other", 0) {
			t.Errorf("these compare nothing:\n%s", code)
		}
	}
}

// BenchmarkValues reads files of tests, one eight times as long as the other: what it takes
// grows with the lines, not with their square.
func BenchmarkValues(b *testing.B) {
	for _, tests := range []int{200, 1600} {
		var text strings.Builder
		for i := range tests {
			fmt.Fprintf(&text, "def test_%d():\n    assert list(chunked(count(%d), 'ab', 3)) == [%d, 'x']\n    same(lines(%d), 7)\n\n", i, i, i, i)
		}
		content := []byte(text.String())
		b.Run(fmt.Sprint(tests), func(b *testing.B) {
			for b.Loop() {
				Values("tests/test_all.py", content, nil, nil)
			}
		})
	}
}
