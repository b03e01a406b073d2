package loop

import (
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// A message may come while the agent works on its last task. The loop does not end before
// the agent has it, while limits allow a turn: what it then changes is judged as any work,
// and if it changes nothing the loop ends as it would have.

// IsOwn reports whether Pawl opened the task itself: no plan has it.
func (t Task) IsOwn() bool { return t.ID == FinalTask || t.ForMessage }

// Unread are the messages of the user that no turn had which came to its end.
func (s State) Unread() []Message {
	return exclude(s.Messages, func(msg Message) bool { return msg.ByPawl })
}

// openForMessage opens a task for the first message of the user that no prompt has, where
// nothing else is left to do. Where the message was sent during a task that ended without
// its work, it is that one.
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

// atMessage reports whether the task at work is one for a message.
func (m *machine) atMessage() bool {
	t, ok := m.s.Task(m.s.Current)
	return ok && t.ForMessage && t.Status == Open
}

// messageTurnEnded reports whether the end of a turn without a claim ends the task: the
// agent has the message, and what it changed is judged. A turn that a limit cut off, or that
// asks the user something, does not end it.
func (m *machine) messageTurnEnded(seen Inspection) bool {
	if _, asks := m.s.question(m.s.Current); asks || !m.atMessage() {
		return false
	}
	switch {
	case m.s.Policy.Kind == Answer, !seen.Changed && !seen.Shallow:
		m.messageChangedNothing()
	case m.s.ReachedLimit != "":
		return false
	default:
		m.s.Claim = &Claim{}
		m.routeClaim(seen)
	}
	return true
}

// messageChangedNothing: the loop goes on as if the task had not been.
func (m *machine) messageChangedNothing() {
	id := m.s.Current
	m.s.Tasks = slices.DeleteFunc(m.tasks(), func(t Task) bool { return t.ID == id })
	m.s.Claim, m.s.TurnSinceGates = nil, false
	m.remember("the agent changed nothing for the user's message")
	m.next()
}

// warnUnread says at the end of a loop which messages of the user the agent does not have. Who stops it
// knows; summary and report name them all the same.
func (m *machine) warnUnread() {
	if m.s.Outcome == CancelledEnd {
		return
	}
	for _, msg := range m.s.Unread() {
		m.notify(Warning, fmt.Sprintf("the loop ends before the agent has your message %q; pawl resume delivers it", plan.OneLine(msg.Text, maxSaidBytes)))
	}
}
