//go:build unix

package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
)

// killingTracker is a tracker with two issues that notes what it did, and kills Pawl at
// the step that the file kill names. A text whose key it knows is not added again.
const killingTracker = `cd %s
read -r request
pick() { printf '%%s\n' "$request" | sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }
do=$(pick do) id=$(pick issue) key=$(pick key)
echo $PPID >pid
sh at.sh before-$do-$id
changed=false
case $do in
list) printf '{"ok":true,"issues":[{"id":"7","key":"#7","title":"add bye"},{"id":"8","key":"#8","title":"add thanks","depends_on":["7"]}]}\n'; exit ;;
claim) [ -e held-$id ] || { touch held-$id; changed=true; echo "claim $id" >>did; } ;;
*)
	grep -qxF "$key" keys || { echo "$key" >>keys; echo "$do $id" >>did; }
	case $request in *'"release":true'*) rm -f held-$id ;; esac ;;
esac
sh at.sh after-$do-$id
echo "{\"ok\":true,\"changed\":$changed}"
`

// killsAt kills Pawl once at the step that the file kill names, and whatever takes the step:
// it would continue beside the loop that is resumed.
const killsAt = `cd %s
[ "$(cat kill 2>/dev/null)" = "$1" ] || exit 0
rm kill
kill -9 $(cat pid) $PPID
`

// TestTrackerClaimsSurviveKills kills a loop over two issues at each step between claim, work and
// end. Each issue is claimed once, gets its end once, and no claim stays.
func TestTrackerClaimsSurviveKills(t *testing.T) {
	t.Parallel()
	agenttest.Needs(t, "sed")
	steps := []string{
		"before-claim-7", "after-claim-7", "before-claim-8", "after-claim-8", "turn-bye", "gate", "turn-thanks",
		"before-done-7", "after-done-7", "before-done-8", "after-done-8",
	}
	for _, step := range agenttest.Each(steps, 3) {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			b := trackerBench(t)
			b.write(map[string]string{"../kill": step})
			args := []string{"run", "tracker:all", "--gate", fmt.Sprintf("sh %s/at.sh gate; %s", b.home, checkWords), "--agent", "scripted", "--agent-command", b.home + "/script.txtar", "--branch", "current", "--quiet"}
			if r := b.pawl(args...); r.code != 128+int(syscall.SIGKILL) {
				t.Fatalf("it was not killed: %s", r)
			}
			b.checkExitCode(b.pawl("resume", ".", "--quiet"), 0)
			b.checkExitCode(b.pawl("resume", "."), 0) // nothing is left to do, or to tell
			b.checkJournalChain()
			want := "claim 7\nclaim 8\ndone 7\ndone 8\n"
			if diff := cmp.Diff(want, b.read("../did")); diff != "" {
				t.Errorf("what the tracker was told: %s\n%s", diff, b.pawl("log", ".").out)
			}
			if held, _ := filepath.Glob(b.home + "/held-*"); len(held) > 0 {
				t.Errorf("claims stay: %v", held)
			}
			if diff := cmp.Diff([]string{"feat(#7):_add_bye", "feat(#8):_add_thanks"}, b.subjects()); diff != "" {
				t.Errorf("commits: %s", diff)
			}
		})
	}
}

// trackerBench is a repository whose plan is that of the killing tracker.
func trackerBench(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, wordShop(nil))
	b.git("tag", "start")
	files := map[string]string{"tracker.sh": fmt.Sprintf(killingTracker, b.home), "at.sh": fmt.Sprintf(killsAt, b.home), "keys": ""}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(b.home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.write(map[string]string{"pawl.toml": fmt.Sprintf("[tracker]\ncommand = \"exec sh %s/tracker.sh\"\n", b.home)})
	b.git("add", "-A")
	b.git("commit", "-q", "-m", "tracker")
	b.git("tag", "-f", "start")
	b.checkExitCode(b.pawl("trust", "--yes"), 0)
	var story strings.Builder
	for _, word := range []string{"bye", "thanks"} {
		story.WriteString(part(word) + fmt.Sprintf("-- add %s/run --\nsh %s/at.sh turn-%[1]s\n", word, b.home))
	}
	b.script(story.String())
	return b
}
