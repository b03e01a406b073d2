package statefile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/foreign/thloop"
)

// maxReadsPerTurn limits how often the channel is read in one turn. A process may write to it all
// the time, and each read makes a note.
const maxReadsPerTurn = 10

// maxChannelBytes limits a file of a channel, in bytes.
const maxChannelBytes = 4 << 20

// lineQuietTime is how long after the last write a line without a newline counts as complete. Many
// editors write no newline at the end of a file.
const lineQuietTime = 2 * time.Second

// thState is what the loop's folder stores about the files between turns.
type thState struct {
	Cursor            thloop.Cursor   `json:"cursor,omitzero"`
	ToolCallsOffset   int64           `json:"calls,omitempty"`  // bytes of the session's tool calls that were read
	RunnerCallsOffset int64           `json:"ran,omitempty"`    // bytes of our own sessions' tool calls before this turn
	HasNews           bool            `json:"news,omitempty"`   // the channel had messages for the next turn
	ReadsThisTurn     int             `json:"reads,omitempty"`  // reads with messages since the last turn
	StartFileTime     time.Time       `json:"asked,omitzero"`   // when the state file that asked for the loop was written
	LastNewsIteration int             `json:"told,omitempty"`   // the last iteration with messages
	Held              bool            `json:"held,omitempty"`   // the loop is paused: the agent may have written the stop
	Paused            bool            `json:"paused,omitempty"` // the loop is paused by the status that the user wrote
	KnownStop         string          `json:"seen,omitempty"`   // the stop that the agent or our own end wrote to the state file
	Prompt            *string         `json:"prompt,omitempty"` // of the state file, as last read
	HeldAtOffset      int64           `json:"at,omitempty"`     // ToolCallsOffset when Held or KnownStop was set, 0 if our own sessions were the reason
	Pending           *pendingChanges `json:"said,omitempty"`   // returned but not acknowledged: returned again
}

type pendingChanges struct {
	Notes []Note  `json:"notes"`
	Stop  string  `json:"stop,omitempty"`
	Then  thState `json:"then"`
}

func (t thFiles) statePath() string { return filepath.Join(t.LoopDir, "channel.json") }

// loadState reads the stored state. If that fails, the channel is read from its start.
func (t thFiles) loadState() thState {
	var m thState
	if atomicfile.ReadJSON(t.statePath(), &m) != nil {
		return thState{}
	}
	return m
}

// Goal returns the prompt of the state file, as the agent was told it.
func (t thFiles) Goal() string {
	if p := t.loadState().Prompt; p != nil {
		return *p
	}
	return ""
}

func (t thFiles) saveState(m thState) error {
	if err := atomicfile.WriteJSON(t.statePath(), m); err != nil {
		return fmt.Errorf("remember what the channel said: %w", err)
	}
	return nil
}

// ReceiveChanges reads the channel and the state file. The loop ends if the channel says stop, the
// state file is deleted, or its status is not active, in this order, unless a tool call of the
// agent may have caused it. The status paused pauses the loop.
func (t thFiles) ReceiveChanges(now time.Time) (Changes, error) {
	before := t.loadState()
	if said := before.Pending; said != nil {
		return t.withAcknowledge(Changes{Notes: said.Notes, Stop: said.Stop}, said.Then), nil
	}
	m := before
	w := thChanges{writes: t.newWrites(&m), now: now}
	f, info, err := readTh(t.Path, t.Spec.CompatFile)
	if info != nil && m.StartFileTime.IsZero() {
		m.StartFileTime = info.ModTime()
	}
	w.Stop = t.readChannel(&m, &w)
	if w.writes.wasUser { // the user, not the agent, wrote the stop
		if m.Held && w.Stop == "" {
			w.Stop = "the channel says stop"
		}
		m.Held, m.KnownStop = false, ""
	}
	what, paused := stopReason(f, err), f != nil && f.IsPaused()
	switch {
	case w.Stop != "":
	case err != nil && what == "":
		return Changes{}, err // nothing was stored: the channel is read again with the file
	case what != "" && what != m.KnownStop && w.writes.state:
		m.KnownStop, m.HeldAtOffset = what, w.writes.at
		w.note(fmt.Sprintf("A tool call of yours left %s so that it %s. That does not end the loop; its limits and the user do.", t.Spec.CompatFile, what))
	case what != m.KnownStop:
		m.KnownStop = ""
		if what != "" && !paused {
			w.Stop = t.Spec.CompatFile + " " + what
		}
	}
	m.Paused = paused && m.KnownStop == ""
	if f != nil {
		if m.Prompt != nil && *m.Prompt != f.Prompt && f.Prompt != "" && !w.writes.state {
			w.note(goalChanged(t.Spec.CompatFile, f.Prompt))
		}
		m.Prompt = &f.Prompt
	}
	if len(w.Notes) > 0 {
		kept := before
		kept.Pending = &pendingChanges{Notes: w.Notes, Stop: w.Stop, Then: m}
		if err := t.saveState(kept); err != nil {
			return Changes{}, err
		}
	}
	return t.withAcknowledge(w.Changes, m), nil
}

