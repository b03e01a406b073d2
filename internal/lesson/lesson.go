// Package lesson stores the lessons of a project for all its loops:
//
//	$PAWL_HOME/lessons.json   {"roots": {"/home/ann/shop": ["the fixtures need …"]}}
//
// A loop stores its own lessons in its state (core/loop). Only a user adds lessons of the project. A
// loop reads them when it starts. The file is outside the work tree, so that no agent can write the
// lessons of the next one.
package lesson

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/failure"
)

// MaxPerProject is the maximum number of lessons of a project: every prompt contains them all.
const MaxPerProject = 20

// Store is the file lessons.json in a $PAWL_HOME.
type Store struct{ path string }

// NewStore returns the store of a $PAWL_HOME. It does no I/O.
func NewStore(pawlHome string) Store { return Store{filepath.Join(pawlHome, "lessons.json")} }

type content struct {
	Roots map[string][]string `json:"roots"`
}

// List returns the lessons of the project at root, oldest first.
func (b Store) List(root string) ([]string, error) {
	p, err := b.read()
	return p.Roots[root], err
}

// Add adds a lesson unless it is there already.
func (b Store) Add(ctx context.Context, root, text string) error {
	return b.update(ctx, root, func(all []string) ([]string, error) {
		switch {
		case slices.Contains(all, text):
			return all, nil
		case len(all) >= MaxPerProject:
			return nil, failure.New(failure.Usage, "drop one:  pawl lessons drop NUMBER", "the project has %d lessons, and every prompt contains them all", len(all))
		}
		return append(all, text), nil
	})
}

// Remove removes a lesson.
func (b Store) Remove(ctx context.Context, root, text string) error {
	return b.update(ctx, root, func(all []string) ([]string, error) {
		return slices.DeleteFunc(all, func(t string) bool { return t == text }), nil
	})
}

func (b Store) update(ctx context.Context, root string, do func([]string) ([]string, error)) (err error) {
	if err := os.MkdirAll(filepath.Dir(b.path), 0o700); err != nil {
		return fmt.Errorf("keep lessons: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	lock := flock.New(b.path+".lock", flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, 20*time.Millisecond); err != nil {
		return fmt.Errorf("keep lessons: lock %s: %w", b.path, err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	p, err := b.read()
	if err != nil {
		return err
	}
	all, err := do(p.Roots[root])
	if err != nil {
		return err
	}
	if p.Roots == nil {
		p.Roots = map[string][]string{}
	}
	if p.Roots[root] = all; len(all) == 0 {
		delete(p.Roots, root)
	}
	return atomicfile.WriteIndentedJSON(b.path, p)
}

func (b Store) read() (content, error) {
	var p content
	if err := atomicfile.ReadJSON(b.path, &p); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return content{}, failure.New(failure.Error, "fix it, or move it away", "read %s: %w", b.path, err)
	}
	return p, nil
}
