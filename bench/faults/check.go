package faults

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// check is a run under way, and what it must come to.
type check struct {
	*place
	bench  *Bench
	o      *Outcome
	before map[string]string // see usersOwn
}

func (c *check) violation(format string, args ...any) {
	c.o.Violations = append(c.o.Violations, fmt.Sprintf(format, args...))
}

// usersOwn returns the state that no loop may change: refs, the stash and files of the user.
func (c *check) usersOwn(ctx context.Context) map[string]string {
	own := map[string]string{
		"main": c.git(ctx, "rev-parse", "main"), "other": c.git(ctx, "rev-parse", "other"), "v1": c.git(ctx, "rev-parse", "v1"),
		"stash": c.git(ctx, "stash", "list", "--format=%H"),
	}
	for _, name := range []string{"notes.txt", "keep.log", "gate.sh", ".gitignore", ".git/config"} {
		data, err := os.ReadFile(filepath.Join(c.repo, name))
		own[name] = fmt.Sprint(string(data), err)
	}
	return own
}

// afterFault checks what must be true at any time that no process is at work.
func (c *check) afterFault(ctx context.Context) {
	c.untouched(ctx)
	c.quiet()
	c.toldWhy(ctx)
	ticked, committed := strings.Count(c.plan(), "[x]"), len(c.commits(ctx))
	if ticked > committed {
		c.violation("after the fault: %d tasks are ticked, %d committed", ticked, committed)
	}
}

// toldWhy checks that a lasting fault ends the run with an error that names it. One that
// begins when the loop has ended leaves it as it is.
func (c *check) toldWhy(ctx context.Context) {
	if !c.o.Kind.Lasts() || c.o.Failed == "" {
		return
	}
	if loops := c.list(ctx); c.o.ExitCode == 0 && len(loops) == 1 && loops[0].Outcome == "verified" {
		return
	}
	if said := c.o.Kind.errno().Error(); c.o.ExitCode == 0 || !strings.Contains(c.o.Story, said) {
		c.violation("after the fault: exit code %d, and %q is not said: %s", c.o.ExitCode, said, lastLines(c.o.Story, 3))
	}
}

// untouched checks the user's own.
func (c *check) untouched(ctx context.Context) {
	now := c.usersOwn(ctx)
	for name, was := range c.before {
		if now[name] != was {
			c.violation("the user's %s changed: %q, not %q", name, now[name], was)
		}
	}
}

// quiet checks that no process is left, and no lock.
func (c *check) quiet() {
	left := c.left()
	for range 30 { // one that was killed takes a moment
		if len(left) == 0 {
			break
		}
		time.Sleep(100 * time.Millisecond)
		left = c.left()
	}
	for _, process := range left {
		c.violation("a process is left: %s", process)
	}
	_ = filepath.WalkDir(filepath.Join(c.repo, ".git"), func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".lock") {
			c.violation("a lock is left: %s", strings.TrimPrefix(path, c.repo))
		}
		return nil
	})
}

func (c *check) plan() string {
	data, err := os.ReadFile(filepath.Join(c.repo, "plan.md"))
	if err != nil {
		c.violation("the plan: %v", err)
	}
	return string(data)
}

// commits are those of loops, on any branch: task and loop by their trailers.
func (c *check) commits(ctx context.Context) []string {
	const format = "--format=%(trailers:key=Pawl-Task,valueonly,separator=%x2C) %(trailers:key=Pawl-Loop,valueonly,separator=%x2C)"
	out := c.git(ctx, "log", "--reverse", format, "--branches", "^main")
	if out == "" {
		return nil
	}
	return strings.Split(out, "\n")
}

// atEnd checks what must be true of a loop that has been gone on with without a fault.
func (c *check) atEnd(ctx context.Context) {
	c.untouched(ctx)
	c.quiet()
	loops := c.list(ctx)
	if len(loops) != 1 {
		c.violation("there are %d loops", len(loops))
		return
	}
	l := loops[0]
	if l.Outcome != "verified" || l.Tasks.Done != 2 {
		c.violation("the loop ended %q with %d tasks done", l.Outcome, l.Tasks.Done)
	}
	if got, want := c.commits(ctx), []string{"1 " + l.ID, "2 " + l.ID}; !slices.Equal(got, want) {
		c.violation("commits (task, loop) %q, not %q", got, want)
	} else {
		c.work(ctx)
	}
	branch := "pawl/" + l.ID
	if got, want := c.git(ctx, "for-each-ref", "--format=%(refname:short)", "refs/heads"), "main\nother\n"+branch; got != want {
		c.violation("branches %q, not %q", got, want)
	}
	if got := c.git(ctx, "symbolic-ref", "--short", "HEAD"); got != branch {
		c.violation("HEAD is on %s", got)
	}
	if got := c.git(ctx, "status", "--porcelain"); got != "?? notes.txt" {
		c.violation("git status: %q", got)
	}
	if n := strings.Count(c.plan(), "[x]"); n != 2 {
		c.violation("%d tasks are ticked in the plan", n)
	}
	for _, args := range [][]string{{"status", "--json", l.ID}, {"log", "--verify", l.ID}, {"report", l.ID}} {
		if out, err := c.pawl(ctx, args...); err != nil {
			c.violation("pawl %s: %v: %s", strings.Join(args, " "), err, lastLines(out, 3))
		}
	}
}

// work checks that each task's commit holds its work, and its tick.
func (c *check) work(ctx context.Context) {
	for n, rev := range map[string]string{"1": "HEAD~1", "2": "HEAD"} {
		want := "f" + n + "\nplan.md\nt_f" + n + ".sh"
		if got := c.git(ctx, "diff", "--name-only", rev+"~1", rev); got != want {
			c.violation("the commit of task %s changes %q, not %q", n, got, want)
		}
		if got := c.git(ctx, "show", rev+":f"+n); got != "work"+n {
			c.violation("f%s is %q", n, got)
		}
		if got := strings.Count(c.git(ctx, "show", rev+":plan.md"), "[x]"); fmt.Sprint(got) != n {
			c.violation("%d tasks are ticked in the commit of task %s", got, n)
		}
	}
}
