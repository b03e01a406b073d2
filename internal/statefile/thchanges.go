package statefile

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/foreign/thloop"
)

// maxReadsPerTurn bounds how often the channel is read in one turn: a process may write
// to it all the time, and each read makes a note.
const maxReadsPerTurn = 10

// maxChannelBytes bounds a file of a channel.
const maxChannelBytes = 4 << 20

// lineQuietTime is how long after the last write a line without a newline counts as
// complete: many editors write none at the end of a file.
const lineQuietTime = 2 * time.Second

// thState is what is stored about the files between turns, in the loop's folder.
type thState struct {
	Cursor thloop.Cursor `json:"cursor,omitzero"`
	Calls  int64         `json:"calls,omitempty"`  // bytes of the session's tool calls that were looked at
	Ran    int64         `json:"ran,omitempty"`    // bytes of those of our own sessions that ran before this turn
	News   bool          `json:"news,omitempty"`   // the channel had something for the next turn
	Reads  int           `json:"reads,omitempty"`  // how often it had, since the last one
	Asked  time.Time     `json:"asked,omitzero"`   // when the state file was written that the loop was made of
	Told   int           `json:"told,omitempty"`   // the last iteration it had something for
	Held   bool          `json:"held,omitempty"`   // the loop rests, as the agent may have written the stop
	Paused bool          `json:"paused,omitempty"` // the loop rests, as the user had the state file say
	Seen   string        `json:"seen,omitempty"`   // what a tool call of the agent's, or our own end, had the state file say
	Prompt *string       `json:"prompt,omitempty"` // of the state file, when it was last read
	At     int64         `json:"at,omitempty"`     // Calls when Held or Seen were set, 0 where one of our own sessions is why
	Said   *thSent       `json:"said,omitempty"`   // was said, and not known to be heard: said once more
}

type thSent struct {
	Notes []Note  `json:"notes"`
	Stop  string  `json:"stop,omitempty"`
	Then  thState `json:"then"`
}

func (t thFiles) memoryPath() string { return filepath.Join(t.LoopDir, "channel.json") }

// loadState reads the stored state. If that fails the channel is read from its start.
func (t thFiles) loadState() thState {
	var m thState
	if atomicfile.ReadJSON(t.memoryPath(), &m) != nil {
		return thState{}
	}
	return m
}

func (t thFiles) saveState(m thState) error {
	if err := atomicfile.WriteJSON(t.memoryPath(), m); err != nil {
		return fmt.Errorf("remember what the channel said: %w", err)
	}
	return nil
}

// ReceiveChanges reads the channel and the state file. A stop in the channel, deleting the
// state file, and any status but active end the loop, in this order, unless a tool
// call of the agent's may have done it. The status paused holds it instead.
func (t thFiles) ReceiveChanges(now time.Time) (Changes, error) {
	before := t.loadState()
	if said := before.Said; said != nil {
		return t.acknowledgeWith(Changes{Notes: said.Notes, Stop: said.Stop}, said.Then), nil
	}
	m := before
	w := thChanges{did: t.newWrites(&m), now: now}
	f, info, err := readTh(t.Path, t.Spec.CompatFile)
	if info != nil && m.Asked.IsZero() {
		m.Asked = info.ModTime()
	}
	w.Stop = t.channel(&m, &w)
	if w.did.theirs { // what seemed to be the agent's was the user's
		if m.Held && w.Stop == "" {
			w.Stop = "the channel says stop"
		}
		m.Held, m.Seen = false, ""
	}
	what, paused := stopReason(f, err), f != nil && f.Paused()
	switch {
	case w.Stop != "":
	case err != nil && what == "":
		return Changes{}, err // nothing was remembered: the channel is heard when the file can be read
	case what != "" && what != m.Seen && w.did.state:
		m.Seen, m.At = what, w.did.at
		w.note(fmt.Sprintf("A tool call of yours left %s so that it %s. That does not end the loop; its limits and the user do.", t.Spec.CompatFile, what))
	case what != m.Seen:
		m.Seen = ""
		if what != "" && !paused {
			w.Stop = t.Spec.CompatFile + " " + what
		}
	}
	m.Paused = paused && m.Seen == ""
	if f != nil {
		if m.Prompt != nil && *m.Prompt != f.Prompt && f.Prompt != "" && !w.did.state {
			w.note(fmt.Sprintf("The prompt in %s was changed. Work on this from now on:\n%s", t.Spec.CompatFile, f.Prompt))
		}
		m.Prompt = &f.Prompt
	}
	if len(w.Notes) > 0 {
		kept := before
		kept.Said = &thSent{Notes: w.Notes, Stop: w.Stop, Then: m}
		if err := t.saveState(kept); err != nil {
			return Changes{}, err
		}
	}
	return t.acknowledgeWith(w.Changes, m), nil
}

