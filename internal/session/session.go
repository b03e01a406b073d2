// Package session stores which loop runs in which session of an agent's client:
//
//	$PAWL_HOME/sessions/<session id>.json   a Binding
//	$PAWL_HOME/sessions/<session id>.lock   held while the binding changes
//	$PAWL_HOME/sessions/waiting.json        bindings that wait for a session id
//
// A hook knows the session's id only, and one lookup of its file tells whether the
// session has a loop. A Binding is an index, with what the hook remembers between stops;
// the loop's own state is in its journal. The client may give a session another id
// (/clear), and with old clients the process that starts a loop cannot know the id. Such
// a session is found by the process id of its client.
package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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

// Binding connects a session to its loop.
type Binding struct {
	Session string `json:"session"`          // the client's id; "" while the binding waits for one
	Loop    string `json:"loop"`             // id
	Epoch   int64  `json:"epoch"`            // of the lease with which the session's hooks append to the journal
	Root    string `json:"root"`             // project folder, absolute
	Client  int    `json:"client,omitempty"` // process id of the client; 0: unknown

	RequestedPrompt PromptRequest `json:"requested,omitzero"`    // a prompt that asks for a loop; Loop is "" until the loop starts
	LoopMoved       bool          `json:"moved,omitempty"`       // a runner owns the loop; the session is told when it ends
	EndShown        bool          `json:"end_shown,omitempty"`   // the user was shown that end; the agent is told at the next prompt
	Unattended      bool          `json:"unattended,omitempty"`  // no user is at the session
	LoopPrompt      string        `json:"prompt,omitempty"`      // id of the prompt that began the loop, whose turn is the loop's; "": the first turn that ends is
	FilePaused      bool          `json:"file_paused,omitempty"` // active: false in File pauses the loop
	CompatFile      string        `json:"file,omitempty"`        // another tool's state file, relative to Root, with slashes
	Since           time.Time     `json:"since"`

	// Responder is the installation that answers if Pawl is installed twice (settings and
	// plugin): the first one that was called. If it stops answering, the stop that the
	// other one let pass at PassedAt stays unanswered, and the other one takes over.
	Responder string    `json:"responder,omitempty"`
	PassedAt  time.Time `json:"passed_at,omitzero"` // when the other installation last let a stop pass

	Prompts           []Prompt  `json:"prompts,omitempty"`          // the last prompts in order; of each id the first one
	GivenTurns        int       `json:"given_turns,omitempty"`      // number of turns that the session was given, see memory.Memory.TurnsBegun
	Busy              bool      `json:"busy,omitempty"`             // a turn runs: a prompt came since the last stop
	TypedAtSize       int64     `json:"typed_at,omitempty"`         // length of tools.jsonl when the user last typed during a turn since the last stop, plus 1; 0: never
	ConsecutiveBlocks int       `json:"blocks,omitempty"`           // consecutive stops that were answered with a prompt, without a tool call between them
	ToolsSize         int64     `json:"tools,omitempty"`            // length of tools.jsonl at the last stop, in bytes
	LastStop          string    `json:"stop,omitempty"`             // id of the last stop that was answered
	LastStopAt        time.Time `json:"stop_at,omitzero"`           // when that stop began
	Capped            bool      `json:"capped,omitempty"`           // the client's cap ended the turn at that stop; the loop continues when the user types
	WaitingForTurn    bool      `json:"waiting_for_turn,omitempty"` // the session was allowed to end although the loop continues; the waker waits for the next turn
}

// PromptRequest is a prompt that asks for a loop, stored until its author is known.
type PromptRequest struct {
	Prompt string `json:"prompt"` // its id
	Text   string `json:"text"`
}

// Prompt is a prompt that began a turn. A prompt with the id of an earlier one came
// during that turn.
type Prompt struct {
	ID         string `json:"id"`
	FromClient bool   `json:"notice,omitempty"` // the client sent it, for example because a background task ended
}

const maxPrompts = 8 // maxPrompts bounds Binding.Prompts.

// RecordPrompt stores a prompt. It reports whether its id was new.
func (b *Binding) RecordPrompt(p Prompt) bool {
	if p.ID == "" || slices.ContainsFunc(b.Prompts, func(q Prompt) bool { return q.ID == p.ID }) {
		return false
	}
	b.Prompts = append(b.Prompts, p)
	b.Prompts = b.Prompts[max(0, len(b.Prompts)-maxPrompts):]
	return true
}

// IsUserTurn reports whether a turn that begins with this prompt is the user's. A prompt
// that was not recorded was typed during another turn.
func (b Binding) IsUserTurn(prompt string) bool {
	if prompt == "" || b.LoopPrompt == "" || prompt == b.LoopPrompt {
		return false
	}
	i := slices.IndexFunc(b.Prompts, func(p Prompt) bool { return p.ID == prompt })
	return i < 0 || !b.Prompts[i].FromClient
}

// Store is the folder of sessions in $PAWL_HOME.
type Store struct{ dir place.Folder }

// Open returns the store in home. It does no I/O.
func Open(home string) Store { return Store{dir: place.Of(home)} }

