package sign_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/sign"
)

// A test that repeats a calculation of the program expects what the program does, right or wrong.
func TestMirroredLines(t *testing.T) {
	t.Parallel()
	const program = "def check_digit(number):\n    total = f(number)\n    return str((10 - total % 10) % 10)\n\n\ndef add(a, b):\n    return a + b\n"
	for _, c := range []struct {
		test string
		want int
	}{
		{"def expected(number):\n    total = g(number)\n    return str((10 - total%10) % 10)\n", 3},
		{"def expected(a, b):\n    return a + b\n", 0},
		{"def test():\n    assert check_digit('7992739871') == '3'\n", 0},
		{"# return str((10 - total % 10) % 10)\n", 0},
	} {
		line := 0
		for _, s := range sign.NewChange("test_cards.py", nil, []byte(c.test)).MirroredLines(program) {
			line = s.Line
		}
		if line != c.want {
			t.Errorf("%s: line %d, want %d", c.test, line, c.want)
		}
	}
	old := []byte("def expected(total):\n    return str((10 - total % 10) % 10)\n")
	if found := sign.NewChange("test_cards.py", old, []byte(string(old)+strings.Repeat("\n", 2)+"x = 1\n")).MirroredLines(program); found != nil {
		t.Errorf("what stood there before: %v", found)
	}
}
