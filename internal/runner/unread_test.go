package runner_test

import (
	"context"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/guard"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

const (
	// blindly writes have.txt as it should be, without having read it.
	blindly = "-- 1+/unread/have.txt --\none\ntwo\n-- 1+/reply --\n<promise>DONE</promise>\n"
	look    = "-- 1/read --\nhave.txt\n-- 1/reply --\nI have looked at it.\n"
)

// countUnreadDenials returns how often the guard of the last loop denied an edit of an unread file.
func (b *bench) countUnreadDenials() (n int) {
	b.t.Helper()
	return strings.Count(b.file("journal.jsonl"), `"rule":"`+guard.RuleUnread+`"`)
}

// A file that was read in a context may be changed in all of its turns. A fresh context has read
// nothing.
func TestEditOfUnreadFileIsDeniedPerContext(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script  string
		flags   map[string]any
		outcome loop.Outcome
		denied  int
	}{
		"never":                        {blindly, map[string]any{"max_iterations": "1"}, loop.Iterations, 1},
		"in the turn before":           {look + blindly, nil, loop.Verified, 0},
		"after the denial":             {blindly + strings.ReplaceAll(look, "1/", "2/"), nil, loop.Verified, 1},
		"in another context":           {look + blindly, map[string]any{"session": "turn", "max_iterations": "2"}, loop.Iterations, 1},
		"in another of the same":       {look + blindly, map[string]any{"session": "turn", "warm": true, "max_iterations": "2"}, loop.Iterations, 1},
		"mentioned by the user":        {blindly, nil, loop.Verified, 0},
		"made by a command":            {"-- 1/files/gen.sh --\necho one > have.txt\n-- 1/run --\nsh gen.sh\n" + strings.ReplaceAll(blindly, "1+/", "1/"), nil, loop.Verified, 0},
		"before the client was killed": {look + "-- 2/failure --\ncrashed gone\n" + blindly, nil, loop.Verified, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, words)
			goal := "have every word"
			if strings.HasPrefix(name, "mentioned") {
				goal += " in @have.txt"
			}
			if s := b.run(c.script, []string{goal}, withGate(c.flags)); s.Outcome != c.outcome {
				t.Errorf("%s: %s", s.Outcome, s.Reason)
			}
			if n := b.countUnreadDenials(); n != c.denied {
				t.Errorf("denied %d times, want %d", n, c.denied)
			}
		})
	}
}

// It is unknown what was read in a context that another process began.
func TestResumedContextMayHaveReadAnyFile(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	ctx, kill := context.WithCancel(t.Context())
	d := b.begin("-- 1/run --\nsleep 30\n", []string{"have every word"}, withGate(nil))
	if _, err := b.drive(ctx, d, &onCommand{logObserver: logObserver{t}, then: kill}); err == nil {
		t.Fatal("not killed")
	}
	b.rewrite(blindly)
	if s := b.resume(logObserver{t}); s.Outcome != loop.Verified || b.countUnreadDenials() != 0 {
		t.Errorf("%s, %d denied: %s", s.Outcome, b.countUnreadDenials(), s.Reason)
	}
}
