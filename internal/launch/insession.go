package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/core/shell"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/session"
	"github.com/pawl-dev/pawl/internal/store"
)

// DefaultIterations is the limit of a loop in a session, unless the user sets one.
const DefaultIterations = 25

// SessionRequest is a user's request for a loop in their session.
type SessionRequest struct {
	Request
	Project           string      // project folder of the session, absolute; "": Dir
	Session           UserSession // the session that gets the loop
	Verify            string      // command whose success is the goal; no claim is needed
	VerifyGates       bool        // the success of the configured gates is the goal
	Commit            bool        // commit verified work
	File              string      // another tool's state file, absolute; "": none
	Format            string      // name of the file's statefile.Format
	AdoptsFile        bool        // the loop starts because of File alone, which is inspected after each turn
	CountedIterations int         // iterations that File counted before this loop

	Handover      bool              // the loop may continue in fresh sessions
	Isolation     *record.Isolation // limits of isolated tries; nil: there are none
	Tries         int               // failed tries in the session before an isolated one; 0: as configured
	VerifyFrom    string            // file that names Verify, absolute, which must be trusted; "": the user typed it
	VerifyTimeout time.Duration     // 0: the default
	VerifyDir     string            // folder that Verify runs in, absolute; "": the root

	OnReady func(*SessionLoop) error // called before the loop lives in the session; may be nil
	Remark  string                   // for the user, when the loop starts
}

// UserSession is a user's session, as far as it is known when a loop starts in it.
type UserSession struct {
	Session      string // the client's id; "" if the client does not tell it
	Client       int    // process id of the client; 0: unknown
	AncestorPIDs []int  // if the session is unknown: processes of which one is the client
	Prompt       string // id of the prompt that begins the loop; "": unknown
	Unattended   bool   // no user is at the session
	Responder    string // the installation that began the loop, see session.Binding
}

// PrepareInSession is Prepare for a loop in a user's session. It accepts uncommitted
// changes, works without git, and refuses to begin beside another loop.
func PrepareInSession(ctx context.Context, q SessionRequest) (*Prepared, error) {
	root, repo, err := q.openWorkTree(ctx)
	if err != nil {
		return nil, err
	}
	q.addVerifyGate()
	if from, ok := parseIssues(q.Dir, q.Words); ok && q.Text == "" {
		return nil, failure.New(failure.Usage, "pawl run "+shell.QuoteCommand([]string{from.String()}), "a loop in a session cannot work on issues")
	}
	p, err := resolveRequest(ctx, q.Request, root)
	if err != nil {
		return nil, err
	}
	p.adoptsFile = q.AdoptsFile
	p.runTypedGatesIn(q.Request)
	if err := p.verifyGate(q); err != nil {
		return nil, err
	}
	if err := p.inspect(ctx, repo); err != nil {
		return nil, err
	}
	if err := p.specInSession(ctx, q); err != nil {
		return nil, err
	}
	switch {
	case !q.Commit:
		return p, nil
	case p.Repo == nil:
		return p, failure.New(failure.Usage, `make one: git init && git add . && git commit -m "start"`, "--commit needs a git repository with a commit")
	case p.Status.Detached:
		return p, failure.New(failure.Usage, "switch to a branch, or leave out --commit", "HEAD is detached")
	}
	return p, p.Repo.Identity(ctx)
}

// openWorkTree returns git's work tree that contains the project folder, or the folder
// itself if there is no repository with a commit.
func (q SessionRequest) openWorkTree(ctx context.Context) (root string, repo *git.Repo, err error) {
	dir := cmp.Or(q.Project, q.Dir)
	repo, err = q.open(ctx, dir)
	if unborn, ok := errors.AsType[*git.NoCommitError](err); ok {
		return unborn.Root, nil, refuseHome(unborn.Root, q.Env.Home, q.Env.PawlHome)
	}
	if _, ok := errors.AsType[*git.NoRepoError](err); ok {
		root = record.ResolvePath(dir)
		return root, nil, refuseHome(root, q.Env.Home, q.Env.PawlHome)
	}
	if err != nil {
		return "", nil, err
	}
	return repo.Root(), repo, refuseHomeInWorkTree(ctx, repo, q.Env.PawlHome)
}

