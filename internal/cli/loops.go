package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
	"github.com/pawl-dev/pawl/internal/term"
)

// loopArg is an optional operand that names a loop.
type loopArg struct {
	Loop string `arg:"" optional:"" help:"id of a loop or its beginning; . = the newest here; default: this session's, else the newest"`
}

// ProvideLoop finds the loop, for the Run method of a command that takes it.
func (l loopArg) ProvideLoop(a *app) (*loopinfo.Loop, error) { return a.find(l.Loop) }

// unendedArg is an optional operand that names a loop to act on.
type unendedArg struct {
	Loop string `arg:"" optional:"" help:"id of a loop or its beginning; . = the newest unfinished loop here; default: the unfinished loop here"`
}

// ProvideLoop finds the loop, for the Run method of a command that takes it.
func (l unendedArg) ProvideLoop(a *app) (*loopinfo.Loop, error) { return a.findUnended(l.Loop) }

// requiredLoopArg is the required form of loopArg, for commands with more operands.
type requiredLoopArg struct {
	Loop string `arg:"" help:"id of a loop or its beginning; . = the newest here"`
}

// ProvideLoop finds the loop, for the Run method of a command that takes it.
func (l requiredLoopArg) ProvideLoop(a *app) (*loopinfo.Loop, error) { return a.find(l.Loop) }

// requiredUnendedArg is the required form of unendedArg, for commands with more operands.
type requiredUnendedArg struct {
	Loop string `arg:"" help:"id of a loop or its beginning; . = the newest unfinished loop here"`
}

// ProvideLoop finds the loop, for the Run method of a command that takes it.
func (l requiredUnendedArg) ProvideLoop(a *app) (*loopinfo.Loop, error) { return a.findUnended(l.Loop) }

// approvalLoopArg is an operand that names a loop that waits for an approval.
type approvalLoopArg struct {
	Loop string `arg:"" help:"id of a loop or its beginning; . = the newest here that waits for your approval"`
}

// ProvideLoop finds the loop, for the Run method of a command that takes it.
func (l approvalLoopArg) ProvideLoop(a *app) (*loopinfo.Loop, error) {
	return a.findNewest(l.Loop, "waiting for you", waitsForApproval)
}

// loopID is the operand of the commands of pawl session.
type loopID struct {
	Loop string `arg:"" help:"id of a loop"`
}

// ProvideStored finds the loop, for the Run method of a command that takes it.
func (l loopID) ProvideStored(a *app) (*store.Loop, error) { return a.store.Resolve(l.Loop, "") }

// find returns the loop that ref names. It warns of a damaged journal and reads it up to the damage.
func (a *app) find(ref string) (*loopinfo.Loop, error) {
	l, err := a.findLoop(ref)
	if err != nil {
		return nil, err
	}
	s, err := loopinfo.Read(l)
	if corrupt, ok := errors.AsType[*journal.CorruptError](err); ok {
		if a.damaged != s.ID { // once for each loop
			term.Warnf(a.Err, "%s; what follows may be incomplete", corrupt)
		}
		s.Damage, a.damaged = corrupt, s.ID
	} else if err != nil {
		return nil, err
	}
	return s, nil
}

// requireUser refuses a command that only a user may run if it comes from a loop: an agent that could
// trust commands or stop its checks would decide about its own work. This only says no; the guard and
// the sandbox enforce it.
func (a *app) requireUser(what string) error {
	id := a.callingLoop()
	if id == "" {
		return nil
	}
	return failure.New(failure.Usage, "say <blocked>reason</blocked> if the work cannot continue without it",
		"this command comes from inside loop %s; only a user may %s", id, what)
}

// callingLoop returns the id of the loop that this process belongs to, "" for none. A command can remove
// the variable from its environment, so the parent processes are checked too. They must have been
// started for a loop of this store, or drive one here. If that is unknown, the variable decides.
func (a *app) callingLoop() string {
	if a.env.Loop != "" {
		return a.env.Loop
	}
	loops, err := a.store.Loops()
	if err != nil || len(loops) == 0 {
		return ""
	}
	markers, above := proc.AncestorMarkers(), proc.AncestorPIDs()
	host, _ := os.Hostname() // no driver has the host ""
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

// root returns the folder that loops here are bound to.
func (a *app) root() string { return git.RootAbove(a.dir) }

// verdict is the result of a check with its exit code, nil for 0.
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