// withAcknowledge returns the changes with a function that stores the new state.
func (t thFiles) withAcknowledge(w Changes, then thState) Changes {
	w.Paused = then.Held || then.Paused
	if before := t.loadState(); !equalState(before, then) {
		w.Acknowledge = func() error { return t.saveState(then) }
	}
	return w
}

func equalState(a, b thState) bool {
	one, err := json.Marshal(a)
	other, otherErr := json.Marshal(b)
	return err == nil && otherErr == nil && bytes.Equal(one, other)
}

// thChanges collects the changes while the files are read.
type thChanges struct {
	Changes
	writes agentWrites
	now    time.Time
}

// note adds a note with a new id, since the same text may be written twice.
func (w *thChanges) note(text string) { w.noteAt(w.now, text) }

func (w *thChanges) noteAt(at time.Time, text string) {
	w.Notes = append(w.Notes, newNote(at, len(w.Notes), text))
}

// readChannel adds notes about new messages in the channel. It returns why the loop should end, or
// "".
func (t thFiles) readChannel(m *thState, w *thChanges) string {
	files, fresh := t.channelFiles(m.Cursor, w, m.StartFileTime)
	news, cursor := m.Cursor.Read(files, t.agentName(), w.now)
	if m.ReadsThisTurn >= maxReadsPerTurn && len(news.Stops) == 0 {
		return "" // messages are read in the next turn
	}
	m.Cursor = cursor
	if text := news.Note(); text != "" {
		w.note(text)
		m.HasNews, m.ReadsThisTurn = true, m.ReadsThisTurn+1
	}
	for _, s := range news.Stops {
		switch {
		case news.First && !(s.Last && fresh[s.File]): // older than the loop
		case s.Own && !s.Last: // the agent mentions it
		case w.writes.channel || s.Own:
			m.Held, m.HeldAtOffset = true, w.writes.at
		default:
			return fmt.Sprintf("%s:%d says stop", s.File, s.Line)
		}
	}
	return ""
}

// channelFiles returns the files of the channel. fresh names those that were written after the
// state file that asked for the loop. A file that cannot be read gets a note, and is read later.
func (t thFiles) channelFiles(c thloop.Cursor, w *thChanges, asked time.Time) (files []thloop.Source, fresh map[string]bool) {
	names := []string{thloop.ChannelFile}
	for _, day := range c.Days(t.channelFileNames(), w.now) {
		names = append(names, thloop.ChannelDir+"/"+day)
	}
	fresh = map[string]bool{}
	for _, name := range names {
		data, info, err := readFile(filepath.Join(t.projectDir(), filepath.FromSlash(name)), maxChannelBytes)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			w.noteAt(time.Time{}, "The channel cannot be read: "+err.Error()) // with the same id each time, so shown once
			continue
		}
		age := w.now.Sub(info.ModTime()).Abs() // the clock of a file server may be ahead
		files = append(files, thloop.Source{Name: name, Data: data, Complete: age >= lineQuietTime})
		fresh[name] = !asked.IsZero() && info.ModTime().After(asked)
	}
	return files, fresh
}
