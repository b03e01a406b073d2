package cli

import (
	"crypto/rand"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/record"
)

type tellCmd struct {
	loopWord
	Now  bool     `help:"into the turn under way, after the tool that runs; default: with the next prompt"`
	Text []string `arg:"" help:"the message"`
}

func (tellCmd) Help() string {
	return `The current turn is not interrupted. An agent that takes no messages in a turn is told with its next prompt.
pawl status and pawl log show when a message was queued, delivered, and acknowledged.

  pawl tell . "look at the mock server first"
  pawl tell . --now "leave the lock file alone"`
}

// Run leaves a note for the agent.
func (c *tellCmd) Run(a *app) error {
	s, err := a.find(c.Loop)
	if err != nil {
		return err
	}
	text := strings.TrimSpace(strings.Join(c.Text, " "))
	if text == "" {
		return failure.New(failure.Usage, `pawl tell . "look at the mock server first"`, "there is nothing to say")
	}
	if err := s.notEnded(); err != nil {
		return err
	}
	if err := s.leave(record.Message{Kind: record.MessageNote, Text: a.withoutSecrets(text), Now: c.Now}); err != nil {
		return err
	}
	if err := a.deliverToWaiting(s); err != nil {
		return err
	}
	switch {
	case !s.alive && !s.inSession():
		a.printf("%s is not driven by anybody now; it will be told when it goes on:  pawl resume %[1]s\n", s.ID)
	case c.Now && s.memory.State.Phase == loop.Turning:
		a.printf("%s will be told after the tool that runs, or with its next prompt\n", s.ID)
	default:
		a.printf("%s will be told with its next prompt\n", s.ID)
	}
	return nil
}

// post leaves a message in the loop's inbox.
func (s *subject) post(kind, text string) error {
	return s.leave(record.Message{Kind: kind, Text: text})
}

func (s *subject) leave(m record.Message) error {
	return s.Post(newMessageID(m.Kind), m)
}

func newMessageID(kind string) string { return strings.ToLower(kind + "-" + rand.Text()) }

// notEnded refuses to steer a loop that is over.
func (s *subject) notEnded() error {
	if !s.hasEnded() {
		return nil
	}
	return s.ended()
}

// requireDriver refuses to steer a loop that nobody drives.
func (s *subject) requireDriver() error {
	if err := s.notEnded(); err != nil || s.alive || s.inSession() {
		return err
	}
	return failure.New(failure.Error, "pawl resume "+s.ID+" continues it; its work is kept", "loop %s is not running: %s", s.ID, lastOwner(s))
}
