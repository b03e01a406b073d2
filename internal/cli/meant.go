package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/session"
	"github.com/pawl-dev/pawl/internal/store"
)

// meant is the loop that a person means by ref. Without a word it is the loop that
// lives in this session, else the only one here that has not ended, else the
// newest.
func (a *app) meant(ref string) (*store.Loop, error) {
	if ref != "" {
		return a.store.Resolve(ref, a.root())
	}
	if b, err := session.Open(a.env.PawlHome).Find(a.env.Session.ID); err == nil {
		if l, err := a.store.Resolve(b.Loop, a.root()); err == nil {
			return l, nil
		}
	}
	l, err := a.store.Resolve("", a.root())
	if err == nil || errors.Is(err, store.ErrNotFound) {
		return l, err // of one alone it does not matter how it stands
	}
	return a.unended()
}

// unended is the only loop here that has not ended, or the newest where all have.
func (a *app) unended() (*store.Loop, error) {
	listed, err := store.List(a.store, record.Derive)
	if err != nil {
		return nil, err
	}
	root := a.root()
	here := slices.DeleteFunc(listed, func(l store.Listed[record.Summary]) bool { return l.Summary.Root != root })
	slices.SortStableFunc(here, func(x, y store.Listed[record.Summary]) int {
		return y.Summary.CreatedAt.Compare(x.Summary.CreatedAt)
	})
	if len(here) == 0 {
		return a.store.Resolve(".", root) // what was asked of them cannot be read: that names the damage
	}
	var open []*store.Loop
	var names []string
	for _, l := range here {
		if sum := a.present(l); sum.State != "ended" {
			open = append(open, l.Loop)
			names = append(names, fmt.Sprintf("%s (%s)", sum.ID, sum.State))
		}
	}
	switch len(open) {
	case 0:
		return here[0].Loop, nil
	case 1:
		return open[0], nil
	}
	return nil, failure.New(failure.Usage, "say which: "+some(names), "%d loops here have not ended", len(open))
}