// ErrNone means that the session has no loop.
var ErrNone = errors.New("no loop runs in this session")

// Find reads the binding of a session. It returns ErrNone if there is none.
func (s Store) Find(id string) (Binding, error) {
	var b Binding
	if !place.IsValidID(id) {
		return b, ErrNone
	}
	err := atomicfile.ReadJSON(s.dir.BindingPath(id), &b)
	if errors.Is(err, fs.ErrNotExist) {
		return b, ErrNone
	}
	if err != nil {
		return Binding{}, fmt.Errorf("read binding of session %s: %w", id, err)
	}
	return b, nil
}

// FindByClient is Find for a caller that got the session's id when it started.
// If that session has no loop, it looks for one whose client has this process id, since
// the client may have given the session another id.
func (s Store) FindByClient(id string, client int) (Binding, error) {
	b, err := s.Find(id)
	if !errors.Is(err, ErrNone) || client == 0 {
		return b, err
	}
	entries, err := os.ReadDir(string(s.dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Binding{}, fmt.Errorf("find session of process %d: %w", client, err)
	}
	foundErr := ErrNone
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok {
			continue
		}
		c, err := s.Find(name)
		if err == nil && c.Client == client && c.Loop != "" && (foundErr != nil || c.Since.After(b.Since)) {
			b, foundErr = c, nil
		}
	}
	return b, foundErr
}

// Bind creates or replaces the binding of b.Session.
func (s Store) Bind(ctx context.Context, b Binding) error {
	if !place.IsValidID(b.Session) {
		return fmt.Errorf("bind loop %s: %q is not a session id", b.Loop, b.Session)
	}
	return s.withLock(ctx, b.Session, func() error { return s.write(s.dir.BindingPath(b.Session), b) })
}

// Change edits the binding of a session under its lock; change reports whether to write
// it. Change returns the binding afterwards, or ErrNone.
func (s Store) Change(ctx context.Context, id string, change func(*Binding) bool) (Binding, error) {
	var b Binding
	if _, err := s.Find(id); errors.Is(err, ErrNone) {
		return b, ErrNone // without creating a lock file
	}
	err := s.withLock(ctx, id, func() (err error) {
		if b, err = s.Find(id); err != nil || !change(&b) {
			return err
		}
		return s.write(s.dir.BindingPath(id), b)
	})
	return b, err
}

// Release removes the binding of a session to a loop, and reports whether there was one.
// A binding to another loop stays.
func (s Store) Release(ctx context.Context, id, loop string) (released bool, err error) {
	return s.removeBinding(ctx, id, func(b Binding) bool { return b.Loop == loop })
}

// ReleaseLost removes a binding that has lost its loop to another owner, and reports
// whether it was there. A newer binding to the same loop stays.
func (s Store) ReleaseLost(ctx context.Context, lost Binding) (released bool, err error) {
	return s.removeBinding(ctx, lost.Session, func(b Binding) bool { return b.Loop == lost.Loop && b.Epoch == lost.Epoch })
}

// removeBinding removes the binding of a session if it matches.
func (s Store) removeBinding(ctx context.Context, id string, matches func(Binding) bool) (released bool, err error) {
	err = s.withLock(ctx, id, func() error {
		b, err := s.Find(id)
		if errors.Is(err, ErrNone) || err == nil && !matches(b) {
			return nil
		}
		err = os.Remove(s.dir.BindingPath(id))
		released = err == nil
		return err
	})
	return released, err
}

// FirstTime reports whether this is the first call with these arguments. Of two installations
// of Pawl that receive the same command, only one gets true. An error means unknown.
func (s Store) FirstTime(ctx context.Context, id, key string) (first bool, err error) {
	if !place.IsValidID(id) {
		return false, fmt.Errorf("%q is not a session id", id)
	}
	sum := sha256.Sum256([]byte(key))
	hash, path := hex.EncodeToString(sum[:8])+"\n", filepath.Join(string(s.dir), id+".once")
	err = s.withLock(ctx, id, func() error {
		seen, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if first = !strings.Contains(string(seen), hash); !first {
			return nil
		}
		return atomicfile.Write(path, append(seen[max(0, len(seen)-maxFirstTimeBytes):], hash...), 0o600)
	})
	return first && err == nil, err
}

const maxFirstTimeBytes = 17 * 50 // maxFirstTimeBytes bounds the file of Once: the last fifty entries.

// lockTimeout bounds the wait for another hook process. They hold the lock for
// milliseconds.
const lockTimeout = 2 * time.Second

// withLock runs do while holding the lock of a session.
func (s Store) withLock(ctx context.Context, id string, do func() error) (err error) {
	if err := os.MkdirAll(string(s.dir), 0o700); err != nil {
		return fmt.Errorf("create sessions folder: %w", err)
	}
	lock := flock.New(filepath.Join(string(s.dir), id+".lock"), flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	if ok, err := lock.TryLockContext(ctx, 5*time.Millisecond); !ok {
		return fmt.Errorf("lock session %s: %w", id, err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	return do()
}

// write stores a value as JSON, atomically.
func (s Store) write(path string, v any) error {
	if err := atomicfile.SwapJSON(path, v); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return nil
}
