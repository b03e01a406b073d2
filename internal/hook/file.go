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

// A loop that came out of another tool's files keeps them up to date, for the
// scripts that people have around them.

// adoptFile looks for such files and has a loop made of the first that are for
// this session. It returns session.ErrNone where there are none; why others are
// left alone is said once. What will be there at the next stop, and is none of the
// session's, is not looked into again (package front).
func (h *hook) adoptFile(ctx context.Context) (session.Binding, error) {
	none, p := session.Binding{}, place.At(h.project(), h.Env)
	glance, mine := p.Glance(h.now), false
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
			glance = ""
		}
		var begun Begun
		if err == nil {
			if !mine {
				mine, err = h.sessions.Once(ctx, h.p.Session, "adopts at "+h.p.stopID())
			}
			switch {
			case mine:
				begun, err = h.adopt(ctx, BeginRequest{Adopt: path, Format: f.Name(), ByAgent: byAgent})
			case err == nil:
				return none, session.ErrNone // Pawl is installed twice: the other one does
			}
		}
		if err != nil && h.news(ctx, h.p.Session, err.Error()) {
			news = append(news, whyNot(p.Root, path, err))
		}
		if begun.Loop != "" {
			h.opening = begun.Message
			if len(news) > 0 {
				h.opening = "pawl: " + strings.Join(append(news, begun.Message), "\n")
			}
			return h.sessions.Find(h.p.Session)
		}
	}
	if err := place.Of(h.Env.PawlHome).Look(h.p.Session, glance); err != nil {
		return none, err
	}
	if len(news) == 0 {
		return none, session.ErrNone
	}
	why := errors.New("no loop begins: " + strings.Join(news, "\n"))
	if h.Env.Session.Unattended {
		return none, errors.Join(why, place.Of(h.Env.PawlHome).KeepWords(h.p.Session, "pawl: "+why.Error()+"\n"))
	}
	return none, why
}

// proposal is what another tool's files ask for, and whether it had to be known,
// and is so, that the agent may have written them; an error says why no session may
// follow them. What only git can tell is left to whoever begins the loop.
func (h *hook) proposal(f statefile.Format, path string, p place.Project) (made statefile.Proposal, byAgent bool, err error) {
	made, err = f.Propose(path, p, statefile.Circumstances{
		SessionID: h.p.Session, SessionStarted: h.sessionBegan(), Now: h.now, Unattended: h.Env.Session.Unattended,
		Tracked: func(string) (bool, error) { return false, nil },
		ByAgent: func(spare string, names ...string) bool {
			byAgent = h.byAgent(spare, names)
			return byAgent
		},
	})
	if err == nil && made.Refused != "" {
		err = errors.New(made.Refused)
	}
	return made, byAgent, err
}

// news tells whether something was not said in a session yet. Where that cannot be
// told, it is said once too often.
func (h *hook) news(ctx context.Context, id, what string) bool {
	first, err := h.sessions.Once(ctx, id, what)
	return first || err != nil
}

// adopt has a loop made of another tool's files. An error says why none is; there
// is neither where they are none of this session's after all.
func (h *hook) adopt(ctx context.Context, q BeginRequest) (Begun, error) {
	begun, err := h.begin(ctx, q)
	if err == nil && begun.Loop == "" && begun.Message != "" {
		err = errors.New(begun.Message)
	}
	if err != nil {
		return Begun{}, err
	}
	return begun, nil
}

// whyNot says why no loop is made of a file, or of one beside it: in paths that fit
// on a line, and naming the file that is meant.
func whyNot(root, path string, err error) string {
	why := strings.ReplaceAll(withHint(err), root+string(filepath.Separator), "")
	if named := inProject(root, path); !strings.Contains(why, filepath.ToSlash(filepath.Dir(named))) {
		return named + ": " + why
	}
	return why
}

// inProject is a path for people: relative to the project where it lies in it.
func inProject(root, path string) string {
	if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// files are those of another tool's that the loop keeps up to date, if it does.
func files(b session.Binding, s *seat) statefile.Files {
	return statefile.Of(b.Root, s.loop.Dir, s.spec)
}

// fileSays passes on what the person, or another process, did to the files: it
// reaches the machine like words from another terminal, in their order. Files that
// cannot be read are kept, and said to be so.
func (h *hook) fileSays(ctx context.Context, s *seat, b session.Binding) error {
	w, err := files(b, s).Hear(time.Now())
	if err != nil {
		if h.news(ctx, b.Session, err.Error()) {
			s.note(loop.Anomaly, "what cannot be read is kept as it is: "+err.Error())
			h.opening = "pawl: " + withHint(err)
		}
		return nil
	}
	for _, n := range w.Notes {
		if err := s.loop.Post("file-"+n.ID, record.Message{Kind: record.MessageNote, Text: h.redact()(n.Text)}); err != nil {
			return err
		}
	}
	// The id of what is no text is new each time: said twice it does no harm.
	said := func(kind string) error {
		return s.loop.Post(fmt.Sprintf("file-%s-%d", kind, time.Now().UnixNano()), record.Message{Kind: kind, Text: w.Stop})
	}
	switch {
	case w.Stop != "":
		s.note(loop.Info, w.Stop+": the loop is cancelled")
		err = said(record.MessageStop)
	case w.Held && !b.Held:
		err = said(record.MessagePause)
	case b.Held && !w.Held && (s.mem.State.Phase == loop.Paused || s.mem.State.Pause):
		err = said(record.MessageResume)
	}
	if err == nil && w.Held != b.Held {
		_, err = h.sessions.Change(ctx, b.Session, func(b *session.Binding) bool { b.Held = w.Held; return true })
	}
	if err == nil && w.Heard != nil {
		err = w.Heard()
	}
	return err
}

// filesGoOn brings the files up to date when a turn is given. Where they cannot
// be, the turn is given all the same, and the person is told once.
func (h *hook) filesGoOn(ctx context.Context, b session.Binding, s *seat) {
	err := files(b, s).GoesOn(s.mem, time.Now())
	if err != nil && h.news(ctx, b.Session, "files of "+b.Loop) {
		h.anomaly(ctx, b, err)
		h.opening = "pawl: " + withHint(err)
	}
}
