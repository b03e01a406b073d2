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

// maxCandidates bounds how many ids a hint lists.
const maxCandidates = 8

// Resolve finds the loop that ref names: an id or a unique prefix of it, in root if it is unique
// there, "." for the newest loop of root, "" for the only loop of root. The error lists the loops to choose
// from. It wraps ErrNotFound if there is none.
func (s *Store) Resolve(ref, root string) (*Loop, error) {
	all, err := s.Loops()
	if err != nil {
		return nil, err
	}
	if ref == "" || ref == "." {
		return resolveInRoot(all, ref, root)
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
	if here := loopsIn(root, found); len(here) == 1 {
		return here[0], nil
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, failure.New(failure.Usage, listLoopsHint(all, root), "loop %q: %w", ref, ErrNotFound)
	}
	return nil, failure.New(failure.Usage, "it may be "+joinIDs(found), "loop %q is not unique", ref)
}

// resolveInRoot finds the newest (".") or only ("") loop of root.
func resolveInRoot(all []*Loop, ref, root string) (*Loop, error) {
	var here, unread []*Loop
	var newest *Loop
	var since int64
	for _, l := range all {
		spec := l.readableSpec()
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
		hint := "pawl run starts one"
		if len(all) > 0 {
			hint += "; pawl list --all shows loops in other folders"
		}
		if len(unread) > 0 {
			hint += fmt.Sprintf("; cannot be read: %s (pawl status ID says why)", joinIDs(unread))
		}
		return nil, failure.New(failure.Usage, hint, "%w", noLoopHereError{})
	case ref == "" && len(here) > 1:
		hint := fmt.Sprintf("say which: . for the newest, or %s", joinIDs(here))
		return nil, failure.New(failure.Usage, hint, "there are %d loops here", len(here))
	}
	return newest, nil
}

// readableSpec returns the spec as far as it can be read. Its Root is known even if Spec
// refuses the loop (a newer Pawl wrote it, another user may write to it): a command that
// means this loop then says why, and does not act on an older one. Root is "" if the
// file is damaged.
func (l *Loop) readableSpec() Spec {
	spec, err := l.Spec()
	if err == nil {
		return spec
	}
	if data, err := os.ReadFile(filepath.Join(l.Dir, specFile)); err == nil {
		_ = json.Unmarshal(data, &spec) // invalid JSON has no root
	}
	return spec
}

// noLoopHereError is ErrNotFound for a user who named no loop.
type noLoopHereError struct{}

func (noLoopHereError) Error() string { return "there is no loop here" }
func (noLoopHereError) Unwrap() error { return ErrNotFound }

// listLoopsHint lists the loops of root, or all loops if root has none.
func listLoopsHint(all []*Loop, root string) string {
	if len(all) == 0 {
		return "there is no loop yet: pawl run starts one"
	}
	here := loopsIn(root, all)
	if len(here) > 0 && len(here) < len(all) {
		return "here are " + joinIDs(here) + " (pawl list --all shows loops in other folders)"
	}
	return "there are " + joinIDs(all) + " (pawl list --all shows them)"
}

// loopsIn returns the loops of root.
func loopsIn(root string, loops []*Loop) []*Loop {
	return slices.DeleteFunc(slices.Clone(loops), func(l *Loop) bool { return l.readableSpec().Root != root })
}

// joinIDs lists the ids of loops, at most maxCandidates.
func joinIDs(loops []*Loop) string {
	var b strings.Builder
	for i, l := range loops {
		if i == maxCandidates {
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
