package hook

import (
	"bytes"
	"path/filepath"
	"slices"

	"github.com/pawl-dev/pawl/internal/foreign/ralphloop"
)

// Most events come from sessions in which no loop lives, and reading one as JSON
// costs more than all else that is done about it. So there is a glance at its
// bytes first.

// idle tells whether there is surely nothing to do about an event: none of the
// sessions that it names has a loop, and none can begin with it. Where a glance
// cannot tell, it is not idle.
func (h *hook) idle(event []byte) bool {
	ids, ok := sessionsNamed(event)
	if !ok || h.sessions.Waiting() || bytes.Contains(event, []byte(userPromptExpansion)) {
		return false
	}
	if slices.ContainsFunc(ids, h.sessions.Bound) {
		return false
	}
	if !bytes.Contains(event, []byte(stop)) {
		return true
	}
	root := h.Env.Session.Project // else the event must be read to find it
	return root != "" && !exists(filepath.Join(root, filepath.FromSlash(ralphloop.Path)))
}

// namedMax bounds how many sessions a glance follows: an event names one, and
// others only where a tool's arguments have a field of that name.
const namedMax = 4

// sessionsNamed are the values of all fields named session_id, at any depth. It
// is not ok where there is none, or one that only a parser could read. In a
// string of JSON the field's name cannot stand so: its quotes would be escaped.
func sessionsNamed(event []byte) (ids []string, ok bool) {
	const field, blank = `"session_id"`, " \t\r\n"
	for {
		_, rest, found := bytes.Cut(event, []byte(field))
		if !found {
			return ids, len(ids) > 0
		}
		event = rest
		value, colon := bytes.CutPrefix(bytes.TrimLeft(rest, blank), []byte(":"))
		if !colon {
			continue // the name as a value
		}
		value, text := bytes.CutPrefix(bytes.TrimLeft(value, blank), []byte(`"`))
		end := bytes.IndexByte(value, '"')
		if !text || end < 0 || len(ids) == namedMax || bytes.IndexByte(value[:end], '\\') >= 0 {
			return nil, false
		}
		ids = append(ids, string(value[:end]))
	}
}
