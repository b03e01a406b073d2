// Package runner is the local engine: it performs what core/loop decides and
// reports back what came of it.
//
// One goroutine (Run) owns the loop. Each event goes to the journal first, then
// through loop.Step, then the actions are performed: the quick ones at once,
// the one that asks for an answer in a goroutine of its own, so that messages,
// signals and limits are heard while a turn or a gate runs. The answer is the
// next event. A runner that dies is replaced by another that folds the journal
// and performs the pending actions once more; all of them bear that.
//
// Where the loop lives in a user's session, its hooks report the turns and
// Attend does the rest, in processes that come and go: the same steps, by the
// same code, but no turn of that session is run and little is done to the user's
// tree. A loop moves between the two as the machine says (handover.go); what is
// done to the tree depends on whose it is, not on who drives.
//
// perform.go maps actions to methods; turn.go, isolatedturn.go, inspect.go, gates.go, commit.go
// and tree.go hold them; watch.go and files.go hear the outside; attend.go and
// calls.go are what differs in a user's session.
package runner

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/planfile"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/redact"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

// Runner drives one loop. Its parts stand where what they are for is done.
type Runner struct {
	Loop      *store.Loop
	Owner     *store.Owner
	Spec      record.Spec
	Repo      *git.Repo // of the work tree the agent works in
	Agent     agent.Agent
	Tools     agent.Tools // for the agent, nil = none
	Verify    Verifier
	Protected ProtectedFiles
	Reviewer  Reviewer // asked where there are review gates
	Redact    *redact.Redactor
	Callbacks
	Confinement
	StartOptions
	// FileTimeTolerance is how near a new file's time may be to the agent's work to count as
	// made by it; 0 = a second, as some file systems keep whole seconds.
	FileTimeTolerance time.Duration
	MachineClock      func() time.Time // nil = time.Now

	journalState
	controlState
	turnState
	treeState
	mutationTesting
	plan  *planfile.File  // as the user wrote it, with Pawl's marks
	plans planfile.Reader // reads it
}

// Confinement is what the agent cannot reach, and how that is held.
type Confinement struct {
	Prefix       []string        // argv put before the agent's, see agent.Options
	Gaps         []string        // what that does not stop here, though it should
	Sandbox      memory.Sandbox  // what that puts up
	RefusedHosts func() []string // the hosts that it has refused so far; may be nil
	StateDir     string          // Pawl's own folder, closed to the agent
	HomeDir      string          // the user's
}

// StartOptions is how a drive begins.
type StartOptions struct {
	Reopen     bool        // go on with a loop that has ended, too
	NewLimits  loop.Limits // what it is given then; what is 0 remains as it was
	FirstEvent loop.Event  // that Attend begins with, if it has a kind: HandedOver to the session, which takes the loop or keeps it
}

// journalState is what the journal tells.
type journalState struct {
	mem   memory.Memory
	mark  journal.Mark
	clock record.Clock
}

// controlState is what Run's goroutine waits for.
type controlState struct {
	inbox         chan func(context.Context) error // what others want done in Run's goroutine
	action        *runningAction                   // the last one that asked for an answer
	inSession     bool                             // this is Attend, see attended
	filesPaused   bool                             // another tool's files say that the loop rests
	lastFileError string                           // what was wrong with these, last
	cancelCause   string                           // cause for which it is cancelled at once, see End
}

// turnState is what the agent's turns have come to. Actions follow one another, so nothing
// but the one under way touches it.
type turnState struct {
	session         agent.Session      // its process may still run
	turnSession     memory.Session     // as the last turn left it: journalled with the turn's answer
	contextCount    int                // it has had
	acceptedMessage string             // last commit message that the user's hooks agreed to
	heading         string             // of the turn that begins, in the words of another tool
	freshRefusals   int                // of fresh contexts by processes, in a row
	turnMessages    chan agent.Message // into the turn under way
	sentMessages    map[string]bool    // ids of those
	hasToolClaim    atomic.Bool        // in the turn under way the agent has claimed something by a tool
	guard           guardState
	tools           tools // what its turns did, and when
}

const sweepGrace = 2 * time.Second

// Run drives the loop until it has ended or a user's session is to go on with
// it (its phase is loop.HandingOver then), and returns its last state. A loop that
// was begun before is taken up where it stands, also out of a session; one that has
// ended stays so unless it is to be reopened.
func (r *Runner) Run(ctx context.Context) (loop.State, error) {
	defer r.Repo.WatchFiles()()
	return r.drive(ctx, r.begin, func() bool {
		p := r.mem.State.Phase
		return p == loop.Ended || p == loop.HandingOver
	})
}

