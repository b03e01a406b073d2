package testdiff

import (
	"maps"
	"slices"
	"testing"
)

// A text replaces another where the rest of the line is the same, or begins the same.
func TestAddWordingsPairsTexts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		was, is string
		want    [][2]string
	}{
		"the rest is the same":   {"fail('not found');\n", "fail('no such link');\n", [][2]string{{"not found", "no such link"}}},
		"it begins the same":     {"send(res, 404, { error: 'not found' });\n", "send(res, 404, { error: id ? `no link ${id}` : 'none' });\n", [][2]string{{"not found", "no link ${id}"}, {"not found", "none"}}},
		"it begins another way":  {"send(res, 404, { error: 'not found' });\n", "log(404, { error: 'no such link', id });\n", nil},
		"nothing comes for it":   {"fail('not found');\n", "", nil},
		"both are there already": {"fail('a b');\nfail('c d');\n", "fail('c d');\nfail('a b');\n", nil},
	} {
		got := map[[2]string]bool{}
		AddWordings(got, "src/server.js", []byte(c.was), []byte(c.is))
		for _, pair := range c.want {
			if !got[pair] {
				t.Errorf("%s: %q is missing", name, pair)
			}
			delete(got, pair)
		}
		if len(got) > 0 {
			t.Errorf("%s: also %q", name, slices.Collect(maps.Keys(got)))
		}
	}
}
