package runner_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/redact"
)

func TestSecretsAreRedactedFromStoredFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	const secret = `p<ass>&"word\1`
	d := b.begin("-- 1/reply --\nI used "+secret+"\n<blocked>it says "+secret+"</blocked>\n", []string{"have every word"}, withGate(nil))
	d.Redact = redact.New([]string{"API_TOKEN=" + secret})
	s, err := b.drive(t.Context(), d, logObserver{t})
	if err != nil || s.Outcome != loop.BlockedEnd {
		t.Fatalf("%s: %v", s.Outcome, err)
	}
	if !strings.Contains(s.Reason, redact.Mark) {
		t.Errorf("not redacted: %s", s.Reason)
	}
	for _, name := range []string{"state.json", "journal.jsonl"} {
		text := b.file(name)
		for _, form := range []string{secret, `p\u003cass\u003e`, `p<ass>`} {
			if strings.Contains(text, form) {
				t.Errorf("%s holds the secret", name)
			}
		}
		if !strings.Contains(text, redact.Mark) {
			t.Errorf("%s: nothing redacted", name)
		}
	}
}
