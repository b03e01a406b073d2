package claude_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
	"github.com/pawl-dev/pawl/internal/agent/claude"
	"github.com/pawl-dev/pawl/internal/failure"
)

func TestCheckLoginReportsMissingLogin(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the client is a shell script here")
	}
	const unknown = "unknown"
	for name, c := range map[string]struct {
		version, answer string
		args            []string
		want            string // "" = logged in
	}{
		"logged in":         {"2.1.332", `{"loggedIn": true}`, nil, ""},
		"nobody":            {"2.1.332", `{"loggedIn": false}`, nil, "not logged in to"},
		"says nothing":      {"2.1.332", `{}`, nil, unknown},
		"no JSON":           {"2.1.332", "Not logged in", nil, unknown},
		"too old to ask":    {"2.1.46", `{"loggedIn": false}`, nil, unknown},
		"no version":        {"hello", `{"loggedIn": false}`, nil, unknown},
		"settings of one's": {"2.1.332", `{"loggedIn": false}`, []string{"--settings", "key.json"}, unknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := filepath.Join(t.TempDir(), "claude")
			script := "#!/bin/sh\ncase $1 in\n--version) echo '" + c.version + " (Claude Code)' ;;\nauth) echo '" + c.answer + "'; exit 1 ;;\nesac\n"
			if err := os.WriteFile(client, []byte(script), 0o700); err != nil {
				t.Fatal(err)
			}
			err := claude.Agent{Command: client}.CheckLogin(t.Context(), agent.Options{Dir: t.TempDir(), Args: c.args})
			switch {
			case c.want == "" && err == nil:
			case c.want == unknown && errors.Is(err, agent.ErrLoginUnknown):
			case c.want != "" && err != nil && strings.Contains(err.Error(), c.want) && strings.Contains(failure.Hint(err), "claude /login"):
			default:
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// The real client says so without running what the repository's settings name.
func TestClientTellsItsLogin(t *testing.T) {
	r := newRig(t, messagesapi.Text("never"))
	settings := filepath.Join(r.o.Dir, ".claude", "settings.json")
	if err := os.Mkdir(filepath.Dir(settings), 0o700); err != nil {
		t.Fatal(err)
	}
	const hooks = `{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "touch ran"}]}]}}`
	if err := os.WriteFile(settings, []byte(hooks), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.agent.CheckLogin(t.Context(), r.o); err != nil {
		t.Errorf("with a key: %v", err)
	}
	delete(r.o.Env, "ANTHROPIC_API_KEY")
	if err := r.agent.CheckLogin(t.Context(), r.o); err == nil || errors.Is(err, agent.ErrLoginUnknown) {
		t.Errorf("without a key: %v", err)
	}
	if _, err := os.Stat(filepath.Join(r.o.Dir, "ran")); err == nil {
		t.Error("a hook ran")
	}
}