// acknowledgeWith is the word that leads to what is remembered then.
func (t thFiles) acknowledgeWith(w Changes, then thState) Changes {
	w.Paused = then.Held || then.Paused
	if before := t.loadState(); !same(before, then) {
		w.Acknowledge = func() error { return t.saveState(then) }
	}
	return w
}

func same(a, b thState) bool {
	one, err := json.Marshal(a)
	other, otherErr := json.Marshal(b)
	return err == nil && otherErr == nil && bytes.Equal(one, other)
}

// thChanges is a word while it is made up.
type thChanges struct {
	Changes
	did agentWrites
	now time.Time
}

// note adds a note under an id of its own: the same words may be written twice.
func (w *thChanges) note(text string) { w.noteAt(w.now, text) }

func (w *thChanges) noteAt(at time.Time, text string) {
	h := fnv.New128a()
	fmt.Fprintf(h, "%d %d %s", at.UnixNano(), len(w.Notes), text)
	w.Notes = append(w.Notes, Note{ID: hex.EncodeToString(h.Sum(nil)), Text: text})
}

// channel has what is new in the channel noted, and returns why the loop is to
// end, if that is what it says.
func (t thFiles) channel(m *thState, w *thChanges) string {
	files, fresh := t.sources(m.Cursor, w, m.Asked)
	news, cursor := m.Cursor.Read(files, t.agentName(), w.now)
	if m.Reads >= maxReadsPerTurn && len(news.Stops) == 0 {
		return "" // what has come is read when the next turn is given
	}
	m.Cursor = cursor
	if text := news.Note(); text != "" {
		w.note(text)
		m.News, m.Reads = true, m.Reads+1
	}
	for _, s := range news.Stops {
		switch {
		case news.First && !(s.Last && fresh[s.File]): // it was there before the loop
		case s.Own && !s.Last: // the agent speaks of it
		case w.did.channel || s.Own:
			m.Held, m.At = true, w.did.at
		default:
			return fmt.Sprintf("%s:%d says stop", s.File, s.Line)
		}
	}
	return ""
}

// sources are the files of the channel, and those of them that were written after
// the loop was asked for. What cannot be read is told, and is read when it can be.
func (t thFiles) sources(c thloop.Cursor, w *thChanges, asked time.Time) (files []thloop.Source, fresh map[string]bool) {
	names := []string{thloop.ChannelFile}
	for _, day := range c.Days(t.days(), w.now) {
		names = append(names, thloop.ChannelDir+"/"+day)
	}
	fresh = map[string]bool{}
	for _, name := range names {
		data, info, err := read(filepath.Join(t.project(), filepath.FromSlash(name)), maxChannelBytes)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			w.noteAt(time.Time{}, "The channel cannot be read: "+err.Error()) // the same each time: told once
			continue
		}
		age := w.now.Sub(info.ModTime()).Abs() // a file server's clock may be ahead
		files = append(files, thloop.Source{Name: name, Data: data, Complete: age >= lineQuietTime})
		fresh[name] = !asked.IsZero() && info.ModTime().After(asked)
	}
	return files, fresh
}
