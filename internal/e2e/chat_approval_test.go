//go:build unix

package e2e_test

import (
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// Changed tests that wait for an approval are answered by chat like a question: after the
// loop's end, and while it works, where the reason reaches the agent. A stranger's yes
// counts in neither.
func TestChangedTestsAreAnsweredByChat(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{
		"pawl.toml": "tests = [\"*_test.sh\"]\n", "plan.md": "- [ ] add takes one argument\n- [ ] say it\n",
		"lib": "add() { echo $(($1 + $2)); }\n", "add_test.sh": ". ./lib\n[ \"$(add 1 2)\" = 3 ]\n",
	})
	api := &bot{}
	s := httptest.NewServer(api)
	t.Cleanup(s.Close)
	b.env["CHAT"] = s.URL + "/bot1:TOKEN/sendMessage?chat_id=42"
	b.write(map[string]string{
		"../.config/pawl/config.toml": "[notify]\nto = \"telegram env:CHAT\"\nanswers = [\"telegram env:CHAT from 42\"]\n",
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

	b.ended(run("add takes one argument", "--branch", "new").wait(), 3)
	api.says(t, 66, "ended UNVERIFIED", "yes")
	api.says(t, 42, "ended UNVERIFIED", "yes")
	api.hears(t, "approved add_test.sh it is verified now")
	if r := b.pawl("list", "--json"); !r.says(`"outcome": "verified"`) {
		t.Errorf("%s", r)
	}

	b.git("switch", "-q", "main")
	loop := run("plan.md", "--branch", "other")
	loop.until("the second turn", func() bool { return exists(b.path("../second")) })
	api.says(t, 42, b.status().ID+" · changes to existing tests wait for your approval", "no, keep both arguments")
	api.hears(t, "the agent may not change add_test.sh")
	b.write(map[string]string{"../answered": ""})
	loop.until("the agent to be told", func() bool {
		prompts, err := os.ReadFile(b.path("../prompts"))
		return err == nil && strings.Contains(string(prompts), "Make the work pass them as they were. The user says: no, keep both arguments")
	})
	b.pawl("stop", ".")
	loop.wait()
}
