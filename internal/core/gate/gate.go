// Package gate turns gate results into a verdict: does everything pass that passed at the task's
// baseline, and what proves that the work made the difference?
//
// A gate's result is pass, fail or unknown. Unknown means that the check itself failed (it could
// not start, was killed, the disk was full). Pawl retries it and never blames the agent. A gate
// that passed before and passes now proves nothing. A test that failed before and passes now
// proves the work (SWE-bench's fail-to-pass).
//
// Decide gives the verdict on an Observation; Next requests further runs (a Probe each) that it
// needs. Terms: the baseline tree is the one that the task started with, the current tree the one
// with the work. Red means failing, green passing. The overlay is the baseline tree with the new
// tests. A sign is a suspicious line of the work. The canary is a test that must fail.
package gate

import (
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/shell"
)

// Status is the result of one gate or one test.
type Status string

// The three results. Results omit skipped tests: a test that passed before and is skipped now
// counts as missing.
const (
	Pass    Status = "pass"
	Fail    Status = "fail"
	Unknown Status = "unknown"
)

// Evidence says how well a claim is supported.
type Evidence string

// The levels of evidence from weak to strong, see Satisfies.
const (
	EvidenceUnknown Evidence = "unknown"
	Unproven        Evidence = "unproven"
	Reviewed        Evidence = "reviewed"
	Proven          Evidence = "proven"
)

// Tier says when a gate runs.
type Tier string

// Fast gates run at each claim and at the end of the loop, Final gates only at the end.
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
	// AllowBaseline ("baseline = allow"): failures of the start may remain at the end.
	AllowBaseline bool `json:"allow_baseline,omitempty"`
	// Pristine runs the gate in a clean checkout, prepared by the project's setup, instead of the
	// work tree.
	Pristine bool `json:"pristine,omitempty"`
	// InWorkTree ("isolated = false"): its run in the work tree decides, without an isolated
	// checkout.
	InWorkTree bool `json:"in_work_tree,omitempty"`

	// Of a review.
	Rubric        string  `json:"rubric,omitempty"`         // what to look at
	Agent         string  `json:"agent,omitempty"`          // which agent reviews; "" = the loop's, in a fresh session
	AgentCommand  string  `json:"agent_command,omitempty"`  // its program, where Agent is set
	Model         string  `json:"model,omitempty"`          // "" = the loop's
	MaxCostUSD    float64 `json:"max_cost_usd,omitempty"`   // of one review, 0 = the default of $1
	ApprovesTests bool    `json:"approves_tests,omitempty"` // the review may approve changes of old tests
}

// ShellCommand returns the command in shell syntax.
func (g Gate) ShellCommand() string {
	if len(g.Argv) > 0 {
		return shell.QuoteCommand(g.Argv)
	}
	return g.Command
}

// NeverFails reports whether the gate passes whatever its programs do. A report may still name failures.
func (g Gate) NeverFails() bool {
	return g.Kind != ByReview && g.Report == "" && shell.AlwaysSucceeds(g.ShellCommand())
}

// DiskFull is the reason of a result that is unknown because the disk is full.
const DiskFull = "the disk is full"

