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
	none, p := session.Binding{}, place.At(h.project(), h.Env)
	fingerprint, mine := p.Fingerprint(h.now), false
	var news []string
	for _, f := range statefile.Formats() {
		path := f.Find(p)
		if path == "" {
			continue
		}
		proposal, byAgent, err := h.proposal(f, path, p)
		if proposal.Skip {
			continue
		}
		if err == nil || proposal.Refused == "" { // the next look may find something else
			fingerprint = ""
		}
		var begun Begun
		if err == nil {
			if !mine {
				mine, err = h.bindings.FirstTime(ctx, h.p.Session, "adopts at "+h.p.StopID())
			}
			switch {
			case mine:
				begun, err = h.begin(ctx, BeginRequest{Adopt: path, Format: f.Name(), ByAgent: byAgent})
				if err == nil && begun.Loop == "" && begun.Message != "" {
					err = errors.New(begun.Message)
				}
			case err == nil:
				return none, session.ErrNone // Pawl is installed twice: the other one does
			}
		}
		if err != nil && h.isNew(ctx, h.p.Session, err.Error()) {
			news = append(news, refusalText(p.Root, path, err))
		}
		if begun.Loop != "" {
			h.startMessage = begun.Message
			if len(news) > 0 {
				h.startMessage = "pawl: " + strings.Join(append(news, begun.Message), "\n")
			}
			return h.bindings.Find(h.p.Session)
		}
	}
	if err := place.Of(h.Env.PawlHome).RecordInspection(h.p.Session, fingerprint); err != nil {
		return none, err
	}
	if len(news) == 0 {
		return none, session.ErrNone
	}
	why := errors.New("no loop begins: " + strings.Join(news, "\n"))
	if h.Env.Session.Unattended {
		return none, errors.Join(why, place.Of(h.Env.PawlHome).SaveEndText(h.p.Session, "pawl: "+why.Error()+"\n"))
	}
	return none, why
}

// proposal returns the loop that another tool's file asks for, and whether the agent may
// have written the file, where that matters. An error says why no session may follow the
// file. Questions to git are left to `pawl session begin`.
func (h *handler) proposal(f statefile.Format, path string, p place.Project) (made statefile.Proposal, byAgent bool, err error) {
	made, err = f.Propose(path, p, statefile.SessionInfo{
		SessionID: h.p.Session, SessionStarted: h.sessionBegan(), Now: h.now, Unattended: h.Env.Session.Unattended,
		Tracked: func(string) (bool, error) { return false, nil },
		ByAgent: func(spare string, names ...string) bool {
			byAgent = h.p.MayHaveWritten(spare, names)
			return byAgent
		},
	})
	if err == nil && made.Refused != "" {
		err = errors.New(made.Refused)
	}
	return made, byAgent, err
}

// isNew reports whether a message has not been shown in this session yet. If that is
// unknown, it is shown again.
func (h *handler) isNew(ctx context.Context, id, what string) bool {
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
	w, err := s.files.ReceiveChanges(time.Now())
	if err != nil {
		if h.isNew(ctx, b.Session, err.Error()) {
			s.note(loop.Anomaly, "what cannot be read is kept as it is: "+err.Error())
			h.startMessage = "pawl: " + withHint(err)
		}
		return nil
	}
	for _, n := range w.Notes {
		if err := s.loop.Post("file-"+n.ID, record.Message{Kind: record.MessageNote, Text: h.redact()(n.Text)}); err != nil {
			return err
		}
	}
	// The id of what is not text is new each time: said twice it does no harm.
	said := func(kind string) error {
		return s.loop.Post(fmt.Sprintf("file-%s-%d", kind, time.Now().UnixNano()), record.Message{Kind: kind, Text: w.Stop})
	}
	switch {
	case w.Stop != "":
		s.note(loop.Info, w.Stop+": the loop is cancelled")
		err = said(record.MessageStop)
	case w.Paused && !b.FilePaused:
		err = said(record.MessagePause)
	case b.FilePaused && !w.Paused && (s.mem.State.Phase == loop.Paused || s.mem.State.Pause):
		err = said(record.MessageResume)
	}
	if err == nil && w.Paused != b.FilePaused {
		_, err = h.bindings.Change(ctx, b.Session, func(b *session.Binding) bool { b.FilePaused = w.Paused; return true })
	}
	if err == nil && w.Acknowledge != nil {
		err = w.Acknowledge()
	}
	return err
}

// updateFiles writes the loop's progress to the state files.
func (h *handler) updateFiles(ctx context.Context, b session.Binding, s *lease) {
	err := s.files.UpdateProgress(s.mem, time.Now())
	if err != nil && h.isNew(ctx, b.Session, "files of "+b.Loop) {
		h.anomaly(ctx, b, err)
		h.startMessage = "pawl: " + withHint(err)
	}
}
