package launch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/planfile"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/tracker"
	"github.com/pawl-dev/pawl/internal/workfile"
)

// parseIssues returns the issues that the arguments of `pawl run` name, if they do.
func parseIssues(dir string, words []string) (tracker.Address, bool) {
	if len(words) != 1 || namesFile(dir, words[0]) {
		return tracker.Address{}, false
	}
	return tracker.Parse(words[0])
}

// readIssues lists the issues and makes them the plan of the goal. It writes no file; Begin does.
func (p *Prepared) readIssues(ctx context.Context, from tracker.Address) error {
	issues, err := p.listIssues(ctx, from)
	if err != nil {
		return err
	}
	earlier, err := planfile.Load(filepath.Join(p.root, filepath.FromSlash(tracker.PlanPath(from))))
	if err != nil {
		earlier = nil // a new plan is made
	}
	made, err := tracker.NewPlan(from, issues, earlier)
	if err != nil {
		return err
	}
	p.Issues = &made
	p.Goal.Plan, p.Goal.Path, p.Goal.From = made.File, made.Path, from.String()
	return nil
}

// IssueText returns the text of issues, for the work tree at root. It claims none.
func IssueText(ctx context.Context, from tracker.Address, s config.Settings, root string, env environment.Environment) (string, error) {
	at := Prepared{Settings: s, root: root, env: env, Home: env.PawlHome}
	issues, err := at.listIssues(ctx, from)
	if err != nil {
		return "", err
	}
	return tracker.Text(from, issues)
}

func (p *Prepared) listIssues(ctx context.Context, from tracker.Address) ([]tracker.Issue, error) {
	program, err := p.trackerProgram(from.Tracker)
	if err != nil {
		return nil, err
	}
	answer, err := program.Ask(ctx, tracker.Request{Do: tracker.List, Query: from.Query, Label: p.Settings.Tracker.Label})
	return answer.Issues, err
}

// trackerProgram returns the program that reads issues. A command that a repository's file names must
// be trusted before it runs.
func (p *Prepared) trackerProgram(name string) (tracker.Program, error) {
	if name != tracker.CommandName {
		return trackerProgram(record.TrackerIssues{Name: name}, p.root, p.env)
	}
	command := p.Settings.Tracker.Command
	if command == "" {
		return tracker.Program{}, failure.New(failure.Usage, `[tracker] command = "…" in pawl.toml; pawl session tracker --help shows the requests`, "no program is set that reads issues")
	}
	var needed []config.Command
	for _, c := range p.Settings.RepoCommands() {
		if c.Kind == config.KindTracker {
			needed = append(needed, c)
		}
	}
	var err error
	if p.Untrusted, err = config.OpenTrust(p.Home).Untrusted(p.root, needed); err == nil {
		err = p.refuseUntrusted()
	}
	if err != nil {
		return tracker.Program{}, err
	}
	return trackerProgram(record.TrackerIssues{Name: name, Command: command}, p.root, p.env)
}

// trackerProgram is the program that a loop's tracker is: one that comes with Pawl, or
// the user's.
func trackerProgram(t record.TrackerIssues, root string, env environment.Environment) (tracker.Program, error) {
	if t.Command != "" {
		argv, more := proc.Shell(t.Command)
		return tracker.Program{Name: "tracker", Argv: argv, Dir: root, Env: slices.Concat(env.Vars, more)}, nil
	}
	self, err := os.Executable()
	if err != nil {
		return tracker.Program{}, fmt.Errorf("find this program: %w", err)
	}
	return tracker.Program{Name: t.Name, Argv: []string{self, "session", "tracker", t.Name}, Dir: root, Env: env.Vars}, nil
}

// setTracker stores the loop's issues in the spec, and keeps their plan out of commits.
func (p *Prepared) setTracker() {
	if p.Issues == nil {
		return
	}
	t := &record.TrackerIssues{Name: p.Issues.From.Tracker, From: p.Issues.From.String(), Label: p.Settings.Tracker.Label}
	if t.Name == tracker.CommandName {
		t.Command = p.Settings.Tracker.Command
	}
	for _, i := range p.Issues.Issues {
		t.Issues = append(t.Issues, record.Issue(i))
	}
	p.Spec.Tracker = t
	p.Spec.Untracked = append(p.Spec.Untracked, p.Issues.Path)
}

// writeIssuePlan writes the plan, into a folder that git ignores.
func (p *Prepared) writeIssuePlan() error {
	if p.Issues == nil {
		return nil
	}
	ignore := path.Join(path.Dir(p.Issues.Path), ".gitignore")
	if _, err := workfile.Lstat(p.root, ignore); errors.Is(err, fs.ErrNotExist) {
		if err := workfile.Write(p.root, ignore, []byte("*\n"), 0o644); err != nil {
			return fmt.Errorf("write the plan of the issues: %w", err)
		}
	}
	if err := planfile.WriteBelow(p.root, p.Issues.Path, p.Issues.File); err != nil {
		return fmt.Errorf("write the plan of the issues: %w", err)
	}
	return nil
}
