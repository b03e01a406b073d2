package loop

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// Existing tests are gate inputs. The agent may ask to change them, and a user approves or rejects
// that, during the loop or after its end. Changing tests is not tampering by itself: work that needs
// the change is kept as unverified. Its evidence with the change is determined at once, so an
// approval needs no second gate run.

// AllTests means every test in an approval or a rejection.
const AllTests = "*"

// TestChangeRequest is the agent's request to change tests.
type TestChangeRequest struct {
	Paths     []string `json:"paths"` // relative to the root, slashes
	Why       string   `json:"why,omitempty"`
	Iteration int      `json:"iteration"`
}

// Rejection is a test that the agent may not change.
type Rejection struct {
	Path     string `json:"path"`
	Reported bool   `json:"reported,omitempty"` // a change was restored and reported to the agent; the next one is a violation
}

// IfApproved is the evidence of work if its changes of old tests are approved.
type IfApproved struct {
	Paths    []string      `json:"paths"` // the old tests that it changed
	Evidence gate.Evidence `json:"evidence"`
	Flipped  []string      `json:"flipped,omitempty"`
	Reason   string        `json:"reason,omitempty"`
}

// The kinds of changes of whole files.
const (
	FileAdded   = "added" // it may change what tests do
	FileDeleted = "deleted"
)

// TestChange is a structural change of an old test.
type TestChange struct {
	Path string `json:"path"`
	Line int    `json:"line,omitempty"` // in the current file; for removed code, in the old file
	Kind string `json:"kind"`           // see package testdiff
	Name string `json:"name,omitempty"`
	// Input: the file is a gate input that is not a test.
	Input bool `json:"input,omitempty"`
	// Asked: the task asks for it, so that nobody has to approve it.
	Asked bool `json:"asked,omitempty"`
}

// String is "path:line: kind name".
func (c TestChange) String() string {
	where := c.Path
	if c.Line > 0 {
		where = fmt.Sprintf("%s:%d", c.Path, c.Line)
	}
	return strings.TrimSpace(where + ": " + c.Kind + " " + c.Name)
}

const (
	maxTestRequests = 20
	maxPaths        = 50 // of one request
	maxWhyBytes     = 300
)

// MayChange reports whether a user lets the agent change a test.
func (p Permissions) MayChange(path string) bool {
	return !p.Rejects(path) && (slices.Contains(p.Approved, path) || slices.Contains(p.Approved, AllTests))
}

// MayChangeInput reports whether a user lets the agent change a gate input that is not a test. It
// must be approved by name.
func (p Permissions) MayChangeInput(path string) bool {
	return slices.Contains(p.Approved, path) && !p.Rejects(path)
}

// claimNeeds reports whether the claimed work changes one of the chosen tests or gate inputs.
func (m *machine) claimNeeds(chosen func(path string) bool) bool {
	g := m.s.Claim.Gates
	needed := slices.Concat(g.TestsChanged, g.NeededInputs, g.Approved)
	if g.IfApproved != nil {
		needed = append(needed, g.IfApproved.Paths...)
	}
	return slices.ContainsFunc(needed, chosen)
}

// Unapproved returns the tests that wait for the user's decision, sorted: requested by the agent,
// or changed in work that needs the change and that no review covers.
func (s State) Unapproved() []string {
	var paths []string
	for _, ask := range s.TestRequests {
		paths = append(paths, ask.Paths...)
	}
	for _, t := range s.Tasks {
		if t.Status == Done && t.IfApproved != nil && !t.Accepted && !(len(t.Approved) > 0 && t.meets(t.Evidence)) {
			paths = append(paths, t.IfApproved.Paths...)
		}
	}
	slices.Sort(paths)
	return exclude(slices.Compact(paths), func(path string) bool { return s.MayChange(path) || s.Rejects(path) })
}

// AsksUser reports whether a question, an approval or a changed test waits for the user.
func (s State) AsksUser() bool { return len(s.Unanswered()) > 0 || len(s.Unapproved()) > 0 }

