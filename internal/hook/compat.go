package hook

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/session"
	"github.com/pawl-dev/pawl/internal/session/place"
	"github.com/pawl-dev/pawl/internal/statefile"
)

// A loop that was started from another tool's files keeps them up to date, for scripts
// that read them.

// adoptCompatFile starts a loop from the first of another tool's state files that belongs
// to this session. It returns session.ErrNone if there is none, and says once why a file
// was refused. Files that will not belong to this session at later stops either are
// remembered and not read again (package front).
func (h *handler) adoptCompatFile(ctx context.Context) (session.Binding, error) {
	noBinding, p := session.Binding{}, place.At(h.projectDir(), h.Env)
	fingerprint, isOurs := p.Fingerprint(h.now), false
	var refusals []string
	for _, f := range statefile.Formats() {
		path := f.Find(p)
		if path == "" {
			continue
		}
		proposal, byAgent, err := h.proposeLoop(f, path, p)
		if proposal.Skip {
			continue
		}
		if err == nil || proposal.Refused == "" { // the next look may find something else
			fingerprint = ""
		}
		var begun session.BeginResult
		if err == nil {
			if !isOurs {
				isOurs, err = h.bindings.FirstTime(ctx, h.event.Session, "adopts at "+h.event.StopID())
			}
			switch {
			case isOurs:
				begun, err = h.beginLoop(ctx, session.BeginRequest{Adopt: path, Format: f.Name(), ByAgent: byAgent})
				if err == nil && begun.Loop == "" && begun.Message != "" {
					err = errors.New(begun.Message)
				}
			case err == nil:
				return noBinding, session.ErrNone // Pawl is installed twice: the other one does
			}
		}
		if err != nil && h.isFirstTime(ctx, h.event.Session, err.Error()) {
			refusals = append(refusals, refusalText(p.Root, path, err))
		}
		if begun.Loop != "" {
			h.startMessage = begun.Message
			if len(refusals) > 0 {
				h.startMessage = "pawl: " + strings.Join(append(refusals, begun.Message), "\n")
			}
			return h.bindings.Find(h.event.Session)
		}
	}
	if err := place.Of(h.Env.PawlHome).RecordInspection(h.event.Session, fingerprint); err != nil {
		return noBinding, err
	}
	if len(refusals) == 0 {
		return noBinding, session.ErrNone
	}
	why := errors.New("no loop was started: " + strings.Join(refusals, "\n"))
	if h.Env.Session.Unattended {
		return noBinding, errors.Join(why, place.Of(h.Env.PawlHome).SaveEndText(h.event.Session, "pawl: "+why.Error()+"\n"))
	}
	return noBinding, why
}

// proposeLoop returns the loop that another tool's file asks for, and whether the agent may
// have written the file, where that matters. An error says why no session may follow the
// file. Questions to git are left to `pawl session begin`.
func (h *handler) proposeLoop(f statefile.Format, path string, p place.Project) (made statefile.Proposal, byAgent bool, err error) {
	made, err = f.Propose(path, p, statefile.SessionInfo{
		SessionID: h.event.Session, SessionStarted: h.sessionStart(), Now: h.now, Unattended: h.Env.Session.Unattended,
		Tracked: func(string) (bool, error) { return false, nil },
		ByAgent: func(spare string, names ...string) bool {
			byAgent = h.event.MayHaveWritten(spare, names)
			return byAgent
		},
	})
	if err == nil && made.Refused != "" {
		err = errors.New(made.Refused)
	}
	return made, byAgent, err
}

// isFirstTime reports whether a message has not been shown in this session yet. If that is
// unknown, it is shown again.
func (h *handler) isFirstTime(ctx context.Context, id, what string) bool {
	first, err := h.bindings.FirstTime(ctx, id, what)
	return first || err != nil
}

// refusalText says why a file starts no loop, with short paths, and names the file.
func refusalText(root, path string, err error) string {
	why := strings.ReplaceAll(withHint(err), root+string(filepath.Separator), "")
	if named := statefile.DisplayPath(root, path); !strings.Contains(why, filepath.ToSlash(filepath.Dir(named))) {
		return named + ": " + why
	}
	return why
}

// receiveFileChanges passes on what the user or another process wrote into the state
// files, as messages to the loop and in order. Files that cannot be read are kept, and
// the user is told.
func (h *handler) receiveFileChanges(ctx context.Context, s *lease, b session.Binding) error {
	changes, err := s.files.ReceiveChanges(time.Now())
	if err != nil {
		if h.isFirstTime(ctx, b.Session, err.Error()) {
			s.note(loop.Anomaly, "kept unchanged, because it cannot be read: "+err.Error())
			h.startMessage = "pawl: " + withHint(err)
		}
		return nil
	}
	for _, n := range changes.Notes {
		if err := s.loop.Post("file-"+n.ID, record.Message{Kind: record.MessageNote, Text: h.redact()(n.Text)}); err != nil {
			return err
		}
	}
	// The id of what is not text is new each time: said twice it does no harm.
	post := func(kind string) error {
		return s.loop.Post(fmt.Sprintf("file-%s-%d", kind, time.Now().UnixNano()), record.Message{Kind: kind, Text: changes.Stop})
	}
	switch {
	case changes.Stop != "":
		s.note(loop.Info, changes.Stop+": the loop is cancelled")
		err = post(record.MessageStop)
	case changes.Paused && !b.FilePaused:
		err = post(record.MessagePause)
	case b.FilePaused && !changes.Paused && (s.mem.State.Phase == loop.Paused || s.mem.State.Pause):
		err = post(record.MessageResume)
	}
	if err == nil && changes.Paused != b.FilePaused {
		_, err = h.bindings.Change(ctx, b.Session, func(b *session.Binding) bool { b.FilePaused = changes.Paused; return true })
	}
	if err == nil && changes.Acknowledge != nil {
		err = changes.Acknowledge()
	}
	return err
}

// updateFiles writes the loop's progress to the state files.
func (h *handler) updateFiles(ctx context.Context, b session.Binding, s *lease) {
	err := s.files.UpdateProgress(s.mem, time.Now())
	if err != nil && h.isFirstTime(ctx, b.Session, "files of "+b.Loop) {
		h.noteAnomaly(ctx, b, err)
		h.startMessage = "pawl: " + withHint(err)
	}
}
