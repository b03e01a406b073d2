// Package launch prepares, begins and resumes loops. It reads the goal (goal.go), freezes
// goal and configuration into a spec (spec.go), looks for other loops in the work tree
// (conflicts.go), refuses what cannot work (preconditions.go), and sets up repository,
// branch and loop for the runner (begin.go, drive.go) or for a user's session (insession.go,
// session.go). Nothing is changed before Prepared.Begin or Prepared.BeginInSession.
package launch

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/lesson"
	"github.com/pawl-dev/pawl/internal/prompt"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/redact"
	"github.com/pawl-dev/pawl/internal/statefile"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/tracker"
	"github.com/pawl-dev/pawl/internal/verify"
)

// Request is a user's request for a loop.
type Request struct {
	Dir    string   // current folder
	Words  []string // arguments of `pawl run`
	Text   string   // the goal, never the name of a file; Words is empty then
	Flags  map[string]any
	Env    environment.Environment
	DryRun bool // begin nothing, and run no program of the repository's configuration
}

// Prepared is a loop that can begin. Nothing is changed yet.
type Prepared struct {
	Goal          Goal
	Settings      config.Settings
	Spec          record.Spec
	Repo          *git.Repo // nil for a loop in a session without git
	Status        git.Status
	Conflicts     Conflicts        // other loops in the work tree
	Untrusted     []config.Command // commands from the repository's files that the user has not trusted
	Suggested     []string         // gate commands that the project's files suggest, if there is no gate
	Home          string           // $PAWL_HOME
	EnvSettings   []string         // variables of another tool that were used, as NAME=value
	Earlier       EarlierEdits     // edits of the plan that its last loop had not applied
	Issues        *tracker.Plan    // the plan's issues; nil for any other plan
	root          string           // of the work tree
	loop          string           // the loop's id, once it is created
	env           environment.Environment
	programDir    string                   // folder to which the agent's program is relative
	adoptsFile    bool                     // another tool's file asks for the loop, and is inspected after each turn
	featureFolder *statefile.FeatureFolder // kept up to date by the loop; nil: none
}

// Root returns the work tree of the loop.
func (p *Prepared) Root() string { return p.root }

// Prepare reads goal and configuration and inspects the repository. It changes nothing.
func Prepare(ctx context.Context, q Request) (*Prepared, error) {
	repo, err := q.open(ctx, q.Dir)
	if err != nil {
		return nil, err
	}
	if err := refuseHomeInWorkTree(ctx, repo, q.Env.PawlHome); err != nil {
		return nil, err
	}
	if _, err := store.CheckWritable(q.Env.PawlHome); err != nil {
		return nil, failure.New(failure.Usage, "make it writable for you, or set PAWL_HOME to a folder that is",
			"PAWL_HOME (%s), where loops live, cannot be written: %w", q.Env.PawlHome, err)
	}
	follows, err := q.useFeatureFolder(ctx, repo.Root())
	if err != nil {
		return nil, err
	}
	p, err := resolveRequest(ctx, q, repo.Root())
	if err != nil {
		return nil, err
	}
	p.featureFolder = follows
	if err := repo.Identity(ctx); err != nil {
		return nil, err
	}
	if err := p.inspect(ctx, repo); err != nil {
		return nil, err
	}
	return p, p.freeze(ctx)
}

// open opens the repository that holds a folder.
func (q Request) open(ctx context.Context, dir string) (*git.Repo, error) {
	repo, err := git.Open(ctx, dir)
	if err != nil || !q.DryRun {
		return repo, err
	}
	return repo.Inert(ctx)
}

