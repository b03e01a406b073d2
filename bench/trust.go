package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/pawl-dev/pawl/bench/trust"
)

// benchTrust plays the liar's bench, and tells whether all is as promised:
//
//	go run ./bench trust                 # all scenarios
//	go run ./bench trust -run NAME -v    # those with NAME in theirs, with all that was said
//	go run ./bench trust -confine tree   # the agents shut in
//	go run ./bench trust -every 4        # a quarter of them, always the same
//	go run ./bench trust cheats/mine.txtar
//	go run ./bench trust -list first     # a list whose authors had not seen Pawl's checks: counted, without expected results
func benchTrust(args []string) (bool, error) {
	f := flag.NewFlagSet("bench trust", flag.ExitOnError)
	every := f.Int("every", 1, "play each `N`th")
	only := f.String("run", "", "only the scenarios whose name has `TEXT`")
	loud := f.Bool("v", false, "print all that was said")
	confine := f.String("confine", "", "give pawl run --confine `MODE`")
	list := f.String("list", "", "play the list `NAME` and count")
	workers := f.Int("parallel", 2, "play `N` at a time")
	script := f.String("claim-only", "", "play `SCRIPT` here to a loop that believes the agent")
	if err := f.Parse(args); err != nil {
		return false, err
	}
	ctx, done := timed(20 * time.Minute)
	defer done()
	if *script != "" {
		dir, err := os.Getwd()
		if err != nil {
			return false, err
		}
		word, err := trust.ClaimOnly(ctx, filepath.Join(filepath.Dir(dir), *script), dir)
		fmt.Println(word)
		return true, err
	}
	scenarios, err := chosen(*list, *only, f.Args())
	if err != nil {
		return false, err
	}
	scenarios = slices.DeleteFunc(scenarios, eachNth(*every))
	l, err := newLab(ctx, options{})
	if err != nil {
		return false, err
	}
	defer l.close()
	b, err := trust.New(ctx, filepath.Join(l.dir, "trust"), l.pawl, os.Getenv("PATH"))
	if err != nil {
		return false, err
	}
	b.Self, b.Confine = l.self, *confine
	outcomes, err := playAll(ctx, b, scenarios, *workers)
	if err != nil {
		return false, err
	}
	if *list != "" {
		stories(outcomes, *loud)
		_, err := tell(outcomes)
		fmt.Printf("\n%s\n", trust.Count(outcomes))
		return true, err
	}
	again, err := playAgain(ctx, b, scenarios, *workers)
	if err != nil {
		return false, err
	}
	outcomes = append(outcomes, again...)
	stories(outcomes, *loud)
	return tell(outcomes)
}

// stories prints all that was said, if that is wanted.
func stories(outcomes []trust.Outcome, wanted bool) {
	if !wanted {
		return
	}
	for _, o := range outcomes {
		fmt.Printf("--- %s\n%s\n", o.Name, o.Story)
	}
}

// eachNth returns a filter that removes all scenarios except each nth.
func eachNth(n int) func(trust.Scenario) bool {
	seen := -1
	return func(trust.Scenario) bool {
		seen++
		return seen%max(n, 1) != 0
	}
}

// chosen are the scenarios of a list, those in these files, or those of the bench.
func chosen(list, only string, files []string) ([]trust.Scenario, error) {
	if list != "" {
		all, err := trust.List(list)
		return slices.DeleteFunc(all, func(s trust.Scenario) bool { return !strings.Contains(s.Name, only) }), err
	}
	if len(files) == 0 {
		return trust.Scenarios(only)
	}
	var all []trust.Scenario
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		s, err := trust.Parse(filepath.ToSlash(file), data)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// playAll plays the scenarios, so many at a time; the outcomes are in their order.
func playAll(ctx context.Context, b *trust.Bench, scenarios []trust.Scenario, workers int) ([]trust.Outcome, error) {
	outcomes, errs := make([]trust.Outcome, len(scenarios)), make([]error, len(scenarios))
	todo := make(chan int)
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for i := range todo {
				outcomes[i], errs[i] = b.Play(ctx, scenarios[i])
			}
		})
	}
	for i := range scenarios {
		todo <- i
	}
	close(todo)
	all.Wait()
	return outcomes, errors.Join(errs...)
}

// playAgain plays in another way what the label tells another thing of: without
// the review what only that sees and, where no wall stood yet, behind one what an
// agent of the same user reaches.
func playAgain(ctx context.Context, b *trust.Bench, scenarios []trust.Scenario, workers int) ([]trust.Outcome, error) {
	b.Self = ""
	var alone, walled []trust.Scenario
	for _, s := range scenarios {
		switch s.Label {
		case trust.Reviewed:
			alone = append(alone, s.Unreviewed())
		case trust.Named:
			walled = append(walled, s)
		case trust.Prevented, trust.Honest:
		}
	}
	outcomes, err := playAll(ctx, b, alone, workers)
	if err != nil || b.Confine != "" {
		return outcomes, err
	}
	b.Confine = "tree"
	again, err := playAll(ctx, b, walled, workers)
	return append(outcomes, again...), err
}

// tell prints the table and the sums, and whether all is as promised.
func tell(outcomes []trust.Outcome) (bool, error) {
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "scenario\tlabel\tended\tnamed\tclaim-only\t")
	for _, o := range outcomes {
		named, verdict := "", "ok"
		switch {
		case o.Skipped != "":
			fmt.Fprintf(out, "%s\t%s\tskipped: %s\t\t\t\n", o.Name, o.Label, o.Skipped)
			continue
		case o.Label == trust.Honest:
		case o.Named:
			named = "yes"
		default:
			named = "NO"
		}
		if len(o.Faults) > 0 {
			verdict = "FAULT"
		}
		label := string(o.Label)
		if o.Confine != "" {
			label += ", --confine " + o.Confine
		}
		if o.Alone {
			label += ", without"
		}
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t%s\n", o.Name, label, o.Ended, named, o.ClaimOnly, verdict)
	}
	if err := out.Flush(); err != nil {
		return false, err
	}
	sums := trust.Sum(outcomes)
	fmt.Printf("\n%s\n", sums)
	for _, o := range outcomes {
		if len(o.Faults) == 0 {
			continue
		}
		fmt.Printf("\n%s: %s\n", o.File, o.About)
		for _, fault := range o.Faults {
			fmt.Printf("  %s\n", fault)
		}
		fmt.Printf("  go run ./bench trust -run %s -v\n", o.Name)
	}
	return sums.Faults == 0, nil
}
