package runner

import (
	"context"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/statefile"
)

// receiveInterval is how often another tool's files are read.
const receiveInterval = time.Second

// files returns the files of another tool from which the loop started, or whose plan it works
// on. While a user's session has the loop, its hooks read and write them; otherwise the
// runner does.
func (r *Runner) files() statefile.Files {
	return statefile.FilesOf(r.Repo.Root(), r.Loop.Dir, r.Spec)
}

// goal returns what the user asked for, as they last wrote it.
func (r *Runner) goal() string { return statefile.CurrentGoal(r.Repo.Root(), r.Loop.Dir, r.Spec) }

// receiveFileChanges turns changes that the user or another process made to the files into
// events. Their ids are those that the hooks use, so that each change counts once.
func (r *Runner) receiveFileChanges(ctx context.Context) error {
	changes, err := r.files().ReceiveChanges(time.Now())
	if err != nil {
		r.noteFileError("cannot be read and are kept unchanged", err)
		return nil
	}
	var events []loop.Event
	for _, n := range changes.Notes {
		events = append(events, loop.Event{ID: "file-" + n.ID, Payload: loop.MessageArrived{Text: n.Text}})
	}
	switch {
	case changes.Stop != "" && r.mem.State.Stop.Cause == "":
		events = append(events, loop.Event{Payload: loop.Cancelled{Cause: loop.ByStop, Reason: changes.Stop}})
	case changes.Paused && !r.filesPaused:
		events = append(events, loop.Event{Payload: loop.PauseRequested{}})
	case r.filesPaused && !changes.Paused:
		events = append(events, loop.Event{Payload: loop.Resumed{}})
	}
	r.filesPaused = changes.Paused
	for _, e := range events {
		if err := r.step(ctx, e); err != nil {
			return err
		}
	}
	if changes.Acknowledge != nil {
		return changes.Acknowledge()
	}
	return nil
}

// updateFiles writes the loop's progress to the files.
func (r *Runner) updateFiles() {
	if err := r.files().UpdateProgress(r.mem, time.Now()); err != nil {
		r.noteFileError("could not be updated", err)
	}
}

// markFilesEnded marks the loop as ended in the files.
func (r *Runner) markFilesEnded() {
	ended := r.mem
	ended.State.Phase = loop.Ended // this is the last step before it
	if err := r.files().MarkEnded(ended, ended.Bound.Session); err != nil {
		r.noteFileError("could not be updated", err)
	}
}

// noteFileError notes an error of the files once. It does not stop the turn.
func (r *Runner) noteFileError(what string, err error) {
	if r.lastFileError == err.Error() {
		return
	}
	r.lastFileError = err.Error()
	r.note(loop.Warning, "files of another tool "+what+": "+err.Error())
}

// Advice is the result of Callbacks.BeforeTurn.
type Advice struct {
	Note string // for the user; "": nothing
	Stop string // why the loop must stop before the turn; "": it need not
}

// callBeforeTurn calls BeforeTurn. If that stops the loop, the loop is cancelled before the
// turn begins.
func (r *Runner) callBeforeTurn(ctx context.Context, f loop.Facts) {
	if r.BeforeTurn == nil {
		return
	}
	advice := r.BeforeTurn(ctx, f)
	if advice.Note != "" {
		r.enqueue(ctx, func(context.Context) error { r.note(loop.Info, advice.Note); return nil })
	}
	if advice.Stop != "" {
		r.sendEvent(ctx, loop.Event{Payload: loop.Cancelled{Cause: loop.ByStop, Reason: advice.Stop}})
		select {
		case <-ctx.Done(): // the turn is cancelled with the loop
		case <-time.After(maxCancelTime):
		}
	}
}
