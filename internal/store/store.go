// Package store keeps loops on disk, outside every work tree:
//
//	$PAWL_HOME/loops/brisk-otter-7f3a/
//	    spec.json        the request, written once
//	    journal.jsonl    what happened: the source of truth (package journal)
//	    state.json       the fold of the journal up to a record: derived
//	    summary.json     what a list shows: derived
//	    owner.lock       held by the process that drives the loop
//	    inbox/           messages to the owner
//	    iterations/0001/ prompts, streams, gate outputs
//	$PAWL_HOME/worktrees/…lock   held by the loop that uses a work tree
//	$PAWL_HOME/audits/1/         of a running audit, which holds 1.lock
//
// The owner of a loop calls Own, appends, and saves a snapshot now and then. Everybody
// else reads, folds and posts messages. Specs, states and summaries are the caller's own
// types. Folders have mode 0700, files 0600. Nothing is deleted but by Remove.
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
	"syscall"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

// ErrNotFound is wrapped by errors about a loop that does not exist.
var ErrNotFound = errors.New("no such loop")

// specFile is the file with a loop's Spec.
const specFile = "spec.json"

// Store is the loops in a $PAWL_HOME.
type Store struct{ home string }

// Open returns the store at home, an absolute path. It does no I/O: folders are created
// with the first loop.
func Open(home string) *Store { return &Store{home: home} }

// Loop is a loop's folder.
type Loop struct {
	ID  string // such as brisk-otter-7f3a
	Dir string // absolute
}

// Spec is the request that a loop was created with.
type Spec struct {
	Version   int             `json:"v"` // journal.Version; the first field, so that it is read without the rest
	ID        string          `json:"id"`
	Root      string          `json:"root"` // root of the repository or project, absolute
	CreatedAt time.Time       `json:"created_at"`
	Body      json.RawMessage `json:"spec"` // the caller's
}

// Create creates a loop for root, with a new id, and stores spec (any value that JSON can
// encode). The loop appears in full or not at all.
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
		l := &Loop{ID: newLoopID()}
		l.Dir = filepath.Join(loops, l.ID)
		err := l.createDir(Spec{Version: journal.Version, ID: l.ID, Root: root, CreatedAt: time.Now().UTC(), Body: body})
		if errors.Is(err, fs.ErrExist) {
			continue // the id is taken
		}
		if err != nil {
			return nil, fmt.Errorf("create loop: %w", err)
		}
		return l, nil
	}
}

// createDir creates the folder under a hidden name and renames it.
func (l *Loop) createDir(spec Spec) error {
	if _, err := os.Lstat(l.Dir); err == nil {
		return fs.ErrExist // os.Rename replaces an empty folder
	}
	temp, err := os.MkdirTemp(filepath.Dir(l.Dir), ".new-*")
	if err != nil {
		return err
	}
	err = os.Mkdir(filepath.Join(temp, "inbox"), 0o700)
	if err == nil {
		err = atomicfile.WriteJSON(filepath.Join(temp, specFile), spec)
	}
	if err == nil {
		err = os.Rename(temp, l.Dir)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(temp))
	}
	return atomicfile.SyncDir(filepath.Dir(l.Dir))
}

// Loop returns the loop with a complete id. It does no I/O: a missing loop is found out
// when it is used.
func (s *Store) Loop(id string) *Loop {
	return &Loop{ID: id, Dir: filepath.Join(s.home, "loops", id)}
}

// Loops returns all loops, sorted by id.
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

// Spec reads the request that the loop was created with.
func (l *Loop) Spec() (Spec, error) {
	var spec Spec
	if err := l.DecodeSpec(&spec); err != nil {
		return Spec{}, err
	}
	return spec, nil
}

// DecodeSpec decodes spec.json into a type of the caller's that has fewer fields than
// Spec, to save time.
func (l *Loop) DecodeSpec(part any) error {
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

// CheckOwners returns an error with a hint if another user owns one of the files, or may
// write to it: files in $PAWL_HOME decide which commands run. Missing files are skipped.
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

// CheckWritable returns the folder itself, or the nearest one above it that exists, and
// an error if no file can be made there. It leaves nothing behind.
func CheckWritable(dir string) (existing string, err error) {
	for {
		info, err := os.Stat(dir)
		if err == nil && !info.IsDir() {
			return dir, fmt.Errorf("%s is not a folder", dir)
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) || filepath.Dir(dir) == dir {
			break
		}
		dir = filepath.Dir(dir)
	}
	probe, err := os.CreateTemp(dir, ".pawl-probe-*")
	if err != nil {
		return dir, fmt.Errorf("make a file in %s: %w", dir, err)
	}
	return dir, errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// specVersion returns the version that a spec begins with, or 0. The rest is not parsed,
// since it may be of another version.
func specVersion(data []byte) (version int) {
	in := json.NewDecoder(bytes.NewReader(data))
	_, _ = in.Token() // invalid JSON is reported when the rest is read
	if key, err := in.Token(); err != nil || key != "v" || in.Decode(&version) != nil {
		return 0
	}
	return version
}

// IterationDir returns the folder for the files of iteration n (from 1), and creates it
// if needed.
func (l *Loop) IterationDir(n int) (string, error) {
	dir := filepath.Join(l.Dir, "iterations", fmt.Sprintf("%04d", n))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("create folder of iteration %d: %w", n, err)
	}
	return dir, nil
}

// newLoopID returns an adjective, an animal and 16 random bits: 2²⁸ ids, easy to say.
// Ids are not secret, and Create makes sure that they are new.
func newLoopID() string {
	return fmt.Sprintf("%s-%s-%04x", randomWord(adjectives), randomWord(animals), rand.N(1<<16))
}

// randomWord returns one of the words.
func randomWord(words string) string {
	all := strings.Fields(words)
	return all[rand.N(len(all))]
}

// writeDerived replaces a file that can be derived again, and returns its size.
func writeDerived(path string, v any) (size int, err error) {
	data, err := json.Marshal(v)
	if err != nil {
		return 0, err
	}
	data = append(data, '\n')
	return len(data), atomicfile.Swap(path, data, 0o600)
}

// The words of ids are short, easy to tell apart, and do not comment on the work.
const (
	adjectives = `
amber ample apt azure bold brave bright brisk calm candid civil clear clever coral
cosy crisp deft early easy fair fleet fond frank fresh gentle glad golden grand hale
happy hardy honest humble ivory jolly keen kind lilac limber lively lucid mellow
merry mild mint neat nimble noble olive patient placid plucky polite prime proud
quick quiet rapid ready robust rosy royal ruby silver smart snug sober spry steady
stout sunny swift tidy trim true vivid warm wise witty zesty`
	animals = `
badger bat bear beaver bee bison bream camel carp cat civet cobra condor coot crab
crane cricket crow curlew deer dingo dove duck eagle egret eland elk falcon ferret
finch fox gecko gibbon goose grouse gull hare hawk heron hound ibex ibis jackal jay
kestrel kite koala koi lark lemur linnet lion llama lynx magpie marmot marten mole
moose newt ocelot okapi orca osprey otter owl panda perch petrel pike plover puffin
quail raven robin salmon seal shrew skua sloth snipe stoat stork swan tapir teal
tern tiger toad trout turtle viper vole walrus whale wolf wombat wren yak zebra`
)
