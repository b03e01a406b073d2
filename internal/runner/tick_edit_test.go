package runner_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// A commit may take long, for example if a signature waits for a passphrase. The user's edit of the
// plan meanwhile is kept.
func TestPlanEditDuringCommitIsKept(t *testing.T) {
	t.Parallel()
	files := maps.Clone(words)
	files["plan.md"] = "- [ ] have every word\n"
	b := newBench(t, files)
	plan, sign := filepath.Join(b.root, "plan.md"), filepath.Join(t.TempDir(), "sign.sh")
	if err := os.WriteFile(sign, []byte("#!/bin/sh\necho 'A note of mine.' >> '"+plan+"'\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	b.git("config", "commit.gpgsign", "true")
	b.git("config", "gpg.program", sign)
	s := b.run(haveAll, []string{"plan.md"}, withGate(nil))
	if s.Outcome != loop.Verified {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
	text, err := os.ReadFile(plan)
	if err != nil || !strings.Contains(string(text), "- [x] have every word\n") || !strings.Contains(string(text), "A note of mine.\n") {
		t.Errorf("the plan: %v\n%s", err, text)
	}
}
