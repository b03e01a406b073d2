package claim_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/claim"
)

func TestQuestionsAreParsed(t *testing.T) {
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
		{
			"signs and code in values", "<question proposed=\"Map<String>\" choices=\"Map<String>|UTC -> local|`a`\">Which `a`?</question>",
			claim.Question{Text: "Which `a`?", Choices: []string{"Map<String>", "UTC -> local", "`a`"}, Proposed: "Map<String>"},
		},
		{"a quote that is not closed", "<question choices=\"a>Which?</question>", claim.Question{}},
		{"the last of two", "<question>a?</question>\n<question>b?</question>", claim.Question{Text: "b?"}},
		{"in code", "```\n<question>a?</question>\n```\nDone.", claim.Question{}},
		{"quoted", "> <question>a?</question>\nno", claim.Question{}},
		{"by the way", "I could ask <question>a?</question> but need not.", claim.Question{}},
		{"the prompt's own", "<question>what you must know</question>", claim.Question{}},
		{"empty", "<question> </question>", claim.Question{}},
		{"another tag", "<questions>a?</questions>", claim.Question{}},
	} {
		got, ok := claim.ParseQuestion(c.text)
		if diff := cmp.Diff(c.want, got); diff != "" || ok != (c.want.Text != "") {
			t.Errorf("%s: %t %s", c.name, ok, diff)
		}
		if claims := claim.Parse(c.text, ""); len(claims) > 0 {
			t.Errorf("%s: a claim: %+v", c.name, claims)
		}
	}
}

func TestMalformedQuestionIsRecognized(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"<question>a?</question>":                               false,
		"I looked.\n<question choices=UTC>Which?</question>":    true,
		"<question choices=\"a>Which?</question>":               true,
		"<question>Which?":                                      true,
		"<question>a?</question> and more":                      true,
		"I could ask a <question> here.":                        false,
		"```\n<question choices=UTC>Which?</question>\n```\nok": false,
		"<questions>a?</questions>":                             false,
		"<question>what you must know</question>":               false,
	} {
		if got := claim.HasMalformedQuestion(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}
