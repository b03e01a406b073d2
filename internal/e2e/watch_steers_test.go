//go:build unix

package e2e_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
)

// A user of pawl watch starts loops, answers a question, rejects and approves the work, restores
// undone work and undoes that, and the loops obey.
func TestWatchStartsAnswersApprovesRestores(t *testing.T) {
	t.Parallel()
	b := newBench(t, wordShop(nil))
	b.write(map[string]string{
		"../.config/pawl/config.toml": fmt.Sprintf("agent = \"command\"\nagent_command = %q\napprove = [\"task\"]\n\n[[gates]]\ncommand = %q\n", b.path("../agent.sh"), checkWords),
		"../agent.sh": `#!/bin/sh
prompt=$(cat)
case $prompt in
*"add thanks"*)
	echo half > half.txt
	echo '<blocked>nobody to thank</blocked>' ;;
*"farewell.txt as well"*)
	echo bye > farewell.txt
	echo '<promise>DONE</promise>' ;;
*"The answer: bye"*)
	echo bye > bye.txt; echo 'test "$(cat bye.txt)" = bye' > tests/bye.sh
	echo '<promise>DONE</promise>' ;;
*)
	echo '<question>bye or goodbye?</question>' ;;
esac
`,
	})
	term := agenttest.Open(t, agenttest.Program{
		Argv: []string{"sh", "-c", `"$0" watch; "$0" watch .; echo "left $?"; cat`, b.binary}, Dir: b.root, Env: b.env,
	})
	const soon = time.Minute
	term.Shows("no loop yet", soon)
	term.Keys("n")
	term.Type("add bye")
	term.Shows("runs in the background", soon)
	term.Keys("Escape")
	term.Shows("NEEDS YOU", soon) // it asks
	term.Keys("Enter")
	term.Shows("waiting for your answer", soon)
	term.Keys("a")
	term.Type("bye")
	term.Shows("waits for your approval: accept the work", soon)
	term.Keys("x")
	term.Type("it needs farewell.txt as well")
	term.Until("the work to be done again", soon, func() bool { return exists(b.path("farewell.txt")) })
	term.Shows("iteration 3", soon)
	term.Shows("waits for your approval: accept the work", soon)
	term.Keys("a")
	term.Shows("? y yes", soon)
	term.Keys("y")
	term.Shows("ended verified", soon)
	term.Keys("Escape")
	term.Shows("ENDED", soon)

	term.Keys("n")
	term.Type("add thanks")
	term.Shows("runs in the background", soon)
	term.Keys("Escape")
	term.Shows("blocked", soon)
	term.Keys("q") // and the newest loop is opened
	term.Shows("b restore work", soon)
	if exists(b.path("half.txt")) {
		t.Error("half a work is in the tree")
	}
	term.Keys("b")
	term.Shows("? y yes", soon)
	term.Keys("y")
	term.Shows("restored the work of task goal", soon)
	if !exists(b.path("half.txt")) {
		t.Error("the work is not back")
	}
	term.Keys("Escape")
	term.Shows("b restore work", soon)
	term.Keys("u")
	term.Shows("? y yes", soon)
	term.Keys("y")
	term.Until("the work to be gone", soon, func() bool { return !exists(b.path("half.txt")) })
}
