package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/pawl-dev/pawl/internal/git"
)

// checkpoint compares a checkpoint of a big tree with git status on it. Ten
// files are changed anew before each. Opening the repository counts as well,
// though a loop does it once.
func checkpoint(ctx context.Context, l *lab) (outcome, error) {
	dir, err := l.repository(ctx, "big", l.files)
	if err != nil {
		return outcome{}, err
	}
	turn := 0
	subject := func(ctx context.Context) (time.Duration, error) {
		turn++
		for i := range 10 {
			if err := os.WriteFile(file(dir, i*l.files/10), fmt.Appendf(nil, "package p // turn %d\n", turn), 0o600); err != nil {
				return 0, err
			}
		}
		return process{argv: []string{l.self, "-as", "checkpoint", dir}}.cpu(ctx)
	}
	reference := process{dir: dir, argv: []string{"git", "status", "--porcelain"}}.cpu
	return pair{subject, reference}.within(ctx, l.runs, 2)
}

// takeCheckpoint takes a checkpoint: the measured process runs it.
func takeCheckpoint(ctx context.Context, dir string) error {
	r, err := git.Open(ctx, dir)
	if err != nil {
		return err
	}
	_, err = r.Checkpoint(ctx, "bench", "bench")
	return err
}
