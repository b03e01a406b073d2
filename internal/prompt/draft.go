package prompt

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/draft"
)

// MaxIdeaBytes limits the user's description of a plan.
const MaxIdeaBytes = 64 << 10

// Draft returns the next prompt of a conversation about a plan, for its author or its critic. gates
// are commands that seem to run the tests. first means that this is the session's first prompt.
func Draft(c draft.Conversation, gates []string, first bool) (string, error) {
	name := "draft-again.md"
	switch {
	case c.Step() == draft.AskCritic:
		name = "critique.md"
	case first:
		name = "draft.md"
	}
	plan, err := json.MarshalIndent(c.Draft, "", "  ")
	if err != nil {
		return "", fmt.Errorf("render the prompt for a plan: %w", err)
	}
	var remarks, decisions []string
	for _, r := range c.Remarks {
		remarks = append(remarks, r.String())
	}
	for _, a := range c.Answers {
		decisions = append(decisions, a.Question+" "+a.Text)
	}
	view := struct {
		draft.Conversation
		Idea, Plan                string
		Remarks, Decisions, Gates []string
		MaxQuestions              int
	}{c, cutMiddle(clean(c.Idea), MaxIdeaBytes), cutMiddle(clean(string(plan)), MaxReview), lastLines(remarks, maxFiles), lastLines(decisions, maxFiles), lastLines(gates, maxFiles), draft.MaxQuestions}
	s, err := New(nil)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := s.t.ExecuteTemplate(&b, name, view); err != nil {
		return "", fmt.Errorf("render the prompt for a plan: %w", err)
	}
	return cutMiddle(collapseBlankLines(b.String()), MaxReview+MaxIdeaBytes), nil
}
