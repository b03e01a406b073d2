package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/narrate"
	"github.com/pawl-dev/pawl/internal/record"
)

// answerCmd is `pawl answer`.
type answerCmd struct {
	requiredUnendedArg
	Task string   `placeholder:"ID" help:"id of the task that asks; needed if several do"`
	Text []string `arg:"" optional:"" help:"the answer, or the number of a suggested one; default: show the question"`
}

// Run answers the agent's question.
func (c *answerCmd) Run(a *app, s *loopinfo.Loop) error {
	if err := requireUnended(s); err != nil {
		return err
	}
	asked := slices.DeleteFunc(s.Memory.State.Unanswered(), func(q loop.Question) bool { return c.Task != "" && q.Task != c.Task })
	if len(asked) == 0 {
		return failure.New(failure.Usage, `pawl tell `+s.ID+` "…" sends the agent a message`, "loop %s has no open question%s", s.ID, narrate.ReasonClause(c.Task))
	}
	text := strings.TrimSpace(strings.Join(c.Text, " "))
	if text == "" {
		for _, q := range asked {
			a.printf("%s: %s\n", s.ID, plan.OneLine(q.Headline(), 0))
			for _, line := range append(q.Lines(), a.listChanges(s, q)...) {
				a.printf("  %s\n", plan.OneLine(line, 0))
			}
		}
		return nil
	}
	if len(asked) > 1 {
		return failure.New(failure.Usage, fmt.Sprintf("pawl answer %s --task %s %q", s.ID, asked[0].Task, text), "loop %s asks %d questions: name the task", s.ID, len(asked))
	}
	text, err := asked[0].Choice(text)
	if err != nil {
		return failure.New(failure.Usage, "pawl answer "+s.ID+" shows the question; to answer in your own words, write more than a number", "%w", err)
	}
	if err := a.send(s, record.Message{Kind: record.MessageAnswer, Text: a.withoutSecrets(text), Tasks: []string{asked[0].Task}}); err != nil {
		return err
	}
	if !s.IsDriven() {
		a.printf("%s gets the answer when it continues:  pawl resume %[1]s\n", s.ID)
		return nil
	}
	a.printf("%s gets the answer: %s\n", s.ID, plan.OneLine(text, 200))
	return nil
}
