package record_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
)

// A note that a program's output is part of holds no secret in the journal.
func TestNotesHoldNoSecrets(t *testing.T) {
	t.Parallel()
	l, err := store.Open(t.TempDir()).Create(t.TempDir(), record.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	owner, err := l.Own(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	hide := func(text string) string { return strings.ReplaceAll(text, `tok"en`, "[removed]") }
	if err := record.AppendNote(owner, memory.Note{Text: `cannot reach https://tok"en@host`}, hide); err != nil {
		t.Fatal(err)
	}
	if err := owner.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(l.Dir, "journal.jsonl"))
	if err != nil || strings.Contains(string(text), "en@host") || !strings.Contains(string(text), "[removed]") {
		t.Errorf("%s, %v", text, err)
	}
}
