package planfile

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// BeforePath is where the plan lies in which an edit was made that is kept at path.
func BeforePath(path string) string { return path + ".before" }

// Accepted is an edit of the plan that was kept at path, with what was added to the plan
// and what got another title since the edit was made, and with the marks that the plan
// has now. It also returns those changes, in words.
func (f *File) Accepted(path string) (*File, []string, error) {
	data, err := atomicfile.Read(path, MaxSize)
	if err != nil {
		return nil, nil, fmt.Errorf("read the edited plan: %w", err)
	}
	kept, err := Decode(f.name, data)
	if err != nil {
		return nil, nil, err
	}
	before := kept // unknown: nothing that is in the edit was added since
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
		e, changed := kept.sinceEdit(before, t)
		if !changed {
			continue
		}
		if kept, e, err = kept.Edit(e, true); err != nil {
			return nil, nil, fmt.Errorf("keep what was changed since the edit (%s): %w", e, err)
		}
		e.Before = "" // where it stands is seen in the file
		since = append(since, e.String())
	}
	kept, err = kept.MarkedAs(f)
	return kept, since, err
}

// sinceEdit is what this edit of a plan lacks of a task that the plan has now.
func (f *File) sinceEdit(before *File, t plan.Task) (plan.Edit, bool) {
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
		return plan.Edit{}, false // the edit gave it another title, too
	case isNew:
		return plan.Edit{Do: plan.Add, Title: t.Title, Before: t.ID}, true // it keeps its number
	}
	return plan.Edit{Do: plan.Add, Title: t.Title}, true
}
