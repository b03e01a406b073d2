package runner

import (
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/record"
)

// save keeps the snapshot that lists and hooks read.
func (r *Runner) save() {
	r.noteUnsaved(r.Owner.Save(r.mark, r.mem, record.Summarize(r.Spec, r.mem)))
}

// noteUnsaved shows that the snapshot could not be written. It is derived: that is worth a
// note, not an end.
func (r *Runner) noteUnsaved(err error) {
	if err != nil {
		r.Observer.Note(memory.Note{Level: loop.Warning, Text: "could not save the loop's snapshot: " + err.Error()})
	}
}
