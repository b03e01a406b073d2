//go:build unix

package git

import (
	"fmt"
	"syscall"
	"testing"
	"time"
)

// BenchmarkCheckpoint compares a checkpoint of a tree of 50,000 files, ten of them changed, with
// git status on the same tree. It may take twice as long.
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
	change := func() {
		round++
		for i := range changes {
			box.write(fmt.Sprintf("d%02d/e00/f%05d.txt", i, i), fmt.Sprint("round", round))
		}
	}
	checkpoint := func() { box.checkpoint() }
	box.git("status", "--porcelain")
	b.Run("git-status", func(b *testing.B) {
		measure(b, change, func() { box.git("status", "--porcelain") })
	})
	b.Run("checkpoint", func(b *testing.B) { measure(b, change, checkpoint) })
	b.Run("checkpoint-after-git-add", func(b *testing.B) { // compares the kept index with the user's
		measure(b, func() { change(); box.git("add", "d00") }, checkpoint)
	})
}

// measure reports the CPU time of git's processes, which is more stable than wall time on a busy
// machine.
func measure(b *testing.B, prepare, op func()) {
	var spent time.Duration
	for b.Loop() {
		b.StopTimer()
		prepare()
		b.StartTimer()
		before := childTime()
		op()
		spent += childTime() - before
	}
	b.ReportMetric(float64(spent.Microseconds())/1000/float64(b.N), "cpu-ms/op")
}

func childTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u)
	return time.Duration(syscall.TimevalToNsec(u.Utime) + syscall.TimevalToNsec(u.Stime))
}

// BenchmarkSmall measures a turn in a small repository.
func BenchmarkSmall(b *testing.B) {
	box := newRepo(b, "a", "a", "b", "b")
	round := 0
	change := func() { round++; box.write("a", fmt.Sprint(round)) }
	b.Run("git-status", func(b *testing.B) { measure(b, change, func() { box.git("status", "--porcelain") }) })
	b.Run("checkpoint", func(b *testing.B) { measure(b, change, func() { box.checkpoint() }) })
	b.Run("snapshot-unchanged", func(b *testing.B) { measure(b, func() {}, func() { box.snapshot() }) })
}
