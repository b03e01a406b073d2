package runner_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
	"github.com/pawl-dev/pawl/internal/record"
)

// In a session that commits, a new user file between the agent's calls is not committed, and is
// reported once. Files made by a command or an editing tool are committed, and so are files that
// appear while the client asks for permission.
func TestNewUserFilesInSessionAreNotCommitted(t *testing.T) {
	t.Parallel()
	q := requestWithGate(nil)
	q.Commit = true
	st := beginInSession(t, words, q)
	pause := func() { time.Sleep(10 * fileDoubt) } // longer than the tolerance of a file's time
	call := func(id string, c authorship.Call, runs func()) {
		t.Helper()
		if err := record.AppendCall(record.StartedCallsPath(st.loop), authorship.Call{At: time.Now(), ID: id}); err != nil {
			t.Fatal(err)
		}
		runs()
		c.At, c.ID = time.Now(), id
		st.recordCalls(c)
	}
	st.recordCalls(authorship.Call{Tool: "Bash", Kind: toolcall.Run, Command: "pawl start", At: time.Now(), ID: "start"}) // began before the loop
	pause()
	st.write("notes.txt", "mine\n")
	pause()
	call("a", authorship.Call{Tool: "Bash", Kind: toolcall.Run, Command: "sh gen.sh"}, func() { st.write("made.txt", "x\n") })
	call("b", authorship.Call{Tool: "Write", Kind: toolcall.Write, Path: st.root + "/have.txt"}, func() { st.write("have.txt", "one\ntwo\n") })
	call("c", authorship.Call{Tool: "Bash", Kind: toolcall.Run, Command: "sh slow.sh"}, func() { pause(); st.write("asked.txt", "x\n"); pause() })
	if s := st.endTurnWithClaim(); s.Outcome != loop.Verified {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
	if got := st.git("show", "--format=", "--name-only", "HEAD"); got != "asked.txt\nhave.txt\nmade.txt" {
		t.Errorf("in the commit: %s", got)
	}
	if got := st.git("status", "--porcelain"); got != "?? notes.txt" {
		t.Errorf("status: %q", got)
	}
	data, err := os.ReadFile(filepath.Join(st.loop.Dir, "journal.jsonl"))
	if n := strings.Count(string(data), "left alone: notes.txt, not made by a tool call"); err != nil || n != 1 {
		t.Errorf("named %d times: %v", n, err)
	}
}

// If only the user worked, the agent's claim is refused, and the refusal names the user's changes.
func TestClaimRefusalNamesUserEdits(t *testing.T) {
	t.Parallel()
	q := requestWithGate(nil)
	q.Commit = true
	st := beginInSession(t, words, q)
	time.Sleep(10 * fileDoubt) // an edit close to the loop's start counts as the agent's
	st.write("have.txt", "one\ntwo\n")
	time.Sleep(10 * fileDoubt)
	st.endTurnWithClaim()
	if want := "in no commit: have.txt"; st.s.Phase != loop.Turning || !strings.Contains(st.s.Failing.Reason, want) {
		t.Errorf("%s: %+v, want %q", st.s.Phase, st.s.Failing, want)
	}
}
