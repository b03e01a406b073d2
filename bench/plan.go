package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// planOfMany compares what each further task costs in a plan of very many tasks with what
// it costs in one of ten, in the same repository.
func planOfMany(ctx context.Context, l *lab) (outcome, error) {
	const few = 10
	dir, err := l.taskRepository(ctx, 100, few)
	if err != nil {
		return outcome{}, err
	}
	for _, n := range []int{few, l.tasks} {
		var plan strings.Builder
		plan.WriteString("# Plan\n\n")
		for i := range n {
			fmt.Fprintf(&plan, "- [ ] write f%d\n", i+1)
		}
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, fmt.Sprintf("plan%d.md", n)), []byte(plan.String()), 0o600))
	}
	for _, args := range []string{"add .", "commit -q -m plans", "branch -f long"} {
		if err == nil {
			_, _, err = process{dir: dir, argv: append([]string{"git"}, strings.Fields(args)...)}.run(ctx)
		}
	}
	if err != nil {
		return outcome{}, err
	}
	further := func(n int) work {
		return func(ctx context.Context) (time.Duration, error) {
			const more = 5
			var cost [2]time.Duration
			for i, turns := range []int{1 + more, 1} {
				d, err := l.doPlan(ctx, dir, planRun{start: "long", name: fmt.Sprintf("plan%d.md", n), exit: 10, flags: []string{"--max-iterations", strconv.Itoa(turns)}})
				if err != nil {
					return 0, err
				}
				cost[i] = d
			}
			return (cost[0] - cost[1]) / more, nil
		}
	}
	return pair{further(l.tasks), further(few)}.within(ctx, min(l.runs, 5), 1.2)
}

// start compares a command that does next to nothing with an empty program.
func start(arg string, bound float64) func(context.Context, *lab) (outcome, error) {
	return func(ctx context.Context, l *lab) (outcome, error) {
		return pair{process{argv: []string{l.pawl, arg}}.cpu, l.nothing()}.within(ctx, l.runs, bound)
	}
}