// begin takes the loop up and has it go on.
func (r *Runner) begin(ctx context.Context) error {
	first, err := r.takeOver(ctx)
	if err != nil {
		return err
	}
	if r.mem.HasUnattributed && !r.mem.Attended(r.Spec.Policy) {
		r.tools.update((*authorship.Calls).AddAnyChange) // whoever drove the loop took what it saw with it
	}
	// Taking a loop up is asking it to go on. One that is handed over with the
	// user's word that it is to rest before the next turn rests.
	goesOn := first.Kind != loop.HandedOver || r.mem.State.Phase == loop.Paused
	r.filesPaused = r.mem.State.Phase == loop.Paused
	if err := r.recordSandbox(); err != nil {
		return err
	}
	if err := r.receiveNotes(ctx); err != nil {
		return err
	}
	// They take effect before the first turn. Their messages count once.
	if first.Edits, err = record.PendingEdits(r.Loop); err != nil {
		return err
	}
	if err := r.step(ctx, first); err != nil {
		return err
	}
	for _, gap := range r.Gaps {
		r.note(loop.Warning, "confined, but here "+gap)
	}
	if r.mem.State.Phase == loop.Paused && goesOn {
		return r.step(ctx, loop.Event{Kind: loop.Resumed})
	}
	return nil
}

// drive begins, and does what comes of it until there is no more to do here.
func (r *Runner) drive(ctx context.Context, begin func(context.Context) error, isDone func() bool) (_ loop.State, err error) {
	if r.Observer == nil {
		r.Observer = noObserver{}
	}
	if err := r.open(); err != nil {
		return r.mem.State, err
	}
	defer func() {
		r.noteUnsaved(r.Owner.SaveState(r.mark, r.mem))
		err = errors.Join(err, r.Owner.Sync())
	}()
	r.inbox = make(chan func(context.Context) error, 64)
	timer := time.NewTimer(maxSleep) // of the time limit
	defer timer.Stop()
	if err := r.adoptRestored(ctx); err != nil {
		return r.mem.State, err
	}
	ctx, stop := context.WithCancel(ctx)
	watchers := r.watch(ctx)
	defer func() {
		stop()
		if r.action.cancelAndWait() != nil {
			return // the session may be in use; it ends with this process
		}
		r.pauseMutationTests()
		if err := r.closeSession(); err != nil {
			r.note(loop.Warning, err.Error())
		}
		watchers.Wait()
	}()
	if err := begin(ctx); err != nil {
		return r.mem.State, err
	}
	for !isDone() {
		r.setTimer(timer)
		select {
		case do := <-r.inbox:
			if err := do(ctx); err != nil {
				return r.mem.State, err
			}
		case <-timer.C:
			if err := r.checkDeadline(ctx); err != nil {
				return r.mem.State, err
			}
		case <-ctx.Done():
			return r.mem.State, fmt.Errorf("drive loop %s: %w", r.Loop.ID, ctx.Err())
		}
	}
	return r.mem.State, nil
}

// open folds the journal and copies the protected files.
func (r *Runner) open() error {
	var err error
	if r.Spec.Identity, err = record.ReadIdentity(r.Loop); err != nil {
		return err
	}
	mem, mark, err := record.Load(r.Loop)
	var corrupt *journal.CorruptError
	if err != nil && !errors.As(err, &corrupt) {
		return fmt.Errorf("open loop %s: %w", r.Loop.ID, err)
	}
	r.mem, r.mark, r.untestedCommits = mem, mark, readMutationQueue(r.Loop)
	r.tools.calls.Resolve = record.PathNames
	r.clock.Machine = r.MachineClock
	r.clock.AdvanceTo(mem.State.Now)
	if r.Repo != nil {
		r.Repo.LoadTrustedIndex(filepath.Join(r.Loop.Dir, "index.sum"))
	}
	if corrupt != nil {
		r.note(loop.Anomaly, "the journal is damaged and read as far as it goes: "+corrupt.Error())
	}
	if r.mem.Base.Commit == "" {
		r.mem.Base.Commit = r.Spec.StartCommit
	}
	if err := r.updateProtected(); err != nil {
		return err
	}
	return r.freezePlan()
}

