package launch

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/session"
	"github.com/pawl-dev/pawl/internal/session/place"
	"github.com/pawl-dev/pawl/internal/statefile"
	"github.com/pawl-dev/pawl/internal/store"
)

// adopt makes a loop of another tool's files. If it may not, why says so; why is empty for files of
// another session.
func (q *SessionRequest) adopt(ctx context.Context, r session.BeginRequest) (ok bool, why string, err error) {
	f, known := statefile.FormatByName(r.Format)
	if !known {
		return false, "", failure.New(failure.Usage, "", "adopt %s: there is no format %q", r.Adopt, r.Format)
	}
	q.File, q.Format = AbsPath(q.Project, filepath.FromSlash(r.Adopt)), f.Name()
	p, err := f.Propose(q.File, place.At(q.Project, q.Env), statefile.SessionInfo{
		SessionID: r.Session, SessionStarted: r.Started, Now: time.Now(), Unattended: r.Unattended,
		ByAgent: func(string, ...string) bool { return r.ByAgent },
		Tracked: trackedBy(ctx),
	})
	if err != nil || p.Skip || p.Refused != "" {
		return false, p.Refused, err
	}
	id, err := Follower(q.Env, q.File)
	if err != nil || id != "" {
		return false, fmt.Sprintf("loop %s follows it; pawl status %[1]s shows its state", id), err
	}
	q.setProposal(p)
	q.AdoptsFile = true
	return true, "", nil
}

// trackedBy asks git whether it tracks a file.
func trackedBy(ctx context.Context) func(path string) (bool, error) {
	return func(path string) (bool, error) { return git.Tracks(ctx, filepath.Dir(path), filepath.Base(path)) }
}

// AdoptNamed makes a loop of another tool's files if the only word of the request names
// them, however old they are. Options that were typed win over theirs.
func (q *SessionRequest) AdoptNamed(ctx context.Context) error {
	f, file, at := q.StateFile()
	if f == nil {
		return nil
	}
	handover := q.Handover // it takes the user's own word
	p, err := f.Propose(file, at, statefile.SessionInfo{
		SessionID: q.Session.Session, SessionStarted: time.Unix(0, 0), Now: time.Now(), Unattended: q.Session.Unattended,
		Tracked: trackedBy(ctx),
	})
	if err != nil {
		return err
	}
	name := q.displayPath(file)
	id, err := Follower(q.Env, file)
	switch {
	case err != nil:
		return err
	case id != "":
		return failure.New(failure.Usage, fmt.Sprintf("pawl status %s shows its state", id), "loop %s already follows %s", id, name)
	case p.Refused != "":
		return failure.New(failure.Usage, "", "%s", p.Refused)
	case p.Skip:
		return failure.New(failure.Usage, "see its fields for status and session", "%s starts no loop: it has ended, or belongs to another session", name)
	}
	q.Words, q.File, q.Format = nil, file, f.Name()
	q.setProposal(p)
	q.Handover = handover
	return nil
}

// StateFile returns the state file of another tool that the only word names, with its format
// and the project as that format sees it; a nil format if the word names none.
func (q *SessionRequest) StateFile() (statefile.Format, string, place.Project) {
	p := place.At(cmp.Or(q.Project, git.RootAbove(q.Dir)), q.Env)
	if len(q.Words) != 1 || q.Words[0] == "" {
		return nil, "", p
	}
	return statefile.FormatOfPath(filepath.Clean(AbsPath(q.Dir, q.Words[0])), p)
}

// displayPath returns a path as seen from the current folder.
func (q *SessionRequest) displayPath(path string) string {
	if rel, err := filepath.Rel(git.RealPath(q.Dir), path); err == nil && filepath.IsLocal(rel) {
		path = rel
	}
	return plan.OneLine(path, 0)
}

// setProposal takes over what another tool's files ask for.
func (q *SessionRequest) setProposal(p statefile.Proposal) {
	q.Text, q.CountedIterations, q.Remark = p.Prompt, p.CountedIterations, p.StartMessage
	q.Handover, q.Isolation, q.Tries = p.Handover, p.Isolation, p.InSessionTries
	if p.Verify != "" && q.Verify == "" {
		q.Verify, q.VerifyFrom, q.VerifyTimeout, q.VerifyDir = p.Verify, q.File, p.VerifyTimeout, p.VerifyDir
	}
	q.setFlag("plan", p.Plan, p.Plan != "")
	q.setFlag("kind", string(p.Kind), p.Kind != "")
	q.setFlag("every", p.Every, p.Every > 0)
	q.setFlag("max_iterations", p.MaxIterations, p.MaxGiven)
	q.setFlag("max_duration", p.MaxDuration, p.DurationGiven)
	q.setFlag("promise", p.Promise, p.Promise != "")
}

