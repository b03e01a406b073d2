package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/core/shell"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/session"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/term"
)

// findLoop returns the loop that ref names. Without a reference it is the loop of this session, else
// the newest here, ended or not: reading one is always safe.
func (a *app) findLoop(ref string) (*store.Loop, error) {
	if ref == "" {
		if l, ok := a.sessionLoop(a.env.Session.ID); ok {
			return l, nil
		}
		ref = "."
	}
	l, err := a.store.Resolve(ref, a.root())
	if ref == "." {
		l, err = a.skipLoopWithoutWork(l), a.addOtherWorktrees(err)
	}
	return l, err
}

// skipLoopWithoutWork returns the newest loop that had work, if the given one is the newest and had none. A loop
// has none if it runs a plan that is already done.
func (a *app) skipLoopWithoutWork(newest *store.Loop) *store.Loop {
	here, err := a.loopsHere()
	if err != nil || newest == nil || len(here) == 0 || here[0].ID != newest.ID {
		return newest
	}
	for _, sum := range here {
		if sum.Turns > 0 || sum.Outcome != loop.Finished && sum.Outcome != loop.Unverified {
			return a.store.Loop(sum.ID)
		}
	}
	return newest
}

// sessionLoop returns the loop that lives in a session.
func (a *app) sessionLoop(id string) (*store.Loop, bool) {
	b, err := session.Open(a.env.PawlHome).Find(id)
	if err != nil {
		return nil, false
	}
	l, err := a.store.Resolve(b.Loop, a.root())
	return l, err == nil
}

// findUnended returns the loop to act on. Without a reference it is the only one here that has not
// ended; "." is the newest of these.
func (a *app) findUnended(ref string) (*loopinfo.Loop, error) {
	if ref != "" {
		return a.findNewest(ref, "open", func(s *loopinfo.Loop) bool { return !s.HasEnded() })
	}
	s, err := a.find("")
	if err != nil || a.isThisSession(s) {
		return s, err
	}
	open, err := a.unendedHere()
	switch {
	case err != nil:
		return nil, err
	case len(open) > 1:
		return nil, failure.New(failure.Usage, "say which: "+plan.Few(loopNames(open), 4), "%d loops here have not ended", len(open))
	case len(open) == 1:
		if s, err = a.find(open[0].ID); err != nil {
			return nil, err
		}
	}
	return s, requireUnended(s)
}

// findNewest returns the loop for a command that fits only some loops: "." is the newest here that
// fits, or else the newest. It warns of others here that fit, because "." could mean one of them; also
// is the word for these, "" for no warning.
func (a *app) findNewest(ref, also string, fits func(*loopinfo.Loop) bool) (*loopinfo.Loop, error) {
	if ref != "." {
		return a.find(ref)
	}
	here, err := a.loopsHere()
	if err != nil {
		return nil, err
	}
	var found []record.Summary
	for _, sum := range here {
		if s, err := loopinfo.ReadDamaged(a.store.Loop(sum.ID)); err == nil && fits(s) {
			if found = append(found, sum); also == "" {
				break
			}
		}
	}
	if len(found) == 0 {
		return a.find(ref)
	}
	s, err := a.find(found[0].ID)
	if err == nil && len(found) > 1 && !a.isThisSession(s) {
		term.Warnf(a.Err, "takes %s, the newest loop here; also %s: %s", s.ID, also, plan.Few(loopNames(found[1:]), 4))
	}
	return s, err
}

