package planfile

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/regex"
)

// opening matches what a comment begins with that says something: a word, perhaps a colon,
// and the rest.
var opening = regex.New(`^<!--\s*([A-Za-z]+)\s*(:?)((?s:.*?))-->$`)

// notSettings names the comments that were meant for Pawl, to judge by their first word, and
// that it does not read: "pawl evidence=unproven" without the colon, "pwal: …".
func (r *reading) notSettings(d *document) {
	for _, at := range comment.FindAllSubmatchIndex(d.data, -1) {
		text := string(d.data[at[0]:at[1]])
		m := opening.FindStringSubmatch(text)
		if m == nil || directive.MatchString(text) || !meantForPawl(m[1], m[2] != "", m[3]) {
			continue
		}
		line := bytes.Count(d.data[:at[0]], []byte("\n")) + 1
		r.note(line, fmt.Sprintf("this comment is not read: %s", plan.OneLine(text, 60)), `"<!-- pawl: … -->", with the colon`)
	}
}

// meantForPawl reports whether a comment with this first word was meant to be one of Pawl's.
func meantForPawl(word string, colon bool, rest string) bool {
	letters := []byte(strings.ToLower(word))
	slices.Sort(letters)
	return string(letters) == "alpw" && (colon || strings.Contains(rest, "="))
}
