// Package session keeps which loop lives in which session of an agent's client:
//
//	$PAWL_HOME/sessions/<session id>.json   a Binding
//	$PAWL_HOME/sessions/<session id>.lock   held while it is changed
//	$PAWL_HOME/sessions/waiting.json        loops that wait for their session's id
//
// A hook process is told nothing but the session's id; one look for its file says
// whether there is anything to do. What stands in a Binding is an index and the
// hook's memory from one stop to the next; the loop itself is its journal. A
// session that the client gives another id (/clear), or whose id the one who
// began the loop could not know (old clients), is found again by the process of
// its client.
package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/session/place"
)

// Binding ties a session to the loop that lives in it.
type Binding struct {
	Session string `json:"session"`          // the client's id of it; "" while it waits for one
	Loop    string `json:"loop"`             // id
	Epoch   int64  `json:"epoch"`            // with which the session's hooks append to the journal
	Root    string `json:"root"`             // project folder, absolute
	Client  int    `json:"client,omitempty"` // process id of the client, 0 unknown

	Asked      Asked     `json:"asked,omitzero"`        // words that ask for a loop; then there is none yet, and Loop is ""
	Moved      bool      `json:"moved,omitempty"`       // a runner has the loop; the session is to be told of its end
	Unattended bool      `json:"unattended,omitempty"`  // nobody sits there
	Prompt     string    `json:"prompt,omitempty"`      // id of the prompt that began the loop: its turn is the loop's. "": the first that ends
	FilePaused bool      `json:"file_paused,omitempty"` // its active: false holds the loop
	File       string    `json:"file,omitempty"`        // another tool's state file, relative to Root, slashes
	Since      time.Time `json:"since"`

	// Which installation answers, where Pawl is installed twice (settings and
	// plugin): the first one to come. Should it fall silent, a stop that the other
	// one let pass was never answered, and that one takes over.
	Responder string    `json:"responder,omitempty"`
	PassedAt  time.Time `json:"passed_at,omitzero"` // when the other one last let a stop pass

	// Of the turns.
	Prompts        []Prompt  `json:"prompts,omitempty"`          // the last ones, by the first that was seen of each id
	GivenTurns     int       `json:"given_turns,omitempty"`      // how many of the turns that the machine began the session was given, see record.Memory.Begun
	Busy           bool      `json:"busy,omitempty"`             // a prompt came since the last stop: a turn runs
	TypedAt        int64     `json:"typed_at,omitempty"`         // one more than the length of the loop's tools.jsonl when words came in mid-turn since the last stop, 0 if none did
	Blocks         int       `json:"blocks,omitempty"`           // stops in a row that were answered with a prompt, no tool call between
	Tools          int64     `json:"tools,omitempty"`            // length of the loop's tools.jsonl at the last stop
	Stop           string    `json:"stop,omitempty"`             // the last stop that was answered, by what tells it from others
	StopAt         time.Time `json:"stop_at,omitzero"`           // when that began
	WaitingForTurn bool      `json:"waiting_for_turn,omitempty"` // it was allowed though the loop goes on: the waker waits for what comes
}

// Asked are words in a prompt that ask for a loop, until it is known who wrote them.
type Asked struct {
	Prompt string `json:"prompt"` // its id
	Text   string `json:"text"`
}

// Prompt is a prompt that a turn began with. A prompt that has an id of an
// earlier one came in mid-turn.
type Prompt struct {
	ID     string `json:"id"`
	Notice bool   `json:"notice,omitempty"` // the client sent it (a background task has ended), not a user
}

const maxPrompts = 8

// RecordPrompt notes a prompt; it tells whether that was news.
func (b *Binding) RecordPrompt(p Prompt) bool {
	if p.ID == "" || slices.ContainsFunc(b.Prompts, func(q Prompt) bool { return q.ID == p.ID }) {
		return false
	}
	b.Prompts = append(b.Prompts, p)
	b.Prompts = b.Prompts[max(0, len(b.Prompts)-maxPrompts):]
	return true
}

// IsUserTurn tells whether a turn that begins with this prompt is the user's
// own. A prompt that was never seen was typed while another turn ran.
func (b Binding) IsUserTurn(prompt string) bool {
	if prompt == "" || b.Prompt == "" || prompt == b.Prompt {
		return false
	}
	i := slices.IndexFunc(b.Prompts, func(p Prompt) bool { return p.ID == prompt })
	return i < 0 || !b.Prompts[i].Notice
}

// Store is the folder of sessions in a $PAWL_HOME.
type Store struct{ dir place.Folder }

// Open names the folder. It does no I/O.
func Open(home string) Store { return Store{dir: place.Of(home)} }

// ErrNone: no loop lives in the session.
var ErrNone = errors.New("no loop lives in this session")

