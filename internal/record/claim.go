package record

import (
	"github.com/pawl-dev/pawl/internal/core/claim"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

// ClaimIn returns the claim in the agent's last message, or nil. Of several claims, being
// blocked takes precedence: an agent that says both has not finished. Goals that end by
// their own limit accept no claim.
func (s Spec) ClaimIn(message string) *loop.Claim {
	if s.Policy.Kind == loop.Explore || s.Policy.Kind == loop.Periodic {
		return nil
	}
	var found *loop.Claim
	for _, c := range claim.Parse(message, s.Promise) {
		if c.Kind == claim.Blocked {
			return &loop.Claim{Blocked: true, Reason: c.Reason}
		}
		if found == nil {
			found = &loop.Claim{}
		}
		found.Tasks = append(found.Tasks, c.Tasks...)
		found.NoBehaviourChange = found.NoBehaviourChange || c.NoBehaviourChange
	}
	return found
}

// QuestionIn returns the question in the agent's last message, or nil.
func QuestionIn(message string) *loop.Question {
	q, ok := claim.Ask(message)
	if !ok {
		return nil
	}
	return &loop.Question{Text: q.Text, Choices: q.Choices, Proposed: q.Proposed}
}
