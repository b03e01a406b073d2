package runner_test

import (
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/confine"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

// The user edits files while the gates run in a clean checkout. From there no gate reaches the work
// tree, so the edits are the user's.
func TestEditsWhileGatesRunInACheckoutAreTheUsers(t *testing.T) {
	t.Parallel()
	if n, _ := confine.FindNamespace(t.Context(), nil); !n.Works() {
		t.Skip("no mount namespace here")
	}
	files := sums()
	files["notes.txt"] = "one\n"
	b := newBench(t, files)
	edited := make(chan struct{})
	w := &hears{onStep: onStep{teller: teller{t}, at: loop.KindTurnEnded}}
	w.then = func() {
		go func() {
			time.Sleep(900 * time.Millisecond)
			b.write("notes.txt", "two\n")
			b.write("mine.txt", "mine\n")
			close(edited)
		}()
		w.then = nil
	}
	flags := withTests(nil)
	flags["gates"] = []any{map[string]any{"name": "t", "command": "sleep 1.5; sh run.sh", "report": "tap"}}
	s := b.watched(`
-- 1/files/sub_test.sh --
test_sub() { [ $(sub 3 2) = 1 ]; }
-- 1/files/lib --
add() { echo $(($1 + $2)); }
sub() { echo $(($1 - $2)); }
-- 1/reply --
<promise>DONE</promise>
`, []string{"add sub, which subtracts"}, flags, w)
	<-edited
	if s.Outcome != loop.Verified {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
	if got := b.git("diff", "--name-only", "main", "HEAD"); got != "lib\nsub_test.sh" {
		t.Errorf("in the commit: %q", got)
	}
	if got := b.git("status", "--porcelain"); got != "M notes.txt\n?? mine.txt" {
		t.Errorf("status: %q", got)
	}
}
