package store

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/failure"
)

// candidatesShown bounds how many ids a hint lists.
const candidatesShown = 8

// Resolve finds the loop that a user means by ref: its id or a unique prefix
// of it, "." for the newest loop bound to root, "" for the only one bound to
// root. The error says which loops there are to choose from; it wraps ErrNotFound
// where there is none.
func (s *Store) Resolve(ref, root string) (*Loop, error) {
	all, err := s.Loops()
	if err != nil {
		return nil, err
	}
	if ref == "" || ref == "." {
		return resolveHere(all, ref, root)
	}
	var found []*Loop
	for _, l := range all {
		if l.ID == ref {
			return l, nil
		}
		if strings.HasPrefix(l.ID, ref) {
			found = append(found, l)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, failure.New(failure.Usage, known(all, root), "loop %q: %w", ref, ErrNotFound)
	}
	return nil, failure.New(failure.Usage, "it may be "+ids(found), "loop %q is not unique", ref)
}

// resolveHere finds the newest (".") or only ("") loop that is bound to root.
func resolveHere(all []*Loop, ref, root string) (*Loop, error) {
	var here []*Loop
	var newest *Loop
	var since int64
	for _, l := range all {
		spec, err := l.Spec()
		if err != nil || spec.Root != root {
			continue // a damaged loop is found by its id, which names the damage
		}
		here = append(here, l)
		if at := spec.CreatedAt.UnixNano(); newest == nil || at > since {
			newest, since = l, at
		}
	}
	switch {
	case newest == nil:
		hint := "pawl run begins one"
		if len(all) > 0 {
			hint += "; pawl list --all shows those of other places"
		}
		return nil, failure.New(failure.Usage, hint, "%w", noneHere{})
	case ref == "" && len(here) > 1:
		hint := fmt.Sprintf("say which: . for the newest, or %s", ids(here))
		return nil, failure.New(failure.Usage, hint, "there are %d loops here", len(here))
	}
	return newest, nil
}

// noneHere is ErrNotFound in the words for a user who named no loop.
type noneHere struct{}

func (noneHere) Error() string { return "there is no loop here" }
func (noneHere) Unwrap() error { return ErrNotFound }

// known names the loops that are bound to root, for a typo is of one of these; all of
// them where there is none.
func known(all []*Loop, root string) string {
	if len(all) == 0 {
		return "there is no loop yet: pawl run begins one"
	}
	here := slices.DeleteFunc(slices.Clone(all), func(l *Loop) bool {
		spec, err := l.Spec()
		return err != nil || spec.Root != root
	})
	if len(here) > 0 && len(here) < len(all) {
		return "here are " + ids(here) + " (pawl list --all shows those of other places)"
	}
	return "there are " + ids(all) + " (pawl list --all shows them)"
}

func ids(loops []*Loop) string {
	var b strings.Builder
	for i, l := range loops {
		if i == candidatesShown {
			fmt.Fprintf(&b, " and %d more", len(loops)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(l.ID)
	}
	return b.String()
}
