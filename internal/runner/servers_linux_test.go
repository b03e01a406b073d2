package runner_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
	"github.com/pawl-dev/pawl/internal/launch"
)

// portCheckFiles is a project whose gate asks a server, its own or any, for the right answer.
var portCheckFiles = map[string]string{
	"ask.py":    "import urllib.request, pathlib\nport = pathlib.Path('port.txt').read_text()\nassert urllib.request.urlopen('http://127.0.0.1:' + port + '/answer.txt').read() == b'42'\n",
	"port.txt":  "1",
	"README.md": "words\n",
}

// startServer starts a server with the right answer, and returns its port. It ends with the test.
func startServer(t *testing.T, env ...string) (port string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "answer.txt"), []byte("42"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("python3", "-u", "-m", "http.server", "--bind", "127.0.0.1", "0") //nolint:noctx // ended below
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	said := make([]byte, 200)
	n, err := out.Read(said) // Serving HTTP on 127.0.0.1 port 41231 (…
	words := strings.Fields(string(said[:n]))
	if err != nil || len(words) < 6 {
		t.Fatalf("%v: %q", err, said[:n])
	}
	return words[5]
}

// startProcess starts a program for the length of a test, and returns its process id.
func startProcess(t *testing.T, argv ...string) (pid int) {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:noctx // ended below
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd.Process.Pid
}

// A server that the agent left running in a session does not answer a gate, because its answers prove
// nothing. Servers from before the loop, and the user's, keep running.
func TestServerLeftBySessionAgentIsStoppedBeforeGates(t *testing.T) {
	t.Parallel()
	agenttest.Needs(t, "python3")
	const ended, named = "servers that the agent left running, ended before", "perhaps the agent started them: "
	for name, tc := range map[string]struct {
		env            string
		called, before bool
		asClient       bool // the session's client is the same program
		outcome        loop.Outcome
		says           string
	}{
		"the agent's":         {env: "CLAUDE_CODE_SESSION_ID=7a2e", called: true, says: ended},
		"perhaps the agent's": {env: "CLAUDE_CODE_SESSION_ID=", called: true, outcome: loop.Verified, says: named},
		"another client":      {env: "CLAUDE_CODE_SESSION_ID=", called: true, asClient: true, outcome: loop.Verified},
		"the user's":          {env: "CLAUDE_CODE_SESSION_ID=", outcome: loop.Verified},
		"of before":           {env: "CLAUDE_CODE_SESSION_ID=7a2e", called: true, before: true, outcome: loop.Verified},
	} {
		t.Run(name, func(t *testing.T) { // not in parallel: they would see each other's servers
			var port string
			if tc.before {
				port = startServer(t, tc.env)
			}
			client := 0
			if tc.asClient {
				client = startProcess(t, "python3", "-c", "import time; time.sleep(300)")
			}
			st := beginInSession(t, portCheckFiles, launch.SessionRequest{
				Session: launch.UserSession{Session: "7a2e", Client: client},
				Request: launch.Request{Flags: map[string]any{"gates": []string{"python3 ask.py"}, "work": []string{"port.txt"}}},
			})
			if !tc.before {
				port = startServer(t, tc.env)
			}
			if tc.called {
				st.recordCalls(authorship.Call{Tool: "Bash", Kind: toolcall.Run, Command: "python3 server.py &", At: time.Now(), ID: "1"})
			}
			st.editAsAgent("port.txt", port)
			if s := st.endTurnWithClaim(); s.Outcome != tc.outcome {
				t.Errorf("%s %s: %s", s.Phase, s.Outcome, s.Reason)
			}
			journal := st.file("journal.jsonl")
			for _, says := range []string{ended, named} {
				// Servers of tests that run in parallel may be reported, too.
				if regexp.MustCompile(says+`[^"]*\(port `+port+`\)`).MatchString(journal) != (says == tc.says) {
					t.Errorf("the log says %q: %t", says, says != tc.says)
				}
			}
		})
	}
}
