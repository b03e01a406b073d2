package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

// loopArg is how commands name a loop.
type loopArg struct {
	Loop string `arg:"" optional:"" help:"id of a loop or its beginning; . = the newest here; default: this session's, else the newest"`
}

// ProvideLoop finds the loop, for the Run method of a command that takes it.
func (l loopArg) ProvideLoop(a *app) (*subject, error) { return a.find(l.Loop) }

// unendedArg is how commands name a loop that they act on.
type unendedArg struct {
	Loop string `arg:"" optional:"" help:"id of a loop or its beginning; . = the newest unfinished loop here; default: the unfinished loop here"`
}

// ProvideLoop finds the loop, for the Run method of a command that takes it.
func (l unendedArg) ProvideLoop(a *app) (*subject, error) { return a.findUnended(l.Loop) }

// loopWord is the same where more words follow, so that it cannot be left out.
type loopWord struct {
	Loop string `arg:"" help:"id of a loop or its beginning; . = the newest here"`
}

// ProvideLoop finds the loop, for the Run method of a command that takes it.
func (l loopWord) ProvideLoop(a *app) (*subject, error) { return a.find(l.Loop) }

// unendedWord is unendedArg where more words follow.
type unendedWord struct {
	Loop string `arg:"" help:"id of a loop or its beginning; . = the newest unfinished loop here"`
}

// ProvideLoop finds the loop, for the Run method of a command that takes it.
func (l unendedWord) ProvideLoop(a *app) (*subject, error) { return a.findUnended(l.Loop) }

// loopID is how the commands of pawl session name one.
type loopID struct {
	Loop string `arg:"" help:"id of a loop"`
}

// ProvideStored finds the loop, for the Run method of a command that takes it.
func (l loopID) ProvideStored(a *app) (*store.Loop, error) { return a.store.Resolve(l.Loop, "") }

// orphaned is the state of a loop that has not ended and that nobody drives.
const orphaned = "orphaned"

// subject is the loop that a command is about.
type subject struct {
	*store.Loop
	spec   record.Spec
	memory memory.Memory
	mark   journal.Mark // of the record up to which it remembers
	holder store.Holder // who drives it, or drove it last
	alive  bool         // the holder lives
	damage error        // of its journal, nil without
}

// find reads the loop that a user means by ref. A damaged journal is warned
// of, and read as far as it goes.
func (a *app) find(ref string) (*subject, error) {
	l, err := a.findLoop(ref)
	if err != nil {
		return nil, err
	}
	s, err := readSubject(l)
	if corrupt, ok := errors.AsType[*journal.CorruptError](err); ok {
		a.warnDamage(s, corrupt)
	} else if err != nil {
		return nil, err
	}
	return s, nil
}

// readSubject reads how a loop stands now. With a *journal.CorruptError the subject is
// as good as the journal.
func readSubject(l *store.Loop) (*subject, error) {
	spec, err := record.ReadSpec(l)
	if err != nil {
		return nil, err
	}
	s := &subject{Loop: l, spec: spec}
	if s.holder, s.alive, err = l.Holder(); err != nil {
		return nil, err
	}
	s.memory, s.mark, err = record.Load(l)
	if st := &s.memory.State; s.alive && st.EndedAt.IsZero() && !st.StartedAt.IsZero() && time.Now().After(st.Now) {
		st.Now = time.Now() // the journal tells of work once it is done: its time runs meanwhile
	}
	return s, err
}

// readable is readSubject for who shows what there is: as far as the journal can be read.
func readable(l *store.Loop) (*subject, error) {
	s, err := readSubject(l)
	if _, corrupt := errors.AsType[*journal.CorruptError](err); corrupt {
		err = nil
	}
	return s, err
}

// requireUser refuses what only a user may do where the command comes out of a
// loop: an agent that could trust commands or stop its judge would judge itself.
// This is a word, not a wall; what enforces is the guard, and confinement.
func (a *app) requireUser(what string) error {
	id := a.comesFrom()
	if id == "" {
		return nil
	}
	return failure.New(failure.Usage, "say <blocked>reason</blocked> if the work cannot go on without it",
		"this comes out of loop %s, and only a user may %s", id, what)
}

