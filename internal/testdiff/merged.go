package testdiff

import (
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// value matches a string or a number in a test without white space.
var value = regex.New(`"[^"]*"|\b\d+(?:\.\d+)?\b`)

// minMerged is how many different values make it unlikely that a file has them for another test.
const minMerged = 2

// valuesIn returns the strings and numbers of a file in their order, without those in comments.
func valuesIn(path string, content []byte) []string {
	l, known := languageOf(path)
	if !known {
		return nil
	}
	s := source.Bare(string(content), l.style())
	return value.FindAllString(s.Plain(0, len(s.Code)), -1)
}

// mergedInto reports whether the values of a removed test stand close together in those of the new file,
// as they do in the row of a table to which somebody moved it. Its name and its messages may be others.
func (t test) mergedInto(values []string) bool {
	wanted := map[string]bool{}
	for _, v := range value.FindAllString(t.body, -1) {
		if v != `"`+t.name+`"` && !strings.Contains(v, "%") {
			wanted[v] = true
		}
	}
	if t.group || t.skipped || t.empty || len(wanted) < minMerged {
		return false
	}
	for i := range values {
		found := map[string]bool{}
		for _, v := range values[i:min(len(values), i+2*len(wanted)+minMerged)] {
			if wanted[v] {
				found[v] = true
			}
		}
		if len(found) == len(wanted) {
			return true
		}
	}
	return false
}
