package doctor

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHookCommandIsSplitIntoWords(t *testing.T) {
	t.Parallel()
	vars := map[string]string{"HOME": "/home/ann"}
	cases := []struct {
		command string
		args    []string // nil if a shell runs the command
		want    []string
	}{
		{"pawl-hook claude", nil, []string{"pawl-hook", "claude"}},
		{`"$CLAUDE_PROJECT_DIR/my hooks/x.sh" 'a b'`, nil, []string{"/my app/my hooks/x.sh", "a b"}},
		{"bash ${CLAUDE_PLUGIN_ROOT}/stop.sh", nil, []string{"bash", "/plug", "in/stop.sh"}}, // a shell splits it too: quotes are missing
		{"~/bin/x", nil, []string{"/home/ann/bin/x"}},
		{"$HOME/bin/x", nil, []string{"/home/ann/bin/x"}},
		{"cd web && npm test", nil, nil},
		{"x | y", nil, nil},
		{"x > log", nil, nil},
		{"x; y", nil, nil},
		{"x &", nil, nil},
		{"A=1 x", nil, nil},
		{"exit 0", nil, nil},
		{"if x; then y; fi", nil, nil},
		{"$(which x)", nil, nil},
		{"`which x`", nil, nil},
		{"x 'unclosed", nil, nil},
		{"x *.go", nil, nil},
		{"", nil, nil},
		{"${CLAUDE_PLUGIN_ROOT}/bin/x", []string{"--dir=${CLAUDE_PROJECT_DIR}", "$HOME"}, []string{"/plug in/bin/x", "--dir=/my app", "$HOME"}},
		{"my program", []string{}, []string{"my program"}},
	}
	for _, c := range cases {
		h := hook{entry: entry{command: c.command, args: c.args}, root: "/plug in"}
		if diff := cmp.Diff(c.want, h.splitWords("/my app", vars)); diff != "" {
			t.Errorf("%s %q:\n%s", c.command, c.args, diff)
		}
	}
}

func TestOwnHooksAreRecognized(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		argv []string
		want bool
	}{
		{[]string{"pawl-hook", "claude"}, true},
		{[]string{`C:\Program Files\pawl\PAWL-HOOK.EXE`, "claude", "--wake"}, true},
		{[]string{"/usr/bin/pawl", "hook", "claude"}, true},
		{[]string{"/usr/bin/pawl", "verify", "--json"}, false},
		{[]string{"pawl"}, false},
		{[]string{"bash", "pawl-hook"}, false},
		{[]string{"/opt/pawl-hook/run"}, false},
		{nil, false},
	} {
		if got := (hook{argv: c.argv}).isOwn(); got != c.want {
			t.Errorf("%q: %v", c.argv, got)
		}
	}
}

func TestScriptOfAHookIsFound(t *testing.T) {
	t.Parallel()
	for want, argv := range map[string][]string{
		"/x/stop.sh": {"/usr/bin/bash", "/x/stop.sh", "a"},
		"stop.py":    {"python3", "stop.py"},
		"":           {"bash", "-c", "x"},
	} {
		if got := scriptOf(argv); got != want {
			t.Errorf("%q: got %q", argv, got)
		}
	}
	if got := scriptOf([]string{"/x/lint", "file.go"}); got != "" {
		t.Errorf("an argument is no script: %q", got)
	}
}
