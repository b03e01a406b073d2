package term_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/term"
)

func TestWrapKeepsWordsWhole(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"short", "a b\n\n", "a b\n\n"},
		{"a paragraph", "one two three four five six seven", "one two three four five six\nseven"},
		{"behind its label", "  why     the gates do not pass on it\n", "  why     the gates do not\n          pass on it\n"},
		{"a label that is too long", "  --handover-at PERCENT  when so full\n", "  --handover-at PERCENT\n    when so full\n"},
		{"an indented line", "     fix: install the client by name\n", "     fix: install the client\n     by name\n"},
		{"a bullet", " ✗ the client is not on the PATH\n", " ✗ the client is not on the\n   PATH\n"},
		{"commands", "  next  pawl log x     pawl resume x\n", "  next  pawl log x\n        pawl resume x\n"},
		{"a word that is too wide", "see /a/very/long/path/to/some/file there", "see\n/a/very/long/path/to/some/file\nthere"},
		{"wide runes", "日本語日本語 日本語日本語 日本語日本語", "日本語日本語 日本語日本語\n日本語日本語"},
	} {
		if diff := cmp.Diff(c.want, term.Wrap(c.in, 28)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		if got := term.Wrap(c.in, 0); got != c.in {
			t.Errorf("%s: without a width: %q", c.name, got)
		}
	}
}

// FuzzWrap checks for all widths that no word is lost or cut, and that prose always fits.
func FuzzWrap(f *testing.F) {
	f.Add("  next          git diff a...b     pawl log x  pawl resume x\nlast", 20)
	f.Add(" ✗ it    fix: that", 3)
	f.Fuzz(func(t *testing.T, in string, columns int) {
		if !utf8.ValidString(in) || strings.ContainsFunc(in, func(r rune) bool { return r != '\n' && r != ' ' && (r < '!' || r > '~') }) {
			t.Skip("Clean makes it so")
		}
		got := term.Wrap(in, columns)
		if diff := cmp.Diff(strings.Fields(in), strings.Fields(got)); diff != "" {
			t.Errorf("other words (-want +got):\n%s", diff)
		}
		if again := term.Wrap(got, columns); columns > 0 && strings.Count(again, "\n") < strings.Count(got, "\n") {
			t.Errorf("fewer lines the second time: %q", again)
		}
		for l := range strings.Lines(got) {
			l = strings.TrimSuffix(l, "\n")
			if columns > 0 && len(l) > columns && len(strings.Fields(l)) > 1 && !strings.Contains(in, "  ") && !strings.HasPrefix(l, " ") {
				t.Errorf("%d wide: %q", columns, l)
			}
		}
	})
}
