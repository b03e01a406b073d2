package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// varying is what differs between two runs that failed alike: addresses and
// hashes, paths in temporary folders, and numbers with their units. Compiled
// where a gate has failed, not at each start: the hook starts at every turn.
func varying() []*regex.Regex {
	return []*regex.Regex{
		regex.New(`(?:/private)?/(?:tmp|var/folders)/[^\s:"')]+`),
		regex.New(`(?i)[a-z]:\\[^\s:"')]*\\temp\\[^\s:"')]+`),
		regex.New(`0x[0-9a-fA-F]+|\b[0-9a-f]{7,64}\b`),
		regex.New(`[0-9]+(?:[.,:][0-9]+)*\s?(?:ns|µs|us|ms|s|m|h|%|[kKMG]?i?B)?\b`),
	}
}

// Fingerprint tells one failure from another: two tries that leave the same tree,
// the same failing tests and, numbers, times, addresses and temporary paths
// aside, the same output, have the same fingerprint.
func Fingerprint(tree string, results []Result) string {
	h, expressions := sha256.New(), varying()
	fmt.Fprintf(h, "%q\n", tree)
	sorted := slices.SortedFunc(slices.Values(results), func(a, b Result) int { return strings.Compare(a.Gate, b.Gate) })
	for _, r := range sorted {
		fmt.Fprintf(h, "%q %q %q %q\n", r.Gate, r.Status, r.Failing, steady(r.Tail, expressions))
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// Steady is a text without what differs between two runs that failed alike.
func Steady(s string) string { return steady(s, varying()) }

func steady(s string, expressions []*regex.Regex) string {
	for _, re := range expressions {
		s = re.ReplaceAllString(s, "#")
	}
	return s
}
