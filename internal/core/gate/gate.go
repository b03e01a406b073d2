// Package gate turns what checks reported into a verdict: does the tree stand,
// relative to the baseline of the task, and what evidence is there that the
// task's work is what made the difference?
//
// A gate's result is pass, fail or unknown. Unknown means that the check itself
// could not tell (it could not start, was killed, the disk was full): it is
// retried and never blamed on the agent. A gate that was green before proves
// nothing by being green now; something that was red before and is green after
// the work does (SWE-bench's fail-to-pass).
package gate

import (
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/shell"
)

// Status is the result of one gate or one test.
type Status string

// The three results. Skipped tests are not reported at all: a test that passed
// and is now missing or skipped counts as not passing.
const (
	Pass    Status = "pass"
	Fail    Status = "fail"
	Unknown Status = "unknown"
)

// Evidence tells done from not done; ordered from weak to strong.
type Evidence string

// The levels of evidence, see Satisfies.
const (
	NoEvidence Evidence = "unknown"
	Unproven   Evidence = "unproven"
	Reviewed   Evidence = "reviewed"
	Proven     Evidence = "proven"
)

// Tier says when a gate is due.
type Tier string

// Fast gates run at each claim, final ones at the end of the loop too.
const (
	Fast  Tier = "fast"
	Final Tier = "final"
)

// Gate is a check that Pawl runs itself: a command, or a review by another agent.
type Gate struct {
	Name    string        `json:"name"`
	Kind    Kind          `json:"kind,omitempty"`
	Command string        `json:"command,omitempty"` // run by the shell, unless Argv is set
	Argv    []string      `json:"argv,omitempty"`
	Dir     string        `json:"dir,omitempty"`     // below the root, "" = the root
	Timeout time.Duration `json:"timeout,omitempty"` // 0 = the default of 10 minutes
	Tier    Tier          `json:"tier,omitempty"`    // "" = Fast
	Report  string        `json:"report,omitempty"`  // go-json, tap (both on stdout) or junit:PATH; "" = found from the command, else none
	Flaky   bool          `json:"flaky,omitempty"`   // a red result is run once more
	// AllowBaseline ("baseline = allow"): what was red at the start may be red at the end.
	AllowBaseline bool `json:"allow_baseline,omitempty"`
	// Pristine: it runs in a clean checkout, made ready by the project's set-up, and
	// not in the work tree.
	Pristine bool `json:"pristine,omitempty"`
	// InWorkTree ("isolated = false"): what decides is its run in the work tree, and none
	// in an isolated checkout.
	InWorkTree bool `json:"in_work_tree,omitempty"`

	// Of a review.
	Rubric        string  `json:"rubric,omitempty"`         // what to look at
	Agent         string  `json:"agent,omitempty"`          // which agent looks; "" = the loop's own, in a session of its own
	AgentCommand  string  `json:"agent_command,omitempty"`  // its program, where Agent is set
	Model         string  `json:"model,omitempty"`          // "" = the loop's
	MaxCostUSD    float64 `json:"max_cost_usd,omitempty"`   // of one review, 0 = the default of $1
	ApprovesTests bool    `json:"approves_tests,omitempty"` // it may accept that old tests were changed
}

// ShellCommand is what the gate runs, as a shell reads it.
func (g Gate) ShellCommand() string {
	if len(g.Argv) > 0 {
		return shell.Quoted(g.Argv)
	}
	return g.Command
}

