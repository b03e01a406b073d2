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
)

// Message is something that anyone left for the owner of a loop.
type Message struct {
	ID   string          // given by the sender; the same id again is the same message
	At   time.Time       // when it was posted
	Body json.RawMessage // the sender's
	file string          // name in the inbox
}

// isMessageID keeps ids usable in file names, everywhere.
func isMessageID(id string) bool {
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	}
	return id != "" && len(id) <= 64 && !strings.ContainsFunc(id, odd)
}

// Post leaves a message for the loop's owner. Posting an id again, also after it
// was acknowledged, changes nothing. An id is 1 to 64 letters, digits,
// hyphens and underscores.
func (l *Loop) Post(id string, body any) error {
	if !isMessageID(id) {
		return fmt.Errorf("post to loop %s: %q is not a message id", l.ID, id)
	}
	for _, dir := range []string{l.inbox(), l.inbox("done")} {
		if known, err := holdsMessage(dir, id); err != nil || known {
			return err
		}
	}
	name := fmt.Sprintf("%019d-%s.json", time.Now().UnixNano(), id)
	if err := writeJSON(l.inbox(name), body); err != nil {
		return fmt.Errorf("post to loop %s: %w", l.ID, err)
	}
	return nil
}

func holdsMessage(dir, id string) (bool, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("look for message %s: %w", id, err)
	}
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		m, ok := parseName(e.Name())
		return ok && m.ID == id
	}), nil
}

// HasMail tells whether anything lies in the inbox that Drain would look at.
func (l *Loop) HasMail() bool {
	entries, err := os.ReadDir(l.inbox())
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !e.IsDir() && !strings.HasPrefix(e.Name(), ".") })
}

// Drain reads the messages that are not acknowledged yet, oldest first. Files
// that are no messages are moved to inbox/bad, and named in the error, which
// does not make the messages any less valid.
func (l *Loop) Drain() ([]Message, error) {
	entries, err := os.ReadDir(l.inbox()) // sorted by name, which begins with the time
	if err != nil {
		return nil, fmt.Errorf("read inbox of loop %s: %w", l.ID, err)
	}
	var out []Message
	var problems []error
	seen := map[string]bool{}
	for _, e := range entries {
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue // done/, bad/, and what is just being written
		}
		m, err := l.read(e.Name())
		switch {
		case errors.Is(err, fs.ErrNotExist): // acknowledged meanwhile
		case err != nil:
			aside := l.move(e.Name(), "bad")
			problems = append(problems, errors.Join(fmt.Errorf("message %s of loop %s is moved to inbox/bad: %w", e.Name(), l.ID, err), aside))
		case seen[m.ID]: // posted twice at the same moment
			problems = append(problems, l.move(e.Name(), "done"))
		default:
			seen[m.ID] = true
			out = append(out, m)
		}
	}
	return out, errors.Join(problems...)
}

// Peek reads the messages that are not acknowledged yet, oldest first, and changes
// nothing: it is for who is not the owner. What is no message is left out.
func (l *Loop) Peek() ([]Message, error) {
	entries, err := os.ReadDir(l.inbox())
	if err != nil {
		return nil, fmt.Errorf("read inbox of loop %s: %w", l.ID, err)
	}
	var out []Message
	for _, e := range entries {
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if m, err := l.read(e.Name()); err == nil {
			out = append(out, m)
		}
	}
	return out, nil
}

// Ack moves a message to inbox/done: it will not be drained again. Acknowledging
// twice is no error.
func (l *Loop) Ack(m Message) error {
	if err := l.move(m.file, "done"); err != nil {
		return fmt.Errorf("acknowledge message %s of loop %s: %w", m.ID, l.ID, err)
	}
	return nil
}

func (l *Loop) read(name string) (Message, error) {
	m, ok := parseName(name)
	if !ok {
		return Message{}, errors.New("not a message's name")
	}
	body, err := os.ReadFile(l.inbox(name))
	if err != nil {
		return Message{}, err
	}
	if !json.Valid(body) {
		return Message{}, errors.New("not JSON")
	}
	m.Body = body
	return m, nil
}

// parseName reads <unix nanoseconds>-<id>.json.
func parseName(name string) (m Message, ok bool) {
	at, rest, _ := strings.Cut(name, "-")
	nanos, err := strconv.ParseInt(at, 10, 64)
	id, isJSON := strings.CutSuffix(rest, ".json")
	ok = err == nil && isJSON && isMessageID(id)
	return Message{ID: id, At: time.Unix(0, nanos).UTC(), file: name}, ok
}

// move puts a file of the inbox into one of its folders.
func (l *Loop) move(name, dir string) error {
	if err := os.MkdirAll(l.inbox(dir), 0o700); err != nil {
		return err
	}
	err := os.Rename(l.inbox(name), l.inbox(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (l *Loop) inbox(parts ...string) string {
	return filepath.Join(append([]string{l.Dir, "inbox"}, parts...)...)
}
