package loop

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Message is text for the agent. It is queued until a prompt or the current turn receives it, and
// kept until that turn ends normally. If the turn fails, it is delivered again. Order is kept.
type Message struct {
	ID        string    `json:"id"`
	Text      string    `json:"text"`
	At        time.Time `json:"at"`                // when it was queued
	Now       bool      `json:"now,omitempty"`     // for the current turn
	Task      string    `json:"task,omitempty"`    // the current task when it was queued
	ByPawl    bool      `json:"by_pawl,omitempty"` // from Pawl, not the user
	Delivered time.Time `json:"delivered,omitzero"`
	TurnEnded time.Time `json:"turn_ended,omitzero"` // end of the turn that received it
}

// promptText formats the message for a turn on a task.
func (msg Message) promptText(task string) string {
	if msg.Task == "" || msg.Task == task || msg.Task == GoalTask {
		return msg.Text
	}
	return fmt.Sprintf("(sent while %s was worked on) %s", msg.Task, msg.Text)
}

// DeliveryText formats the message for delivery during a turn.
func (msg Message) DeliveryText() string { return "[Pawl] The user says: " + msg.Text }

const (
	maxMessages     = 1000 // queued
	maxReadMessages = 5    // delivered messages that are kept
)

// Undelivered returns the messages that no prompt or turn has received.
func (s State) Undelivered() []Message {
	return exclude(s.Messages, func(m Message) bool { return !m.Delivered.IsZero() })
}

// messageArrived queues a message. If it is for the current turn, earlier messages are delivered
// with it.
func (m *machine) messageArrived(a MessageArrived) {
	m.queue(Message{Text: a.Text, Now: a.Now, Task: m.openTask()})
	if a.Now && m.s.Phase == Turning {
		m.do(Deliver{Messages: m.s.Undelivered()})
	}
}

// openTask returns the ID of the current task if it is open, else "".
func (m *machine) openTask() string {
	if t, ok := m.s.Task(m.s.Current); ok && t.Status == Open {
		return t.ID
	}
	return ""
}

// tellAgent queues a note for the next prompt.
func (m *machine) tellAgent(note string) { m.queue(Message{Text: note, ByPawl: true}) }

// queue adds a message. When full, it drops the oldest one and warns the user.
func (m *machine) queue(msg Message) {
	if len(m.s.Messages) == maxMessages {
		m.note(Warning, fmt.Sprintf("more than %d messages wait for the next prompt: the oldest is dropped", maxMessages))
	}
	// A number, so that a late Delivered of an earlier turn does not count for another message.
	msg.ID, msg.At = cmp.Or(m.id, fmt.Sprintf("message-%d", m.s.LastAction)), m.s.Now
	for slices.ContainsFunc(m.s.Messages, func(other Message) bool { return other.ID == msg.ID }) {
		msg.ID += "+" // one event may say two things
	}
	m.s.Messages = lastOf(append(slices.Clip(m.s.Messages), msg), maxMessages)
}

// delivered marks messages that the current turn received.
func (m *machine) delivered(ids []string) {
	if m.s.Phase != Turning {
		return
	}
	m.deliver(func(msg Message) bool { return slices.Contains(ids, msg.ID) })
}

// promptBudget returns whether each next message fits into the prompt; the first always does.
// Prompts of a user's session are shorter, see package prompt.
func (m *machine) promptBudget() func(Message) bool {
	number, size := 20, 4<<10
	if m.s.InSession {
		number, size = 6, 1500
	}
	n, used := 0, 0
	return func(msg Message) bool {
		n, used = n+1, used+len(msg.Text)
		return n == 1 || n <= number && used <= size
	}
}

// messagesForPrompt delivers messages to the next prompt. Those given to a failed turn are
// delivered again.
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

// archiveDelivered moves delivered messages to ReadMessages once their turn has ended.
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
