//go:build unix

package store_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

var (
	kills = flag.Int("kills", 10, "how often TestKilledOwner kills its child")
	// child makes this test binary the process that is killed.
	child = flag.String("child", "", "own the loop in this folder, append and save for ever")
)

func TestMain(m *testing.M) {
	flag.Parse()
	if *child != "" {
		fmt.Println(ownForEver(&store.Loop{ID: filepath.Base(*child), Dir: *child}))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func ownForEver(l *store.Loop) error {
	o, err := l.Own(context.Background())
	if err != nil {
		return err
	}
	fmt.Println("owned")
	st, _, err := store.Fold(l, zero, step)
	for n := 1; err == nil; n++ {
		var mark journal.Mark
		if mark, err = o.Append(journal.Entry{Type: "turn", Data: n}); err == nil {
			st.Count["turn"]++
			err = o.Save(mark, st, st.Count["turn"])
		}
	}
	return err
}

// After an owner is killed at any moment the next one can own the loop at once, and the
// snapshot equals the fold of the whole journal.
func TestKilledOwnerReleasesItsLock(t *testing.T) {
	t.Parallel()
	l := create(t, store.Open(t.TempDir()), "/repo")
	for i := range *kills {
		runAndKillOwner(t, l)
		o := own(t, l)
		if err := o.Close(); err != nil {
			t.Fatal(err)
		}
		if _, _, err := l.VerifyJournal(); err != nil {
			t.Fatalf("kill %d: %v", i, err)
		}
		quick, _ := fold(t, l)
		if err := os.Remove(filepath.Join(l.Dir, "state.json")); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if whole, _ := fold(t, l); !cmp.Equal(whole.Count, quick.Count) {
			t.Fatalf("kill %d: the snapshot says %v, the journal %v", i, quick.Count, whole.Count)
		}
	}
}

func runAndKillOwner(t *testing.T, l *store.Loop) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-child="+l.Dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewScanner(out)
	if !in.Scan() || in.Text() != "owned" {
		t.Errorf("the child said %q, %v", in.Text(), in.Err())
	}
	wantAlive(t, l, cmd.Process.Pid, true)
	time.Sleep(rand.N(20 * time.Millisecond)) // the moment is what the test is about
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // killed, as intended
}
