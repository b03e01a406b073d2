package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// varyingPatterns match what differs between equal failures: temporary paths, addresses, hashes and
// numbers with units. It compiles them only after a failure, since the hook starts at every turn.
func varyingPatterns() []*regex.Regex {
	return []*regex.Regex{
		regex.New(`(?:/private)?/(?:tmp|var/folders)/[^\s:"')]+`),
		regex.New(`(?i)[a-z]:\\[^\s:"')]*\\temp\\[^\s:"')]+`),
		regex.New(`0x[0-9a-fA-F]+|\b[0-9a-f]{7,64}\b`),
		regex.New(`[0-9]+(?:[.,:][0-9]+)*\s?(?:ns|µs|us|ms|s|m|h|%|[kKMG]?i?B)?\b`),
	}
}

// Fingerprint identifies a failure: the same tree, failing tests and output give the same value.
// Numbers, times, addresses and temporary paths in the output do not count.
func Fingerprint(tree string, results []Result) string {
	h, expressions := sha256.New(), varyingPatterns()
	fmt.Fprintf(h, "%q\n", tree)
	sorted := slices.SortedFunc(slices.Values(results), func(a, b Result) int { return strings.Compare(a.Gate, b.Gate) })
	for _, r := range sorted {
		fmt.Fprintf(h, "%q %q %q %q\n", r.Gate, r.Status, r.Failing, maskVarying(r.Tail, expressions))
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// WithoutVarying masks what differs between two equal failures, such as times and temporary paths.
func WithoutVarying(s string) string { return maskVarying(s, varyingPatterns()) }

func maskVarying(s string, expressions []*regex.Regex) string {
	for _, re := range expressions {
		s = re.ReplaceAllString(s, "#")
	}
	return s
}
