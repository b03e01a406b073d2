package runner

import (
	"context"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/statefile"
)

// receiveInterval is how often another tool's files are read for what they say.
const receiveInterval = time.Second

// files are another tool's that the loop came out of, or whose plan it works
// through. While a user's session has the loop, its hooks hear them and tell
// them; else it is done here.
func (r *Runner) files() statefile.Files {
	return statefile.FilesOf(r.Repo.Root(), r.Loop.Dir, r.Spec)
}

// receiveFileChanges passes on what the user, or another process, did to the files. Words have
// the id that the hooks give them: what both have heard is taken once.
func (r *Runner) receiveFileChanges(ctx context.Context) error {
	changes, err := r.files().ReceiveChanges(time.Now())
	if err != nil {
		r.noteFileError("cannot be read and are kept as they are", err)
		return nil
	}
	var events []loop.Event
	for _, n := range changes.Notes {
		events = append(events, loop.Event{Kind: loop.MessageArrived, ID: "file-" + n.ID, Text: n.Text})
	}
	switch {
	case changes.Stop != "" && r.mem.State.StopCause == "":
		events = append(events, loop.Event{Kind: loop.Cancelled, Text: loop.ByStop, Hint: changes.Stop})
	case changes.Paused && !r.filesPaused:
		events = append(events, loop.Event{Kind: loop.PauseRequested})
	case r.filesPaused && !changes.Paused:
		events = append(events, loop.Event{Kind: loop.Resumed})
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

// updateFiles tells the files that a turn begins.
func (r *Runner) updateFiles() {
	if err := r.files().UpdateProgress(r.mem, time.Now()); err != nil {
		r.noteFileError("could not be brought up to date", err)
	}
}

// markFilesEnded tells the files that the loop has ended.
func (r *Runner) markFilesEnded() {
	ended := r.mem
	ended.State.Phase = loop.Ended // as soon as they have been told
	if err := r.files().MarkEnded(ended, ended.Bound.Session); err != nil {
		r.noteFileError("could not be brought up to date", err)
	}
}

// noteFileError says once what is wrong with the files. No turn is lost for it.
func (r *Runner) noteFileError(what string, err error) {
	if r.lastFileError == err.Error() {
		return
	}
	r.lastFileError = err.Error()
	r.note(loop.Warning, "files of another tool "+what+": "+err.Error())
}

// Advice is what Runner.BeforeTurn has to say.
type Advice struct {
	Note string // for the user; "": nothing
	Stop string // why the loop must stop before the turn; "": it need not
}

// callBeforeTurn passes on what BeforeTurn says. A loop that it stops is cancelled before
// its turn begins.
func (r *Runner) callBeforeTurn(ctx context.Context, f loop.Facts) {
	if r.BeforeTurn == nil {
		return
	}
	advice := r.BeforeTurn(ctx, f)
	if advice.Note != "" {
		r.enqueue(ctx, func(context.Context) error { r.note(loop.Info, advice.Note); return nil })
	}
	if advice.Stop != "" {
		r.sendEvent(ctx, loop.Event{Kind: loop.Cancelled, Text: loop.ByStop, Hint: advice.Stop})
		select {
		case <-ctx.Done(): // the turn is cancelled with the loop
		case <-time.After(maxCancelTime):
		}
	}
}
