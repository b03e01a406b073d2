package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
)

// Message is a message to the owner of a loop.
type Message struct {
	ID   string          // given by the sender; the same id means the same message
	Body json.RawMessage // the sender's
	file string          // name in the inbox
}

// isMessageID reports whether an id can be part of a file name on every system.
func isMessageID(id string) bool {
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	}
	return id != "" && len(id) <= 64 && !strings.ContainsFunc(id, odd)
}

// Post sends a message to the loop's owner. Posting an id again changes nothing, even
// after it was acknowledged. An id has 1 to 64 letters, digits, hyphens and underscores.
func (l *Loop) Post(id string, body any) error {
	if !isMessageID(id) {
		return fmt.Errorf("post to loop %s: %q is not a message id", l.ID, id)
	}
	for _, dir := range []string{l.inboxPath(), l.inboxPath("done")} {
		if known, err := hasMessage(dir, id); err != nil || known {
			return err
		}
	}
	name := fmt.Sprintf("%019d-%s.json", time.Now().UnixNano(), id)
	if err := atomicfile.WriteJSON(l.inboxPath(name), body); err != nil {
		return fmt.Errorf("post to loop %s: %w", l.ID, err)
	}
	return nil
}

// hasMessage reports whether a folder has a message with this id.
func hasMessage(dir, id string) (bool, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("find message %s: %w", id, err)
	}
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		m, ok := parseMessageName(e.Name())
		return ok && m.ID == id
	}), nil
}

// HasMessages reports whether the inbox has files for Drain.
func (l *Loop) HasMessages() bool {
	entries, err := os.ReadDir(l.inboxPath())
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !e.IsDir() && !strings.HasPrefix(e.Name(), ".") })
}

// Drain returns the messages that are not acknowledged, oldest first. Files that are no
// messages are moved to inbox/bad and named in the error; the returned messages are valid
// nevertheless.
func (l *Loop) Drain() ([]Message, error) {
	entries, err := os.ReadDir(l.inboxPath()) // sorted by name, which begins with the time
	if err != nil {
		return nil, fmt.Errorf("read inbox of loop %s: %w", l.ID, err)
	}
	var out []Message
	var problems []error
	seen := map[string]bool{}
	for _, e := range entries {
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue // done/, bad/, and files that are being written
		}
		m, err := l.readMessage(e.Name())
		switch {
		case errors.Is(err, fs.ErrNotExist): // acknowledged meanwhile
		case err != nil:
			aside := l.moveMessage(e.Name(), "bad")
			problems = append(problems, errors.Join(fmt.Errorf("message %s of loop %s is moved to inbox/bad: %w", e.Name(), l.ID, err), aside))
		case seen[m.ID]: // posted twice at the same moment
			problems = append(problems, l.moveMessage(e.Name(), "done"))
		default:
			seen[m.ID] = true
			out = append(out, m)
		}
	}
	return out, errors.Join(problems...)
}

// Peek returns the messages that are not acknowledged, oldest first, without changing
// anything: it is for callers that are not the owner. Invalid files are skipped.
func (l *Loop) Peek() ([]Message, error) {
	entries, err := os.ReadDir(l.inboxPath())
	if err != nil {
		return nil, fmt.Errorf("read inbox of loop %s: %w", l.ID, err)
	}
	var out []Message
	for _, e := range entries {
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if m, err := l.readMessage(e.Name()); err == nil {
			out = append(out, m)
		}
	}
	return out, nil
}

// Ack moves a message to inbox/done, so that Drain does not return it again.
// Acknowledging twice is not an error.
func (l *Loop) Ack(m Message) error {
	if err := l.moveMessage(m.file, "done"); err != nil {
		return fmt.Errorf("acknowledge message %s of loop %s: %w", m.ID, l.ID, err)
	}
	return nil
}

// readMessage reads a file of the inbox.
func (l *Loop) readMessage(name string) (Message, error) {
	m, ok := parseMessageName(name)
	if !ok {
		return Message{}, errors.New("invalid message file name")
	}
	body, err := os.ReadFile(l.inboxPath(name))
	if err != nil {
		return Message{}, err
	}
	if !json.Valid(body) {
		return Message{}, errors.New("not JSON")
	}
	m.Body = body
	return m, nil
}

// parseMessageName parses <unix nanoseconds>-<id>.json.
func parseMessageName(name string) (m Message, ok bool) {
	at, rest, _ := strings.Cut(name, "-")
	_, err := strconv.ParseInt(at, 10, 64)
	id, isJSON := strings.CutSuffix(rest, ".json")
	ok = err == nil && isJSON && isMessageID(id)
	return Message{ID: id, file: name}, ok
}

// moveMessage moves a file of the inbox to one of its folders.
func (l *Loop) moveMessage(name, dir string) error {
	if err := os.MkdirAll(l.inboxPath(dir), 0o700); err != nil {
		return err
	}
	err := os.Rename(l.inboxPath(name), l.inboxPath(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Inbox returns the folder that a message comes into, with a rename.
func (l *Loop) Inbox() string { return l.inboxPath() }

// inboxPath returns the path of the inbox or of something in it.
func (l *Loop) inboxPath(parts ...string) string {
	return filepath.Join(append([]string{l.Dir, "inbox"}, parts...)...)
}
