package plan_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

// The comments are needed: GitHub links \#12, &#64;ann and GH-12, since it looks at rendered text.
func TestMarkdownLinksNothing(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"ask @ann":                  "ask @<!-- -->ann",
		"fixes #12, o/r#3 and gh-4": `fixes \#<!-- -->12, o/r\#<!-- -->3 and gh<!-- -->-4`,
		"see WWW.example.org":       "see WWW<!-- -->.example.org",
		"https://example.org/a_b":   `https:&#47;/example.org/a\_b`,
		"<img src=x> &amp;":         `&lt;img src=x\> &amp;amp;`,
		"![a](b)\n# head":           `\!\[a\](b) \#<!-- --> head`,
		"<!-- hidden -->":           `&lt;\!-- hidden --\>`,
	} {
		if got := plan.Markdown(text); got != want {
			t.Errorf("Markdown(%q) = %q, want %q", text, got, want)
		}
	}
}
