package cli

import (
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
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
		s, err := a.findNewest(ref, func(s *loopinfo.Loop) bool { return !s.HasEnded() })
		if err != nil || ref != "." || a.isThisSession(s) {
			return s, err
		}
		open, err := a.unendedHere()
		others := slices.DeleteFunc(open, func(sum record.Summary) bool { return sum.ID == s.ID })
		if err == nil && len(others) > 0 { // "." could mean one of them
			term.Warnf(a.Err, "takes %s, the newest loop here; also open: %s", s.ID, plan.Few(loopNames(others), 4))
		}
		return s, nil
	}
	s, err := a.currentLoop()
	if err == nil && s.HasEnded() {
		err = endedError(s)
	}
	return s, err
}

// findNewest returns the loop for a command that fits only some loops: "." is the newest here that
// fits, or else the newest.
func (a *app) findNewest(ref string, fits func(*loopinfo.Loop) bool) (*loopinfo.Loop, error) {
	if ref != "." {
		return a.find(ref)
	}
	here, err := a.loopsHere()
	if err != nil {
		return nil, err
	}
	for _, sum := range here {
		if s, err := loopinfo.ReadDamaged(a.store.Loop(sum.ID)); err == nil && fits(s) {
			return a.find(s.ID)
		}
	}
	return a.find(ref)
}

// findWaiting returns the loop that waits for an approval, as findNewest does. It warns of others here
// that wait too.
func (a *app) findWaiting(ref string) (*loopinfo.Loop, error) {
	s, err := a.findNewest(ref, waitsForApproval)
	if err != nil || ref != "." || a.isThisSession(s) {
		return s, err
	}
	here, err := a.loopsHere()
	if err != nil {
		return nil, err
	}
	var others []string
	for _, sum := range here {
		if other, err := loopinfo.ReadDamaged(a.store.Loop(sum.ID)); err == nil && other.ID != s.ID && waitsForApproval(other) {
			others = append(others, sum.ID)
		}
	}
	if len(others) > 0 {
		term.Warnf(a.Err, "takes %s, the newest loop here that waits for your approval; so do: %s", s.ID, plan.Few(others, 4))
	}
	return s, nil
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
		older, err := a.findNewest(".", (*loopinfo.Loop).HasWorkLeft)
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

// currentLoop returns the loop of this session, or the only one here that has not ended. If all have
// ended, it returns the newest.
func (a *app) currentLoop() (*loopinfo.Loop, error) {
	s, err := a.find("")
	if err != nil || a.isThisSession(s) {
		return s, err
	}
	open, err := a.unendedHere()
	switch {
	case err != nil:
		return nil, err
	case len(open) == 0:
		return s, nil
	case len(open) == 1:
		return a.find(open[0].ID)
	}
	return nil, failure.New(failure.Usage, "say which: "+plan.Few(loopNames(open), 4), "%d loops here have not ended", len(open))
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
