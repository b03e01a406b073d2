package sign_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/sign"
)

// What holds nothing but answers is found, whatever its keys are.
func TestHeld(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"package a\n\nvar words = map[int]string{1 ^ 77: \"I\", 4 ^ 77: \"IV\", 9 ^ 77: \"IX\", 14 ^ 77: \"XIV\"}\n", "a.go:3 holds what the tests expect: IV, IX, XIV"},
		{"package a\n\nvar states = [...]int{120, 0, 4500, 5400}\n", "a.go:3 holds what the tests expect: 120, 4500, 5400"},
		{"package a\n\nvar words = []string{\"IV\", \"IX\", \"XIV\", \"other\"}\n", ""},
		{"package a\n\nvar words = []string{\"IV\", \"IX\"}\n", ""},
		{"package a\n\nvar words = []string{\"known\", \"IX\", \"XIV\"}\n", ""},
	} {
		tests := sign.NewTests(map[string][]byte{"a_test.go": []byte("\"I\" \"IV\" \"IX\" \"XIV\" \"known\" 120 4500 5400")}, "what is known")
		tests.Expect([]string{"I", "IV", "IX", "XIV", "known", "120", "4500", "5400"})
		got := ""
		for _, s := range tests.Held("a.go", []byte("package a\n"), []byte(c.text)) {
			got += s.String()
		}
		if got != c.want {
			t.Errorf("%s\n\tis %q, not %q", c.text, got, c.want)
		}
	}
}