// AwaitingApproval returns old tests whose changes by finished tasks are unapproved, and rejected
// ones until their task continues. They count neither for nor against later tasks.
func (s State) AwaitingApproval() []string {
	paths := s.Tasks.ToRestore()
	for _, t := range s.Tasks {
		if t.Status != Done || t.TestsRemoved { // later tasks are gated with these
			continue
		}
		paths = append(paths, t.TestsChanged...)
		if t.IfApproved != nil {
			paths = append(paths, t.IfApproved.Paths...)
		}
	}
	slices.Sort(paths)
	return exclude(slices.Compact(paths), s.MayChange)
}

// Rejects reports whether a user rejected changes of a test, by name or of all tests. All tests are
// those that were not approved by name since.
func (p Permissions) Rejects(test string) bool {
	return p.RejectsByName(test) || p.RejectsByName(AllTests) && !slices.Contains(p.Approved, test)
}

// RejectsByName reports whether a user rejected changes of this path, which may be any file.
func (p Permissions) RejectsByName(path string) bool {
	return slices.ContainsFunc(p.Rejected, func(d Rejection) bool { return d.Path == path })
}

// testChangeRequested keeps the request for the user, once.
func (m *machine) testChangeRequested(r TestChangeRequested) {
	paths := slices.DeleteFunc(slices.Clone(r.Paths), func(p string) bool { return p == "" || m.s.MayChange(p) })
	if len(paths) == 0 {
		return
	}
	a := TestChangeRequest{Paths: paths[:min(len(paths), maxPaths)], Why: plan.OneLine(r.Why, maxWhyBytes), Iteration: m.s.Iteration}
	kept := slices.DeleteFunc(slices.Clone(m.s.TestRequests), func(b TestChangeRequest) bool { return slices.Equal(a.Paths, b.Paths) })
	if len(kept) == len(m.s.TestRequests) {
		m.note(Warning, strings.TrimSuffix("the agent asks to change tests: "+strings.Join(a.Paths, ", ")+": "+a.Why, ": "))
	}
	m.s.TestRequests = lastOf(append(kept, a), maxTestRequests)
}

// applyApproval applies a user's approval, of tasks or of test changes.
func (m *machine) applyApproval(a Approved) {
	if len(a.Tasks) > 0 {
		m.acceptUnproven(a.Tasks)
	} else {
		m.approveTests(a.Paths)
	}
}

// approveTests lets the agent change these tests in this loop; none means all. Work that waited
// gets its evidence, also after the end.
func (m *machine) approveTests(paths []string) {
	if len(paths) == 0 {
		paths = []string{AllTests}
	}
	m.dropAnsweredRequests(paths)
	for _, p := range paths {
		if !slices.Contains(m.s.Approved, p) {
			m.s.Approved = append(slices.Clip(m.s.Approved), p)
		}
	}
	m.s.Rejected = exclude(m.s.Rejected, func(d Rejection) bool {
		return slices.Contains(paths, d.Path) || slices.Contains(paths, AllTests)
	})
	upgraded := false
	for i := range m.tasks() {
		upgraded = m.upgrade(&m.s.Tasks[i]) || upgraded
	}
	switch {
	case m.s.Phase != Ended:
		m.tellAgent("The user lets you change these tests: " + joinPaths(paths))
	case upgraded && m.s.Outcome == Unverified:
		m.s.Outcome, m.s.Reason, m.s.Hint = m.outcome()
	}
}

// acceptUnproven accepts tasks whose work the user has read. Their evidence stays the same.
func (m *machine) acceptUnproven(ids []string) {
	for _, id := range ids {
		m.updateTask(id, func(t *Task) { t.Accepted = t.Status == Done })
	}
	if m.s.Phase == Ended && m.s.Outcome == Unverified {
		m.s.Outcome, m.s.Reason, m.s.Hint = m.outcome()
	}
}

