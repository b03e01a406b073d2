package git

import (
	"context"
	"fmt"
	"testing"
)

// BenchmarkCheckpoint compares a checkpoint of a tree of 50,000 files, ten of
// them changed, with git status on the same tree; the bound is twice its time.
//
//	go test -run '^$' -bench Checkpoint -benchtime 10x ./internal/git
func BenchmarkCheckpoint(b *testing.B) {
	const files, changes = 50_000, 10
	box := newRepo(b)
	for i := range files {
		box.write(fmt.Sprintf("d%02d/e%02d/f%05d.txt", i%50, i/50%20, i), fmt.Sprint(i))
	}
	box.git("add", "-A")
	box.git("commit", "-q", "-m", "many")
	round := 0
	change := func(b *testing.B) {
		b.StopTimer()
		round++
		for i := range changes {
			box.write(fmt.Sprintf("d%02d/e00/f%05d.txt", i, i), fmt.Sprint("round", round))
		}
		b.StartTimer()
	}
	box.git("status", "--porcelain")
	b.Run("git-status", func(b *testing.B) {
		for b.Loop() {
			change(b)
			box.git("status", "--porcelain")
		}
	})
	b.Run("checkpoint", func(b *testing.B) {
		for b.Loop() {
			change(b)
			if _, err := box.repo.Checkpoint(context.Background(), "bench", 0, "x"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("first-checkpoint", func(b *testing.B) {
		for b.Loop() {
			change(b)
			box.git("add", "d00") // the user's index changed: the kept one is of no use
			if _, err := box.repo.Checkpoint(context.Background(), "bench", 0, "x"); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkSmall is what a turn costs in a small repository.
func BenchmarkSmall(b *testing.B) {
	box := newRepo(b, "a", "a", "b", "b")
	b.Run("git-status", func(b *testing.B) {
		for b.Loop() {
			box.git("status", "--porcelain")
		}
	})
	b.Run("checkpoint-changed", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			box.write("a", fmt.Sprint(i))
			if _, err := box.repo.Checkpoint(context.Background(), "bench", 0, "x"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("snapshot-unchanged", func(b *testing.B) {
		for b.Loop() {
			box.snapshot()
		}
	})
}
