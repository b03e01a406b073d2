package cli

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/core/shell"
	"github.com/pawl-dev/pawl/internal/deps"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/narrate"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/redact"
	"github.com/pawl-dev/pawl/internal/term"
	"github.com/pawl-dev/pawl/internal/verify"
)

// warnPrepared warns of what a user should know before a loop starts.
func (a *app) warnPrepared(ctx context.Context, p *launch.Prepared, dryRun bool) {
	if words := secretWords(p.Goal); words != "" {
		term.Warnf(a.Err, "%s", words)
	}
	a.warnGates(p.Spec, p.Root())
	a.warnGateEnv(p.Spec.GateEnv)
	a.warnMissing(p)
	a.proposeData(ctx, p)
	for _, id := range p.Conflicts.Damaged { // they do not stop a new loop
		term.Warnf(a.Err, "the journal of loop %s is damaged, so its state is unknown; this run starts beside it", id)
		term.Hintf(a.Err, "pawl log %s shows what can be read; pawl stop %[1]s ends the loop", id)
	}
	a.warnUnfinishedWork(p)
	a.warnUntracked(p)
	if files := p.CommittedFirst(); len(files) > 0 && !p.Settings.AllowDirty {
		term.Warnf(a.Err, "your edit of %s is committed first, under your name", plan.Few(files, 2))
	}
	a.warnSamePlan(p)
	a.warnEarlierEdits(p)
	if len(p.EnvSettings) > 0 {
		term.Warnf(a.Err, "from the environment, as ralph-cli has it: %s", term.Clean(strings.Join(p.EnvSettings, ", ")))
	}
	if p.Issues != nil {
		for _, left := range p.Issues.LeftOut {
			term.Warnf(a.Err, "left out: issue %s", term.Clean(left))
		}
	}
	if !dryRun { // a dry run says more about each
		a.warnOutlooks(p)
	}
}

// maxOutlookOptions is the maximum number of options in one hint: nobody types more.
const maxOutlookOptions = 4

// warnOutlooks names the tasks that will probably wait for the user, and the options that accept them.
func (a *app) warnOutlooks(p *launch.Prepared) {
	var tasks, options []string
	for _, t := range p.Spec.Tasks {
		if why, option := taskOutlook(p, t); why != "" {
			tasks, options = append(tasks, narrate.TaskInSentence(t.ID, t.Title)), append(options, option)
		}
	}
	switch {
	case len(tasks) == 0:
	case len(tasks) > maxOutlookOptions:
		term.Hintf(a.Err, "%d tasks will probably wait for your review: pawl plan check %s shows why, and how to accept that", len(tasks), term.Clean(p.Goal.Path))
	default:
		term.Hintf(a.Err, "%s will probably wait for your review (--dry-run shows why); to accept that in advance: %s",
			term.Clean(strings.Join(tasks, ", ")), term.Clean(strings.Join(options, " ")))
	}
}

// warnMissing names dependencies of the gates that are not installed or lead elsewhere.
func (a *app) warnMissing(p *launch.Prepared) {
	for _, m := range p.MissingDependencies() {
		term.Warnf(a.Err, "%s", m)
		hint := m.Command + " installs it"
		if p.Spec.UsesWorktree {
			hint = fmt.Sprintf("%s installs it here, and the loop's worktree gets a copy; %s installs it there", m.Command, m.Setup())
		}
		term.Hintf(a.Err, "%s", hint)
	}
	checkout := deps.Submodules(p.Root())
	if p.Spec.UsesWorktree && checkout != "" && !slices.ContainsFunc(p.Spec.Setup, func(s string) bool { return strings.Contains(s, "submodule") }) {
		term.Warnf(a.Err, "the loop's worktree has no submodules")
		term.Hintf(a.Err, "%s checks them out there", deps.Setup(checkout))
	}
	for _, e := range p.Editable() {
		term.Warnf(a.Err, "gate %s runs in the loop's worktree, but %s imports this project from %s: it tests the code there, not the agent's", term.Clean(e.Gate), term.Clean(e.Venv), p.Root())
		term.Hintf(a.Err, "leave out --worktree; or commands in [worktree] setup in pawl.toml install the project in the worktree, and the gate uses that")
	}
}

