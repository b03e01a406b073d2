package front

import (
	"bytes"
	"time"

	"github.com/pawl-dev/pawl/internal/session/place"
)

// event is what a glance at an event's bytes has found. Most events come from
// sessions in which no loop lives, and reading one as JSON costs more than all
// else that is done about it.
type event struct {
	data []byte
	ids  []string // the sessions that it names
	sure bool     // it names no other
}

// glance finds the values of all fields named session_id, at any depth. It is not
// sure where there is none, or one that only a parser could read. In a string of
// JSON the field's name cannot stand so: its quotes would be escaped.
func glance(data []byte) event {
	const field, blank, most = `"session_id"`, " \t\r\n", 4
	e := event{data: data}
	for {
		_, rest, found := bytes.Cut(data, []byte(field))
		if !found {
			e.sure = len(e.ids) > 0
			return e
		}
		data = rest
		value, colon := bytes.CutPrefix(bytes.TrimLeft(rest, blank), []byte(":"))
		if !colon {
			continue // the name as a value
		}
		value, text := bytes.CutPrefix(bytes.TrimLeft(value, blank), []byte(`"`))
		end := bytes.IndexByte(value, '"')
		if !text || end < 0 || len(e.ids) == most || bytes.IndexByte(value[:end], '\\') >= 0 {
			return e
		}
		e.ids = append(e.ids, string(value[:end]))
	}
}

// bound are the sessions of these that a loop lives in.
func (e event) bound(f place.Folder) []string {
	var ids []string
	for _, id := range e.ids {
		if f.Bound(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// idle tells whether there is surely nothing to do about an event: none of the
// sessions that it names has a loop, and none can begin with it. Where a glance
// cannot tell, it is not idle. The project has no root if that is not known.
func (e event) idle(f place.Folder, p place.Project) bool {
	has := func(text string) bool { return bytes.Contains(e.data, []byte(text)) }
	switch {
	case !e.sure, has("UserPromptExpansion"), len(e.bound(f)) > 0:
		return false
	case has("UserPromptSubmit") && has("verify:"): // typed by the user, it may begin a loop
		return false
	case !has("Stop") && !has("SessionStart"):
		return true
	case f.Awaited():
		return false
	case !has("Stop"): // only at the end of a turn a loop begins out of another tool's files
		return true
	case p.Root == "": // without it the event must be read to find the files
		return false
	}
	return !p.Loops() || len(e.ids) == 1 && f.Knows(e.ids[0], p.Glance(time.Now()))
}

// forget ends what a session that ends has known, and returns its last words.
func (e event) forget(f place.Folder) []byte {
	if len(e.ids) != 1 || !bytes.Contains(e.data, []byte("SessionEnd")) {
		return nil
	}
	return f.Forget(e.ids[0])
}
