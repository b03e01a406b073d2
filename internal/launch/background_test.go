package launch

import (
	"strings"
	"testing"
)

// The error and the hint of a process that ended at once are separated.
func TestErrorAndHintOfEndedProcessAreSeparated(t *testing.T) {
	t.Parallel()
	cases := []struct{ log, words, hint string }{
		{"", "it ended without output", ""},
		{"\n", "it ended without output", ""},
		{"pawl: error: start claude: not found\npawl: hint: install it\n", "start claude: not found", "install it"},
		{"one\ntwo\nthree\nfour", "two; three; four", ""},
	}
	for _, c := range cases {
		words, hint := LastWords(strings.NewReader("before"+c.log), int64(len("before")))
		if words != c.words || hint != c.hint {
			t.Errorf("%q: %q, %q", c.log, words, hint)
		}
	}
}
