package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/pawl-dev/pawl/bench/faults"
)

// faultOptions are the flags of `bench faults`.
type faultOptions struct {
	kind    string
	n       int
	from    int
	every   int
	workers int
	loud    bool
	enter   bool
}

// benchFaults injects single faults, and tells whether none did harm:
//
//	go run ./bench faults                     # every call of every kind
//	go run ./bench faults -every 10           # every tenth
//	go run ./bench faults -kind full -every 5 # a disk that stays full until the loop is resumed
//	go run ./bench faults -kind fsync -n 12 -v
func benchFaults(args []string) (bool, error) {
	var o faultOptions
	f := flag.NewFlagSet("bench faults", flag.ExitOnError)
	f.StringVar(&o.kind, "kind", "", "only calls of this `KIND`")
	f.IntVar(&o.n, "n", 0, "only the `N`-th call")
	f.IntVar(&o.from, "from", 1, "begin with the `N`-th call")
	f.IntVar(&o.every, "every", 1, "every `K`-th call")
	f.IntVar(&o.workers, "parallel", 2, "play `N` at a time")
	f.BoolVar(&o.loud, "v", false, "print all that was said, and each call")
	f.BoolVar(&o.enter, "enter", false, "become the program that follows, under supervision")
	if err := f.Parse(args); err != nil {
		return false, err
	}
	if o.enter {
		return false, faults.Enter(f.Arg(0), f.Args()[1:])
	}
	ctx, done := timed(6 * time.Hour)
	defer done()
	l, err := newLab(ctx, options{})
	if err != nil {
		return false, err
	}
	defer l.close()
	b, err := faults.New(ctx, filepath.Join(l.dir, "faults"), l.pawl, l.self, os.Getenv("PATH"))
	if err != nil {
		return false, err
	}
	calm, err := b.Play(ctx, faults.Point{})
	if err != nil {
		return false, err
	}
	if len(calm.Violations) > 0 {
		return false, fmt.Errorf("without a fault: %q\n%s", calm.Violations, calm.Story)
	}
	points, err := o.points(calm.Calls)
	if err != nil {
		return false, err
	}
	outcomes, err := playFaults(ctx, b, points, o)
	tellFaults(calm.Calls, outcomes)
	return allHeld(outcomes), err
}

// lastingStep is how many calls lie between two that a lasting fault begins with: a run
// makes a thousand calls that change the disk.
const lastingStep = 25

// points are the faults to inject, given the calls of a run without any.
func (o faultOptions) points(calls faults.Calls) ([]faults.Point, error) {
	kinds := faults.Kinds()
	if o.kind != "" {
		k, err := faults.ParseKind(o.kind)
		if err != nil {
			return nil, err
		}
		kinds = []faults.Kind{k}
	}
	if o.n > 0 {
		if len(kinds) != 1 {
			return nil, errors.New("-n needs -kind")
		}
		return []faults.Point{{Kind: kinds[0], N: o.n}}, nil
	}
	var points []faults.Point
	for _, k := range kinds {
		step := max(1, o.every)
		if k.Lasts() && o.kind == "" {
			step *= lastingStep
		}
		for n := max(1, o.from); n <= len(calls[k]); n += step {
			points = append(points, faults.Point{Kind: k, N: n})
		}
	}
	return points, nil
}

// playFaults injects each fault, and prints what went wrong as it comes.
func playFaults(ctx context.Context, b *faults.Bench, points []faults.Point, o faultOptions) ([]faults.Outcome, error) {
	var mu sync.Mutex
	var outcomes []faults.Outcome
	var failed error
	todo := make(chan faults.Point)
	var all sync.WaitGroup
	for range o.workers {
		all.Go(func() {
			for at := range todo {
				out, err := b.Play(ctx, at)
				mu.Lock()
				if failed = errors.Join(failed, err); err == nil {
					outcomes = append(outcomes, out)
					tellFault(out, o.loud)
				}
				mu.Unlock()
			}
		})
	}
	for _, at := range points {
		if ctx.Err() != nil {
			break
		}
		todo <- at
	}
	close(todo)
	all.Wait()
	return outcomes, failed
}

// tellFault prints a run that went wrong, and how to play it again.
func tellFault(o faults.Outcome, loud bool) {
	if loud {
		fmt.Println(o.Story)
		for _, k := range faults.Kinds() {
			for i, path := range o.Calls[k] {
				if k == faults.ReadOnly {
					break // the same calls as those of a full disk
				}
				fmt.Printf("  %s %d  %s\n", k, i+1, path)
			}
		}
	}
	if len(o.Violations) == 0 {
		return
	}
	fmt.Printf("%s: %s\n", o.Point, o.Failed)
	for _, v := range o.Violations {
		fmt.Printf("    %s\n", v)
	}
	fmt.Printf("    go run ./bench faults -kind %s -n %d -v\n", o.Kind, o.N)
}

// tellFaults prints the counts by kind.
func tellFaults(calls faults.Calls, outcomes []faults.Outcome) {
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "\nkind\tcalls of a run\tfaults injected\tviolations\t")
	var injected, wrong int
	for _, k := range faults.Kinds() {
		var i, w int
		for _, o := range outcomes {
			if o.Kind != k {
				continue
			}
			if o.Failed != "" {
				i++
			}
			if len(o.Violations) > 0 {
				w++
			}
		}
		injected, wrong = injected+i, wrong+w
		fmt.Fprintf(out, "%s\t%d\t%d\t%d\t\n", k, len(calls[k]), i, w)
	}
	_ = out.Flush()
	fmt.Printf("\n%d faults injected, %d violations\n", injected, wrong)
}

func allHeld(outcomes []faults.Outcome) bool {
	return !slices.ContainsFunc(outcomes, func(o faults.Outcome) bool { return len(o.Violations) > 0 })
}
