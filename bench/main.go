// Command bench measures what Pawl must not cost: the bounds of docs/DESIGN.md.
//
// Each bound is a ratio to something that nobody calls slow, an empty Go program
// or `git status` on the same files, and both are measured in turns in one run:
// a busy machine slows both. What counts is processor time, of the process and
// of all that it waited for; the figure is the median.
//
//	go run ./bench                 # all of them, some minutes
//	go run ./bench -only list      # the rows whose text has "list"
//	go run ./bench -runs 31 -files 50000
//	go run ./bench hook            # those of pawl-hook, see hook.go
//	go run ./bench peers           # beside a bare loop around the client, see peers.go
//	go run ./bench faults          # single faults injected into a loop, see faults/
//	go run ./bench soak            # a loop of 10,000 iterations, see soak.go
//	go run ./bench trust           # agents that cheat, and honest ones, see trust/
//
// It exits 1 if a bound does not hold.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"
)

// options scale the measurement; the defaults are those of the design.
type options struct {
	runs       int
	files      int
	tasks      int
	iterations int
	loops      int
	stream     int64 // bytes
}

// row is one bound and how to measure it.
type row struct {
	what    string
	bound   string
	measure func(context.Context, *lab) (outcome, error)
}

// outcome is one line of the table's right half.
type outcome struct {
	reference string
	measured  string
	result    string // "12.3 ×"
	ok        bool
}

// errAbsent: what is to be measured is not on this machine.
var errAbsent = errors.New("not installed")

func main() {
	if helper(os.Args) {
		return
	}
	benches := map[string]func(args []string) (held bool, err error){
		"hook": benchHook, "peers": benchPeers, "trust": benchTrust, "faults": benchFaults, "soak": benchSoak,
	}
	run, args := bench, os.Args[1:]
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		if run = benches[args[0]]; run == nil {
			fmt.Fprintf(os.Stderr, "bench: error: there is no bench %q\nbench: hint: hook, peers, faults, soak or trust; without a name all bounds are measured (-only TEXT: some)\n", args[0])
			os.Exit(2)
		}
		args = args[1:]
	}
	os.Exit(exitCode(run(args)))
}

// exitCode prints the error, if any, and returns the exit code.
func exitCode(held bool, err error) int {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: error:", err)
	}
	if err != nil || !held {
		return 1
	}
	return 0
}

// timed is the context of a measurement, which ends with Ctrl-C or after long.
func timed(long time.Duration) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	ctx, cancel := context.WithTimeout(ctx, long)
	return ctx, func() { cancel(); stop() }
}

// bench measures the tool, and tells whether every bound held.
func bench(args []string) (bool, error) {
	var o options
	f := flag.NewFlagSet("bench", flag.ExitOnError)
	f.IntVar(&o.runs, "runs", 15, "measure each `N` times, in turns")
	f.IntVar(&o.files, "files", 50_000, "files in the big tree")
	f.IntVar(&o.tasks, "tasks", 5_000, "tasks in the long plan")
	f.IntVar(&o.iterations, "iterations", 10_000, "iterations of the long loop")
	f.IntVar(&o.loops, "loops", 1_000, "loops to list")
	f.Int64Var(&o.stream, "stream", 1<<30, "bytes of the agent's event stream")
	only := f.String("only", "", "only the rows whose text has `TEXT`")
	page := f.String("page", "", "write the table into this page, in place of the one there")
	if err := f.Parse(args); err != nil {
		return false, err
	}
	ctx, done := timed(20 * time.Minute)
	defer done()
	l, err := newLab(ctx, o)
	if err != nil {
		return false, err
	}
	defer l.close()
	if *page == "" {
		return measure(ctx, l, rows(o), *only)
	}
	t, held, err := measured(ctx, l, rows(o), *only)
	if err != nil {
		return false, err
	}
	return held, t.writeInto(*page, growthBegin)
}

// measure measures the rows and prints them; it tells whether every bound held.
func measure(ctx context.Context, l *lab, rows []row, only string) (bool, error) {
	t, held, err := measured(ctx, l, rows, only)
	if err != nil {
		return false, err
	}
	return held, t.print(os.Stdout)
}

// measured measures the rows; held tells whether every bound did.
func measured(ctx context.Context, l *lab, rows []row, only string) (t table, held bool, err error) {
	t, held = table{{"what", "reference", "measured", "result", "bound", ""}}, true
	for _, r := range rows {
		if !strings.Contains(r.what, only) {
			continue
		}
		fmt.Fprintln(os.Stderr, "measuring:", r.what)
		got, err := r.measure(ctx, l)
		if errors.Is(err, errAbsent) {
			t = append(t, []string{r.what, "", "", "not measured", r.bound, err.Error()})
			continue
		}
		if err != nil {
			return nil, false, fmt.Errorf("%s: %w", r.what, err)
		}
		verdict := "ok"
		if !got.ok {
			verdict, held = "OVER", false
		}
		t = append(t, []string{r.what, got.reference, got.measured, got.result, r.bound, verdict})
	}
	return t, held, nil
}
