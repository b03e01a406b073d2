package loop

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Message is a word to the agent. It is queued until a prompt or the turn under way has
// it, and kept until that turn has come to its end: one that died may not have read it, so
// the next is given it again. Messages keep their order.
type Message struct {
	ID        string    `json:"id"`
	Text      string    `json:"text"`
	At        time.Time `json:"at"`                // when it was queued
	Now       bool      `json:"now,omitempty"`     // for the turn under way
	Task      string    `json:"task,omitempty"`    // the task at work when it was queued
	ByPawl    bool      `json:"by_pawl,omitempty"` // a note of Pawl's own
	Delivered time.Time `json:"delivered,omitzero"`
	TurnEnded time.Time `json:"turn_ended,omitzero"` // end of the turn that it was delivered to
}

// promptText is what the prompt of a turn on a task says of the message.
func (msg Message) promptText(task string) string {
	if msg.Task == "" || msg.Task == task || msg.Task == GoalTask {
		return msg.Text
	}
	return fmt.Sprintf("(sent while %s was worked on) %s", msg.Task, msg.Text)
}

// Said is what the agent is told of a message in a turn.
func (msg Message) DeliveryText() string { return "[Pawl] The user says: " + msg.Text }

const (
	maxMessages     = 1000 // that wait
	maxReadMessages = 5    // delivered ones that are remembered
)

// Undelivered are the messages that no prompt and no turn has yet.
func (s State) Undelivered() []Message {
	return exclude(s.Messages, func(m Message) bool { return !m.Delivered.IsZero() })
}

// messageArrived queues a message. One for the turn under way takes those before it along.
func (m *machine) messageArrived(e Event) {
	m.queue(Message{Text: e.Text, Now: e.Now, Task: m.openTask()})
	if e.Now && m.s.Phase == Turning {
		m.do(Action{Do: Deliver, Messages: m.s.Undelivered()})
	}
}

// openTask is the id of the task at work, "" where none is.
func (m *machine) openTask() string {
	if t, ok := m.s.Task(m.s.Current); ok && t.Status == Open {
		return t.ID
	}
	return ""
}

// tellAgent queues a note for the next prompt.
func (m *machine) tellAgent(note string) { m.queue(Message{Text: note, ByPawl: true}) }

// queue keeps a message. Another process may write faster than the agent reads: then the
// oldest are left out, and that is said.
func (m *machine) queue(msg Message) {
	if len(m.s.Messages) == maxMessages {
		m.notify(Warning, fmt.Sprintf("more than %d messages wait for the next prompt: the oldest is left out", maxMessages))
	}
	msg.ID, msg.At = cmp.Or(m.id, "message"), m.s.Now
	for slices.ContainsFunc(m.s.Messages, func(other Message) bool { return other.ID == msg.ID }) {
		msg.ID += "+" // one event may say two things
	}
	m.s.Messages = lastOf(append(slices.Clip(m.s.Messages), msg), maxMessages)
}

// delivered marks messages that the turn under way was given.
func (m *machine) delivered(ids []string) {
	if m.s.Phase != Turning {
		return
	}
	m.deliver(func(msg Message) bool { return slices.Contains(ids, msg.ID) })
}

// fits tells whether a prompt has room for a message behind those before; it has for the
// first. A user's session has shorter ones, see package prompt.
func (m *machine) promptBudget() func(Message) bool {
	number, size := 20, 4<<10
	if m.s.Attended {
		number, size = 6, 1500
	}
	n, used := 0, 0
	return func(msg Message) bool {
		n, used = n+1, used+len(msg.Text)
		return n == 1 || n <= number && used <= size
	}
}

// toPrompt gives the next prompt the messages that it has room for. What a turn that died
// was given is given again.
func (m *machine) messagesForPrompt() (texts []string) {
	m.s.Messages = slices.Clone(m.s.Messages)
	for i := range m.s.Messages {
		m.s.Messages[i].Delivered = time.Time{}
	}
	return m.deliver(m.promptBudget())
}

// deliver marks the messages that match, and returns their texts.
func (m *machine) deliver(match func(Message) bool) (texts []string) {
	m.s.Messages = slices.Clone(m.s.Messages)
	for i, msg := range m.s.Messages {
		if match(msg) {
			m.s.Messages[i].Delivered = m.s.Now
			texts = append(texts, msg.promptText(m.s.Current))
		}
	}
	return texts
}

// forgetDelivered: the turn has come to its end, so what it was given is not given again.
func (m *machine) archiveDelivered() {
	waiting := m.s.Undelivered()
	for _, msg := range m.s.Messages {
		if !msg.Delivered.IsZero() {
			msg.TurnEnded = m.s.Now
			m.s.ReadMessages = lastOf(append(slices.Clip(m.s.ReadMessages), msg), maxReadMessages)
		}
	}
	m.s.Messages = waiting
}
