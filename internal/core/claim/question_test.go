package claim_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/claim"
)

func TestAsk(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       claim.Question
	}{
		{"plain", "I looked.\n<question>Which\ntime zone?</question>\n", claim.Question{Text: "Which time zone?"}},
		{
			"choices", `<question proposed="UTC" choices="UTC | local |">Which?</question>`,
			claim.Question{Text: "Which?", Choices: []string{"UTC", "local"}, Proposed: "UTC"},
		},
		{"the last of two", "<question>a?</question>\n<question>b?</question>", claim.Question{Text: "b?"}},
		{"in code", "```\n<question>a?</question>\n```\nDone.", claim.Question{}},
		{"quoted", "> <question>a?</question>\nno", claim.Question{}},
		{"by the way", "I could ask <question>a?</question> but need not.", claim.Question{}},
		{"the prompt's own", "<question>what you must know</question>", claim.Question{}},
		{"empty", "<question> </question>", claim.Question{}},
		{"another tag", "<questions>a?</questions>", claim.Question{}},
	} {
		got, ok := claim.Ask(c.text)
		if diff := cmp.Diff(c.want, got); diff != "" || ok != (c.want.Text != "") {
			t.Errorf("%s: %t %s", c.name, ok, diff)
		}
		if claims := claim.Parse(c.text, ""); len(claims) > 0 {
			t.Errorf("%s: a claim: %+v", c.name, claims)
		}
	}
}