// proposeData names files that are data of the program by the repository's history. It says which
// setting lets tasks change them without an approval.
func (a *app) proposeData(ctx context.Context, p *launch.Prepared) {
	found := p.ProgramData(ctx)
	if len(found) == 0 {
		return
	}
	var globs, named []string
	for _, d := range found {
		globs = append(globs, strconv.Quote(d.Glob))
		named = append(named, fmt.Sprintf("%s (in %d commits)", d.Glob, d.Commits))
	}
	term.Hintf(a.Err, "%s", term.Clean("changed data files count as gate inputs: "+strings.Join(named, ", ")+
		"; to let tasks change it: work = ["+strings.Join(globs, ", ")+"] in pawl.toml"))
}

// warnFolder says where something runs if that is not the current folder, and how to run a typed gate
// here.
func (a *app) warnFolder(what, root string, typed []string) {
	dir, err := filepath.EvalSymlinks(a.dir)
	if err != nil {
		return
	}
	here, err := filepath.Rel(root, dir)
	if err != nil || here == "." || !filepath.IsLocal(here) {
		return
	}
	outside := slices.DeleteFunc(slices.Clone(typed), func(gate string) bool { return namesFolder(gate, filepath.ToSlash(here)) })
	if len(typed) > 0 && len(outside) == 0 {
		return // the user knows
	}
	term.Warnf(a.Err, "%s run in %s, the root of the repository, not in %s", what, term.Clean(root), term.Clean(here))
	if len(outside) > 0 {
		there := shell.QuoteCommand([]string{fmt.Sprintf("cd %s && %s", shell.QuoteCommand([]string{filepath.ToSlash(here)}), outside[0])})
		term.Hintf(a.Err, "--gate %s runs it there", term.Clean(there))
	}
}

// namesFolder reports whether a word of the command is the folder or a path in it. Such a command
// enters the folder itself, as cd DIR, make -C DIR and npm --prefix DIR do.
func namesFolder(command, dir string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\n=;&|()\"'", r) }), func(word string) bool {
		word = path.Clean(word)
		return word == dir || strings.HasPrefix(word, dir+"/")
	})
}

// warnGates names gates that hide the results of their tests, and gates whose folder or script does
// not exist.
func (a *app) warnGates(s record.Spec, root string) {
	for _, g := range s.Gates {
		if folder := verify.MissingFolder(g, root, len(s.Setup) > 0); folder != "" {
			term.Warnf(a.Err, "gate %q: no such folder: %s; it fails until the agent creates it", plan.OneLine(g.Name, 60), term.Clean(folder))
			term.Hintf(a.Err, "fix the gate's dir if no task creates %s", term.Clean(folder))
			continue
		}
		if script, outside := verify.MissingScript(g, root, len(s.Setup) > 0); script != "" && !outside {
			term.Warnf(a.Err, "gate %q: no such file: %s; it fails until the agent writes it", plan.OneLine(g.Name, 60), script)
			term.Hintf(a.Err, "fix the gate's command if no task writes %s", script)
		}
		if by := verify.ExitCodeMask(g, root); by == "" && g.NeverFails() {
			a.warnNeverFails(g.Name)
		} else if by != "" {
			term.Warnf(a.Err, "gate %q: `%s` hides the exit code of its tests, so it passes even if they fail", plan.OneLine(g.Name, 60), by)
		}
		if by := verify.HiddenOutput(g, root); by != "" {
			term.Warnf(a.Err, "gate %q: `%s` discards the output of its tests, so Pawl cannot see whether all of them ran", plan.OneLine(g.Name, 60), by)
		}
	}
}

