// Package runner is the local engine: it performs the actions that core/loop requests
// and sends back their events.
//
// One goroutine (Run) owns the loop. Each event is written to the journal, applied by
// loop.Step, and then the actions are performed: quick ones at once, and the one that
// ends in an event in a separate goroutine, so that messages, signals and limits are
// handled while a turn or a gate runs. If a runner dies, the next one reads the journal
// and performs the pending actions again. Every action may be repeated.
//
// If the loop runs in a user's session, the session's hooks report the turns, and RunInSession
// performs the other actions in short-lived processes with the same code. It runs no turn
// of that session and changes little in the user's tree. handover.go has the handover
// between the two. What may be done to the tree depends on whose tree it is, not on which
// process drives.
//
// perform.go maps actions to methods; turn.go, isolatedturn.go, inspect.go, gates.go,
// commit.go and tree.go implement them; watch.go and statefiles.go receive messages and changes
// of other tools' files; insession.go has what differs in a user's session. Whose a change in the
// tree is, package attribution finds out.
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
	"github.com/pawl-dev/pawl/internal/attribution"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/redact"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
	"github.com/pawl-dev/pawl/internal/workplan"
)

// Runner drives one loop. The files that use its embedded structs define them.
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
	MachineClock func() time.Time // nil = time.Now

	journalState
	controlState
	turnState
	treeState
	mutationTesting
	authors *attribution.Tracker
	plan    *workplan.Plan // nil before open
	// tickedWhileIdle are tasks that the user ticked while the loop was paused or had ended, for the event that continues it.
	tickedWhileIdle []string
}

// Confinement is the sandbox of the agent, and the folders that are closed to it.
type Confinement struct {
	Prefix       []string        // argv put before the agent's, see agent.Options
	Gaps         []string        // what the sandbox does not prevent on this machine
	Sandbox      memory.Sandbox  // the sandbox that Prefix starts
	RefusedHosts func() []string // returns the hosts that the sandbox has refused so far; may be nil
	StateDir     string          // Pawl's own folder, closed to the agent
	HomeDir      string          // the user's
}

// StartOptions say how a runner begins to drive the loop.
type StartOptions struct {
	Reopen     bool        // continue a loop even if it has ended
	NewLimits  loop.Limits // limits of a reopened loop; 0: unchanged
	FirstEvent loop.Event  // first event of RunInSession, if it has a payload: HandedOver to the session, which takes the loop or keeps it
}

// journalState is the state that the journal gives.
type journalState struct {
	mem     memory.Memory
	mark    journal.Mark
	clock   record.Clock
	unsaved bool // the last snapshot could not be written
}

// controlState is the state of Run's goroutine.
type controlState struct {
	inbox         chan func(context.Context) error // functions to call in Run's goroutine
	action        *runningAction                   // the last action that ends in an event
	inSession     bool                             // whether a user's session has the loop: its hooks report the turns
	filesPaused   bool                             // another tool's files pause the loop
	lastFileError string                           // last error of these files
	cancelCause   string                           // cause for cancelling the loop at once, see End
}

// turnState is the state of the agent's turns. Only the running action uses it.
type turnState struct {
	session         agent.Session      // its process may still run
	turnSession     memory.Session     // session after the last turn; journalled with the turn's event
	contextCount    int                // contexts that the session has had
	acceptedMessage string             // last commit message that the user's hooks accepted
	hookRefusal     hookRefusal        // last refusal of a commit by the user's hooks
	heading         string             // heading of the next prompt, from another tool's file
	freshRefusals   int                // consecutive failures to get a fresh context
	turnMessages    chan agent.Message // messages for the running turn
	sentMessages    map[string]bool    // ids of the messages that were sent
	hasToolClaim    atomic.Bool        // the agent has made a claim by a tool in the running turn
	guard           guardState
}

const sweepGrace = 2 * time.Second

// Run drives the loop until it has ended or a user's session takes it over (phase
// loop.HandingOver), and returns the last state. It continues a loop that has begun before,
// also from a session. A loop that has ended is continued only with Reopen.
func (r *Runner) Run(ctx context.Context) (loop.State, error) {
	defer r.Repo.WatchFiles()()
	return r.drive(ctx, r.begin, func() bool {
		p := r.mem.State.Phase
		return p == loop.Ended || p == loop.HandingOver
	})
}

// begin takes over the loop and applies the first event.
func (r *Runner) begin(ctx context.Context) error {
	first, err := r.takeOver(ctx)
	if err != nil {
		return err
	}
	// Resuming a loop ends a pause, but a pause that the user requested before a handover
	// stays.
	goesOn := first.Kind() != loop.KindHandedOver || r.mem.State.Phase == loop.Paused
	r.filesPaused = r.mem.State.Phase == loop.Paused
	if err := r.recordSandbox(); err != nil {
		return err
	}
	if err := r.receiveNotes(ctx); err != nil {
		return err
	}
	// The edits take effect before the first turn. Their messages count once.
	if first.QueuedEdits, err = record.PendingEdits(r.Loop); err != nil {
		return err
	}
	if err := r.step(ctx, first); err != nil {
		return err
	}
	for _, gap := range r.Gaps {
		r.note(loop.Warning, "confined, but here "+gap)
	}
	if r.mem.State.Phase == loop.Paused && goesOn {
		return r.step(ctx, loop.Event{Payload: loop.Resumed{}})
	}
	return nil
}

