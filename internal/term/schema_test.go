package term_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/term"
)

// The schema is generated documentation. This test checks that it is current, and -update writes
// it.
func TestSchemaIsCurrent(t *testing.T) {
	t.Parallel()
	schema, err := term.Schema()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, filepath.Join("..", "..", "docs", "reference", "events.schema.json"), string(text)+"\n")

	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := os.ReadFile(filepath.Join("testdata", "json.txt"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for l := range strings.SplitSeq(strings.TrimSpace(string(lines)), "\n") {
		var v map[string]any
		if err := json.Unmarshal([]byte(l), &v); err != nil {
			t.Fatalf("%s: %v", l, err)
		}
		if err := resolved.Validate(v); err != nil {
			t.Errorf("%s: %v", l, err)
		}
		seen[v["event"].(string)] = true
	}
	if len(seen) != len(schema.OneOf) {
		t.Errorf("the story has %d kinds of events, the schema %d", len(seen), len(schema.OneOf))
	}
	if err := resolved.Validate(map[string]any{"event": "surprise", "time": "2026-01-01T00:00:00Z"}); err == nil {
		t.Error("an unknown event is valid")
	}
}