// warnNeverFails names a gate that cannot fail.
func (a *app) warnNeverFails(name string) {
	term.Warnf(a.Err, "gate %q passes whatever the agent does, so it checks nothing", plan.OneLine(name, 60))
	term.Hintf(a.Err, "name a command that fails when the work is wrong, such as the tests:  --gate 'COMMAND'")
}

// warnGateEnv names the variables in gate_env that are not set.
func (a *app) warnGateEnv(names []string) {
	for _, name := range names {
		if !strings.Contains(name, "=") && !environment.HasVariable(a.env.Vars, name) {
			term.Warnf(a.Err, "gate_env names %s, which is not set: gates run without it", name)
			term.Hintf(a.Err, "set it and run the command again, or take %s out of gate_env", name)
		}
	}
}

// warnUntracked names untracked files that look like work. The loop's commits will not contain them.
func (a *app) warnUntracked(p *launch.Prepared) {
	files := p.UntrackedWork()
	if len(files) == 0 {
		return
	}
	const most = 5
	add := files
	if len(files) > most {
		add = []string{"FILE…"}
	}
	term.Warnf(a.Err, "git does not track %s: the loop does not commit %s, and its commits may fail the gates without %[2]s",
		term.Clean(plan.Few(files, most)), figure.Verb(len(files), "it", "them"))
	term.Hintf(a.Err, "to include them: git add %s && git commit; to exclude them, list them in .gitignore", term.Clean(shell.QuoteCommand(add)))
}

// withoutSecrets returns text for the agent without secrets: Pawl stores it in files and prompts.
func (a *app) withoutSecrets(text string) string {
	clean := redact.New(a.env.Vars).Prose(text)
	if clean != text {
		term.Warnf(a.Err, "removed a secret from what you typed, because Pawl stores it: %s", secretHint)
	}
	return clean
}

// secretHint says how the agent can still use a secret.
const secretHint = "put it in an environment variable, and give the agent that name"

// secretWords says that a secret was removed from the goal, "" if there was none.
func secretWords(g launch.Goal) string {
	if !g.HadSecret {
		return ""
	}
	return "removed a secret from the goal, because Pawl stores it: " + secretHint
}

// warnSamePlan warns that another loop of the repository works on the same plan.
func (a *app) warnSamePlan(p *launch.Prepared) {
	loops, err := a.summaries(record.SameRepository(p.Root()))
	if err != nil || p.Spec.Plan == "" {
		return // commands that need the list report the error
	}
	for _, sum := range loops {
		if sum.State == "ended" || sum.State == loopinfo.Orphaned {
			continue
		}
		if spec, err := record.ReadSpec(a.store.Loop(sum.ID)); err == nil && spec.Plan == p.Spec.Plan && sharesTasks(spec.Tasks, p.Spec.Tasks) {
			term.Warnf(a.Err, "loop %s works on %s too: both would do the same tasks", sum.ID, p.Spec.Plan)
			term.Hintf(a.Err, "pawl status %s shows it; --task ID gives each loop different tasks", sum.ID)
		}
	}
}

// sharesTasks reports whether a task is open in the plans of both loops.
func sharesTasks(a, b []loop.Task) bool {
	return slices.ContainsFunc(a, func(t loop.Task) bool {
		return t.Status != loop.Done && slices.ContainsFunc(b, func(o loop.Task) bool { return o.ID == t.ID && o.Status != loop.Done })
	})
}

// warnEarlierEdits warns of edits that the plan's last loop did not make, and says what happens to
// them.
func (a *app) warnEarlierEdits(p *launch.Prepared) {
	for _, e := range p.Earlier.Additions {
		term.Warnf(a.Err, "applies an edit of the plan that loop %s had not applied: %s", p.Earlier.Loop, e)
	}
	for _, e := range p.Earlier.Others {
		term.Warnf(a.Err, "loop %s had not applied an edit of the plan; neither does this run: %s", p.Earlier.Loop, e)
		term.Hintf(a.Err, "%s applies it while the loop runs", term.Clean(e.Command(p.Spec.Plan)))
	}
}