// Result is what one run of one gate said.
type Result struct {
	Gate     string `json:"gate"`
	Kind     Kind   `json:"kind,omitempty"`
	Command  string `json:"command"`
	Status   Status `json:"status"`
	ExitCode int    `json:"exit_code"` // -1 if it did not exit by itself, or is a review
	TimedOut bool   `json:"timed_out,omitempty"`
	// CannotStart: it is unknown because a program that it calls is not there.
	CannotStart bool              `json:"cannot_start,omitempty"`
	Reason      string            `json:"reason,omitempty"`  // why it is unknown or what failed, one line
	Tests       map[string]Status `json:"tests,omitempty"`   // by test id, where a report gives ids
	Failing     []string          `json:"failing,omitempty"` // ids or names of failing tests, sorted
	FirstError  string            `json:"first_error,omitempty"`
	// How many tests passed and failed, as far as a report or the runner's summary
	// tells; they outlive Tests in the journal.
	Passed int `json:"passed,omitempty"`
	Failed int `json:"failed,omitempty"`
	// Several: the output tells of more than one run of tests, and the numbers are not
	// those of all.
	Several bool `json:"several,omitempty"`
	// NoTests: it fails, and its runner says that it found no tests.
	NoTests bool `json:"no_tests,omitempty"`
	// BuildFailed: some tests could not even be built.
	BuildFailed bool `json:"build_failed,omitempty"`
	// Incomplete names the groups of which not every test was heard, because they
	// did not build or crashed. A test belongs to group g if its id begins with g
	// and a dot; to "" belongs every test.
	Incomplete []string `json:"incomplete,omitempty"`
	Warning    string   `json:"warning,omitempty"` // what it says against itself: a pass whose output tells of failures
	Masked     bool     `json:"masked,omitempty"`  // it passes, and its output says that tests failed
	// Wrote are the test files that the run wrote, and whether each was put back as it was.
	Wrote    map[string]bool `json:"wrote,omitempty"`
	Flaky    bool            `json:"flaky,omitempty"` // red, and green when run again on the same tree
	Head     string          `json:"head,omitempty"`  // beginning of the output, where Tail is not all of it
	Tail     string          `json:"tail,omitempty"`  // end of the output, bounded, ANSI removed
	Duration time.Duration   `json:"duration"`
	Tree     string          `json:"tree,omitempty"` // git tree it ran on
	Cached   bool            `json:"cached,omitempty"`
	// Left: a run in a clean checkout left files there that git ignores, or changed such.
	Left bool `json:"left,omitempty"`
	// TimedOutTwice: it timed out, and so did a run just before with a shorter limit.
	TimedOutTwice bool `json:"timed_out_twice,omitempty"`
	// Allowed: it fails, and its gate may (baseline = "allow").
	Allowed bool `json:"allowed,omitempty"`
}

// Satisfies reports whether evidence of this level is as good as the wanted:
// proven satisfies reviewed and unproven, reviewed satisfies unproven,
// and anything satisfies unknown.
func (e Evidence) Satisfies(wanted Evidence) bool { return e.rank() >= wanted.rank() }

func (e Evidence) rank() int {
	switch e {
	case Unproven:
		return 1
	case Reviewed:
		return 2
	case Proven:
		return 3
	}
	return 0
}

// Due are the commands to run, in order: at a claim (Fast) those that are not kept
// for the end, at the end (Final) all.
func Due(gates []Gate, tier Tier) []Gate {
	var due []Gate
	for _, g := range Commands(gates) {
		if tier == Final || g.Tier != Final {
			due = append(due, g)
		}
	}
	return due
}

// cut reports whether test id belongs to one of the groups of which not every
// test was heard.
func (r Result) cut(id string) bool {
	return slices.ContainsFunc(r.Incomplete, func(group string) bool { return group == "" || strings.HasPrefix(id, group+".") })
}

// Count sets Passed and Failed from Tests.
func (r *Result) Count() {
	r.Passed, r.Failed = 0, 0
	for _, s := range r.Tests {
		switch s {
		case Pass:
			r.Passed++
		case Fail:
			r.Failed++
		}
	}
}

// Proofs are the tests, and gates without ids, that prove the work: each once, also where
// several gates run it. baseline is where the task began.
func (v Verdict) Proofs(baseline []Result) []string {
	return once(slices.Concat(ByTest(v.Flipped, baseline), v.Proving))
}

// once are the names without repetition.
func once(names []string) []string {
	var out []string
	for _, name := range names {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// ByTest are the names of tests and gates, each once, with the tests that a gate without
// ids names as failed in its stead.
func ByTest(names []string, results []Result) []string {
	var out []string
	for _, name := range names {
		if r := find(results, name); r.Status == Fail && len(r.Tests) == 0 {
			out = append(out, r.named()...)
		} else {
			out = append(out, name)
		}
	}
	return once(out)
}

func find(results []Result, gate string) Result {
	for _, r := range results {
		if r.Gate == gate {
			return r
		}
	}
	return Result{Gate: gate, Status: Unknown}
}