// findResumable returns the loop to continue. Without a reference it is the loop of this session, else
// the newest here that can continue. That is one that has not ended, or the last one if it has work
// left. A running loop comes last, because it continues anyway. If others could be meant, it warns.
func (a *app) findResumable(ref string) (*loopinfo.Loop, error) {
	if ref != "" {
		return a.find(ref)
	}
	s, err := a.find("")
	if err != nil || a.isThisSession(s) {
		return s, err
	}
	open, err := a.unendedHere()
	if err == nil && len(open) == 0 && !s.HasWorkLeft() { // the user must name an older loop: it may be weeks old
		older, err := a.findNewest(".", "", (*loopinfo.Loop).HasWorkLeft)
		if err == nil && older.ID != s.ID {
			term.Warnf(a.Err, "%s is the newest loop here; an older loop has open tasks: pawl resume %s (%s)", s.ID, older.ID, older.Memory.State.Outcome)
		}
	}
	if err != nil || len(open) == 0 {
		return s, err
	}
	others, which := loopNames(open), ""
	if !s.HasEnded() || !s.HasWorkLeft() {
		first := max(0, slices.IndexFunc(open, func(sum record.Summary) bool { return sum.State != "running" }))
		if s, err = a.find(open[first].ID); err != nil {
			return nil, err
		}
		others = slices.Delete(others, first, first+1)
		if first > 0 {
			which = " that is not running"
		}
	}
	if len(others) > 0 {
		term.Warnf(a.Err, "takes %s, the newest loop here%s; also open: %s", s.ID, which, plan.Few(others, 4))
	}
	return s, nil
}

// isThisSession reports whether the loop lives in the session that runs this command.
func (a *app) isThisSession(s *loopinfo.Loop) bool {
	return s.InSession() && !s.HasEnded() && s.Memory.Bound.Session == a.env.Session.ID
}

// loopsHere returns the loops of this work tree, the newest first.
func (a *app) loopsHere() ([]record.Summary, error) {
	root := a.root()
	return a.summaries(func(other string) bool { return other == root })
}

// unendedHere returns the loops of this work tree that have not ended.
func (a *app) unendedHere() ([]record.Summary, error) {
	here, err := a.loopsHere()
	return slices.DeleteFunc(here, func(sum record.Summary) bool { return sum.State == "ended" }), err
}

// loopNames returns the ids of loops, each with its state.
func loopNames(loops []record.Summary) []string {
	var names []string
	for _, sum := range loops {
		names = append(names, fmt.Sprintf("%s (%s)", sum.ID, sum.State))
	}
	return names
}

// endedError returns an error that a loop has ended, with the command that continues it.
func endedError(s *loopinfo.Loop) error {
	hint := "pawl report " + s.ID + " shows the result"
	if s.HasWorkLeft() {
		hint = s.Memory.State.ResumeCommand(s.ID) + "  continues with the rest; " + hint
	}
	return failure.New(failure.Usage, hint, "loop %s has ended (%s)", s.ID, s.Memory.State.Outcome)
}

// addOtherWorktrees adds the repository's loops in other worktrees to an error that there is none here.
func (a *app) addOtherWorktrees(err error) error {
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	loops, listErr := a.summaries(record.SameRepository(a.root()))
	if listErr != nil {
		return err
	}
	if len(loops) == 0 {
		if moved := a.movedLoop(); moved.ID != "" {
			back := term.Clean(shell.QuoteCommand([]string{"mv", a.root(), moved.Root}))
			return failure.New(failure.Usage, fmt.Sprintf("loop %s began in %s, which is gone; if that folder is this one, move it back: %s",
				moved.ID, term.Clean(moved.Root), back), "%w", err)
		}
		return err
	}
	var names []string
	for _, sum := range loops {
		names = append(names, fmt.Sprintf("%s (%s, in %s)", sum.ID, loopinfo.StateOrOutcome(sum), sum.Root))
	}
	return failure.New(failure.Usage, "name one of the repository's: "+plan.Few(names, 4), "%w", err)
}

// movedLoop returns the newest loop whose folder is gone and whose first commit is in this repository:
// the folder may have been moved here.
func (a *app) movedLoop() record.Summary {
	const most = 5 // each starts a git process
	gone, err := a.summaries(func(root string) bool {
		_, err := os.Stat(root)
		return errors.Is(err, fs.ErrNotExist)
	})
	if err != nil || len(gone) == 0 {
		return record.Summary{}
	}
	ctx := context.Background()
	repo, err := git.Open(ctx, a.root())
	if err != nil {
		return record.Summary{}
	}
	for _, sum := range gone[:min(most, len(gone))] {
		spec, err := record.ReadSpec(a.store.Loop(sum.ID))
		if err != nil || spec.StartCommit == "" {
			continue
		}
		if _, err := repo.Resolve(ctx, spec.StartCommit+"^{commit}"); err == nil {
			return sum
		}
	}
	return record.Summary{}
}
