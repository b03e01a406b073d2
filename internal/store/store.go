// Package store keeps loops on disk, outside every work tree:
//
//	$PAWL_HOME/loops/brisk-otter-7f3a/
//	    spec.json        what was asked, written once
//	    journal.jsonl    what happened: the truth (package journal)
//	    state.json       the fold of the journal up to a record: derived
//	    summary.json     what a list shows: derived
//	    owner.lock       held by the process that drives the loop
//	    inbox/           messages that anyone may leave
//	    iterations/0001/ prompts, streams, gate outputs
//	$PAWL_HOME/worktrees/…lock   held by the loop that acts on a work tree
//	$PAWL_HOME/audits/1/         of an audit under way; 1.lock is held by it
//
// Who drives a loop calls Own, appends, and saves a snapshot now and then;
// everybody else reads, folds and posts messages. Specs, states and summaries are
// the caller's own types. Folders are 0700, files 0600. Nothing here deletes.
package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

// ErrNotFound is wrapped by errors about a loop that is not there.
var ErrNotFound = errors.New("no such loop")

// specFile holds a loop's Spec.
const specFile = "spec.json"

// Store is a $PAWL_HOME.
type Store struct{ home string }

// Open names the store at home, an absolute path. It does no I/O: folders are
// made when the first loop is.
func Open(home string) *Store { return &Store{home: home} }

// Loop is one loop's folder.
type Loop struct {
	ID  string // such as brisk-otter-7f3a
	Dir string // absolute
}

// Spec is what a loop was created with.
type Spec struct {
	Version   int             `json:"v"` // journal.Version; first, so that it is read without the rest
	ID        string          `json:"id"`
	Root      string          `json:"root"` // repository (or project) root that the loop is bound to, absolute
	CreatedAt time.Time       `json:"created_at"`
	Body      json.RawMessage `json:"spec"` // the caller's
}

// Create makes a loop bound to root, with a new id, and keeps spec (any value
// that marshals to JSON) with it. The loop appears whole or not at all.
func (s *Store) Create(root string, spec any) (*Loop, error) {
	body, err := json.Marshal(spec)
	if err != nil {
		return nil, fmt.Errorf("create loop: %w", err)
	}
	loops := filepath.Join(s.home, "loops")
	if err := CheckOwners(s.home, loops); err != nil {
		return nil, fmt.Errorf("create loop: %w", err)
	}
	if err := os.MkdirAll(loops, 0o700); err != nil {
		return nil, fmt.Errorf("create loop: %w", err)
	}
	for {
		l := &Loop{ID: newID()}
		l.Dir = filepath.Join(loops, l.ID)
		err := l.make(Spec{Version: journal.Version, ID: l.ID, Root: root, CreatedAt: time.Now().UTC(), Body: body})
		if errors.Is(err, fs.ErrExist) {
			continue // the id is taken
		}
		if err != nil {
			return nil, fmt.Errorf("create loop: %w", err)
		}
		return l, nil
	}
}

// make builds the folder under a hidden name and then gives it its own.
func (l *Loop) make(spec Spec) error {
	if _, err := os.Lstat(l.Dir); err == nil {
		return fs.ErrExist // os.Rename replaces an empty folder
	}
	temp, err := os.MkdirTemp(filepath.Dir(l.Dir), ".new-*")
	if err != nil {
		return err
	}
	err = os.Mkdir(filepath.Join(temp, "inbox"), 0o700)
	if err == nil {
		err = writeJSON(filepath.Join(temp, specFile), spec)
	}
	if err == nil {
		err = os.Rename(temp, l.Dir)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(temp))
	}
	return atomicfile.SyncDir(filepath.Dir(l.Dir))
}

// Loop names a loop by its whole id. It does no I/O: whether there is one shows
// when it is used.
func (s *Store) Loop(id string) *Loop {
	return &Loop{ID: id, Dir: filepath.Join(s.home, "loops", id)}
}

// Loops are all loops there are, sorted by id.
func (s *Store) Loops() ([]*Loop, error) {
	entries, err := os.ReadDir(filepath.Join(s.home, "loops"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list loops: %w", err)
	}
	var out []*Loop
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			out = append(out, s.Loop(e.Name()))
		}
	}
	return out, nil
}

// Spec reads what the loop was created with.
func (l *Loop) Spec() (Spec, error) {
	var spec Spec
	if err := l.SpecInto(&spec); err != nil {
		return Spec{}, err
	}
	return spec, nil
}

// SpecInto is Spec for a type of the caller's own that has fewer fields: who needs
// little of it need not pay for all.
func (l *Loop) SpecInto(part any) error {
	path := filepath.Join(l.Dir, specFile)
	home := filepath.Dir(filepath.Dir(l.Dir))
	err := CheckOwners(home, filepath.Dir(l.Dir), l.Dir, path)
	var data []byte
	if err == nil {
		data, err = os.ReadFile(path)
	}
	if err == nil {
		err = journal.CheckVersion(specVersion(data), specFile)
	}
	if err == nil {
		err = json.Unmarshal(data, part)
	}
	if err != nil {
		return fmt.Errorf("read spec of loop %s: %w", l.ID, err)
	}
	return nil
}

// CheckOwners returns an error with a hint if another user owns one of these, or may
// write to it. What stands in a $PAWL_HOME says which commands run. What is not there
// is nobody's.
func CheckOwners(paths ...string) error {
	for _, path := range paths {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = checkOwner(path, info)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// specVersion is the version that a spec begins with, 0 if it begins with none. The
// rest is not parsed: in a version that is not ours it need not make sense.
func specVersion(data []byte) (version int) {
	in := json.NewDecoder(bytes.NewReader(data))
	_, _ = in.Token() // what is not JSON shows when the rest is read
	if key, err := in.Token(); err != nil || key != "v" || in.Decode(&version) != nil {
		return 0
	}
	return version
}

// IterationDir is the folder for the files of iteration n (1, 2, …), made if it
// is not there.
func (l *Loop) IterationDir(n int) (string, error) {
	dir := filepath.Join(l.Dir, "iterations", fmt.Sprintf("%04d", n))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make folder of iteration %d: %w", n, err)
	}
	return dir, nil
}

// newID is an adjective, an animal and 16 random bits: 2²⁸ ids, easy to say. It
// is no secret; Create sees to it that it is new.
func newID() string {
	return fmt.Sprintf("%s-%s-%04x", pick(adjectives), pick(animals), rand.N(1<<16))
}

func pick(words string) string {
	all := strings.Fields(words)
	return all[rand.N(len(all))]
}

// deriveJSON writes what can be made anew from the journal.
func deriveJSON(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return atomicfile.Swap(path, append(data, '\n'), 0o600)
}

func writeJSON(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, append(data, '\n'), 0o600)
}