// drive calls begin and then runs the event loop until isDone.
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
	timer := time.NewTimer(maxSleep) // fires at the time limit
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

// open reads the journal and freezes the plan.
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
	r.authors = attribution.New(attribution.Options{
		Loop: r.Loop, Repo: r.Repo, InSession: r.inSession, KnownFiles: r.knownFiles,
	})
	r.clock.Machine = r.MachineClock
	r.clock.AdvanceTo(mem.State.Now)
	if r.Repo != nil {
		r.Repo.LoadTrustedIndex(filepath.Join(r.Loop.Dir, "index.sum"))
	}
	if corrupt != nil {
		r.note(loop.Anomaly, "the journal is damaged; Pawl uses the part before the damage: "+corrupt.Error())
	}
	if r.mem.Base.Commit == "" {
		r.mem.Base.Commit = r.Spec.StartCommit
	}
	if err := r.updateProtected(); err != nil {
		return err
	}
	r.plan = r.newPlan()
	return r.plan.Open()
}

// step handles one event: it journals it, applies it to the state machine and performs the
// actions. The state machine gets the event without secrets, as in the journal.
func (r *Runner) step(ctx context.Context, e loop.Event) error {
	switch p := e.Payload.(type) {
	case loop.Resumed:
		if r.mem.State.Phase != loop.Paused {
			break
		}
		if err := r.adoptIdleEdit("while the loop was paused"); err != nil {
			return err
		}
		p.Added, p.Ticked = r.plan.NewTasks(r.mem.State.Tasks), r.tickedWhileIdle
		e.Payload = p
	case loop.Reopened:
		p.Added, p.Ticked = r.plan.NewTasks(r.mem.State.Tasks), r.tickedWhileIdle
		e.Payload = p
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
		if err := r.action.cancelAndWait(); err != nil { // a wait that the pause replaces
			return err
		}
	}
	if !slices.ContainsFunc(acts, isRepeatable) {
		if err := r.Owner.Sync(); err != nil {
			return fmt.Errorf("journal %s: %w", e.Kind(), err)
		}
	}
	return r.act(ctx, acts)
}

// apply journals an event and applies it to the state machine. It returns the actions.
func (r *Runner) apply(e loop.Event) ([]loop.Action, error) {
	if err := r.recordRefusedHosts(); err != nil {
		return nil, err
	}
	e, kept, err := record.Event(r.clock.Stamp(e), r.redactFunc())
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", e.Kind(), err)
	}
	if err := r.appendRecord(memory.TypeEvent, kept); err != nil {
		return nil, fmt.Errorf("journal %s: %w", e.Kind(), err)
	}
	acts := r.mem.Apply(e)
	if memory.CompletesAttribution(e, r.mem.State) {
		if err := r.saveAttribution(); err != nil {
			return nil, err
		}
	}
	if e.Kind() == loop.KindApproved || e.Kind() == loop.KindRejected {
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

// act performs actions. An action that fails ends the loop, unless this process is ending or
// the action is stuck.
func (r *Runner) act(ctx context.Context, acts []loop.Action) error {
	for _, a := range acts {
		if err := r.perform(ctx, a); err != nil {
			if ctx.Err() != nil || errors.Is(err, errStuck) {
				return err
			}
			return r.step(ctx, loop.Event{ActionID: a.ID, Payload: loop.Faulted{Error: err.Error(), Hint: failure.Hint(err)}})
		}
	}
	return nil
}

// redactFunc returns the function that removes secrets from text, or nil.
func (r *Runner) redactFunc() func(string) string {
	if r.Redact == nil {
		return nil
	}
	return r.Redact.String
}

// appendRecord journals a record without secrets.
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

// note journals and displays a message.
func (r *Runner) note(level loop.Level, text string) {
	r.recordNote(memory.Note{Level: level, Text: text})
}

// recordNote journals and displays a note. It must run in Run's goroutine.
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

// sendEvent passes an event to Run's goroutine.
func (r *Runner) sendEvent(ctx context.Context, e loop.Event) {
	r.enqueue(ctx, func(ctx context.Context) error { return r.step(ctx, e) })
}

// enqueue passes a function to Run's goroutine, which owns the memory.
func (r *Runner) enqueue(ctx context.Context, do func(context.Context) error) {
	select {
	case r.inbox <- do:
	case <-ctx.Done():
	}
}
