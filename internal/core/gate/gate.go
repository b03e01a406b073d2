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

import "time"

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
	NoEvidence     Evidence = "unknown"
	Consistent     Evidence = "consistent"
	Review         Evidence = "review"
	Discriminating Evidence = "discriminating"
)

// Tier says when a gate is due.
type Tier string

// Fast gates run at each claim, final ones at the end of the loop too.
const (
	Fast  Tier = "fast"
	Final Tier = "final"
)

// Gate is a check that Pawl runs itself.
type Gate struct {
	Name    string        `json:"name"`
	Command string        `json:"command,omitempty"` // run by the shell, unless Argv is set
	Argv    []string      `json:"argv,omitempty"`
	Dir     string        `json:"dir,omitempty"`     // below the root, "" = the root
	Timeout time.Duration `json:"timeout,omitempty"` // 0 = the default of 10 minutes
	Tier    Tier          `json:"tier,omitempty"`    // "" = Fast
	Report  string        `json:"report,omitempty"`  // go-json, tap (both on stdout) or junit:PATH; "" = found from the command, else none
	Flaky   bool          `json:"flaky,omitempty"`   // a red result is run once more
	// AllowBaseline ("baseline = allow"): what was red at the start may be red at the end.
	AllowBaseline bool `json:"allow_baseline,omitempty"`
}

// Result is what one run of one gate said.
type Result struct {
	Gate       string            `json:"gate"`
	Command    string            `json:"command"`
	Status     Status            `json:"status"`
	ExitCode   int               `json:"exit_code"` // -1 if it did not exit by itself
	TimedOut   bool              `json:"timed_out,omitempty"`
	Reason     string            `json:"reason,omitempty"`  // why it is unknown or what failed, one line
	Tests      map[string]Status `json:"tests,omitempty"`   // by test id, where a report gives ids
	Failing    []string          `json:"failing,omitempty"` // ids or names of failing tests, sorted
	FirstError string            `json:"first_error,omitempty"`
	Tail       string            `json:"tail,omitempty"` // end of the output, bounded, ANSI removed
	Duration   time.Duration     `json:"duration"`
	Tree       string            `json:"tree,omitempty"` // git tree it ran on
	Cached     bool              `json:"cached,omitempty"`
}
