package loop

import (
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// A message may arrive while the agent works on the last task. If limits allow a turn, the loop
// delivers it before it ends. Resulting changes are gated like any work. Without changes, the loop
// ends as it would have.

// IsOwn reports whether Pawl opened the task itself, so that no plan contains it.
func (t Task) IsOwn() bool { return t.ID == FinalTask || t.ForMessage }

// Unread returns the user's messages that no completed turn received.
func (s State) Unread() []Message {
	return exclude(s.Messages, func(msg Message) bool { return msg.ByPawl })
}

// openForMessage opens a task for the first undelivered user message when no other task is left. It
// reopens the task that the message was sent to, if that one needs the user.
func (m *machine) openForMessage() bool {
	i := slices.IndexFunc(m.s.Messages, func(msg Message) bool { return !msg.ByPawl && msg.Delivered.IsZero() })
	if i < 0 || !m.claimable() || m.limit() != "" {
		return false
	}
	msg := m.s.Messages[i]
	if t, known := m.s.Task(msg.Task); known && t.NeedsUser() {
		m.updateTask(t.ID, func(t *Task) { t.Status, t.Why = Open, "" })
		return true
	}
	id := "message"
	for n := 2; ; n++ {
		if _, taken := m.s.Task(id); !taken {
			break
		}
		id = fmt.Sprint("message-", n)
	}
	m.s.Tasks = append(m.tasks(), Task{ID: id, Title: plan.OneLine(msg.Text, maxSaidBytes), Status: Open, Wanted: gate.Unproven, ForMessage: true})
	return true
}

// atMessage reports whether the current task delivers a message.
func (m *machine) atMessage() bool {
	t, ok := m.s.Task(m.s.Current)
	return ok && t.ForMessage && t.Status == Open
}

// messageTurnEnded ends a message task after a turn without a claim; its changes go to the gates. A
// turn cut off by a limit or with a question does not end it.
func (m *machine) messageTurnEnded(seen Inspection) bool {
	if _, asks := m.s.question(m.s.Current); asks || !m.atMessage() {
		return false
	}
	switch {
	case m.s.Policy.Kind == Answer, !seen.Changed && !seen.Shallow:
		m.messageChangedNothing()
	case m.s.Stop.Limit != "":
		return false
	default:
		m.s.Claim = &OpenClaim{}
		m.routeClaim(seen)
	}
	return true
}

// messageChangedNothing removes the message task and continues.
func (m *machine) messageChangedNothing() {
	id := m.s.Current
	m.s.Tasks = slices.DeleteFunc(m.tasks(), func(t Task) bool { return t.ID == id })
	m.s.Claim, m.s.Gates.TurnSince = nil, false
	m.remember("the agent changed no file for the user's message")
	m.next()
}

// warnUnread names the messages that the loop did not deliver. It stays silent if the user stopped
// the loop; the report names them anyway.
func (m *machine) warnUnread() {
	if m.s.Outcome == CancelledEnd {
		return
	}
	for _, msg := range m.s.Unread() {
		m.note(Warning, fmt.Sprintf("the loop ends before the agent got your message %q; pawl resume delivers it", plan.OneLine(msg.Text, maxSaidBytes)))
	}
}
