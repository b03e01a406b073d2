package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/record"
)

type tellCmd struct {
	requiredUnendedArg
	Now  bool     `help:"into the turn under way, after the tool that runs; default: with the next prompt"`
	Text []string `arg:"" help:"the message"`
}

// Run sends the agent a message.
func (c *tellCmd) Run(a *app, s *loopinfo.Loop) error {
	text := strings.TrimSpace(strings.Join(c.Text, " "))
	if text == "" {
		return failure.New(failure.Usage, `pawl tell . "look at the mock server first"`, "the message is empty")
	}
	if err := requireUnended(s); err != nil {
		return err
	}
	if err := a.send(s, record.Message{Kind: record.MessageNote, Text: a.withoutSecrets(text), DuringTurn: c.Now}); err != nil {
		return err
	}
	switch {
	case !s.IsDriven():
		a.printf("%s is not running; it gets the message when it continues:  pawl resume %[1]s\n", s.ID)
	case c.Now && s.Memory.State.Phase == loop.Turning:
		a.printf("%s gets the message after the running tool call, or with its next prompt\n", s.ID)
	default:
		a.printf("%s gets the message with its next prompt\n", s.ID)
	}
	return nil
}

// post writes a message to the loop's inbox.
func post(s *loopinfo.Loop, kind, text string) error {
	m := record.Message{Kind: kind, Text: text}
	return s.Post(m.NewID(), m)
}

// send writes a message to the loop's inbox. If the loop waits for its session, it makes it read the
// inbox.
func (a *app) send(s *loopinfo.Loop, m record.Message) error {
	return a.sendAs(s, m.NewID(), m)
}

// sendAs is send with a message id.
func (a *app) sendAs(s *loopinfo.Loop, id string, m record.Message) error {
	if err := s.Post(id, m); err != nil || !s.InSession() || !s.Memory.State.WaitsForSession() {
		return err
	}
	_, err := a.deliverInbox(s)
	return err
}

// deliveryNote says when a loop that nobody drives reads its messages, "" for a driven one.
func deliveryNote(s *loopinfo.Loop) string {
	if s.IsDriven() {
		return ""
	}
	return fmt.Sprintf("the loop is not running; it gets this when you resume it:  pawl resume %s\n", s.ID)
}

// requireUnended returns an error if the loop has ended.
func requireUnended(s *loopinfo.Loop) error {
	if !s.HasEnded() {
		return nil
	}
	return endedError(s)
}

// requireDriver returns an error if nobody drives the loop.
func requireDriver(s *loopinfo.Loop) error {
	if err := requireUnended(s); err != nil || s.IsDriven() {
		return err
	}
	return failure.New(failure.Error, "pawl resume "+s.ID+" continues it; its work is kept", "loop %s is not running: %s", s.ID, s.LastOwner())
}

// The session's hooks drive a loop that lives in a session. Between two hooks, nobody reads its inbox.
// So the process that sends a message also makes the loop read it. A process that runs gates reads the
// inbox itself.

// deliverTimeout is how long to wait for a running hook.
const deliverTimeout = 2 * time.Second

// deliverInbox makes a loop in a session read its inbox, and returns the loop's new state.
func (a *app) deliverInbox(s *loopinfo.Loop) (*loopinfo.Loop, error) {
	if err := a.driveInSession(a.untilSignal(), s.Loop, deliverTimeout); err != nil {
		return nil, err
	}
	return loopinfo.Read(s.Loop)
}
