//go:build unix

package agenttest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
)

// A user's keys reach the program, and what it writes is read.
func TestTheTerminalIsOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	term := agenttest.Open(t, agenttest.Program{
		Argv: []string{"sh", "-c", `tty; pwd; echo "$GREETING"; printf '> '; read line; echo "you said: $line"; read more; exit 0`},
		Dir:  dir, Env: map[string]string{"GREETING": "hello", "PATH": "/usr/bin:/bin"},
	})
	term.Shows("hello", 10*time.Second)
	if screen := term.Screen(); !strings.Contains(screen, "/dev/") || !strings.Contains(strings.ReplaceAll(screen, "\n", ""), dir) {
		t.Errorf("screen:\n%s", screen)
	}
	term.Type("it's $HOME -- `x`")
	term.Shows("you said: it's $HOME -- `x`", 10*time.Second)
	term.Paste("pasted")
	term.Shows("pasted", 10*time.Second)
	if !strings.Contains(term.Written(), "you said") {
		t.Errorf("written:\n%s", term.Written())
	}
	term.Keys("Enter")
	term.Gone(10 * time.Second)
}
