package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// doer is an agent that does a task at once: a file, and a test that fails without it. It
// brings along the files that are in stock, see newFiles.
const doer = `#!/bin/sh
n=$(sed -n 's/^id: //p')
mkdir -p tests
echo "grep -q work$n f$n" >tests/t_f$n.sh
echo "work$n" >f$n
[ ! -d ../stock ] || mv ../stock stock
echo '<promise>DONE</promise>'
`

const taskGate = `#!/bin/sh
for t in tests/t_*.sh; do
	[ ! -f "$t" ] || sh "$t" || exit 1
done
`

// task compares what each further task of a plan costs, from its turn to the next one's,
// with git status in the same repository: agent, gate runs, evidence, commit and checkpoint
// together.
func task(files int, wanted string, bound float64) func(context.Context, *lab) (outcome, error) {
	return func(ctx context.Context, l *lab) (outcome, error) {
		const tasks = 4
		dir, err := l.taskRepository(ctx, files, tasks)
		if err != nil {
			return outcome{}, err
		}
		plan := func(ctx context.Context, name string) (time.Duration, error) {
			return l.doPlan(ctx, dir, planRun{start: "start", name: name, flags: []string{"--evidence", wanted}})
		}
		subject := func(ctx context.Context) (time.Duration, error) {
			all, err := plan(ctx, "all.md")
			if err != nil {
				return 0, err
			}
			one, err := plan(ctx, "one.md")
			return (all - one) / (tasks - 1), err
		}
		reference := process{dir: dir, argv: []string{"git", "status", "--porcelain"}}.cpu
		return pair{subject, reference}.within(ctx, min(l.runs, 5), bound)
	}
}

// planRun is a run of a plan from the start: a branch of the repository.
type planRun struct {
	start, name string
	flags       []string
	exit        int
}

// doPlan runs a plan with the doer and says what it cost.
func (l *lab) doPlan(ctx context.Context, dir string, p planRun) (time.Duration, error) {
	for _, args := range []string{"checkout -q -f -B work " + p.start, "clean -fdq"} {
		if _, _, err := (process{dir: dir, argv: append([]string{"git"}, strings.Fields(args)...)}).run(ctx); err != nil {
			return 0, err
		}
	}
	home, err := os.MkdirTemp(l.dir, "task")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(home)
	return process{dir: dir, env: []string{"PAWL_HOME=" + home, "HOME=" + home}, exit: p.exit, argv: append([]string{
		l.pawl, "run", p.name, "--gate", "sh gate.sh", "--agent", "command", "--agent-command", filepath.Join(l.dir, "doer"), "--yes", "--quiet",
	}, p.flags...)}.cpu(ctx)
}

// taskRepository is a repository of so many files with a gate and two plans, of one task
// and of more.
func (l *lab) taskRepository(ctx context.Context, files, tasks int) (string, error) {
	name := fmt.Sprintf("tasks%d", files)
	dir := filepath.Join(l.dir, name)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if _, err := l.repository(ctx, name, files); err != nil {
		return "", err
	}
	var plan strings.Builder
	plan.WriteString("# Plan\n\n")
	err := os.WriteFile(filepath.Join(l.dir, "doer"), []byte(doer), 0o700)
	for i := range tasks {
		fmt.Fprintf(&plan, "- [ ] write f%d\n", i+1)
		if i == 0 {
			err = errors.Join(err, os.WriteFile(filepath.Join(dir, "one.md"), []byte(plan.String()), 0o600))
		}
	}
	err = errors.Join(err, os.WriteFile(filepath.Join(dir, "all.md"), []byte(plan.String()), 0o600), os.WriteFile(filepath.Join(dir, "gate.sh"), []byte(taskGate), 0o600))
	for _, args := range []string{"add .", "commit -q -m plans", "branch start"} {
		if err == nil {
			_, _, err = process{dir: dir, argv: append([]string{"git"}, strings.Fields(args)...)}.run(ctx)
		}
	}
	return dir, err
}
