package testdiff

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A value has the place of another where a line of the program is else the same.
func TestReplacedValuesAreFound(t *testing.T) {
	const was = "# 7 pieces\nLIMIT = 5\n\n\ndef greet(name):\n    return 'Hello ' + name\n\n\ndef price(n):\n    return n * 20  # 20 for one\n"
	const is = "# 9 pieces\nLIMIT = 20\n\n\ndef greet(name):\n    return 'Hi ' + name\n\n\ndef price(n):\n    return n * 20\n\n\ndef rebate(n, least=30):\n    return 7\n"
	got := map[[2]string]bool{}
	AddReplacements(got, "app.py", []byte(was), []byte(is))
	if diff := cmp.Diff(map[[2]string]bool{{"5", "20"}: true, {"Hello", "Hi"}: true}, got); diff != "" {
		t.Errorf("pairs (-want +got):\n%s", diff)
	}
}

// A word behind an escape is the word without the escape's letter.
func TestReplacementsOmitEscapeLetters(t *testing.T) {
	for _, c := range []struct{ name, file, was, is string }{
		{"new line", "app.py", `end = "Dear Ann,\n\nBest\n"`, `end = "Dear Ann,\n\nKind\n"`},
		{"tab", "app.js", "const row = `a\\tBest`", "const row = `a\\tKind`"},
		{"quote", "app.go", `var s = "she said \"Best\""`, `var s = "she said \"Kind\""`},
		{"backslash", "app.go", `var s = "a\\" + "Best"`, `var s = "a\\" + "Kind"`},
		{"color", "app.sh", `printf '\033[1;31mBest\033[0m'`, `printf '\033[1;31mKind\033[0m'`},
		{"number", "app.c", `puts("\x1bBest");`, `puts("\x1bKind");`},
		{"raw string", "App.cs", `var s = @"C:\" + "Best";`, `var s = @"C:\" + "Kind";`},
		{"line of a template", "mail.txt", "Dear Ann,\n\nBest\n", "Dear Ann,\n\nKind\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := map[[2]string]bool{}
			AddReplacements(got, c.file, []byte(c.was), []byte(c.is))
			if diff := cmp.Diff(map[[2]string]bool{{"Best", "Kind"}: true}, got); diff != "" {
				t.Errorf("pairs (-want +got):\n%s", diff)
			}
		})
	}
}

// Lines of a text that changed with those around them replace no words.
func TestRewrittenTextReplacesNoWords(t *testing.T) {
	got := map[[2]string]bool{}
	AddReplacements(got, "mail.txt", []byte("Dear Ann\nBest wishes\n"), []byte("Hello Bob\nKind regards\n"))
	AddReplacements(got, "mail.txt", []byte("Best wishes\n"), []byte("Hello\nKind regards\n"))
	if len(got) > 0 {
		t.Errorf("pairs: %v", got)
	}
}