// Result is the outcome of one run of one gate.
type Result struct {
	Gate     string `json:"gate"`
	Kind     Kind   `json:"kind,omitempty"`
	Command  string `json:"command"`
	Status   Status `json:"status"`
	ExitCode int    `json:"exit_code"` // -1 if it did not exit by itself, or is a review
	TimedOut bool   `json:"timed_out,omitempty"`
	// CannotStart: the status is unknown because a program that the gate calls is missing.
	CannotStart bool              `json:"cannot_start,omitempty"`
	Reason      string            `json:"reason,omitempty"`  // why it is unknown or what failed, one line
	Tests       map[string]Status `json:"tests,omitempty"`   // by test id, where a report gives ids
	Failing     []string          `json:"failing,omitempty"` // ids or names of failing tests, sorted
	FirstError  string            `json:"first_error,omitempty"`
	// Passed and Failed count tests from a report or the runner's summary. The journal keeps them
	// without Tests.
	Passed int `json:"passed,omitempty"`
	Failed int `json:"failed,omitempty"`
	// MultipleRuns: the output has several test runs, so the counts are incomplete.
	MultipleRuns bool `json:"multiple_runs,omitempty"`
	// NoTestsFound: its runner says that it found no tests.
	NoTestsFound bool `json:"no_tests_found,omitempty"`
	// BuildFailed: some tests could not even be built.
	BuildFailed bool `json:"build_failed,omitempty"`
	// IncompleteGroups names test groups that did not build or crashed, so that tests are missing.
	// Group g holds the IDs that begin with "g."; group "" holds all.
	IncompleteGroups []string `json:"incomplete_groups,omitempty"`
	Warning          string   `json:"warning,omitempty"`        // a contradiction in the result: a pass whose output mentions failures
	MasksFailures    bool     `json:"masks_failures,omitempty"` // it passes, and its output says that tests failed
	// WrittenTests maps each test file that the run wrote to whether the run restored it.
	WrittenTests map[string]bool `json:"written_tests,omitempty"`
	Flaky        bool            `json:"flaky,omitempty"` // failed, and passed when run again on the same tree
	Head         string          `json:"head,omitempty"`  // beginning of the output, if Tail is not all of it
	Tail         string          `json:"tail,omitempty"`  // end of the output, bounded, ANSI removed
	Duration     time.Duration   `json:"duration"`
	Tree         string          `json:"tree,omitempty"` // git tree it ran on
	Cached       bool            `json:"cached,omitempty"`
	// LeftFiles: a run in a clean checkout added or changed git-ignored files there.
	LeftFiles bool `json:"left_files,omitempty"`
	// TimedOutTwice: it timed out, also with a shorter limit just before.
	TimedOutTwice bool `json:"timed_out_twice,omitempty"`
	// Allowed: it fails, and its gate may (baseline = "allow").
	Allowed bool `json:"allowed,omitempty"`
}

// Satisfies reports whether e is at least the wanted level: proven > reviewed > unproven > unknown.
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

// Due returns the commands to run in order: at the end (Final) all, at a claim those that are not
// Final.
func Due(gates []Gate, tier Tier) []Gate {
	var due []Gate
	for _, g := range Commands(gates) {
		if tier == Final || g.Tier != Final {
			due = append(due, g)
		}
	}
	return due
}

// inIncompleteGroup reports whether the test belongs to a group that did not finish.
func (r Result) inIncompleteGroup(id string) bool {
	return slices.ContainsFunc(r.IncompleteGroups, func(group string) bool { return group == "" || strings.HasPrefix(id, group+".") })
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

// Proofs returns the tests, or gates without test IDs, that prove the work, without duplicates.
// baseline is where the task started. Tests that fail still prove nothing, though their gate flipped.
func (v Verdict) Proofs(baseline []Result) []string {
	return unique(slices.Concat(without(ByTest(v.Flipped, baseline), v.StillRed), v.Proving))
}

// unique removes duplicates and keeps the order.
func unique(names []string) []string {
	var out []string
	for _, name := range names {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// ByTest replaces each failed gate without test IDs by the tests that its output names, without
// duplicates.
func ByTest(names []string, results []Result) []string {
	var out []string
	for _, name := range names {
		if r := resultOf(results, name); r.Status == Fail && len(r.Tests) == 0 {
			out = append(out, r.failingOrGate()...)
		} else {
			out = append(out, name)
		}
	}
	return unique(out)
}

// resultOf returns a gate's result in a run. A gate that did not run counts as unknown; findResult
// tells the difference.
func resultOf(results []Result, gate string) Result {
	r, _ := findResult(results, gate)
	return r
}

// findResult returns a gate's result in a run, and whether the gate ran.
func findResult(results []Result, gate string) (Result, bool) {
	if i := slices.IndexFunc(results, func(r Result) bool { return r.Gate == gate }); i >= 0 {
		return results[i], true
	}
	return Result{Gate: gate, Status: Unknown}, false
}