// upgrade gives a task its evidence once its test changes are approved.
func (m *machine) upgrade(t *Task) bool {
	g := t.IfApproved
	if t.Status != Done || g == nil || slices.ContainsFunc(g.Paths, func(p string) bool { return !m.s.MayChange(p) }) {
		return false
	}
	for _, path := range t.TestsChanged { // the approved tests stay listed
		if !slices.ContainsFunc(t.ChangedTests, func(c TestChange) bool { return c.Path == path }) {
			t.ChangedTests = append(slices.Clip(t.ChangedTests), TestChange{Path: path, Kind: "changed"})
		}
	}
	t.TestsChanged, t.IfApproved = nil, nil
	if t.Reviewed == ReviewDisagreed || t.Reviewed == ReviewNone {
		return true // the review was missing, not the tests
	}
	t.Evidence, t.Flipped, t.Why = g.Evidence, g.Flipped, g.Reason
	if t.Reviewed == ReviewPassed {
		t.Evidence = gate.AfterReview(g.Evidence)
	}
	return true
}

// OriginalsNotRun reports whether a done task changed old tests and the gates could not run with
// the originals. No approval helps: a working checkout is missing.
func (t Task) OriginalsNotRun() bool {
	return t.Status == Done && t.IfApproved != nil && len(t.TestsChanged) == 0
}

// originalsHint says what a user can do if the gates could not run with the originals.
func (m *machine) originalsHint() string {
	if len(m.s.Unapproved()) == 0 || !slices.ContainsFunc(m.s.Tasks, Task.OriginalsNotRun) {
		return ""
	}
	return "the gates could not run with the original tests:  pawl report  shows why; [worktree] setup in pawl.toml prepares checkouts"
}

// ApproveCommand returns the command that approves waiting test changes, "" if there are none or
// approval does not help.
func (s State) ApproveCommand(id string) string {
	if len(s.Unapproved()) == 0 || slices.ContainsFunc(s.Tasks, Task.OriginalsNotRun) {
		return ""
	}
	return "pawl approve " + id
}

// needsUnaskedInputs reports whether the gates need a change of gate inputs for which the agent did
// not ask and that was not reported to it. The agent may manage without the change, or explain why
// not.
func (m *machine) needsUnaskedInputs(g Gates) bool {
	if len(g.NeededInputs) == 0 || m.s.Policy.Verify || m.s.Policy.Reviews || m.limit() != "" {
		return false
	}
	return slices.ContainsFunc(g.NeededInputs, func(path string) bool {
		return !slices.ContainsFunc(m.s.TestRequests, func(a TestChangeRequest) bool { return slices.Contains(a.Paths, path) })
	})
}

// requireEarlierChanges makes work that needs an earlier task's change wait for the same approval.
func (g *Gates) requireEarlierChanges() {
	if len(g.AwaitedChanges) == 0 {
		return
	}
	worth := IfApproved{Evidence: g.Evidence, Flipped: g.Flipped, Reason: g.Reason}
	if g.IfApproved != nil {
		worth = *g.IfApproved
	} else {
		g.Reason = "the gates pass only with an earlier task's changes, which wait for your approval: " + strings.Join(g.AwaitedChanges, ", ")
	}
	both := func(paths []string) []string {
		paths = slices.Concat(paths, g.AwaitedChanges)
		slices.Sort(paths)
		return slices.Compact(paths)
	}
	worth.Paths = both(worth.Paths)
	g.IfApproved, g.TestsChanged, g.Evidence = &worth, both(g.TestsChanged), gate.EvidenceUnknown
}

// dropAnsweredRequests drops the requests that a user has answered.
func (m *machine) dropAnsweredRequests(paths []string) {
	m.s.TestRequests = exclude(m.s.TestRequests, func(a TestChangeRequest) bool {
		return slices.Contains(paths, AllTests) ||
			!slices.ContainsFunc(a.Paths, func(p string) bool { return !slices.Contains(paths, p) })
	})
}

func joinPaths(paths []string) string {
	if slices.Contains(paths, AllTests) {
		return "all"
	}
	return strings.Join(paths, ", ")
}

// exclude returns the elements that do not match; nil for none, as the journal keeps it.
func exclude[T any](all []T, match func(T) bool) []T {
	var kept []T
	for _, v := range all {
		if !match(v) {
			kept = append(kept, v)
		}
	}
	return kept
}
