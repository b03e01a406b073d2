package featureloop

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/foreign/freshness"
)

// FolderContext is what is known about a state file besides its content.
type FolderContext struct {
	Chosen         bool      // RALPH_LOOP_DIR names the folder
	Open           int       // features that do not pass yet, -1 = not known
	SessionStarted time.Time // of the session that asks, zero = not known
	Modified       time.Time // of progress.txt or, without one, of the list
	Now            time.Time
	Tracked        bool   // git tracks that file
	StartCommand   string // the command that starts the loop from files that are too old
	Outside        bool   // the folder is outside the project, perhaps by a link
}

// MayFollow reports whether the session may follow the folder, and if not, returns a message for the
// user. The message is "" if there is nothing to do, or if nobody in this session started the loop.
//
// Lists of features are committed, and folders of old loops stay. The sign of a new loop is its
// progress.txt, unless the user named the folder: git must not track it, and it must have been
// written in the session.
func MayFollow(p *Progress, c FolderContext) (ok bool, why string) {
	switch {
	case c.Open == 0:
		return false, ""
	case !c.Chosen && freshness.IsStale(c.Modified, c.SessionStarted, c.Now):
		return false, p.whyStale(c)
	case c.Outside:
		return false, p.name + " is outside the project"
	case !c.Chosen && c.Tracked:
		return false, "git tracks " + p.name + ", so it may have come with a clone; if it is yours: RALPH_LOOP_DIR=" + path.Dir(p.name) + " claude"
	case !c.Chosen && freshness.IsInFuture(c.Modified, c.Now):
		return false, "the time of " + p.name + " lies in the future"
	case p.Status == Complete && c.Open > 0:
		return false, fmt.Sprintf("%s says %s, but %d of the features do not pass: set its Status to %s to continue", p.name, Complete, c.Open, InProgress)
	}
	return !p.Ended(), ""
}

// maxPreparedAge is how long a folder counts as prepared for a later session.
const maxPreparedAge = 24 * time.Hour

// whyStale returns why a folder prepared before the session is not followed, and how to start it. It
// returns "" for old folders.
func (p *Progress) whyStale(c FolderContext) string {
	if p.Status == "" || p.Ended() || c.Open < 0 || c.Outside || c.Tracked || c.Now.Sub(c.Modified) > maxPreparedAge {
		return ""
	}
	return p.name + " " + freshness.TooOldMessage(c.StartCommand)
}

// Ended reports whether the status is that of an ended loop.
func (p *Progress) Ended() bool {
	switch p.Status {
	case Complete, "COMPLETED", "DONE", "FINISHED", ReachedLimit,
		"UNVERIFIED", "STUCK", "BLOCKED", "CANCELLED", "CANCELED", "TAMPERED", "ERROR", "FAILED", "STOPPED":
		return true
	}
	return false
}

// CountOpen returns the number of features that do not pass. It returns false if the data is no list of
// features or an empty one; package planfile then reports what is wrong.
func CountOpen(list []byte) (n int, ok bool) {
	list = bytes.TrimPrefix(list, bom)
	type feature struct {
		Passes any `json:"passes"`
	}
	var wrapped struct {
		Features []feature `json:"features"`
	}
	features := &wrapped.Features
	var err error
	if bytes.HasPrefix(bytes.TrimSpace(list), []byte("[")) {
		err = json.Unmarshal(list, features)
	} else {
		err = json.Unmarshal(list, &wrapped)
	}
	for _, f := range *features {
		if f.Passes != true {
			n++
		}
	}
	return n, err == nil && len(*features) > 0
}

// ValidateList returns what is wrong with the form of a list, and on which line. Reading it as a plan
// checks the features. The error contains name.
func ValidateList(name string, list []byte) error {
	const form = `a list looks like {"features": [{"id": 1, "description": "…", "passes": false}]}`
	data := bytes.TrimSpace(bytes.TrimPrefix(list, bom))
	var v any
	err := json.Unmarshal(data, &v)
	if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
		before, _, _ := bytes.Cut(list, data)
		line := 1 + bytes.Count(before, []byte("\n")) + bytes.Count(data[:max(wrong.Offset-1, 0)], []byte("\n"))
		what := strings.TrimPrefix(wrong.Error(), "unexpected end of JSON input")
		if what == "" {
			what = "it ends too early"
		}
		return failure.New(failure.Usage, form, "%s:%d: this is not JSON: %s", name, line, what)
	}
	if _, ok := CountOpen(list); !ok && isEmptyList(v) {
		return failure.New(failure.Usage, form, "%s:1: there are no features in it", name)
	}
	return nil
}

// isEmptyList reports whether a JSON value is neither a non-empty list nor an object with one as
// features.
func isEmptyList(v any) bool {
	if object, ok := v.(map[string]any); ok {
		v = object["features"]
	}
	list, ok := v.([]any)
	return !ok || len(list) == 0
}
