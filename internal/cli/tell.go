package cli

import (
	"crypto/rand"
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/record"
)

type tellCmd struct {
	unendedWord
	Now  bool     `help:"into the turn under way, after the tool that runs; default: with the next prompt"`
	Text []string `arg:"" help:"the message"`
}

// Run leaves a note for the agent.
func (c *tellCmd) Run(a *app, s *loopinfo.Loop) error {
	text := strings.TrimSpace(strings.Join(c.Text, " "))
	if text == "" {
		return failure.New(failure.Usage, `pawl tell . "look at the mock server first"`, "there is nothing to say")
	}
	if err := notEnded(s); err != nil {
		return err
	}
	if err := a.send(s, record.Message{Kind: record.MessageNote, Text: a.withoutSecrets(text), DuringTurn: c.Now}); err != nil {
		return err
	}
	switch {
	case !s.IsDriven():
		a.printf("%s is not driven by anybody now; it will be told when it continues:  pawl resume %[1]s\n", s.ID)
	case c.Now && s.Memory.State.Phase == loop.Turning:
		a.printf("%s will be told after the tool that runs, or with its next prompt\n", s.ID)
	default:
		a.printf("%s will be told with its next prompt\n", s.ID)
	}
	return nil
}

// post leaves a message in the loop's inbox.
func post(s *loopinfo.Loop, kind, text string) error {
	return s.Post(newMessageID(kind), record.Message{Kind: kind, Text: text})
}

// send leaves a message for a loop, and makes one that waits for its session hear it.
func (a *app) send(s *loopinfo.Loop, m record.Message) error {
	return a.sendAs(s, newMessageID(m.Kind), m)
}

// sendAs is send with an id: of two messages with the same one the loop takes one.
func (a *app) sendAs(s *loopinfo.Loop, id string, m record.Message) error {
	if err := s.Post(id, m); err != nil || !s.InSession() || !s.Memory.State.WaitsForSession() {
		return err
	}
	_, err := a.deliverInbox(s)
	return err
}

// learnsLater says of a loop that nobody drives when it takes what was sent to it; "" for
// others.
func learnsLater(s *loopinfo.Loop) string {
	if s.IsDriven() {
		return ""
	}
	return fmt.Sprintf("the loop is not running; it learns this when you resume it:  pawl resume %s\n", s.ID)
}

func newMessageID(kind string) string { return strings.ToLower(kind + "-" + rand.Text()) }

// notEnded refuses to steer a loop that is over.
func notEnded(s *loopinfo.Loop) error {
	if !s.HasEnded() {
		return nil
	}
	return ended(s)
}

// requireDriver refuses to steer a loop that nobody drives.
func requireDriver(s *loopinfo.Loop) error {
	if err := notEnded(s); err != nil || s.IsDriven() {
		return err
	}
	return failure.New(failure.Error, "pawl resume "+s.ID+" continues it; its work is kept", "loop %s is not running: %s", s.ID, s.LastOwner())
}
