package plan

import (
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// Outlook guesses from its text whether a task will wait for the user even if the agent does it well.
// It returns the reason, and the option of pawl run that accepts such work in advance; both are "" for
// most tasks. A missed task costs less than a wrong suggestion. wantsProof is false for a task that
// needs no proof.
func (t Task) Outlook(wantsProof bool) (why, option string) {
	switch {
	case !t.AllowTestChanges && asksForTestData(t):
		return "asks to change what tests compare with: that waits for your approval", "--allow-test-changes=" + t.ID
	case !t.AllowTestChanges && asksForTestHelper(t):
		return "asks to change a helper of tests: that waits for your approval if old and new tests cannot use the same helper", "--allow-test-changes=" + t.ID
	case wantsProof && LooksLikeProse(t):
		return "looks like prose, which no test can prove: it ends unproven, for you to review", "--evidence " + t.ID + "=unproven"
	case wantsProof && looksLikeRefactoring(t):
		return "looks like refactoring, which no test can prove: it ends unproven, for you to review", "--evidence " + t.ID + "=unproven"
	}
	return "", ""
}

// looksLikeRefactoring guesses that a task changes how code is written and not what it does: by its
// title's first word, or by a promise to keep the behaviour.
func looksLikeRefactoring(t Task) bool {
	return refactoring.MatchString(t.Title) || sameBehaviour.MatchString(t.text())
}

var (
	refactoring   = regex.New(`(?i)^refactor\b`)
	sameBehaviour = regex.New(`(?i)\b(?:no|without(?: a| any)?) change (?:of|in|to) (?:the )?behaviou?r|\bwithout changing (?:the |its |their |any )?behaviou?r|\bbehaviou?r (?:must |should )?(?:stays?|remains?|is|be) (?:the same|unchanged)`)
)

// asksForTestData guesses from its text that a task asks to change what tests compare with: golden
// files, snapshots, fixtures. Nothing shows which of its lines the task means, so that such a change
// waits for the user, who may allow it beforehand.
func asksForTestData(t Task) bool { return testData.MatchString(t.text()) }

var testData = regex.New(`(?i)\b(?:updat|regenerat|refresh|adapt|adjust|chang|replac)(?:e|es|ing)?\s+(?:(?:the|all|any|its|their|old|affected|matching|test)\s+)*(?:\S*testdata\S*|test data|goldens?\b|golden (?:files?|outputs?)|snapshots?\b|fixtures?\b|expected (?:outputs?|files?|values?))`)

// asksForTestHelper guesses from its text that a task asks to change a helper that tests share. The
// old tests then need the new helper, and the new ones cannot use the old one, so that such a change
// waits for the user, also if an earlier task of the plan made the helper.
func asksForTestHelper(t Task) bool { return testHelper.MatchString(t.text()) }

// testHelper matches what is done to a helper of the tests, or to a helper in a sentence about all tests.
var testHelper = regex.New(`(?i)\b(?:let|have|mak(?:e|es|ing)|turn(?:s|ing)?|simplif(?:y|ies|ying)|(?:updat|adapt|adjust|chang|replac|renam|rewrit|refactor|delet|remov|mov)(?:e|es|s|ing)?)\s+` +
	`(?:(?:the|this|that|all|any|its|their|old|shared|common)\s+)*(?:tests?['’]?s?\s+helpers?\b|helpers?\b(?:[^.]|\.\S)*?\b(?:all|old|other|both)\s+tests?\b)`)

// text returns all texts of a task, each as a sentence.
func (t Task) text() string {
	return strings.Join(append([]string{t.Title, t.Detail}, t.Criteria...), ". \n")
}