// resolveRequest reads goal, options and gates, without git.
func resolveRequest(ctx context.Context, q Request, root string) (*Prepared, error) {
	planFlag, _ := q.Flags["plan"].(string)
	layers, err := config.ReadFiles(q.Env, root)
	if err != nil {
		return nil, err
	}
	goal := Goal{Prompt: q.Text, From: "prompt"}
	fromEnv := planLoopEnv{PlanLoop: q.Env.PlanLoop()}
	issues, isIssues := parseIssues(q.Dir, q.Words)
	if isIssues && planFlag != "" {
		return nil, failure.New(failure.Usage, "leave one of them out", "the issues are the plan, and --plan names another")
	}
	if q.Text == "" && !isIssues {
		if len(q.Words) == 0 && planFlag == "" {
			planFlag = fromEnv.plan(root, q.Dir)
		}
		goal, err = ReadGoal(root, q.Dir, q.Words, planFlag)
	}
	if err != nil {
		return nil, err
	}
	clean := redact.New(q.Env.Vars).Prose(goal.Prompt) // the prompt is stored and sent in each turn
	goal.Prompt, goal.HadSecret = clean, clean != goal.Prompt
	s, err := config.Resolve(append(layers, goal.Layer, fromEnv.layer(goal, q.Flags), config.Flags(q.Flags))...)
	if err != nil {
		return nil, err
	}
	if !isIssues && goal.Plan == nil && s.Plan != "" { // a configuration file or loop file names it
		if err := goal.readPlan(root, root, AbsPath(root, s.Plan)); err != nil {
			return nil, err
		}
	}
	p := &Prepared{Goal: goal, Settings: s, Home: q.Env.PawlHome, EnvSettings: fromEnv.followed, env: q.Env, root: root, programDir: root}
	if _, typed := q.Flags["agent_command"]; typed {
		p.programDir = q.Dir
	}
	if isIssues {
		if err := p.readIssues(ctx, issues); err != nil {
			return nil, err
		}
	}
	if err := checkTaskIDs(p.Goal, s, q.Flags); err != nil {
		return nil, err
	}
	if err := p.addPlanGates(); err != nil {
		return nil, err
	}
	if err := p.addReviews(q); err != nil {
		return nil, err
	}
	if len(gate.Commands(p.Settings.Gates)) == 0 {
		p.Suggested = config.Suggest(root)
	}
	return p, nil
}

// inspect reads the status of the work tree and looks for other loops in it.
func (p *Prepared) inspect(ctx context.Context, repo *git.Repo) error {
	var err error
	if p.Repo = repo; repo != nil {
		if err := refuseMissingFilter(ctx, repo); err != nil {
			return err
		}
		if p.Status, err = repo.Status(ctx); err != nil {
			return fmt.Errorf("read status of work tree: %w", err)
		}
	}
	p.Conflicts, err = findConflicts(ctx, p)
	return err
}

// addPlanGates uses the plan's validation commands as gates if there are no others. Like
// all commands from the repository they must be trusted.
func (p *Prepared) addPlanGates() error {
	commands := p.Settings.RepoCommands()
	if p.Goal.Plan != nil && len(gate.Commands(p.Settings.Gates)) == 0 {
		for _, c := range p.Goal.Plan.Plan().Gates {
			p.Settings.Gates = append(p.Settings.Gates, gate.Gate{Name: c, Command: c})
			commands = append(commands, config.Command{Kind: "plan", File: p.Goal.Path, Text: c})
		}
	}
	var err error
	p.Untrusted, err = config.OpenTrust(p.Home).Untrusted(p.root, commands)
	return err
}

// UseGate replaces the command gates by one.
func (p *Prepared) UseGate(ctx context.Context, command string) error {
	p.Settings.Gates = append([]gate.Gate{{Name: command, Command: command}}, gate.Reviews(p.Settings.Gates)...)
	return p.freeze(ctx)
}

// Renew prepares another loop with other gates. It reads the work tree again, which may have changed.
func (p *Prepared) Renew(ctx context.Context, gates []gate.Gate) error {
	if err := p.inspect(ctx, p.Repo); err != nil {
		return err
	}
	p.Settings.Gates = gates
	return p.freeze(ctx)
}

// freeze builds the spec of a loop that the runner drives.
func (p *Prepared) freeze(ctx context.Context) error {
	if err := p.buildSpec(ctx); err != nil {
		return err
	}
	p.Spec.UsesWorktree = p.Settings.Worktree.Use
	if err := p.startFromUserBranch(ctx); err != nil {
		return err
	}
	p.adoptUnfinishedWork()
	switch want := p.Settings.Branch; {
	case want == "current" && p.Status.Detached:
		return failure.New(failure.Usage, "switch to a branch, or leave out --branch", "HEAD is detached")
	case want == "current":
		p.Spec.Branch = p.Status.Branch
	case want != "":
		there, err := p.Repo.HasBranch(ctx, want)
		p.Spec.Branch, p.Spec.NewBranch = want, err == nil && !there // a bad name is refused later
	case p.commitsToCurrentBranch():
		p.Spec.Branch = p.Status.Branch
	}
	p.Spec.AllowDirty = p.Settings.AllowDirty && !p.Spec.UsesWorktree
	p.Spec.Untracked = p.untracked()
	p.setTracker()
	p.setFeatureFolder()
	if !p.Spec.UsesWorktree {
		p.Spec.HiddenFiles = p.Status.Hidden
	}
	return nil
}

