package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/session"
	"github.com/pawl-dev/pawl/internal/store"
)

// Iterations is the limit of a loop in a session where nobody set one.
const Iterations = 25

// AttendRequest is what the user asked for in a session of theirs.
type AttendRequest struct {
	Request
	Project string // the session's project folder, absolute; "" for Dir
	Inside  Inside // the session that the loop is to live in
	Verify  string // command that is to succeed: that is the goal, and no claim is needed
	Green   bool   // the same of the gates there are
	Commit  bool   // commit what is verified
	File    string // another tool's state file, absolute, "" for none
	Format  string // the statefile.Format that it is of
	Adopts  bool   // the loop begins by that file alone, which is looked at after each turn
	Counted int    // iterations that were counted there before this loop

	Handover      bool              // the loop may go on in fresh sessions
	Isolation     *record.Isolation // bounds of tries in a client of their own; nil: there are none
	Tries         int               // failed tries in the session before one of those; 0: as the settings say
	VerifyFrom    string            // file that Verify came from, absolute: it needs trust. "" for the user
	VerifyTimeout time.Duration     // 0 is the usual one
	VerifyDir     string            // folder that Verify runs in, absolute; "" for the root
}

// Inside is a user's session, as far as it is known where a loop begins in it.
type Inside struct {
	Session    string // the client's id of it, "" if the client does not tell
	Client     int    // process id of the client, 0 unknown
	Above      []int  // where the session is not known: processes of which one is the client's
	Prompt     string // id of the prompt that begins the loop, "" unknown
	Unattended bool   // nobody sits there
	Judge      string // which installation began it, see session.Binding
}

// PrepareAttended is Prepare for a loop that is to live in a user's session. It
// takes the work tree as it is, works without git too, and begins nothing over
// another loop.
func PrepareAttended(ctx context.Context, q AttendRequest) (*Prepared, error) {
	root, repo, err := q.place(ctx)
	if err != nil {
		return nil, err
	}
	if err := q.verifies(); err != nil {
		return nil, err
	}
	p, err := decide(q.Request, root)
	if err != nil {
		return nil, err
	}
	p.adopts = q.Adopts
	if err := p.verifyGate(q); err != nil {
		return nil, err
	}
	if err := p.look(ctx, repo); err != nil {
		return nil, err
	}
	if err := p.freezeAttended(ctx, q); err != nil {
		return nil, err
	}
	if q.Commit {
		return p, p.mayCommit(ctx)
	}
	return p, nil
}

// place finds the work tree: that of git which the project folder lies in, or
// else the folder itself. A repository without a commit is none yet.
func (q AttendRequest) place(ctx context.Context) (root string, repo *git.Repo, err error) {
	dir := cmp.Or(q.Project, q.Dir)
	repo, err = q.open(ctx, dir)
	if unborn, ok := errors.AsType[*git.NoCommitError](err); ok {
		return unborn.Root, nil, noHome(unborn.Root, q.Env.Home, q.Env.PawlHome)
	}
	if _, ok := errors.AsType[*git.NoRepoError](err); ok {
		root = resolved(dir)
		return root, nil, noHome(root, q.Env.Home, q.Env.PawlHome)
	}
	if err != nil {
		return "", nil, err
	}
	return repo.Root(), repo, outside(ctx, repo, q.Env.PawlHome)
}

// noHome refuses to take snapshots of a whole home, or of Pawl's own state.
func noHome(root, home, state string) error {
	const hint = "begin it in a project folder"
	switch {
	case holds(root, home) && holds(resolved(home), root):
		return failure.New(failure.Usage, hint, "%s is your home folder, not a project", root)
	case holds(root, home):
		return failure.New(failure.Usage, hint, "%s is not a project: it holds your home folder", root)
	case holds(root, state):
		return failure.New(failure.Usage, hint, "%s is not a project: it holds Pawl's own state (%s)", root, state)
	}
	return nil
}

// holds tells whether a path, if there is one, is a folder or lies in it.
func holds(folder, path string) bool {
	rel, err := filepath.Rel(folder, resolved(path))
	return path != "" && err == nil && filepath.IsLocal(rel)
}

// verifies makes a gate of the command that is to succeed, and a goal where no
// other was given.
func (q *AttendRequest) verifies() error {
	if q.Verify == "" {
		return nil
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
	return nil
}

// mayCommit refuses what commits would need and is not there.
func (p *Prepared) mayCommit(ctx context.Context) error {
	if p.Repo == nil {
		return failure.New(failure.Usage, `make one: git init && git add . && git commit -m "start"`, "--commit needs a git repository with a commit")
	}
	if p.Status.Detached {
		return failure.New(failure.Usage, "switch to a branch, or leave --commit out", "HEAD is on no branch")
	}
	return p.Repo.Identity(ctx)
}

// RefuseAttended says why the loop must not begin in this session, or nil.
func (p *Prepared) RefuseAttended(ctx context.Context, in Inside) error {
	return firstOf(ctx, p.checksAttended(in))
}

// checksAttended are those that Attend makes before anything changes.
func (p *Prepared) checksAttended(in Inside) []check {
	return []check{
		one(func() error { return p.refuseBeside(in) }),
		one(p.refuseUnconfined),
		one(p.refuseDirtyHere),
		one(p.refuseUntrusted),
		func(context.Context) []error { return absentGates(p.Spec, p.root, p.env) },
	}
}

// refuseDirtyHere is refuseDirty where the user's session works, which needs a clean
// tree only to commit.
func (p *Prepared) refuseDirtyHere() error {
	dirty := p.dirty()
	if p.Spec.NoCommit || len(dirty) == 0 || p.Settings.AllowDirty {
		return nil
	}
	return failure.New(failure.Usage, "commit them first; or leave --commit out, then nothing is committed",
		"the work tree has changes that are not committed (%s)", some(dirty))
}

// refuseBeside says which other loop is at work in the session, or in the work
// tree.
func (p *Prepared) refuseBeside(in Inside) error {
	if b, err := session.Open(p.Home).Find(in.Session); err == nil && !b.Moved && b.Loop != p.loop && p.livesHere(b.Loop) {
		return hereAlready(b.Loop)
	}
	b := p.Before
	switch {
	case b.Attended != "" && b.Session == in.Session && in.Session != "":
		return hereAlready(b.Attended)
	case b.Attended != "":
		return failure.New(failure.Usage, b.sessionHint(), "loop %s %s", b.Attended, b.sessionWords())
	case b.Driven != "":
		return failure.New(failure.Usage, fmt.Sprintf("pawl status %s shows it; pawl stop %[1]s ends it", b.Driven),
			"loop %s is at work here", b.Driven)
	}
	return nil
}

// hereAlready says which loop lives in the session.
func hereAlready(id string) error {
	return failure.New(failure.Usage, fmt.Sprintf("it goes on at the end of your next turn;  ! pawl stop %s  ends it", id),
		"a loop is at work in this session: %s", id)
}

// livesHere tells whether the loop that a session is bound to has begun, and
// neither ended nor left: the session may not have heard of it.
func (p *Prepared) livesHere(id string) bool {
	m, _, err := record.Load(store.Open(p.Home).Loop(id))
	return err == nil && m.State.Phase != "" && m.State.Phase != loop.Ended && (m.State.Attended || m.State.Phase == loop.New)
}

// DefaultLimit tells whether nobody set a limit of iterations.
func (p *Prepared) DefaultLimit() bool { return !p.Settings.Set("max_iterations") }
