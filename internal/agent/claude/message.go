package claude

import (
	"crypto/rand"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
)

// sendMessage sends a message to the client at work. It puts it behind the result of the tool
// that runs; where none does, it begins another run of the model with it.
func (t *turn) sendMessage(m agent.Message) {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	hex := fmt.Sprintf("%x", random)
	id := fmt.Sprintf("%s-%s-4%s-8%s-%s", hex[:8], hex[8:12], hex[13:16], hex[17:20], hex[20:])
	said := userMessage(m.Text)
	said["uuid"] = id
	if t.send(said) == nil { // otherwise the next prompt contains it
		t.owed[id], t.saidAt = m.ID, time.Now()
	}
}

// noteMessageRead notes that the model reads a message now. Between two runs, this makes the model busy
// again.
func (t *turn) noteMessageRead(l line) {
	id, owed := t.owed[l.CommandID]
	if !owed || l.State == "queued" {
		return
	}
	delete(t.owed, l.CommandID)
	t.busy = t.busy || l.State == "started"
	t.emit(agent.Event{Kind: agent.KindTold, Text: id})
}

// messageDeadline returns how long to wait for a client that does not report a message.
func (t *turn) messageDeadline() time.Time {
	if t.saidAt.After(t.resultAt) {
		return t.saidAt.Add(wakeGrace)
	}
	return t.resultAt.Add(wakeGrace)
}
