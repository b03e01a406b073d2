package runner

import (
	"context"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/statefile"
)

// hearEvery is how often another tool's files are read for what they say.
const hearEvery = time.Second

// files are another tool's that the loop came out of, or whose plan it works
// through. While a person's session has the loop, its hooks hear them and tell
// them; else it is done here.
func (r *Runner) files() statefile.Files {
	return statefile.Of(r.Repo.Root(), r.Loop.Dir, r.Spec)
}

// hear passes on what the person, or another process, did to the files. Words have
// the id that the hooks give them: what both have heard is taken once.
func (r *Runner) hear(ctx context.Context) error {
	w, err := r.files().Hear(time.Now())
	if err != nil {
		if r.unread != err.Error() {
			r.unread = err.Error()
			r.note(loop.Anomaly, "the loop's file cannot be read and is kept as it is: "+err.Error())
		}
		return nil
	}
	var said []loop.Event
	for _, n := range w.Notes {
		said = append(said, loop.Event{Kind: loop.MessageArrived, ID: "file-" + n.ID, Text: n.Text})
	}
	switch {
	case w.Stop != "" && r.mem.State.Stop == "":
		r.note(loop.Info, w.Stop+": the loop is cancelled")
		said = append(said, loop.Event{Kind: loop.Cancelled, Text: loop.ByStop, Hint: w.Stop})
	case w.Held && !r.held:
		said = append(said, loop.Event{Kind: loop.PauseAsked})
	case r.held && !w.Held:
		said = append(said, loop.Event{Kind: loop.Resumed})
	}
	r.held = w.Held
	for _, e := range said {
		if err := r.step(ctx, e); err != nil {
			return err
		}
	}
	if w.Heard != nil {
		return w.Heard()
	}
	return nil
}

// goesOn tells the files that a turn begins.
func (r *Runner) goesOn() {
	if err := r.files().GoesOn(r.mem, time.Now()); err != nil {
		r.note(loop.Warning, "the loop's file could not be brought up to date: "+err.Error())
	}
}

// over tells the files that the loop has ended.
func (r *Runner) over() {
	if err := r.files().Ends(r.mem, r.mem.Bound.Session); err != nil {
		r.note(loop.Warning, "the loop's file could not be brought up to date: "+err.Error())
	}
}