// Find reads the binding of a session. It returns ErrNone, after one look at the
// disk, where there is none.
func (s Store) Find(id string) (Binding, error) {
	var b Binding
	if !place.Valid(id) {
		return b, ErrNone
	}
	data, err := os.ReadFile(s.dir.Binding(id))
	if errors.Is(err, fs.ErrNotExist) {
		return b, ErrNone
	}
	if err == nil {
		err = json.Unmarshal(data, &b)
	}
	if err != nil {
		return Binding{}, fmt.Errorf("read binding of session %s: %w", id, err)
	}
	return b, nil
}

// FindByClient is Find for who was told the session's id once, at its start: where no loop
// lives in that session, it is looked for by the process of the client, which may
// have given the session another id since.
func (s Store) FindByClient(id string, client int) (Binding, error) {
	b, err := s.Find(id)
	if !errors.Is(err, ErrNone) || client == 0 {
		return b, err
	}
	entries, err := os.ReadDir(string(s.dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Binding{}, fmt.Errorf("look for the session of process %d: %w", client, err)
	}
	found := ErrNone
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok {
			continue
		}
		c, err := s.Find(name)
		if err == nil && c.Client == client && c.Loop != "" && (found != nil || c.Since.After(b.Since)) {
			b, found = c, nil
		}
	}
	return b, found
}

// Bind makes or replaces the binding of b.Session.
func (s Store) Bind(ctx context.Context, b Binding) error {
	if !place.Valid(b.Session) {
		return fmt.Errorf("bind loop %s: %q is not a session id", b.Loop, b.Session)
	}
	return s.locked(ctx, b.Session, func() error { return s.write(s.dir.Binding(b.Session), b) })
}

// Change edits the binding of a session, alone; change reports whether there is
// anything to write. It returns the binding as it is then, or ErrNone.
func (s Store) Change(ctx context.Context, id string, change func(*Binding) bool) (Binding, error) {
	var b Binding
	if _, err := s.Find(id); errors.Is(err, ErrNone) {
		return b, ErrNone // no lock file for a session without a loop
	}
	err := s.locked(ctx, id, func() (err error) {
		if b, err = s.Find(id); err != nil || !change(&b) {
			return err
		}
		return s.write(s.dir.Binding(id), b)
	})
	return b, err
}

// Release ends the binding of a session to a loop, and tells whether there was
// one; a binding to another loop stays.
func (s Store) Release(ctx context.Context, id, loop string) (released bool, err error) {
	return s.release(ctx, id, func(b Binding) bool { return b.Loop == loop })
}

// Forget is Release of a binding that has lost its loop to another owner; one that
// has it back since, with a newer epoch, stays.
func (s Store) Forget(ctx context.Context, lost Binding) (released bool, err error) {
	return s.release(ctx, lost.Session, func(b Binding) bool { return b.Loop == lost.Loop && b.Epoch == lost.Epoch })
}

func (s Store) release(ctx context.Context, id string, meant func(Binding) bool) (released bool, err error) {
	err = s.locked(ctx, id, func() error {
		b, err := s.Find(id)
		if errors.Is(err, ErrNone) || err == nil && !meant(b) {
			return nil
		}
		err = os.Remove(s.dir.Binding(id))
		released = err == nil
		return err
	})
	return released, err
}

// Once tells whether this is the first time that something is done in a session:
// a command that two installations of Pawl both hear of, a remark. An error says that
// this cannot be told.
func (s Store) Once(ctx context.Context, id, what string) (first bool, err error) {
	if !place.Valid(id) {
		return false, fmt.Errorf("%q is not a session id", id)
	}
	sum := sha256.Sum256([]byte(what))
	mark, path := hex.EncodeToString(sum[:8])+"\n", filepath.Join(string(s.dir), id+".once")
	err = s.locked(ctx, id, func() error {
		done, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if first = !strings.Contains(string(done), mark); !first {
			return nil
		}
		return atomicfile.Write(path, append(done[max(0, len(done)-onceMax):], mark...), 0o600)
	})
	return first && err == nil, err
}

const onceMax = 17 * 50 // bytes: the last fifty marks

// patience is how long another hook process is waited for: they hold the lock
// for milliseconds.
const patience = 2 * time.Second

func (s Store) locked(ctx context.Context, id string, do func() error) (err error) {
	if err := os.MkdirAll(string(s.dir), 0o700); err != nil {
		return fmt.Errorf("make the folder of sessions: %w", err)
	}
	lock := flock.New(filepath.Join(string(s.dir), id+".lock"), flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if ok, err := lock.TryLockContext(ctx, 5*time.Millisecond); !ok {
		return fmt.Errorf("lock session %s: %w", id, err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	return do()
}

func (s Store) write(path string, v any) error {
	data, err := json.Marshal(v)
	if err == nil {
		err = atomicfile.Swap(path, append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return nil
}
