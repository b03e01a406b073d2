package e2e_test

import (
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
	"github.com/pawl-dev/pawl/internal/confine"
)

// canConfine skips a test on a machine that cannot, or fails where it must.
func canConfine(t *testing.T, level confine.Level) {
	t.Helper()
	if err := confine.Detect(t.Context()).CheckLevel(level); err != nil {
		agenttest.Lacks(t, "%v", err)
	}
}

// In a sandbox the real client works as usual, reaches its endpoint, and loops end verified. Files
// that the agent or a gate tries to leave outside do not exist.
func TestClientInSandbox(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		level confine.Level
		far   bool // the endpoint is not on loopback: then a proxy leads to it
		more  []string
	}{{level: confine.Tree, more: []string{"--warm"}}, {level: confine.Strict}, {level: confine.Strict, far: true}} {
		level := tc.level
		t.Run(fmt.Sprintf("%s far=%t", level, tc.far), func(t *testing.T) {
			canConfine(t, level)
			c := newClientBench(t, wordShop(nil))
			if tc.far {
				c.env["ANTHROPIC_BASE_URL"] = far(t, c.api.URL)
			}
			c.env["MY_DEPLOY_TOKEN"] = "hidden-from-strict"
			if err := os.MkdirAll(filepath.Join(c.env["HOME"], ".ssh"), 0o700); err != nil {
				t.Fatal(err)
			}
			out := filepath.Join(c.home, "planted")
			tries := strings.Join([]string{
				`echo x > "` + out + `"`,
				`echo x > ~/.bashrc`,
				`mkdir -p ~/.claude; echo '{"hooks":{}}' > ~/.claude/settings.json`,
				`echo x > .git/hooks/pre-commit`,
				`find "` + c.env["PAWL_HOME"] + `" -name journal.jsonl -exec sh -c 'echo x >> "$1"' - {} \;`,
				`git commit --allow-empty -qm mine; echo "token=$MY_DEPLOY_TOKEN" > env.txt`,
				`true`,
			}, "\n")
			// The guard would deny them; it does not read what is computed.
			hidden := base64.StdEncoding.EncodeToString([]byte(tries))
			c.playAnswers(messagesapi.Write(c.path("t.b64"), hidden), messagesapi.Bash(`s=$(base64 -d t.b64); sh -c "$s"; rm t.b64`), c.answerAddingWord("bye"), done)
			gate := checkWords + ` && ! echo x > "` + out + `"`
			r := c.run(0, append(tc.more, "--confine", string(level), "--gate", gate, "--agent-command", c.client, "add bye")...)
			if got, want := c.read("env.txt"), "token="; level == confine.Strict && strings.TrimSpace(got) != want {
				t.Errorf("the agent's tools see a secret: %q", got)
			}
			if s := c.status(); s.Outcome != "verified" || s.Commits != 1 {
				t.Errorf("status %+v\n%s", s, r)
			}
			for _, path := range []string{out, filepath.Join(c.env["HOME"], ".bashrc"), filepath.Join(c.env["HOME"], ".claude", "settings.json"), c.path(".git/hooks/pre-commit")} {
				if _, err := os.Lstat(path); err == nil {
					t.Errorf("%s was written", path)
				}
			}
			c.checkJournalChain()
			if r := c.pawl("report", "."); !strings.Contains(r.String(), "sandbox       "+string(level)+", by bubblewrap, around agent and gates") {
				t.Errorf("the report does not name the wall: %s", r)
			}
			if r := c.pawl("log", "--verify", "."); r.code != 0 {
				t.Errorf("the journal: %s", r)
			}
		})
	}
}

// far leads to a server on loopback from an address that is not.
func far(t *testing.T, server string) string {
	t.Helper()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		if ip, ok := a.(*net.IPNet); ok && ip.IP.To4() != nil && !ip.IP.IsLoopback() {
			host = ip.IP.String()
		}
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", ":0")
	if err != nil {
		t.Fatal(err)
	}
	to, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	relay := &http.Server{Handler: &httputil.ReverseProxy{
		FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) },
		Transport: &http.Transport{DisableKeepAlives: true}, // the default one is closed by every server of a test that ends
	}}
	t.Cleanup(func() { _ = relay.Close() })
	go func() { _ = relay.Serve(l) }()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return "http://" + net.JoinHostPort(host, port)
}

// withoutBubblewrap gives a loop a PATH that has only what it needs, and no bubblewrap.
func (b *bench) withoutBubblewrap() {
	b.t.Helper()
	dir := b.t.TempDir()
	for _, name := range []string{"git", "sh", "cat", "rm", "env"} {
		path, err := exec.LookPath(name)
		if err != nil {
			b.t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(dir, name)); err != nil {
			b.t.Fatal(err)
		}
	}
	b.env["PATH"] = dir
}

// A loop whose sandbox is not available neither starts nor resumes.
func TestUnavailableSandboxIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t, wordShop(nil))
	b.withoutBubblewrap()
	args := func(level string, more ...string) []string {
		return append([]string{"run", "--confine", level, "--agent", "scripted", "--agent-command", b.script(part("bye")), "--gate", checkWords, "add bye"}, more...)
	}
	r := b.pawl(args("strict")...)
	if r.code != 2 || !r.contains("--confine strict is not available here: bubblewrap is not installed") || !r.contains("apt install bubblewrap") {
		t.Errorf("%s", r)
	}
	if got := b.git("branch", "--list", "pawl/*"); got != "" {
		t.Errorf("branches %q", got)
	}
	if r := b.pawl("list", "--json"); r.contains(`"id"`) {
		t.Errorf("%s", r)
	}
	canConfine(t, confine.Strict)
	path := b.env["PATH"]
	b.env["PATH"] = os.Getenv("PATH")
	if r := b.pawl(args("strict", "--max-iterations", "1", "--gate", "false")...); r.code == 2 {
		t.Fatalf("%s", r)
	}
	b.env["PATH"] = path
	if r := b.pawl("resume", ".", "--max-iterations", "1"); r.code != 2 || !r.contains("apt install bubblewrap") {
		t.Errorf("resumed: %s", r)
	}
}

// If only Landlock is available, the loop reports what it does not restrict.
func TestLandlockSandboxReportsItsLimits(t *testing.T) {
	t.Parallel()
	b := newBench(t, wordShop(nil))
	b.withoutBubblewrap()
	args := []string{"run", "--confine", "tree", "--agent", "scripted", "--agent-command", b.script(part("bye"))}
	r := b.pawl(append(args, "--gate", checkWords+` && ! sh -c 'echo x > "`+b.path("../planted")+`"'`, "add bye")...)
	if r.code == 2 {
		t.Skip("no Landlock here")
	}
	if r.code != 0 || !r.contains("confined, but here git's hooks and configuration") {
		t.Errorf("%s", r)
	}
	if b.read("../planted") != "" {
		t.Error("the gate wrote outside")
	}
}
