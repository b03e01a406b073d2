package faults_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/bench/faults"
)

// The test binary is the program that the bench starts to install the filter.
func TestMain(m *testing.M) {
	if len(os.Args) > 3 && os.Args[2] == "-enter" {
		fmt.Fprintln(os.Stderr, faults.Enter(os.Args[3], os.Args[4:]))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// One call of each kind is quick enough for each run of the tests; `make
// bench-faults` fails them all.
func TestASingleFaultLosesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	play := func(at faults.Point) faults.Outcome {
		o, err := b.Play(t.Context(), at)
		if err != nil {
			t.Fatalf("%s: %v", at, err)
		}
		for _, v := range o.Violations {
			t.Errorf("%s (%s): %s", at, o.Failed, v)
		}
		return o
	}
	calls := play(faults.Point{}).Calls
	for _, kind := range faults.Kinds() {
		n := len(calls[kind]) / 2
		if n == 0 {
			t.Errorf("a run makes %d calls of kind %s", len(calls[kind]), kind)
			continue
		}
		if o := play(faults.Point{Kind: kind, N: n}); o.Failed == "" {
			t.Errorf("%s: no call failed", o.Point)
		}
	}
}

func newBench(t *testing.T) *faults.Bench {
	t.Helper()
	if os.Getenv("PAWL_E2E") != "1" {
		t.Skip("PAWL_E2E is not 1")
	}
	pawl := filepath.Join(t.TempDir(), "pawl")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", pawl, "github.com/pawl-dev/pawl/cmd/pawl").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	b, err := faults.New(t.Context(), t.TempDir(), pawl, os.Args[0], os.Getenv("PATH"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// What an ordinary task may cost, see faults.Cost.
const (
	maxGit   = 15
	maxFsync = 6
)

func TestAnOrdinaryTaskCostsFewProcesses(t *testing.T) {
	t.Parallel()
	costs, err := newBench(t).Cost(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range costs {
		t.Logf("%d git processes and %d fsyncs:\n%s\n%s", len(c.Gits), len(c.Fsyncs), strings.Join(c.Gits, "\n"), strings.Join(c.Fsyncs, "\n"))
		if len(c.Gits) > maxGit || len(c.Fsyncs) > maxFsync {
			t.Errorf("%d git processes and %d fsyncs, at most %d and %d expected", len(c.Gits), len(c.Fsyncs), maxGit, maxFsync)
		}
	}
}
