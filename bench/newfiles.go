package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// newFiles compares what very many new files add to the cost of a task with what git takes
// to add and commit them. They are made beside the repository, and the doer moves them in.
// Measure it in memory (TMPDIR=/dev/shm): ext4 makes files very slowly for some minutes where
// many were deleted, and the rounds delete what those before them made.
func newFiles(files int, bound float64) func(context.Context, *lab) (outcome, error) {
	return func(ctx context.Context, l *lab) (outcome, error) {
		dir, err := l.taskRepository(ctx, 100, 4)
		if err != nil {
			return outcome{}, err
		}
		stock, turn := filepath.Join(l.dir, "stock"), 0
		fill := func() error { // each time with contents that git has not seen
			turn++
			return writeFiles(stock, files, turn)
		}
		task := func(ctx context.Context) (time.Duration, error) {
			return l.doPlan(ctx, dir, planRun{start: "start", name: "one.md"})
		}
		subject := func(ctx context.Context) (time.Duration, error) {
			few, err := task(ctx)
			if err == nil {
				err = fill()
			}
			if err != nil {
				return 0, err
			}
			many, err := task(ctx)
			return many - few, err
		}
		reference := func(ctx context.Context) (all time.Duration, err error) {
			if err := fill(); err != nil {
				return 0, err
			}
			for _, step := range []string{"git checkout -q -f -B work start", "git clean -fdq", "mv " + stock + " .", "git add -A", "git commit -q -m files"} {
				cost, err := process{dir: dir, argv: strings.Fields(step)}.cpu(ctx)
				if err != nil {
					return 0, err
				}
				if strings.Contains(step, " add ") || strings.Contains(step, " commit ") {
					all += cost
				}
			}
			return all, nil
		}
		return pair{subject, reference}.within(ctx, min(l.runs, 3), bound)
	}
}

// writeFiles makes so many small files below a folder that is not there yet. Every twentieth is a
// program, the others are pages: a claim of more than 2,000 programs is not proven.
func writeFiles(dir string, files, turn int) error {
	for i := range files {
		path := file(dir, i)
		if i%100 == 0 {
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				return err
			}
		}
		text := fmt.Appendf(nil, "package p\n\nconst n%d = %d\n", i, turn)
		if i%20 != 0 {
			path, text = strings.TrimSuffix(path, ".go")+".html", fmt.Appendf(nil, "<p>%d of %d</p>\n", i, turn)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return err
		}
	}
	return nil
}
