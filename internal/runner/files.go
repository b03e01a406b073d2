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
	w, err := r.files().ReceiveChanges(time.Now())
	if err != nil {
		r.filesFail("cannot be read and are kept as they are", err)
		return nil
	}
	var said []loop.Event
	for _, n := range w.Notes {
		said = append(said, loop.Event{Kind: loop.MessageArrived, ID: "file-" + n.ID, Text: n.Text})
	}
	switch {
	case w.Stop != "" && r.mem.State.StopCause == "":
		said = append(said, loop.Event{Kind: loop.Cancelled, Text: loop.ByStop, Hint: w.Stop})
	case w.Paused && !r.held:
		said = append(said, loop.Event{Kind: loop.PauseRequested})
	case r.held && !w.Paused:
		said = append(said, loop.Event{Kind: loop.Resumed})
	}
	r.held = w.Paused
	for _, e := range said {
		if err := r.step(ctx, e); err != nil {
			return err
		}
	}
	if w.Acknowledge != nil {
		return w.Acknowledge()
	}
	return nil
}

// goesOn tells the files that a turn begins.
func (r *Runner) goesOn() {
	if err := r.files().UpdateProgress(r.mem, time.Now()); err != nil {
		r.filesFail("could not be brought up to date", err)
	}
}

// over tells the files that the loop has ended.
func (r *Runner) over() {
	ended := r.mem
	ended.State.Phase = loop.Ended // as soon as they have been told
	if err := r.files().MarkEnded(ended, ended.Bound.Session); err != nil {
		r.filesFail("could not be brought up to date", err)
	}
}

// filesFail says once what is wrong with the files. No turn is lost for it.
func (r *Runner) filesFail(what string, err error) {
	if r.unread == err.Error() {
		return
	}
	r.unread = err.Error()
	r.note(loop.Warning, "files of another tool "+what+": "+err.Error())
}

// Advice is what Runner.BeforeTurn has to say.
type Advice struct {
	Note string // for the user; "": nothing
	Stop string // why the loop must stop before the turn; "": it need not
}

// askBeforeTurn passes on what BeforeTurn says. A loop that it stops is cancelled before
// its turn begins.
func (r *Runner) askBeforeTurn(ctx context.Context, f loop.Facts) {
	if r.BeforeTurn == nil {
		return
	}
	advice := r.BeforeTurn(ctx, f)
	if advice.Note != "" {
		r.inRun(ctx, func(context.Context) error { r.note(loop.Info, advice.Note); return nil })
	}
	if advice.Stop != "" {
		r.report(ctx, loop.Event{Kind: loop.Cancelled, Text: loop.ByStop, Hint: advice.Stop})
		select {
		case <-ctx.Done(): // the turn is cancelled with the loop
		case <-time.After(overtakeMost):
		}
	}
}