// refuseHome refuses a root that contains the home folder or Pawl's own state, since
// snapshots are taken of all of it.
func refuseHome(root, home, state string) error {
	const hint = "start it in a project folder"
	switch {
	case contains(root, home) && contains(record.ResolvePath(home), root):
		return failure.New(failure.Usage, hint, "%s is your home folder, not a project", root)
	case contains(root, home):
		return failure.New(failure.Usage, hint, "%s is not a project: it contains your home folder", root)
	case contains(root, state):
		return failure.New(failure.Usage, hint, "%s is not a project: it contains Pawl's state (%s)", root, state)
	}
	return nil
}

// contains reports whether a path, if any, is the folder or inside it.
func contains(folder, path string) bool {
	_, inside := relativeTo(folder, path)
	return inside && path != ""
}

// addVerifyGate adds the command that is to succeed as a gate, and as the goal if there
// is no other.
func (q *SessionRequest) addVerifyGate() {
	if q.Verify == "" {
		return
	}
	q.Flags = maps.Clone(q.Flags)
	if q.Flags == nil {
		q.Flags = map[string]any{}
	}
	gates, _ := q.Flags["gates"].([]string)
	q.Flags["gates"] = append(slices.Clip(gates), q.Verify)
	if _, plan := q.Flags["plan"]; len(q.Words) == 0 && !plan {
		q.Text = cmp.Or(q.Text, "Make this command succeed: "+q.Verify)
	}
}

// RefuseInSession returns why the loop cannot begin in this session, or nil.
func (p *Prepared) RefuseInSession(ctx context.Context, in UserSession) error {
	return cmp.Or(p.refusalsInSession(ctx, in)...)
}

// refusalsInSession is refusals for BeginInSession.
func (p *Prepared) refusalsInSession(ctx context.Context, in UserSession) []error {
	all := []error{p.refuseOtherLoop(in), p.refuseUnconfined(), p.refuseDirtyHere(), p.refuseUntrusted()}
	return slices.Concat(all, missingGatePrograms(p.Spec, p.root, p.env), p.gitLocks(ctx))
}

// refuseDirtyHere is refuseDirty for a session, which needs a clean tree only to commit.
func (p *Prepared) refuseDirtyHere() error {
	dirty := p.dirty()
	if p.Spec.NoCommit || len(dirty) == 0 || p.Settings.AllowDirty {
		return nil
	}
	return failure.New(failure.Usage, "commit them first; or leave out --commit, then nothing is committed",
		"the work tree has changes that are not committed (%s)", plan.Few(dirty, 5))
}

// refuseConflicts looks for other loops, and refuses to begin if one uses the session or
// the work tree.
func (p *Prepared) refuseConflicts(ctx context.Context, in UserSession) (err error) {
	if p.Conflicts, err = findConflicts(ctx, p); err != nil {
		return err
	}
	return p.refuseOtherLoop(in)
}

// refuseOtherLoop refuses to begin if another loop uses the session or the work tree.
func (p *Prepared) refuseOtherLoop(in UserSession) error {
	if b, err := session.Open(p.Home).Find(in.Session); err == nil && !b.LoopMoved && b.Loop != p.loop && p.isActive(b.Loop) {
		return loopHereError(b.Loop)
	}
	b := p.Conflicts
	switch {
	case b.InSession != "" && b.Session == in.Session && in.Session != "":
		return loopHereError(b.InSession)
	case b.InSession != "":
		return failure.New(failure.Usage, b.sessionHint(), "loop %s %s", b.InSession, b.sessionText())
	case b.Running != "":
		return failure.New(failure.Usage, fmt.Sprintf("pawl status %s shows it; pawl stop %[1]s ends it", b.Running),
			"loop %s runs here", b.Running)
	}
	return nil
}

// loopHereError says which loop the session has.
func loopHereError(id string) error {
	return failure.New(failure.Usage, fmt.Sprintf("it continues at the end of your next turn;  ! pawl stop %s  ends it", id),
		"a loop runs in this session: %s", id)
}

// isActive reports whether the loop of a session's binding has begun and has neither
// ended nor left. The session may not know yet.
func (p *Prepared) isActive(id string) bool {
	m, _, err := record.Load(store.Open(p.Home).Loop(id))
	return err == nil && m.State.Phase != "" && m.State.Phase != loop.Ended && (m.State.InSession || m.State.Phase == loop.New)
}

// UsesDefaultLimit reports whether the user set no limit of iterations.
func (p *Prepared) UsesDefaultLimit() bool { return !p.Settings.Set("max_iterations") }