// comesFrom is the id of the loop whose processes this is one of, "" for none. The
// variable is easily taken out of a command's environment, so those above it are
// asked too: whether one was started for a loop that is kept here, or drives one
// that has an agent of its own. Where that cannot be told the variable decides.
func (a *app) comesFrom() string {
	if a.env.Loop != "" {
		return a.env.Loop
	}
	loops, err := a.store.Loops()
	if err != nil || len(loops) == 0 {
		return ""
	}
	markers, above := proc.AncestorMarkers(), proc.AncestorPIDs()
	host, _ := os.Hostname() // "" is nobody's
	for _, l := range loops {
		if slices.Contains(markers, l.ID) {
			return l.ID
		}
		if h, alive, err := l.Holder(); err == nil && alive && h.Host == host && slices.Contains(above, h.PID) {
			return l.ID
		}
	}
	return ""
}

// summary is the loop as scripts see it.
func (s *subject) summary() record.Summary {
	sum := record.Summarize(s.spec, s.memory)
	sum.State = stateWord(sum, s.alive)
	sum.MarkClosedIfGone(proc.Alive)
	return sum
}

// inSession tells whether the loop lives in a user's session, whose hooks drive
// it: there nobody drives it most of the time, and it is not orphaned.
func (s *subject) inSession() bool { return s.memory.Attended(s.spec.Policy) }

func (s *subject) hasEnded() bool { return s.memory.State.Phase == loop.Ended }

// stateWord is the state of a loop, given what its journal says and whether
// somebody drives it.
func stateWord(journalled record.Summary, alive bool) string {
	if !alive && !journalled.Attended && (journalled.State == "running" || journalled.State == "waiting") {
		return orphaned
	}
	return journalled.State
}

// sessionWords says for people where a loop lives.
func sessionWords(sum record.Summary) string {
	switch {
	case !sum.Attended:
		return ""
	case sum.Session == "":
		return " in a session"
	case sum.Closed:
		return " for its session"
	}
	return " in session " + sum.Session[:min(8, len(sum.Session))]
}

// repo opens the work tree that the loop acts on.
func (s *subject) repo(ctx context.Context) (*git.Repo, error) {
	dir := s.spec.WorkTree(s.Loop)
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return nil, failure.New(failure.Usage, "its commits and checkpoints are in the repository still: pawl checkpoints "+s.ID,
			"the work tree of loop %s is gone (%s)", s.ID, dir)
	}
	return launch.Repo(ctx, s.Loop)
}

// worktree is repo for a command that changes the work tree: one of the loop's own that
// was removed, as nothing was left in it, is made again. undo takes that back.
func (s *subject) worktree(ctx context.Context) (repo *git.Repo, undo git.Undo, err error) {
	if s.spec.UsesWorktree {
		return launch.Worktree(ctx, s.Loop, s.memory)
	}
	repo, err = s.repo(ctx)
	return repo, func(context.Context) error { return nil }, err
}

// origin opens the repository that holds what the loop made: checkpoints outlive
// a work tree.
func (s *subject) origin(ctx context.Context) (*git.Repo, error) {
	if s.spec.UsesWorktree {
		return git.Open(ctx, s.spec.Root)
	}
	return s.repo(ctx)
}

// events are those of the journal, in order; damaged records are left out.
func events(records iter.Seq2[journal.Record, error]) iter.Seq[loop.Event] {
	return func(yield func(loop.Event) bool) {
		for r, err := range records {
			var e loop.Event
			if err != nil || r.Type != memory.TypeEvent || json.Unmarshal(r.Data, &e) != nil {
				continue
			}
			if !yield(e) {
				return
			}
		}
	}
}

// root is the folder that loops here are bound to: the work tree's root, or the
// current folder where there is no git. Unlike git.Open it takes repositories in
// any state, since looking at a loop is possible in all of them.
func (a *app) root() string {
	dir := git.RealPath(a.dir)
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// verdict is a result with its exit code, nil for 0.
type verdict struct {
	result any // as JSON
	text   func()
	code   error
}

// conclude prints a verdict and returns its exit code.
func (a *app) conclude(asJSON bool, v verdict) error {
	if !asJSON {
		v.text()
	} else if err := a.printJSON(v.result); err != nil {
		return err
	}
	return v.code
}

// printJSON prints one value as the only output.
func (a *app) printJSON(v any) error {
	out := json.NewEncoder(a.Out)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	if err := out.Encode(v); err != nil {
		return fmt.Errorf("print JSON: %w", err)
	}
	return nil
}
