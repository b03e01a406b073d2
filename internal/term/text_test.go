package term_test

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/term"
)

func TestFiguresAreReadable(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"0s":      figure.Duration(-time.Second),
		"8s":      figure.Duration(8 * time.Second),
		"1m00s":   figure.Duration(59*time.Second + 600*time.Millisecond),
		"3m12s":   figure.Duration(192 * time.Second),
		"6h41m":   figure.Duration(6*time.Hour + 41*time.Minute + 20*time.Second),
		"2d3h":    figure.Duration(51 * time.Hour),
		"0":       figure.Tokens(-5),
		"950":     figure.Tokens(950),
		"1.0k":    figure.Tokens(1000),
		"9.9k":    figure.Tokens(9_940),
		"10k":     figure.Tokens(9_960),
		"184k":    figure.Tokens(184_000),
		"1.0M":    figure.Tokens(999_900),
		"2.1M":    figure.Tokens(2_140_000),
		"3.0G":    figure.Tokens(3_000_000_000),
		"5000T":   figure.Tokens(5e15),
		"$0.92":   figure.Money(0.92),
		"$0.0042": figure.Money(0.0042),
		"$0.00":   figure.Money(0),
		"$12.35":  figure.Money(12.346),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestCleanRemovesControlCharacters(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain":                          "plain",
		"\x1b[1;31mred\x1b[0m":           "red",
		"\x1b]8;;http://x\x1b\\link":     "link",
		"\x1b]0;t\u009cx":                "x",
		"\x1bP1;2q data\x1b\\x":          "x",
		"\x1b]never closed\nnext":        "next",
		"\x1b]never closed":              "",
		"\x1b[never":                     "ever",
		"\x1b[12;":                       "",
		"\x1b":                           "",
		"\x1bcx":                         "x",
		"\u009b31mx":                     "x",
		"a\tb\r\nc":                      "a b c",
		"ab\bc\x07":                      "abc",
		"\u202eevil\u202c \u2066x\u2069": "evil x",
		"zero\u200bwidth\ufeff":          "zerowidth",
		"日本 é e\u0301":                   "日本 é e\u0301",
		"\xffx":                          `\377x`,
		strings.Repeat("x", 5000):        strings.Repeat("x", 4096) + "…",
	} {
		if got := term.Clean(in); got != want {
			t.Errorf("Clean(%.40q) = %.60q, want %.60q", in, got, want)
		}
	}
}

func TestCleanTextKeepsLines(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a\n\n  b\tc  d\n": "a\n\n  b\tc  d\n",
		"no end":           "no end",
		"":                 "",
		"+\x1b]0;never closed\n-\u009b31mred\r\n": "+\n-red\n",
		"\xff\u202e\u00a0x":                       "\\377\u00a0x",
	} {
		if got := term.CleanText(in); got != want {
			t.Errorf("CleanText(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("\x1b[31mx\x1b]0;y\x07\u202e")
	f.Fuzz(func(t *testing.T, in string) {
		got := term.Clean(in)
		for _, r := range got {
			if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) {
				t.Errorf("%U survived in %q", r, got)
			}
		}
		if !utf8.ValidString(got) || term.Clean(got) != got && len(got) <= 4096 {
			t.Errorf("not clean: %q", got)
		}
	})
}
