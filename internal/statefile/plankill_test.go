package statefile_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/statefile"
)

func unix(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }

// TestPlanLoopKilled kills the process at any time: each file then has its old or its new content,
// and the next run repairs the rest.
func TestPlanLoopKilled(t *testing.T) {
	t.Parallel()
	if flag.NArg() == 2 { // the process that is killed
		writeForEver(t, flag.Arg(0), flag.Arg(1))
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b := newPlanBench(t)
	dir := t.TempDir()
	files := statefile.FilesOf(b.root, dir, killed)
	for i := range 12 {
		child := exec.Command(self, "-test.run=^TestPlanLoopKilled$", b.root, dir)
		said, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := said.Read(make([]byte, 1)); err != nil {
			t.Fatal("the child ended before it wrote: ", err)
		}
		time.Sleep(time.Duration(7*i) * time.Millisecond)
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = child.Wait() // it was killed
		for _, folder := range []string{planDir, ".ralph/"} {
			if s := b.read(folder + "current-story"); s != "US-001\n" && s != "US-002\n" {
				t.Fatalf("%scurrent-story: %q", folder, s)
			}
			if c := b.read(folder + ".checkpoint"); c != sha1+"\n" && c != sha2+"\n" {
				t.Fatalf("%s.checkpoint: %q", folder, c)
			}
			log := b.read(folder + "failure-context.log")
			if log != "-" && (!strings.HasSuffix(log, "=== End Failure ===\n") || len(log) > 100_000) {
				t.Fatalf("%sfailure-context.log ends in %q, %d bytes", folder, log[max(0, len(log)-30):], len(log))
			}
		}
	}
	if b.read(".ralph/failure-context.log") == "-" {
		t.Fatal("nothing was killed at its work")
	}
	m := turnOf(2)
	m.State.Phase = loop.Ended
	if err := files.MarkEnded(m, ""); err != nil {
		t.Fatal(err)
	}
	b.want("current-story", "-")
	b.want(".checkpoint", "-")
}

var killed = record.Spec{Request: record.Request{Plan: planPath}, SessionOptions: record.SessionOptions{CompatFormat: statefile.PlanLoopName}, Repository: record.Repository{NoCommit: true}}

func turnOf(n int) memory.Memory {
	var m memory.Memory
	m.State = loop.State{Phase: loop.Turning, Tasks: []loop.Task{{ID: "US-001", Status: loop.Open}, {ID: "US-002", Status: loop.Open}}, Counts: loop.Counts{Iteration: n}, Work: loop.Work{Current: "US-001", Failing: &loop.Failing{Reason: strings.Repeat("long ", 100)}}}
	m.Base.Commit = sha1
	if n%2 == 1 {
		m.State.Current, m.Base.Commit = "US-002", sha2
	}
	m.State.History = []loop.RecapLine{{Iteration: n - 1, Task: m.State.Current}}
	return m
}

func writeForEver(t *testing.T, root, dir string) {
	files := statefile.FilesOf(root, dir, killed)
	for n := 2; ; n++ {
		if err := files.UpdateProgress(turnOf(n), time.Now()); err != nil {
			t.Fatal(err)
		}
		fmt.Println("written")
	}
}
