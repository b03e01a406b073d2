//go:build unix

package e2e_test

import (
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/notify"
)

// killListener ends the process that reads the chat for the newest loop, or waits for the
// end of quiet hours, as a restart of the machine does.
func (b *bench) killListener() {
	b.t.Helper()
	agenttest.Needs(b.t, "pgrep")
	out, err := exec.Command("pgrep", "-f", "session notify "+b.status().ID).Output()
	if err != nil {
		b.t.Fatalf("nobody reads the chat: %v", err)
	}
	for pid := range strings.FieldsSeq(string(out)) {
		n, err := strconv.Atoi(pid)
		if err != nil {
			b.t.Fatal(err)
		}
		_ = syscall.Kill(n, syscall.SIGKILL) // it may have sent a notice, and ended
	}
}

// sent waits until the newest loop's log of notices says that one was sent: now it is
// known which message is replied to.
func (b *bench) sent(notice string) {
	b.t.Helper()
	path := b.path("../state/loops/" + b.status().ID + "/" + notify.LogName)
	for deadline := time.Now().Add(timeout); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if log, err := os.ReadFile(path); err == nil && strings.Contains(string(log), notice+": sent to ") {
			return
		}
	}
	b.t.Fatalf("%q is not sent", notice)
}

// Changed tests that wait for an approval are answered by chat like a question: after the
// loop's end, and while it works, where the reason reaches the agent. A stranger's yes
// counts in neither.
func TestChangedTestsAreApprovedByChat(t *testing.T) {
	t.Parallel()
	telegram, slack := &bot{}, &slackBot{threads: map[string][]string{}}
	t.Run("Telegram", func(t *testing.T) {
		t.Parallel()
		s := httptest.NewServer(telegram)
		t.Cleanup(s.Close)
		changedTestsByChat(t, telegram, s.URL+"/bot1:TOKEN/sendMessage?chat_id=42", "telegram env:CHAT", "42")
	})
	t.Run("Slack", func(t *testing.T) {
		t.Parallel()
		s := httptest.NewServer(slack)
		t.Cleanup(s.Close)
		changedTestsByChat(t, slack, s.URL+"/api/chat.postMessage?channel=C1&token=xoxb-TOKEN", "slack env:CHAT", slackUser(42))
	})
}

// chat is a double of a service in which users reply to messages.
type chat interface {
	reply(t *testing.T, from int, to, text string)
	waitForMessage(t *testing.T, text string)
}

func changedTestsByChat(t *testing.T, api chat, address, receiver, user string) {
	t.Helper()
	b := newBench(t, map[string]string{
		"pawl.toml": "tests = [\"*_test.sh\"]\n", "plan.md": "- [ ] add takes one argument\n- [ ] say it\n",
		"lib": "add() { echo $(($1 + $2)); }\n", "add_test.sh": ". ./lib\n[ \"$(add 1 2)\" = 3 ]\n",
	})
	b.env["CHAT"] = address
	b.write(map[string]string{
		"../.config/pawl/config.toml": fmt.Sprintf("[notify]\nto = %q\nanswers = [%q]\n", receiver, receiver+" from "+user),
		"../agent.sh": `#!/bin/sh
cat >> ../prompts
if grep -q '1,' add_test.sh; then
	touch ../second
	until [ -e ../answered ]; do sleep 0.1; done
fi
echo 'add() { echo $((${1%,*} + ${1#*,})); }' > lib
printf '. ./lib\n[ "$(add 1,2)" = 3 ]\n' > add_test.sh
echo '<promise>DONE</promise>'
`,
	})
	run := func(goal string, more ...string) *running {
		return b.start(append([]string{"run", goal, "--gate", "sh add_test.sh", "--agent", "command", "--agent-command", b.path("../agent.sh")}, more...)...)
	}

	b.checkExitCode(run("add takes one argument", "--branch", "new").wait(), 3)
	api.reply(t, 66, "ended UNVERIFIED", "yes")
	b.sent("ended unverified")
	b.killListener()
	api.reply(t, 42, "ended UNVERIFIED", "yes")
	b.pawl("resume", "--after-restart") // as the system does after a restart
	api.waitForMessage(t, "approved add_test.sh it is verified now")
	if r := b.pawl("list", "--json"); !r.contains(`"outcome": "verified"`) {
		t.Errorf("%s", r)
	}

	b.git("switch", "-q", "main")
	loop := run("plan.md", "--branch", "other")
	loop.waitUntil("the second turn", func() bool { return exists(b.path("../second")) })
	api.reply(t, 42, b.status().ID+" · changes to existing tests wait for your approval", "no, keep both arguments")
	api.waitForMessage(t, "the agent may not change add_test.sh")
	b.write(map[string]string{"../answered": ""})
	loop.waitUntil("the agent to be told", func() bool {
		prompts, err := os.ReadFile(b.path("../prompts"))
		return err == nil && strings.Contains(string(prompts), "Make the work pass with the original tests. The user says: no, keep both arguments")
	})
	b.pawl("stop", ".")
	loop.wait()
}
