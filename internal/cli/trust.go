package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/foreign/verifyactive"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/planfile"
	"github.com/pawl-dev/pawl/internal/session/place"
	"github.com/pawl-dev/pawl/internal/term"
)

type trustCmd struct {
	Files []string `arg:"" optional:"" name:"file" help:"plans, loop files and verify-loop state files to check as well; default: those found here"`
	List  bool     `help:"list the commands and whether they are trusted"`
	Yes   bool     `help:"trust them without asking"`
}

// Run lists the commands in the repository's files and trusts those that the user allows.
func (c *trustCmd) Run(ctx context.Context, a *app) error {
	root := a.root()
	commands, err := a.repoCommands(root, c.Files)
	if err != nil {
		return err
	}
	list := config.OpenTrust(a.env.PawlHome)
	strange, err := list.Untrusted(root, commands)
	if err != nil {
		return err
	}
	if len(commands) == 0 {
		a.printf("no file of this repository names a command\n")
		return nil
	}
	was, err := list.Replaced(root, commands, strange)
	if err != nil {
		return err
	}
	a.printCommands(commands, strange, was)
	if len(strange) == 0 || c.List {
		return nil
	}
	if err := a.requireUser("trust commands"); err != nil {
		return err
	}
	if !c.Yes {
		hint := "read them, then  pawl trust --yes"
		if a.env.Session.Inside || a.env.Session.ID != "" {
			hint = "read them, then  ! pawl trust --yes"
		}
		agreed, err := a.confirm(confirmation{text: trustQuestion(strange, was), instead: hint, nobody: "there is no terminal to ask whether to trust them"})
		if err != nil {
			return err
		}
		if !agreed {
			return failure.New(failure.Error, "", "nothing was trusted")
		}
	}
	if err := list.Add(ctx, root, strange); err != nil {
		return err
	}
	a.printf("trusted: %s\n", trustWords(strange))
	if slices.ContainsFunc(strange, func(c config.Command) bool { return c.Kind == "verify" }) {
		a.printf("a loop that waited for this starts when its session's next turn ends\n")
	}
	return nil
}

// trustQuestion asks about new commands and about changed ones.
func trustQuestion(strange []config.Command, was map[config.Command]string) string {
	changed := func(c config.Command) bool { _, ok := was[c]; return ok }
	fresh := slices.DeleteFunc(slices.Clone(strange), changed)
	altered := slices.DeleteFunc(slices.Clone(strange), func(c config.Command) bool { return !changed(c) })
	var parts []string
	for _, p := range []struct {
		word     string
		commands []config.Command
	}{{"new", fresh}, {"changed", altered}} {
		if len(p.commands) > 0 {
			parts = append(parts, p.word+": "+trustWords(p.commands))
		}
	}
	return "trust the above (" + strings.Join(parts, "; ") + ")?"
}

// trustWords counts the commands, and separately the entries that only loosen the guard.
func trustWords(commands []config.Command) string {
	entries := 0
	for _, c := range commands {
		if c.Kind == config.KindGuard {
			entries++
		}
	}
	var parts []string
	if n := len(commands) - entries; n > 0 {
		parts = append(parts, figure.Count(n, "command"))
	}
	if entries == 1 {
		parts = append(parts, "1 entry of the guard")
	} else if entries > 1 {
		parts = append(parts, fmt.Sprintf("%d entries of the guard", entries))
	}
	return strings.Join(parts, ", ")
}

// repoCommands returns the commands in pawl.toml and in the named files. Without names, it reads the
// plans and state files here.
func (a *app) repoCommands(root string, files []string) ([]config.Command, error) {
	project, err := config.ReadProject(root)
	if err != nil {
		return nil, err
	}
	settings, err := config.Resolve(project)
	if err != nil {
		return nil, err
	}
	commands := settings.RepoCommands()
	if len(files) == 0 {
		found, err := planfile.Find(root)
		if err != nil {
			return nil, err
		}
		for _, path := range found {
			if f, err := planfile.Load(path); err == nil { // a plan with errors runs nothing
				commands = append(commands, planCommands(root, path, f)...)
			}
		}
		commands = append(commands, a.verifyCommands(root)...)
	}
	for _, file := range files {
		more, err := a.fileCommands(root, file)
		if err != nil {
			return nil, err
		}
		commands = append(commands, more...)
	}
	return commands, nil
}