// Follower returns the loop that has not ended and already follows a state file, or "".
func Follower(env environment.Environment, path string) (string, error) {
	file, _ := os.Stat(path) // it need not be there: formats may make theirs
	listed, err := record.List(store.Open(env.PawlHome))
	if err != nil {
		return "", err
	}
	for _, l := range listed {
		spec, err := record.ReadSpec(l.Loop)
		if err != nil || l.Summary.Outcome != "" || spec.CompatFile == "" {
			continue
		}
		other := AbsPath(l.Summary.Root, filepath.FromSlash(spec.CompatFile))
		if info, err := os.Stat(other); other == path || err == nil && file != nil && os.SameFile(file, info) {
			return l.Loop.ID, nil
		}
	}
	return "", nil
}

// NotFollowed lists state files of other tools in a folder that ask for a loop that does not begin,
// with the reason and what begins it. That is for the calling session, or for one that begins now.
// `claude -p` prints nothing of what a session says about them.
func NotFollowed(env environment.Environment, root string) []string {
	var out []string
	p, in, now := place.At(root, env), env.Session, time.Now()
	began := proc.StartTime(in.Client)
	if began.IsZero() {
		began = now
	}
	for _, f := range statefile.Formats() {
		path := f.Find(p)
		if path == "" {
			continue
		}
		if id, _ := Follower(env, path); id != "" {
			continue
		}
		made, err := f.Propose(path, p, statefile.SessionInfo{
			SessionID: in.ID, SessionStarted: began, Now: now, Unattended: in.Unattended, Tracked: func(string) (bool, error) { return false, nil },
		})
		if err == nil && made.Refused != "" {
			out = append(out, "no loop was started: "+plan.OneLine(made.Refused, 0))
		}
	}
	return out
}

// useFeatureFolder turns a request that names a folder of the feature-list controller into one
// for what its files ask for, and returns the folder, or nil for any other request. Options on
// the command line override the files.
func (q *Request) useFeatureFolder(ctx context.Context, root string) (*statefile.FeatureFolder, error) {
	path := q.featureFolderPath(root)
	if path == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	f, err := statefile.NamedFeatureFolder(path, statefile.Place{Root: root, ClientConfig: q.Env.ClientConfig()}, trackedBy(ctx))
	if f == nil {
		return nil, err
	}
	if q.Flags = maps.Clone(q.Flags); q.Flags == nil {
		q.Flags = map[string]any{}
	}
	q.Words, q.Text, q.Flags["plan"] = nil, f.Prompt, f.Plan
	q.setFlag("max_iterations", f.MaxIterations, f.MaxGiven && !f.New)
	return f, nil
}

// featureFolderPath returns the path in the single word of a request or, without words, the folder
// of the plan that is found. It returns "" if that cannot be such a folder.
func (q *Request) featureFolderPath(root string) string {
	_, planned := q.Flags["plan"]
	switch {
	case q.Text != "" || planned || len(q.Words) > 1:
		return ""
	case len(q.Words) == 1 && q.Words[0] != "":
		return AbsPath(q.Dir, q.Words[0])
	case len(q.Words) == 1:
		return ""
	}
	list, err := findPlan(root, q.Dir) // reading the plan reports the error
	if err != nil || !statefile.HasControllerPrompt(list) {
		return ""
	}
	return filepath.Dir(list)
}

// setFeatureFolder lets a loop of the runner keep the folder's progress.txt up to date: the
// user's file, even if the loop has its own worktree.
func (p *Prepared) setFeatureFolder() {
	if p.featureFolder == nil {
		return
	}
	p.Spec.Policy.IterationsBefore = p.featureFolder.CountedIterations
	p.setStateFile(p.featureFolder.File, statefile.FeatureListName)
	if p.Spec.UsesWorktree {
		p.Spec.CompatFile = filepath.ToSlash(record.ResolvePath(p.featureFolder.File))
	}
}
