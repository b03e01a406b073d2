//go:build unix

package journal_test

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/store/journal"
)

var (
	kills = flag.Int("kills", 30, "how often TestKilledWriterLosesNothing kills its child")
	// child makes this test binary the process that is killed.
	child = flag.String("child", "", "append to this journal for ever, telling each number that is on disk")
	limit = flag.Uint64("child.limit", 0, "with -child: bytes that the child's files may have")
)

func TestMain(m *testing.M) {
	flag.Parse()
	if *child != "" {
		if err := appendForEver(*child, *limit); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func TestKilledWriterLosesNothing(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	acknowledged := -1
	for range *kills {
		acknowledged = max(acknowledged, runAndKill(t, path))
		if t.Failed() {
			return
		}
	}
	open(t, path) // cuts a last torn end
	if _, _, err := journal.Verify(path); err != nil {
		t.Errorf("verify: %v", err)
	}
	next := 0
	for _, r := range records(t, path, journal.Mark{}) {
		if r.Type != "number" {
			continue
		}
		if n := dataOf[int](t, r); n != next {
			t.Fatalf("number %d where %d should be: lost or doubled", n, next)
		}
		next++
	}
	if next <= acknowledged {
		t.Errorf("%d was acknowledged, the last on disk is %d", acknowledged, next-1)
	}
	t.Logf("%d kills, %d records, %d acknowledged", *kills, next, acknowledged+1)
}

// runAndKill lets a child append for a moment and returns the last number that
// it said was on disk.
func runAndKill(t *testing.T, path string) int {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-child="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(rand.N(20*time.Millisecond), func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	last := -1
	for in := bufio.NewScanner(out); in.Scan(); {
		n, err := strconv.Atoi(in.Text())
		if err != nil {
			t.Errorf("the child said %q", in.Text())
			break
		}
		last = n
	}
	_ = cmd.Wait() // killed, as intended
	return last
}

// appendForEver appends the numbers that follow the last one in the journal.
func appendForEver(path string, limit uint64) error {
	if limit > 0 {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
			return err
		}
	}
	n := 0
	for r, err := range journal.Records(path, journal.Mark{}) {
		if err != nil {
			return err
		}
		if r.Type == "number" {
			n++
		}
	}
	w, err := journal.Open(path)
	if err != nil {
		return err
	}
	for ; ; n++ {
		if _, err := w.Append(1, journal.Entry{Type: "number", Data: n}); errors.Is(err, syscall.EFBIG) {
			fmt.Println("full")
			return nil
		} else if err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// The same with a real limit: the write stops in the middle of a record.
func TestFullDiskLeavesAWholeJournal(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	out, err := exec.CommandContext(t.Context(), os.Args[0], "-child="+path, "-child.limit=5000").CombinedOutput()
	said := strings.Fields(string(out))
	if err != nil || len(said) < 2 || said[len(said)-1] != "full" {
		t.Fatalf("child: %v\n%s", err, out)
	}
	wantWhole(t, path, int64(len(said)-1))
	add(t, open(t, path), 1, "number", len(said)-1)
	wantWhole(t, path, int64(len(said)))
}
