//go:build unix

package e2e_test

import (
	"os"
	"strings"
	"testing"
	"time"
)

// Events in quiet hours are notified when these end, also after a restart of the machine: the end of
// the loop, but no question that was answered meanwhile.
func TestQuietHoursDelayNotifications(t *testing.T) {
	t.Parallel()
	b := newBench(t, wordShop(nil))
	hours := time.Now().Add(-time.Hour).Format("15:04") + "-" + time.Now().Add(time.Hour).Format("15:04")
	b.write(map[string]string{
		"../.config/pawl/config.toml": "[notify]\nto = \"command cat >> " + b.path("../told") + "\"\nquiet = \"" + hours + "\"\n",
		"../agent.sh":                 askingAgent,
	})
	run := b.start("run", "add bye", "--gate", checkWords, "--agent", "command", "--agent-command", b.path("../agent.sh"))
	b.question()
	b.pawl("answer", ".", "bye")
	b.checkExitCode(run.wait(), 0)
	b.killListener()
	if _, err := os.Stat(b.path("../told")); err == nil {
		t.Errorf("told in quiet hours: %s", b.read("../told"))
	}

	spec := "../state/loops/" + b.status().ID + "/spec.json"
	b.write(map[string]string{spec: strings.Replace(b.read(spec), hours, "", 1)}) // they are over
	b.pawl("resume", "--after-restart")
	b.sent("ended verified")
	if told := b.read("../told"); strings.Count(told, `"event":`) != 1 || !strings.Contains(told, `"event":"ended"`) {
		t.Errorf("told %s", told)
	}
	if text := b.read("../state/loops/" + b.status().ID + "/notify.log"); !strings.Contains(text, "needs_you question: not sent: the ") {
		t.Errorf("notify.log: %s", text)
	}
}
