package cli

import (
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/record"
)

type answerCmd struct {
	loopWord
	Text []string `arg:"" optional:"" help:"the answer, or the number of a suggested one; default: show the question"`
}

func (answerCmd) Help() string {
	return `An agent that asks waits: the loop takes no turn and costs nothing meanwhile. Without an answer after a day
the task is skipped as blocked; with --answer-within 2h the agent goes on after that time as it proposed.

  pawl answer .
  pawl answer . 2
  pawl answer . "UTC, and say so in the header"`
}

// Run answers the agent's question.
func (c *answerCmd) Run(a *app) error {
	if err := a.byPerson("answer the agent"); err != nil {
		return err
	}
	s, err := a.find(c.Loop)
	if err != nil {
		return err
	}
	if err := s.notEnded(); err != nil {
		return err
	}
	q := s.memory.State.Question
	if q == nil {
		return failure.New(failure.Usage, `pawl tell `+s.ID+` "…" sends the agent a message`, "loop %s asks nothing", s.ID)
	}
	text := q.Choice(strings.TrimSpace(strings.Join(c.Text, " ")))
	if text == "" {
		a.printf("%s asks: %s\n", s.ID, plan.OneLine(q.Text, 0))
		for _, line := range q.Lines() {
			a.printf("  %s\n", plan.OneLine(line, 0))
		}
		return nil
	}
	if err := s.post(record.MessageAnswer, a.withoutSecrets(text)); err != nil {
		return err
	}
	if err := a.heardSitting(s); err != nil {
		return err
	}
	if !s.alive && !s.inSession() {
		a.printf("%s is told when it goes on:  pawl resume %[1]s\n", s.ID)
		return nil
	}
	a.printf("%s is told: %s\n", s.ID, plan.OneLine(text, 200))
	return nil
}
