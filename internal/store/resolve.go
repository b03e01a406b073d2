package store

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
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
	var here, unread []*Loop
	var newest *Loop
	var since int64
	for _, l := range all {
		spec := l.origin()
		if spec.Root == "" {
			unread = append(unread, l)
		}
		if spec.Root != root {
			continue
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
		if len(unread) > 0 {
			hint += fmt.Sprintf("; cannot be read: %s (pawl status ID says why)", ids(unread))
		}
		return nil, failure.New(failure.Usage, hint, "%w", noneHere{})
	case ref == "" && len(here) > 1:
		hint := fmt.Sprintf("say which: . for the newest, or %s", ids(here))
		return nil, failure.New(failure.Usage, hint, "there are %d loops here", len(here))
	}
	return newest, nil
}

// origin returns the spec as far as it can be read. Its Root is known of a loop that is
// refused (a newer Pawl wrote it, another user may write to it), so that a command
// which means that loop says why, and acts on no older one. It is "" of a damaged one.
func (l *Loop) origin() Spec {
	spec, err := l.Spec()
	if err == nil {
		return spec
	}
	if data, err := os.ReadFile(filepath.Join(l.Dir, specFile)); err == nil {
		_ = json.Unmarshal(data, &spec) // what is no JSON has no root
	}
	return spec
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
	here := slices.DeleteFunc(slices.Clone(all), func(l *Loop) bool { return l.origin().Root != root })
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
