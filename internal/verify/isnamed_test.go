package verify

import (
	"regexp"
	"testing"
	"unicode/utf8"
)

// FuzzIsNamed holds isNamed to the regular expression that defines it.
func FuzzIsNamed(f *testing.F) {
	f.Add("sub", "sub(sub1, resub, _sub, sub)", 2)
	f.Add("aa", "aaaa aa aaa", 1)
	f.Add("$x", "a$x $x", 1)
	f.Add("é", "é éa", 1)
	f.Fuzz(func(t *testing.T, name, text string, times int) {
		if name == "" || times < 1 || times > 9 || !utf8.ValidString(name) || !utf8.ValidString(text) {
			t.Skip("not a name and a text")
		}
		want := len(regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+`\b`).FindAllStringIndex(text, times)) == times
		if got := isNamed(name, text, times); got != want {
			t.Errorf("isNamed(%q, %q, %d) = %v, want %v", name, text, times, got, want)
		}
	})
}
