package agenttest_test

import (
	"net/http"
	"path/filepath"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
	"github.com/pawl-dev/pawl/internal/agent/scripted"
)

// An agent that does what the contract says passes the suite; the scripted one
// stands for it.
func TestAnAgentThatKeepsTheContractPasses(t *testing.T) {
	t.Parallel()
	agenttest.Run(t, func(t *testing.T) agenttest.Subject {
		script := &scripted.Script{}
		play := func(text string) {
			s, err := scripted.Parse([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			*script = *s
		}
		return agenttest.Subject{
			Agent:   scripted.Agent{Script: script, Counter: filepath.Join(t.TempDir(), "turns")},
			Options: agent.Options{Dir: t.TempDir()},
			Says:    func(text string) { play("-- go/reply --\n" + text + "\n-- work/reply --\n" + text) },
			Hangs:   func() { play("-- go/sleep --\n1h\n") },
			Writes:  func(path, content string) { play("-- make/files/" + filepath.ToSlash(path) + " --\n" + content) },
		}
	})
}

func TestTheClientCanBeNamed(t *testing.T) {
	t.Setenv("PAWL_CLAUDE", "/opt/claude")
	if got := agenttest.Client(t); got != "/opt/claude" {
		t.Errorf("client %q", got)
	}
}

func TestTheEnvironmentLeadsToTheScriptedAPI(t *testing.T) {
	t.Parallel()
	api := agenttest.API(t, messagesapi.Steps(messagesapi.Text("hi")))
	env := agenttest.Env(t, api)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodHead, env["ANTHROPIC_BASE_URL"], nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK || env["HOME"] == "" || env["ANTHROPIC_API_KEY"] == "" {
		t.Errorf("%s, environment %v", resp.Status, env)
	}
}
