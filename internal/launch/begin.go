// Package launch brings a loop to its start: it finds out what the goal is
// (goal.go), freezes goal and settings into a spec (spec.go), looks at what other
// loops left (before.go), refuses what cannot work (a dirty tree, commands nobody
// trusted), and makes repository, branch and loop ready for the runner (begin.go,
// drive.go), or for the user's session that it is to live in (attend.go,
// inside.go). Nothing is changed before Prepared.Begin, or Prepared.Attend.
package launch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/lesson"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/verify"
)

// Request is what the user asked for.
type Request struct {
	Dir   string   // where they stand
	Words []string // behind `pawl run`
	Text  string   // the goal as it is, never the name of a file; then there are no words
	Flags map[string]any
	Env   environment.Environment
	Look  bool // nothing will begin: no program of the repository's configuration runs
}

// Prepared is a loop that could begin: everything is known, nothing is changed.
type Prepared struct {
	Goal      Goal
	Settings  config.Settings
	Spec      record.Spec
	Repo      *git.Repo // nil for a loop in a session where there is no git
	Status    git.Status
	Before    Before           // what other loops left here
	Untrusted []config.Command // commands out of the repository's files that nobody trusted
	Suggested []string         // gate commands that the files imply, where there is no gate
	Home      string           // $PAWL_HOME
	root      string           // of the work tree
	loop      string           // id, once there is one
	env       environment.Environment
	programs  string // folder from which the agent's program is named
	adopts    bool   // another tool's files ask for it, which are looked at after each turn
}

// Root is the work tree that the loop would act on.
func (p *Prepared) Root() string { return p.root }

// Prepare reads goal and settings and looks at the repository. It changes
// nothing.
func Prepare(ctx context.Context, q Request) (*Prepared, error) {
	repo, err := q.open(ctx, q.Dir)
	if err != nil {
		return nil, err
	}
	if err := outside(ctx, repo, q.Env.PawlHome); err != nil {
		return nil, err
	}
	if err := writable(q.Env.PawlHome); err != nil {
		return nil, err
	}
	p, err := decide(q, repo.Root())
	if err != nil {
		return nil, err
	}
	if err := repo.Identity(ctx); err != nil {
		return nil, err
	}
	if err := p.look(ctx, repo); err != nil {
		return nil, err
	}
	return p, p.freeze(ctx)
}

// open opens the repository that holds a folder.
func (q Request) open(ctx context.Context, dir string) (*git.Repo, error) {
	repo, err := git.Open(ctx, dir)
	if err != nil || !q.Look {
		return repo, err
	}
	return repo.Inert(ctx)
}

