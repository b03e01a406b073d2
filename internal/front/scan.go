package front

import (
	"bytes"
	"time"

	"github.com/pawl-dev/pawl/internal/session/place"
)

// scannedEvent is what a scan of an event's bytes found. Most events come from sessions
// without a loop, and parsing one as JSON costs more than everything else that is done
// about it.
type scannedEvent struct {
	data     []byte
	sessions []string // ids of the sessions that it names
	complete bool     // it names no other sessions
}

// scanEvent collects the values of all fields named session_id, at any depth. The result
// is not complete if there is none, or one that only a parser could read. Inside a JSON
// string the field's name cannot match, since its quotes are escaped there.
func scanEvent(data []byte) scannedEvent {
	const field, blank, most = `"session_id"`, " \t\r\n", 4
	e := scannedEvent{data: data}
	for {
		_, rest, found := bytes.Cut(data, []byte(field))
		if !found {
			e.complete = len(e.sessions) > 0
			return e
		}
		data = rest
		value, colon := bytes.CutPrefix(bytes.TrimLeft(rest, blank), []byte(":"))
		if !colon {
			continue // the name as a value
		}
		value, text := bytes.CutPrefix(bytes.TrimLeft(value, blank), []byte(`"`))
		end := bytes.IndexByte(value, '"')
		if !text || end < 0 || len(e.sessions) == most || bytes.IndexByte(value[:end], '\\') >= 0 {
			return e
		}
		e.sessions = append(e.sessions, string(value[:end]))
	}
}

// sessionsWithLoop returns the sessions of the event that have a loop.
func (e scannedEvent) sessionsWithLoop(f place.Folder) []string {
	var ids []string
	for _, id := range e.sessions {
		if f.HasBinding(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// isIdle reports whether there is certainly nothing to do: no session of the event has a
// loop, and the event cannot start one. p.Root is "" if the project is unknown.
func (e scannedEvent) isIdle(f place.Folder, p place.Project) bool {
	has := func(text string) bool { return bytes.Contains(e.data, []byte(text)) }
	switch {
	case !e.complete, has("UserPromptExpansion"), len(e.sessionsWithLoop(f)) > 0:
		return false
	case has("UserPromptSubmit") && has("verify:"): // typed by the user, it may start a loop
		return false
	case !has("Stop") && !has("SessionStart"):
		return true
	case f.HasWaiting():
		return false
	case !has("Stop"): // a loop starts from another tool's files only at the end of a turn
		return true
	case p.Root == "": // the event must be parsed to find the files
		return false
	}
	return !p.MayHaveLoop() || len(e.sessions) == 1 && f.WasInspected(e.sessions[0], p.Fingerprint(time.Now()))
}

// forgetSession removes what is stored about a session that ends, and returns the text to
// print at its end.
func (e scannedEvent) forgetSession(f place.Folder) []byte {
	if len(e.sessions) != 1 || !bytes.Contains(e.data, []byte("SessionEnd")) {
		return nil
	}
	return f.ForgetSession(e.sessions[0])
}
