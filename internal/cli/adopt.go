package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/hook"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/narrate"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/session/place"
	"github.com/pawl-dev/pawl/internal/statefile"
	"github.com/pawl-dev/pawl/internal/term"
)

// adopt makes a loop of another tool's files; where it may not, why says so,
// unless they are none of this session's.
func (w *wish) adopt(ctx context.Context, r hook.BeginRequest, a *app) (ok bool, why string, err error) {
	f, known := statefile.FormatByName(r.Format)
	if !known {
		return false, "", failure.New(failure.Usage, "", "adopt %s: there is no format %q", r.Adopt, r.Format)
	}
	w.File, w.Format = absIn(w.Project, filepath.FromSlash(r.Adopt)), f.Name()
	p, err := f.Propose(w.File, place.At(w.Project, a.env), statefile.SessionInfo{
		SessionID: r.Session, SessionStarted: r.Started, Now: time.Now(), Unattended: r.Unattended,
		ByAgent: func(string, ...string) bool { return r.ByAgent },
		Tracked: trackedBy(ctx),
	})
	if err != nil || p.Skip || p.Refused != "" {
		return false, p.Refused, err
	}
	id, err := a.follower(w.File)
	if err != nil || id != "" {
		return false, fmt.Sprintf("loop %s follows it; pawl status %[1]s tells how it stands", id), err
	}
	w.asks(p)
	w.AdoptsFile = true
	return true, "", nil
}

// trackedBy asks git whether it tracks a file.
func trackedBy(ctx context.Context) func(path string) (bool, error) {
	return func(path string) (bool, error) { return git.Tracks(ctx, filepath.Dir(path), filepath.Base(path)) }
}

// adoptNamed makes a loop of another tool's files where the one word of the wish names
// them, however old they are; what else was typed holds against what they say. Other
// words it leaves alone.
func (w *wish) adoptNamed(ctx context.Context, a *app) error {
	f, file, at := a.stateFile(w.Project, w.Dir, w.Words)
	if f == nil {
		return nil
	}
	handover := w.Handover // it takes the user's own word
	p, err := f.Propose(file, at, statefile.SessionInfo{
		SessionID: w.Session.Session, SessionStarted: time.Unix(0, 0), Now: time.Now(), Unattended: w.Session.Unattended,
		Tracked: trackedBy(ctx),
	})
	if err != nil {
		return err
	}
	name := a.near(file)
	id, err := a.follower(file)
	switch {
	case err != nil:
		return err
	case id != "":
		return failure.New(failure.Usage, fmt.Sprintf("pawl status %s tells how it stands", id), "loop %s follows %s already", id, name)
	case p.Refused != "":
		return failure.New(failure.Usage, "", "%s", p.Refused)
	case p.Skip:
		return failure.New(failure.Usage, "see its fields for status and session", "%s starts no loop: it has ended, or belongs to another session", name)
	}
	w.Words, w.File, w.Format = nil, file, f.Name()
	w.asks(p)
	w.Handover = handover
	return nil
}

// stateFile is the state file of another tool that a lone word names, with its format
// and the project as that is to see it; no format where the word names none.
func (a *app) stateFile(project, dir string, words []string) (statefile.Format, string, place.Project) {
	p := place.At(cmp.Or(project, a.root()), a.env)
	if len(words) != 1 || words[0] == "" {
		return nil, "", p
	}
	return statefile.FormatOfPath(filepath.Clean(absIn(dir, words[0])), p)
}

// asks takes over what another tool's files ask for.
func (w *wish) asks(p statefile.Proposal) {
	w.Text, w.CountedIterations, w.remark = p.Prompt, p.CountedIterations, p.StartMessage
	w.Handover, w.Isolation, w.Tries = p.Handover, p.Isolation, p.InSessionTries
	if p.Verify != "" && w.Verify == "" {
		w.Verify, w.VerifyFrom, w.VerifyTimeout, w.VerifyDir = p.Verify, w.File, p.VerifyTimeout, p.VerifyDir
	}
	for key, v := range map[string]struct {
		value any
		given bool
	}{
		"plan":           {p.Plan, p.Plan != ""},
		"kind":           {string(p.Kind), p.Kind != ""},
		"every":          {p.Every, p.Every > 0},
		"max_iterations": {p.MaxIterations, p.MaxGiven},
		"max_duration":   {p.MaxDuration, p.DurationGiven},
		"promise":        {p.Promise, p.Promise != ""},
	} {
		if _, typed := w.Flags[key]; v.given && !typed {
			w.Flags[key] = v.value
		}
	}
}

// follower is the loop that has not ended and follows a state file already, ""
// for none.
func (a *app) follower(path string) (string, error) {
	file, _ := os.Stat(path) // it need not be there: formats may make theirs
	listed, err := record.List(a.store)
	if err != nil {
		return "", err
	}
	for _, l := range listed {
		spec, err := record.ReadSpec(l.Loop)
		if err != nil || l.Summary.Outcome != "" || spec.CompatFile == "" {
			continue
		}
		other := absIn(l.Summary.Root, filepath.FromSlash(spec.CompatFile))
		if info, err := os.Stat(other); other == path || err == nil && file != nil && os.SameFile(file, info) {
			return l.Loop.ID, nil
		}
	}
	return "", nil
}

// adoption says, once and in few lines, that another tool's files are a loop of
// Pawl's now: the user did not ask for one by name.
func adoption(p *launch.Prepared, begun *launch.SessionLoop, remark string) string {
	s, id := p.Spec, begun.Loop.ID
	lives := "lives on Pawl's machine now"
	if begun.Memory.State.Phase == loop.Ended {
		lives = beginsWords(begun.Memory.State)
	}
	lines := []string{
		fmt.Sprintf("loop %s %s, from %s: ! pawl status %[1]s, ! pawl stop %[1]s", id, lives, cmp.Or(s.CompatFile, s.Plan)),
		judgedWords(p, begun) + " · limits " + limits(s.Policy.Limits),
	}
	if s.Policy.Handover {
		lines = append(lines, handoverWords(s.Policy))
	} else if words := isolationWords(s); words != "" {
		lines = append(lines, "tries "+words)
	}
	if remark != "" {
		lines = append(lines, remark)
	}
	for i, line := range lines {
		lines[i] = term.Clean(plan.OneLine(line, 0))
		if i > 0 {
			lines[i] = "  " + lines[i]
		}
	}
	return strings.Join(lines, "\n")
}

// judgedWords says which gates an adopted loop has.
func judgedWords(p *launch.Prepared, begun *launch.SessionLoop) string {
	switch words := gatesWords(p.Spec.Verification, begun); {
	case p.Spec.Policy.Kind != loop.Change:
		return narrate.Kind(p.Spec.Policy)
	case len(words) > 0:
		return "gate " + strings.Join(words, ", ")
	case len(p.Suggested) > 0:
		return "gate " + noGate + " (gates = [\"" + p.Suggested[0] + "\"] in pawl.toml)"
	}
	return "gate " + noGate + " (gates in pawl.toml name commands that must pass)"
}
