package cli

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/core/shell"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/narrate"
	"github.com/pawl-dev/pawl/internal/restore"
)

type restoreCmd struct {
	requiredLoopArg
	Checkpoint int      `arg:"" optional:"" name:"n" help:"number of the checkpoint"`
	Task       string   `placeholder:"ID" help:"restore only the undone work of this task"`
	File       []string `sep:"none" placeholder:"PATH" help:"restore only this file or folder; repeatable"`
	Yes        bool     `short:"y" help:"do not ask for confirmation"`
}

// Run restores a checkpoint, or the work of a task.
func (c *restoreCmd) Run(ctx context.Context, a *app) error {
	numbered, ofTask := c.Checkpoint != 0, c.Task != ""
	if numbered && ofTask || !numbered && !ofTask && len(c.File) == 0 {
		hint := "pawl checkpoints " + c.Loop + " lists the checkpoints"
		if _, err := strconv.Atoi(c.Loop); err == nil {
			hint = "the loop comes first; . is the newest here: pawl restore . " + c.Loop
		}
		return failure.New(failure.Usage, hint, "give the number of a checkpoint, --task ID or --file PATH")
	}
	s, err := a.find(c.Loop)
	if err != nil {
		return err
	}
	paths, err := a.pathsOf(s, c.File)
	if err != nil {
		return err
	}
	find := restore.DifferentVersion(paths)
	switch {
	case ofTask:
		find = restore.TaskWork(c.Task)
	case numbered:
		find = restore.ByNumber(c.Checkpoint)
	}
	return a.restore(ctx, s, c.Yes, find.Only(paths))
}

type undoCmd struct {
	Loop string `arg:"" optional:"" help:"id of a loop or its beginning; default: the newest here with a restore"`
	Yes  bool   `short:"y" help:"do not ask for confirmation"`
}

// Run restores the work tree from before the last restore.
func (c *undoCmd) Run(ctx context.Context, a *app) error {
	restored := func(s *loopinfo.Loop) bool {
		repo, err := s.Origin(ctx)
		if err == nil {
			_, err = restore.BeforeLastRestore(ctx, repo, s)
		}
		return err == nil
	}
	s, err := a.findNewest(cmp.Or(c.Loop, "."), "", restored)
	if err != nil {
		return err
	}
	return a.restore(ctx, s, c.Yes, restore.BeforeLastRestore)
}

// restore restores the loop's work tree to what find returns, if the user agrees.
func (a *app) restore(ctx context.Context, s *loopinfo.Loop, yes bool, find restore.Finder) error {
	done, err := restore.Run(ctx, a.store, s, restore.Options{Find: find, Agree: func(p restore.Proposal) error {
		a.printProposal(s, p)
		if yes || len(p.Changes) == 0 {
			return nil
		}
		agreed, err := a.confirm(confirmation{
			text: "restore " + s.ID + " as listed?", instead: "check the list, then run it again with --yes",
			nobody: "this needs your confirmation, and there is no terminal; nothing was changed",
		})
		if err == nil && !agreed {
			a.printf("nothing was changed\n")
			err = exitCode(failure.Error)
		}
		return err
	}})
	if err != nil {
		return err
	}
	changed := "no file had to change"
	if n := len(done.Restored.Changed); n > 0 {
		changed = figure.Count(n, "file") + " changed"
	}
	a.printf("restored %s: %s\n", done.Target, changed)
	for _, left := range done.Restored.Left {
		a.printf("  not changed: %s (%s)\n", plan.OneLine(left.Path, 0), left.Reason)
	}
	a.printf("the tree as it was is checkpoint %d; pawl undo %s restores it\n", done.Before.N, s.ID)
	return nil
}

// printProposal lists the files that would change, and the tasks whose status would change.
func (a *app) printProposal(s *loopinfo.Loop, p restore.Proposal) {
	a.printf("%s: %s\n", p.Target, figure.Count(len(p.Changes), "file")+" would change")
	const most = 30
	for _, c := range p.Changes[:min(len(p.Changes), most)] {
		verb := map[byte]string{'A': "add", 'D': "delete"}[c.Status]
		a.printf("  %-6s  %s\n", cmp.Or(verb, "change"), plan.OneLine(c.Path, 0))
	}
	if more := len(p.Changes) - most; more > 0 {
		a.printf("  and %d more: git diff --stat %.9s %.9s\n", more, p.Now, p.Tree)
	}
	for _, path := range p.Clashes {
		a.printf("  stays   %s: changed since in the same place; git diff %.9s %.9s -- %s shows the task's change\n",
			plan.OneLine(path, 0), p.Target.Base(), p.Target.Commit, shell.QuoteCommand([]string{path}))
	}
	for _, was := range p.Tasks {
		t, there := p.After.Task(was.ID)
		switch {
		case !there || t.Status == was.Status:
		case t.Status == loop.Done:
			a.printf("  %s would count as done again\n", narrate.TaskInSentence(t.ID, plan.OneLine(t.Title, 60)))
		default:
			a.printf("  %s would be open again: pawl resume %s works on it again\n", narrate.TaskInSentence(t.ID, plan.OneLine(t.Title, 60)), s.ID)
		}
	}
}

// pathOf returns the path of a file that the user named, relative to the loop's root, with slashes.
// The file is in the loop's work tree or its repository. Pawl prints paths from the root. So in a
// subfolder, a path whose file or folder exists only from the root is read from the root.
func (a *app) pathOf(s *loopinfo.Loop, file string) (string, error) {
	roots := []string{git.RealPath(s.Spec.WorkTree(s.Loop)), git.RealPath(s.Spec.Root)}
	at := launch.AbsPath(git.RealPath(a.dir), file)
	for _, root := range roots {
		rel, err := filepath.Rel(root, at)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		printed := filepath.Clean(file)
		onlyThere := func(here, there string) bool { return !existsIn(roots, here) && existsIn(roots, there) }
		if filepath.IsLocal(printed) && (onlyThere(rel, printed) || onlyThere(filepath.Dir(rel), filepath.Dir(printed))) {
			rel = printed
		}
		return filepath.ToSlash(rel), nil
	}
	return "", failure.New(failure.Usage, "name files of "+s.Spec.Root, "%s is not in the repository of loop %s", file, s.ID)
}

// existsIn reports whether one of the folders has a file or folder at path.
func existsIn(folders []string, path string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool {
		_, err := os.Lstat(filepath.Join(folder, path))
		return err == nil
	})
}

func (a *app) pathsOf(s *loopinfo.Loop, files []string) ([]string, error) {
	var paths []string
	for _, file := range files {
		path, err := a.pathOf(s, file)
		if err != nil {
			return nil, err
		}
		if path == "." {
			return nil, failure.New(failure.Usage, "pawl restore "+s.ID+" N restores the whole tree", "--file names the whole work tree")
		}
		paths = append(paths, path)
	}
	return paths, nil
}