// decide finds out what is wanted: goal, options, gates. None of it needs git.
func decide(q Request, root string) (*Prepared, error) {
	planFlag, _ := q.Flags["plan"].(string)
	user, err := config.ReadUser(q.Env)
	if err != nil {
		return nil, err
	}
	project, err := config.ReadProject(root)
	if err != nil {
		return nil, err
	}
	goal := Goal{Prompt: q.Text, From: "prompt"}
	if q.Text == "" {
		goal, err = Read(root, q.Dir, q.Words, planFlag)
	}
	if err != nil {
		return nil, err
	}
	goal.withoutSecrets(q.Env.Vars)
	s, err := config.Resolve(user, project, goal.Layer, config.Flags(q.Flags))
	if err != nil {
		return nil, err
	}
	if err := goal.planOf(root, s); err != nil {
		return nil, err
	}
	if err := namesTasks(goal, s, q.Flags); err != nil {
		return nil, err
	}
	p := &Prepared{Goal: goal, Settings: s, Home: q.Env.PawlHome, env: q.Env, root: root}
	if err := p.fromHere(q); err != nil {
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

// look finds out how the work tree stands, and what other loops left there.
func (p *Prepared) look(ctx context.Context, repo *git.Repo) error {
	var err error
	if p.Repo = repo; repo != nil {
		if p.Status, err = repo.Status(ctx); err != nil {
			return fmt.Errorf("look at the work tree: %w", err)
		}
	}
	p.Before, err = before(ctx, store.Open(p.Home), p)
	return err
}

// planOf reads the plan that a configuration file or loop file names.
func (g *Goal) planOf(root string, s config.Settings) error {
	if g.Plan != nil || s.Plan == "" {
		return nil
	}
	return g.readPlan(root, absolute(root, s.Plan))
}

// addPlanGates takes the plan's own validation commands for gates where no gate
// was named; like all that comes from the repository they need trust.
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

// UseGate takes a suggested command for the gate.
func (p *Prepared) UseGate(ctx context.Context, command string) error {
	return p.UseGates(ctx, append([]gate.Gate{{Name: command, Command: command}}, gate.Reviews(p.Settings.Gates)...))
}

// UseGates takes other gates.
func (p *Prepared) UseGates(ctx context.Context, gates []gate.Gate) error {
	p.Settings.Gates = gates
	return p.freeze(ctx)
}

// Again makes another loop ready, with other gates. The work tree may have changed
// since Prepare: gates wrote files, the user edited some.
func (p *Prepared) Again(ctx context.Context, gates []gate.Gate) error {
	if err := p.look(ctx, p.Repo); err != nil {
		return err
	}
	return p.UseGates(ctx, gates)
}

func (p *Prepared) freeze(ctx context.Context) error {
	if err := p.order(ctx); err != nil {
		return err
	}
	p.Spec.OwnWorktree = p.Settings.Worktree.Use
	p.takeOver()
	switch want := p.Settings.Branch; {
	case want == "current" && p.Status.Detached:
		return failure.New(failure.Usage, "switch to a branch, or leave --branch out", "HEAD is on no branch")
	case want == "current":
		p.Spec.Branch = p.Status.Branch
	case want != "":
		there, err := p.Repo.HasBranch(ctx, want)
		p.Spec.Branch, p.Spec.NewBranch = want, err == nil && !there // a bad name is refused later
	case p.goesToCurrent():
		p.Spec.Branch = p.Status.Branch
	}
	p.Spec.AllowDirty = p.Settings.AllowDirty && !p.Spec.OwnWorktree
	p.Spec.Untracked = p.foreign()
	if !p.Spec.OwnWorktree {
		p.Spec.HiddenFiles = p.Status.Hidden
	}
	return nil
}

// order makes what is asked of the loop, wherever it works.
func (p *Prepared) order(ctx context.Context) error {
	p.Spec = specOf(p.Goal, p.Settings)
	p.Spec.StartCommit, p.Spec.StartBranch = p.Status.Head, p.Status.Branch
	p.Spec.Agent.Command = p.program(p.Spec.Agent)
	if p.Spec.Tests == nil { // what the user says is a test is all that is
		p.Spec.Tests = verify.WithNamed(p.Spec.Gates, p.root)
	}
	p.Spec.Prompts = promptFolder(p.root, p.env)
	var err error
	if p.Spec.Guard, err = guardOf(p.Settings.Guard, p.Spec.Plan); err != nil {
		return err
	}
	if p.Spec.Lessons, err = lesson.Open(p.Home).Of(p.root); err != nil {
		return err
	}
	if p.Repo != nil {
		if p.Spec.DefaultBranch, err = p.Repo.DefaultBranch(ctx); err != nil {
			return fmt.Errorf("find the default branch: %w", err)
		}
		if p.Spec.Untracked, err = p.notes(ctx); err != nil {
			return err
		}
		if err := p.remote(ctx); err != nil {
			return err
		}
	}
	seen, err := earlier(store.Open(p.Home), p.root, p.Goal.Path)
	if err != nil {
		return err
	}
	for i, t := range p.Spec.Tasks {
		if t.Earlier {
			p.Spec.Tasks[i].Evidence = seen[t.ID]
		}
	}
	return nil
}

// promptFolder is where templates of one's own lie: the project's before the
// user's.
func promptFolder(root string, env environment.Environment) string {
	for _, dir := range []string{filepath.Join(root, ".pawl", "prompts"), filepath.Join(env.ConfigHome, "pawl", "prompts")} {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir
		}
	}
	return ""
}

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
		if filepath.IsAbs(c.File) { // it is not found from here
			file = " " + c.File
		}
	}
	hint := "read them, then  pawl trust" + file
	if p.Spec.Policy.Attended { // nobody can be asked where a session runs a command
		hint = fmt.Sprintf("read them, then  ! pawl trust --yes%s  (in another terminal:  pawl trust%[1]s)", file)
	}
	if p.adopts {
		hint += "; then the loop begins at the end of the next turn"
	}
	return failure.New(failure.Usage, hint,
		"%s only when you trust them (%s)", what, some(lines))
}

func some(items []string) string {
	const most = 5
	if len(items) <= most {
		return strings.Join(items, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(items[:most], ", "), len(items)-most)
}

// earlier is the evidence with which earlier loops over the same plan ended its
// tasks; the newest loop that did a task counts.
func earlier(st *store.Store, root, planPath string) (map[string]gate.Evidence, error) {
	found := map[string]gate.Evidence{}
	if planPath == "" {
		return found, nil
	}
	loops, err := st.Loops()
	if err != nil {
		return nil, fmt.Errorf("look at earlier loops: %w", err)
	}
	when := map[string]int64{}
	for _, l := range loops {
		kept, err := l.Spec()
		if err != nil || kept.Root != root {
			continue
		}
		spec, err := record.ReadSpec(l)
		if err != nil || spec.Plan != planPath {
			continue
		}
		m, _, err := record.Load(l)
		if err != nil {
			continue // damaged: it can vouch for nothing
		}
		for _, t := range m.State.Tasks {
			if t.Evidence != "" && !t.Earlier && kept.CreatedAt.UnixNano() >= when[t.ID] {
				found[t.ID], when[t.ID] = t.Evidence, kept.CreatedAt.UnixNano()
			}
		}
	}
	return found, nil
}
