//go:build unix

package verify_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/core/gate"
)

// No test can tell whether a document says what it should: that is said, instead of asking for one.
func TestTextOnlyChangesNeedNoTest(t *testing.T) {
	t.Parallel()
	start := calc()
	start["README.md"] = "# calc\n"
	for _, c := range agenttest.Each([]struct {
		name, gate string
		work       files
		want       gate.Evidence
		told       bool
	}{
		{"a document and a comment", "go test ./...", files{"README.md": "# calc\n\nAdds.\n", "calc.go": "// Package calc adds.\n" + start["calc.go"]}, gate.Unproven, true},
		{"a comment in a test", "go test ./...", files{"calc_test.go": "// Copyright 2026\n\n" + start["calc_test.go"]}, gate.Unproven, true},
		{"a document that a gate reads", "grep -q Adds README.md", files{"README.md": "# calc\n\nAdds.\n"}, gate.Proven, false},
		{"code too", "go test ./...", files{"README.md": "# calc\n\nAdds.\n", "calc.go": subtract}, gate.Unproven, false},
		{"a document is removed", "go test ./...", files{"README.md": ""}, gate.Unproven, true},
	}, 2) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, start, nil)
			f := b.claim(gates(c.gate), c.work, nil)
			if v := f.Verdict; v.Evidence != c.want || strings.HasPrefix(v.Reason, "only documents and comments changed") != c.told || f.Observation.Work.OnlyText != (c.told || c.want == gate.Proven) {
				t.Errorf("%+v (only text: %t)", v, f.Observation.Work.OnlyText)
			}
		})
	}
}