// buildSpec builds the part of the spec that does not depend on where the loop works.
func (p *Prepared) buildSpec(ctx context.Context) error {
	p.Spec = newSpec(p.Goal, p.Settings)
	p.Spec.StartCommit, p.Spec.StartBranch = p.Status.Head, p.Status.Branch
	p.Spec.Agent.Command = p.agentProgram(p.Spec.Agent)
	if p.Spec.Tests == nil { // only what the user declares as a test is one
		p.Spec.Tests = verify.TestsOfGates(p.Spec.Gates, p.root)
	}
	var err error
	if p.Spec.Templates, err = readTemplates(p.root, p.env); err != nil {
		return err
	}
	if p.Spec.Guard, err = guardConfig(p.Settings.Guard, p.Spec.Plan); err != nil {
		return err
	}
	if p.Spec.Lessons, err = lesson.NewStore(p.Home).List(p.root); err != nil {
		return err
	}
	if p.Repo != nil {
		if p.Spec.DefaultBranch, err = p.Repo.DefaultBranch(ctx); err != nil {
			return fmt.Errorf("find the default branch: %w", err)
		}
		if p.Spec.Untracked, err = p.planNotes(ctx); err != nil {
			return err
		}
		if err := p.setRemote(ctx); err != nil {
			return err
		}
	}
	earlier, err := earlierLoops(store.Open(p.Home), p.root, p.Goal.Path)
	if err != nil {
		return err
	}
	p.Earlier = pendingEdits(earlier)
	seen := earlierResults(earlier)
	for i, t := range p.Spec.Tasks {
		if t.DoneEarlier {
			p.Spec.Tasks[i].Evidence, p.Spec.Tasks[i].Accepted = seen[t.ID].evidence, seen[t.ID].accepted
		}
	}
	return nil
}

// readTemplates returns the prompt templates in .pawl/prompts of the project, else those in the
// user's configuration. It follows no link out of the project.
func readTemplates(root string, env environment.Environment) (map[string]string, error) {
	project, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("read prompt templates: %w", err)
	}
	defer func() { _ = project.Close() }()
	for _, at := range []struct {
		fsys fs.FS
		dir  string
	}{{project.FS(), ".pawl/prompts"}, {os.DirFS(env.ConfigHome), "pawl/prompts"}} {
		if info, err := fs.Stat(at.fsys, at.dir); err != nil || !info.IsDir() {
			continue
		}
		return prompt.ReadTemplates(at.fsys, at.dir)
	}
	return nil, nil
}

// refuseUntrusted refuses to begin with commands that the user has not trusted.
func (p *Prepared) refuseUntrusted() error {
	if len(p.Untrusted) == 0 {
		return nil
	}
	var lines []string
	what, file := "commands from the repository's files run", ""
	if slices.ContainsFunc(p.Untrusted, func(c config.Command) bool { return c.Kind == "guard" }) {
		what = "commands from the repository's files run, and its exceptions from the guard's rules count,"
	}
	for _, c := range p.Untrusted {
		lines = append(lines, fmt.Sprintf("%s: %s", c.File, c.Text))
		if filepath.IsAbs(c.File) { // its path is outside of the repository
			file = " " + c.File
		}
	}
	hint := "read them, then  pawl trust" + file
	if p.Spec.Policy.InSession { // a session's command cannot ask the user
		hint = fmt.Sprintf("read them, then  ! pawl trust --yes%s  (in another terminal:  pawl trust%[1]s)", file)
	}
	if p.adoptsFile {
		hint += "; then the loop starts when the next turn ends"
	}
	return failure.New(failure.Usage, hint,
		"%s only when you trust them (%s)", what, plan.Few(lines, 5))
}

// EndsAtOnce reports whether the loop would end as soon as it begins, because the plan has no open
// task. The machine decides how. If the gates run first, the state has no outcome yet.
func (p *Prepared) EndsAtOnce() (ended loop.State, ok bool) {
	if !p.Spec.AllDone() {
		return loop.State{}, false
	}
	s, _ := loop.Step(loop.State{}, loop.Event{Payload: loop.Started{Policy: p.Spec.Policy, Tasks: p.Spec.Tasks}})
	return s, s.Outcome != "" || s.Phase == loop.Judging
}
