//go:build unix

package e2e_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// The goal of the demo with the real client, whose model does each task in one turn.
func TestClientDemo(t *testing.T) {
	c := newClientBench(t, map[string]string{"README.md": "elsewhere\n"})
	c.env["TMPDIR"] = t.TempDir()
	c.playAnswers(
		messagesapi.Bash(`printf 'sum=0\nwhile read -r name price count; do\n\tsum=$((sum + price * count))\ndone\necho "$sum"\n' >total.sh`), done,
		messagesapi.Bash(`printf 'echo $(($(sh total.sh) * (100 - $1) / 100))\n' >voucher.sh
printf '[ "$(sh voucher.sh 50 <tests/breakfast)" = 270 ]\n' >tests/voucher.sh`), done,
		messagesapi.Bash(`printf 'if [ "$(sh total.sh)" -ge 5000 ]; then echo 0; else echo 490; fi\n' >shipping.sh
printf '[ "$(sh shipping.sh <tests/breakfast)" = 490 ] && [ "$(echo cake 5000 1 | sh shipping.sh)" = 0 ]\n' >tests/shipping.sh`), done,
	)
	r := c.pawl("demo", "--agent", "claude", "--agent-command", c.client)
	if r.code != 0 || !r.contains("This demo runs your own claude", "ended VERIFIED", "3 proven", "git log --stat main..HEAD") {
		t.Fatalf("%s", r)
	}
	made, err := filepath.Glob(filepath.Join(c.env["TMPDIR"], "pawl-demo-*", "cart"))
	if err != nil || len(made) != 1 {
		t.Fatalf("the demo made %v, %v", made, err)
	}
	want := []string{"feat(1):_Total_adds_up_the_items", "feat(2):_Voucher:_a_percentage_off", "feat(3):_Shipping_is_free_from_50.00"}
	c.root = made[0]
	c.git("tag", "start", "main")
	if diff := cmp.Diff(want, c.subjects()); diff != "" {
		t.Errorf("commits: %s\n%s", diff, r)
	}
}