// fileCommands returns the commands of a plan or a loop file.
func (a *app) fileCommands(root, file string) ([]config.Command, error) {
	path := a.abs(file)
	data, err := atomicfile.Read(path, planfile.MaxSize)
	if err != nil {
		return nil, failure.New(failure.Usage, "name a plan or a loop file", "read %s: %w", file, errors.Unwrap(err))
	}
	if filepath.Base(path) == verifyFile {
		c, err := verifyCommand(root, a.dir, path)
		return []config.Command{c}, err
	}
	if f, err := planfile.Decode(path, data); err == nil {
		return planCommands(root, path, f), nil
	}
	layer, _, err := config.ReadLoopFile(path, root)
	if err != nil {
		return nil, err
	}
	settings, err := config.Resolve(layer)
	if err != nil {
		return nil, err
	}
	return settings.RepoCommands(), nil
}

// planCommands returns a plan's validation commands.
func planCommands(root, path string, f *planfile.File) []config.Command {
	path = git.RealPath(path) // like root, and like the path that pawl run uses
	rel, err := filepath.Rel(root, path)
	if err != nil {
		rel = path
	}
	var out []config.Command
	for _, text := range f.Plan().Gates {
		out = append(out, config.Command{Kind: "plan", File: filepath.ToSlash(rel), Text: text})
	}
	return out
}

// printCommands lists the commands. A changed command is shown as a diff with the trusted one.
func (a *app) printCommands(commands, strange []config.Command, was map[config.Command]string) {
	for _, c := range commands {
		old, changed := was[c]
		state := "trusted"
		switch {
		case changed:
			state = "changed"
		case slices.Contains(strange, c):
			state = "new    "
		}
		a.printf("%s  %s: %s\n", state, term.Clean(c.File), strings.ReplaceAll(c.Kind, "_", " "))
		now := strings.Split(strings.TrimSuffix(c.Text, "\n"), "\n")
		before := now
		if changed {
			before = strings.Split(strings.TrimSuffix(old, "\n"), "\n")
		}
		for _, line := range lineDiff(before, now) {
			a.printf("         %s\n", line)
		}
	}
}

// lineDiff returns a diff: common lines start with " ", removed ones with "- " and new ones with "+ ".
// Commands are short, so it only compares their beginning and end.
func lineDiff(was, now []string) []string {
	var out []string
	add := func(mark string, lines []string) {
		for _, l := range lines {
			out = append(out, mark+term.Clean(l))
		}
	}
	head := 0
	for head < min(len(was), len(now)) && was[head] == now[head] {
		head++
	}
	tail := 0
	for tail < min(len(was), len(now))-head && was[len(was)-1-tail] == now[len(now)-1-tail] {
		tail++
	}
	add("  ", now[:head])
	add("- ", was[head:len(was)-tail])
	add("+ ", now[head:len(now)-tail])
	add("  ", now[len(now)-tail:])
	return out
}

// verifyFile is the name of the state files of another tool's verify loops.
const verifyFile = "verify-active.json"

// verifyCommands returns the commands in the state files here. A file that cannot be read runs
// nothing.
func (a *app) verifyCommands(root string) []config.Command {
	var commands []config.Command
	for _, project := range []string{a.dir, root} {
		for _, path := range place.At(project, a.env).VerifyActivePaths() {
			if filepath.Base(path) != verifyFile {
				continue
			}
			if c, err := verifyCommand(root, project, path); err == nil && !slices.Contains(commands, c) {
				commands = append(commands, c)
			}
		}
	}
	return commands
}

// verifyCommand returns the command in a state file, for a session in the project.
func verifyCommand(root, project, path string) (config.Command, error) {
	data, err := atomicfile.Read(path, verifyactive.MaxSize)
	if err != nil {
		return config.Command{}, err
	}
	f, err := verifyactive.Parse(data)
	if err != nil {
		return config.Command{}, err
	}
	dir := root
	if f.WorkingDir != "" {
		dir = launch.AbsPath(project, f.WorkingDir)
	}
	return config.VerifyCommand(root, git.RealPath(path), git.RealPath(dir), f.Command), nil
}
