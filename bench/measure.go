package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// work runs something once and says what it cost.
type work func(context.Context) (time.Duration, error)

// compare measures subject and reference in turns and gives their medians. The
// first turn of each warms the caches and does not count.
func compare(ctx context.Context, runs int, subject, reference work) (s, r time.Duration, err error) {
	var subjects, references []time.Duration
	for i := range runs + 1 {
		one, err := subject(ctx)
		if err != nil {
			return 0, 0, err
		}
		other, err := reference(ctx)
		if err != nil {
			return 0, 0, err
		}
		if i > 0 {
			subjects, references = append(subjects, one), append(references, other)
		}
	}
	return median(subjects), median(references), nil
}

// pair is something to measure, and what it is held against.
type pair struct{ subject, reference work }

// within compares the two, and says whether the bound holds: how many times the reference
// the subject may cost.
func (p pair) within(ctx context.Context, runs int, bound float64) (outcome, error) {
	s, r, err := compare(ctx, runs, p.subject, p.reference)
	if err != nil {
		return outcome{}, err
	}
	return ratio(s, r, bound), nil
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// ratio is the outcome of a comparison with a bound.
func ratio(subject, reference time.Duration, bound float64) outcome {
	x := float64(subject) / float64(reference)
	return outcome{
		reference: milliseconds(reference),
		measured:  milliseconds(subject),
		result:    fmt.Sprintf("%.2f ×", x),
		ok:        x <= bound,
	}
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond))
}

// process is a command to measure.
type process struct {
	dir  string
	env  []string // added to the environment
	argv []string
	in   string // on its stdin
	exit int    // the exit code it should have
}

// cpu runs the process: the processor time of it and its descendants.
func (p process) cpu(ctx context.Context) (time.Duration, error) {
	_, state, err := p.run(ctx)
	if err != nil {
		return 0, err
	}
	return state.UserTime() + state.SystemTime(), nil
}

// run runs it to its end and returns what it said and what it cost.
func (p process) run(ctx context.Context) (string, *os.ProcessState, error) {
	var out, errs strings.Builder
	cmd := exec.CommandContext(ctx, p.argv[0], p.argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.dir, append(os.Environ(), p.env...), &out, &errs
	cmd.Stdin, cmd.WaitDelay = strings.NewReader(p.in), time.Second
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		return "", nil, err
	}
	if code := cmd.ProcessState.ExitCode(); code != p.exit {
		return "", nil, fmt.Errorf("%s: exit %d, %d wanted: %s", strings.Join(p.argv, " "), code, p.exit, errs.String())
	}
	return out.String(), cmd.ProcessState, nil
}
