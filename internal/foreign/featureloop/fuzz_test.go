package featureloop_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/foreign/featureloop"
)

// FuzzProgress checks that set values are read back, that a second Set changes nothing, and that
// all other lines stay.
func FuzzProgress(f *testing.F) {
	for _, s := range []string{
		sample, strings.ReplaceAll(sample, "\n", "\r\n"), "\ufeff" + sample, "\ufeff", "", "# a", "a\n- Status: \xff\n", "Iteration:\nStatus:",
		"- Iteration: 3 of 5", "- Status: x\n- Max Iterations: 1\n- Iteration: 08\n", "__Iteration__: x\r- Status:", "#\n\n", "\ufeff\ufeff- Status: a", "\u017ftatus: a", "Iteration:\v",
	} {
		f.Add([]byte(s), 4, 15)
	}
	f.Add(bytes.Repeat([]byte("- Iteration: 3\r\n"), 5000), 4, 15)
	f.Fuzz(func(t *testing.T, data []byte, n, most int) {
		p, err := featureloop.Parse("p", bytes.Clone(data))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "p:") || !strings.Contains(err.Error(), ": expected ") {
				t.Fatalf("an error without a line or without what was expected: %v", err)
			}
			return
		}
		if !bytes.Equal(p.Bytes(), data) {
			t.Fatal("the bytes are not those that were read")
		}
		v := featureloop.Values{Iteration: max(n, 0), MaxIterations: max(most, 1), Status: featureloop.ReachedLimit}
		set := p.Set(v)
		if len(data) > featureloop.MaxSize-200 {
			return // there may be no room
		}
		got := featureloop.Values{Iteration: set.Iteration, MaxIterations: set.MaxIterations, Status: set.Status}
		if got != v || set.Check() != nil {
			t.Fatalf("%q became %q, which says %+v, not %+v (%v)", data, set.Bytes(), got, v, set.Check())
		}
		if again := set.Set(v); !bytes.Equal(again.Bytes(), set.Bytes()) {
			t.Fatalf("%q set once more is %q", set.Bytes(), again.Bytes())
		}
		if before, after := others(data), others(set.Bytes()); before != after {
			t.Fatalf("the other lines of %q became %q", before, after)
		}
	})
}

// ours matches the lines that are read, all of them, and blank ones.
var ours = regexp.MustCompile(`(?im)^[ \t*+_-]*(?:(?:current|overall|loop)[ \t]+)?(?:iteration|max(?:imum)?[ \t]+iterations?|status)[*_]*[ \t]*:.*\n?|^\s*\n`)

// others are the lines of a file that are neither ours nor blank.
func others(data []byte) string {
	return strings.TrimRight(string(ours.ReplaceAll(bytes.TrimPrefix(data, []byte("\ufeff")), nil)), "\r\n")
}

// FuzzCountOpen holds that a list is one only if it is JSON, and never without features.
func FuzzCountOpen(f *testing.F) {
	for _, s := range []string{`{"features":[{"passes":true}]}`, `[{"passes":false}]`, `[]`, `[null]`, `{"features":[`, "\ufeff[{}]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n, ok := featureloop.CountOpen(data)
		if ok && !json.Valid(bytes.TrimPrefix(data, []byte("\ufeff"))) {
			t.Fatalf("%q is no JSON", data)
		}
		if n < 0 || n > len(data) {
			t.Fatalf("%q has %d open features", data, n)
		}
	})
}