// step takes one event: journal, machine, actions. The machine takes it as it
// stands in the journal, without secrets: what follows from it holds none.
func (r *Runner) step(ctx context.Context, e loop.Event) error {
	if e.Kind == loop.Resumed && r.mem.State.Phase == loop.Paused {
		if err := r.adoptUserEdit("while the loop was paused"); err != nil {
			return err
		}
		e.Added = r.newTasks(r.mem.State.Tasks)
	}
	if e.Kind == loop.Reopened {
		e.Added = r.newTasks(r.mem.State.Tasks)
	}
	was := r.mem.State.Phase
	acts, err := r.apply(e)
	if err != nil {
		return err
	}
	if was == loop.Paused || was == loop.Waiting {
		r.wasIdle.Store(true)
	}
	if r.mem.State.Phase == loop.Paused {
		if err := r.action.cancelAndWait(); err != nil { // a wait that the pause overtook
			return err
		}
	}
	if !slices.ContainsFunc(acts, isRepeatable) {
		if err := r.Owner.Sync(); err != nil {
			return fmt.Errorf("journal %s: %w", e.Kind, err)
		}
	}
	return r.act(ctx, acts)
}

// apply journals an event and has the machine take it. It returns what is to be done.
func (r *Runner) apply(e loop.Event) ([]loop.Action, error) {
	if err := r.recordRefusedHosts(); err != nil {
		return nil, err
	}
	e, kept, err := record.Event(r.clock.Stamp(e), r.redactFunc())
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", e.Kind, err)
	}
	if err := r.appendRecord(memory.TypeEvent, kept); err != nil {
		return nil, fmt.Errorf("journal %s: %w", e.Kind, err)
	}
	acts := r.mem.Apply(e)
	if memory.CompletesAttribution(e, r.mem.State) {
		if err := r.saveAttribution(); err != nil {
			return nil, err
		}
	}
	if e.Kind == loop.Approved || e.Kind == loop.Rejected {
		if err := r.updateProtected(); err != nil {
			return nil, err
		}
	}
	r.saveSnapshot()
	r.Observer.Stepped(r.mem.State, e, acts)
	if r.Notify != nil {
		for _, n := range r.mem.Notices {
			r.Notify(n.ForLoop(r.Loop.ID, r.Spec.Goal(), r.Spec.Root))
		}
	}
	return acts, nil
}

// act performs actions. One that could not be performed at all ends the loop,
// one that was cut off with its owner, or that does not end, does not.
func (r *Runner) act(ctx context.Context, acts []loop.Action) error {
	for _, a := range acts {
		if err := r.perform(ctx, a); err != nil {
			if ctx.Err() != nil || errors.Is(err, errStuck) {
				return err
			}
			return r.step(ctx, loop.Event{Kind: loop.Faulted, ActionID: a.ID, Text: err.Error(), Hint: failure.Hint(err)})
		}
	}
	return nil
}

// redactFunc takes secrets out of text, nil where none is known.
func (r *Runner) redactFunc() func(string) string {
	if r.Redact == nil {
		return nil
	}
	return r.Redact.String
}

// appendRecord journals a record with secrets taken out.
func (r *Runner) appendRecord(kind string, data any) error {
	raw, err := record.Encode(data, r.redactFunc())
	if err != nil {
		return fmt.Errorf("encode %s: %w", kind, err)
	}
	mark, err := r.Owner.AppendSoon(journal.Entry{Type: kind, Data: raw})
	if err != nil {
		return err
	}
	r.mark = mark
	return nil
}

// note journals and shows something worth knowing.
func (r *Runner) note(level loop.Level, text string) {
	r.recordNote(memory.Note{Level: level, Text: text})
}

// recordNote is note for one that says more than its text. In Run's goroutine.
func (r *Runner) recordNote(n memory.Note) {
	if r.Redact != nil {
		n.Text = r.Redact.String(n.Text)
	}
	r.mem.ApplyNote(n)
	if err := r.appendRecord(memory.TypeNote, n); err != nil {
		n.Text += " (not journalled: " + err.Error() + ")"
	}
	r.Observer.Note(n)
}

// sendEvent hands an event to Run's goroutine.
func (r *Runner) sendEvent(ctx context.Context, e loop.Event) {
	r.enqueue(ctx, func(ctx context.Context) error { return r.step(ctx, e) })
}

// enqueue has something done in Run's goroutine, where the memory lives.
func (r *Runner) enqueue(ctx context.Context, do func(context.Context) error) {
	select {
	case r.inbox <- do:
	case <-ctx.Done():
	}
}
