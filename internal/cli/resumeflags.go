package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/failure"
)

// resumeArg is how commands name a loop that is to go on.
type resumeArg struct {
	Loop string `arg:"" optional:"" help:"id of a loop or its beginning; . = the newest here; default: the newest here that can go on"`
	Yes  bool   `short:"y" hidden:"" help:"no longer needed"`
	limitFlags
}

// ProvideLoop finds the loop, for the Run method of a command that takes it.
func (r resumeArg) ProvideLoop(a *app) (*subject, error) { return a.findResumable(r.Loop) }

// limitFlags are limits that are given to a loop that has ended.
type limitFlags struct {
	MaxIterations *int           `group:"Limits, for a loop that ended" placeholder:"N" help:"this many more iterations; 0 = unlimited; default: what remains"`
	MaxDuration   *time.Duration `group:"Limits, for a loop that ended" placeholder:"8h" help:"maximum time, without waiting for usage limits"`
	MaxCost       *float64       `group:"Limits, for a loop that ended" placeholder:"USD" help:"maximum cost in US dollars"`
	MaxTokens     *int64         `group:"Limits, for a loop that ended" placeholder:"N" help:"maximum total tokens"`
}

// totalLimits are limits that are given to a loop that runs.
type totalLimits struct {
	MaxIterations *int           `placeholder:"N" help:"maximum iterations in total; 0 = unlimited"`
	MaxDuration   *time.Duration `placeholder:"8h" help:"maximum time in total, without waiting for usage limits"`
	MaxCost       *float64       `placeholder:"USD" help:"maximum cost in total, in US dollars"`
	MaxTokens     *int64         `placeholder:"N" help:"maximum tokens in total"`
}

func (f totalLimits) given() loop.Limits {
	return limitFlags(f).given()
}

// given are these limits: below 0 where the user wrote 0, for none.
func (f limitFlags) given() loop.Limits {
	return loop.Limits{
		Iterations: more(f.MaxIterations), Duration: more(f.MaxDuration), CostUSD: more(f.MaxCost), Tokens: more(f.MaxTokens),
	}
}

// limits are these limits, if the loop may be given any.
func (f limitFlags) limits(s *subject) (loop.Limits, error) {
	given := f.given()
	if given != (loop.Limits{}) && !s.hasEnded() {
		return given, failure.New(failure.Usage, "leave them out", "loop %s has not ended: its limits stand", s.ID)
	}
	return given, nil
}

func more[T int | int64 | float64 | time.Duration](typed *T) T {
	switch {
	case typed == nil:
		return 0
	case *typed <= 0:
		return -1
	}
	return *typed
}

// args are the flags as they are typed.
func (f limitFlags) args() []string {
	var out []string
	if f.MaxIterations != nil {
		out = append(out, fmt.Sprintf("--max-iterations=%d", *f.MaxIterations))
	}
	if f.MaxDuration != nil {
		out = append(out, "--max-duration="+f.MaxDuration.String())
	}
	if f.MaxCost != nil {
		out = append(out, fmt.Sprintf("--max-cost=%g", *f.MaxCost))
	}
	if f.MaxTokens != nil {
		out = append(out, fmt.Sprintf("--max-tokens=%d", *f.MaxTokens))
	}
	return out
}

// limitOptions are limits as the options of pawl limit.
func limitOptions(l loop.Limits) string {
	f := limitFlags{MaxIterations: typedAs(l.Iterations), MaxDuration: typedAs(l.Duration), MaxCost: typedAs(l.CostUSD), MaxTokens: typedAs(l.Tokens)}
	if l == (loop.Limits{}) {
		f.MaxIterations = &l.Iterations
	}
	return strings.NewReplacer("h0m0s", "h", "m0s", "m").Replace(strings.Join(f.args(), " "))
}

// typedAs is a limit as a user would have typed it, nil for none.
func typedAs[T int | int64 | float64 | time.Duration](limit T) *T {
	if limit <= 0 {
		return nil
	}
	return &limit
}
