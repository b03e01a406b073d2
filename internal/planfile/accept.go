package planfile

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// BeforePath returns the file that holds the plan from before the edit kept at path.
func BeforePath(path string) string { return path + ".before" }

// MergeAccepted returns the edited plan kept at path, merged with the current plan f. It adds the
// tasks and the new titles that f got since the edit was made, and takes the marks of f. It also
// returns those changes as text.
func (f *File) MergeAccepted(path string) (*File, []string, error) {
	data, err := atomicfile.Read(path, MaxSize)
	if err != nil {
		return nil, nil, fmt.Errorf("read the edited plan: %w", err)
	}
	kept, err := Decode(f.name, data)
	if err != nil {
		return nil, nil, err
	}
	before := kept // without that file, no task of the edit counts as added since
	switch data, err := atomicfile.Read(BeforePath(path), MaxSize); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, nil, fmt.Errorf("read the plan before the edit: %w", err)
	default:
		if before, err = Decode(f.name, data); err != nil {
			return nil, nil, err
		}
	}
	var since []string
	for _, t := range f.plan.Tasks {
		e, changed := kept.missingChange(before, t)
		if !changed {
			continue
		}
		if kept, e, err = kept.Edit(e, true); err != nil {
			return nil, nil, fmt.Errorf("keep what was changed since the edit (%s): %w", e, err)
		}
		e.Before = "" // the file shows the place
		since = append(since, e.String())
	}
	kept, err = kept.WithMarksOf(f)
	return kept, since, err
}

// missingChange returns the edit that brings the current task t into this edited plan. It returns
// false if the edited plan needs no change.
func (f *File) missingChange(before *File, t plan.Task) (plan.Edit, bool) {
	titled := func(p *File, title string) int {
		return slices.IndexFunc(p.plan.Tasks, func(t plan.Task) bool { return t.Title == title })
	}
	was, known := before.plan.Task(t.ID)
	there, taken := f.plan.Task(t.ID)
	isNew := taken && titled(before, there.Title) < 0
	switch i := titled(f, was.Title); {
	case titled(f, t.Title) >= 0, known && was.Title == t.Title:
		return plan.Edit{}, false
	case known && i >= 0:
		return plan.Edit{Do: plan.Retitle, Task: f.plan.Tasks[i].ID, Title: t.Title}, true
	case known && isNew:
		return plan.Edit{}, false // the edit renamed it, too
	case isNew:
		return plan.Edit{Do: plan.Add, Title: t.Title, Before: t.ID}, true // it keeps its number
	}
	return plan.Edit{Do: plan.Add, Title: t.Title}, true
}
