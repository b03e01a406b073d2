package loop

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// Existing tests are the judge's. The agent may ask to change them, and a user
// approves or rejects it, while the loop runs or after its end. Changed tests are
// never tampering by themselves: work that passes only with them is kept, for no
// more than unverified, and what it would be worth were they approved is found out
// at once. So an approval needs no second run: it says that what was found counts.

// AllTests in an approval or a rejection stands for every test.
const AllTests = "*"

// Ask is a wish of the agent's to change tests.
type TestChangeRequest struct {
	Paths     []string `json:"paths"` // relative to the root, slashes
	Why       string   `json:"why,omitempty"`
	Iteration int      `json:"iteration"`
}

// Rejection is a test that the agent may not change.
type Rejection struct {
	Path     string `json:"path"`
	Reported bool   `json:"reported,omitempty"` // a change was put back, and the agent told: the next is a violation
}

// IfApproved is what work is worth if its changes of old tests are approved.
type IfApproved struct {
	Paths    []string      `json:"paths"` // the old tests that it changed
	Evidence gate.Evidence `json:"evidence"`
	Flipped  []string      `json:"flipped,omitempty"`
	Reason   string        `json:"reason,omitempty"`
}

// FileAdded is the kind of a change by a file that was not there, and that may change what tests do.
const FileAdded = "added"

// TestChange is a change of an old test that can be seen in its structure.
type TestChange struct {
	Path string `json:"path"`
	Line int    `json:"line,omitempty"` // as the file is now; where it was, for what is gone
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
	maxAsks     = 20
	maxPaths    = 50 // of one ask, and of all that is approved or rejected
	maxWhyBytes = 300
)

// MayChange tells whether a user lets the agent change a test.
func (p Permissions) MayChange(path string) bool {
	return !p.Rejects(path) && (slices.Contains(p.Approved, path) || slices.Contains(p.Approved, AllTests))
}

// MayChangeInput tells whether a user lets the agent change a file that judges
// and is not a test: they must have named it.
func (p Permissions) MayChangeInput(path string) bool {
	return slices.Contains(p.Approved, path) && !p.Rejects(path)
}

// Unapproved are the tests that wait for a user's word, sorted: the agent asked
// to change them, or changed them in work that passes only with them and for which
// no review's word is enough.
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
	rejected := func(path string) bool { return s.Rejects(path) || s.Rejects(AllTests) }
	return exclude(slices.Compact(paths), func(path string) bool { return s.MayChange(path) || rejected(path) })
}

// AsksUser reports whether a question, an approval or a changed test waits for the user.
func (s State) AsksUser() bool { return len(s.Unanswered()) > 0 || len(s.Unapproved()) > 0 }

// AwaitingApproval are old tests that finished tasks changed and that nobody has approved yet,
// and those whose change was rejected, until their task is taken up again. They judge
// neither for nor against the tasks that follow: each is judged by its own.
func (s State) AwaitingApproval() []string {
	paths := s.Tasks.ToRestore()
	for _, t := range s.Tasks {
		if t.Status != Done || t.TestsRemoved { // what comes later is judged with these
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

// Rejects tells whether a user said, of this path, that the agent may not change it;
// of AllTests, whether it may change none but those approved by name since.
func (p Permissions) Rejects(path string) bool {
	return slices.ContainsFunc(p.Rejected, func(d Rejection) bool { return d.Path == path })
}

// testsAsked keeps the wish for the user, once.
func (m *machine) testsAsked(paths []string, why string) {
	paths = slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return p == "" || m.s.MayChange(p) })
	if len(paths) == 0 {
		return
	}
	a := TestChangeRequest{Paths: paths[:min(len(paths), maxPaths)], Why: plan.OneLine(why, maxWhyBytes), Iteration: m.s.Iteration}
	kept := slices.DeleteFunc(slices.Clone(m.s.TestRequests), func(b TestChangeRequest) bool { return slices.Equal(a.Paths, b.Paths) })
	if len(kept) == len(m.s.TestRequests) {
		m.notify(Warning, strings.TrimSuffix("the agent asks to change tests: "+strings.Join(a.Paths, ", ")+": "+a.Why, ": "))
	}
	m.s.TestRequests = lastOf(append(kept, a), maxAsks)
}

// applyApproval takes a user's word: for the work of tasks, or for changes of tests.
func (m *machine) applyApproval(e Event) {
	if len(e.Tasks) > 0 {
		m.acceptUnproven(e.Tasks)
	} else {
		m.approveTests(e.Paths)
	}
}

// approveTests lets the agent change these tests in this loop; without any, all. Work
// that waited for it counts for what it was found to be, also after the end.
func (m *machine) approveTests(paths []string) {
	if len(paths) == 0 {
		paths = []string{AllTests}
	}
	m.dropAnsweredAsks(paths)
	for _, p := range paths {
		if !slices.Contains(m.s.Approved, p) {
			m.s.Approved = lastOf(append(slices.Clip(m.s.Approved), p), maxPaths)
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

// acceptUnproven takes a user's word for work that nothing proves: they have read it. What was
// found of it stays as it is.
func (m *machine) acceptUnproven(ids []string) {
	for _, id := range ids {
		m.updateTask(id, func(t *Task) { t.Accepted = t.Status == Done })
	}
	if m.s.Phase == Ended && m.s.Outcome == Unverified {
		m.s.Outcome, m.s.Reason, m.s.Hint = m.outcome()
	}
}

// upgrade gives a task what it was worth if its tests are approved.
func (m *machine) upgrade(t *Task) bool {
	g := t.IfApproved
	if t.Status != Done || g == nil || slices.ContainsFunc(g.Paths, func(p string) bool { return !m.s.MayChange(p) }) {
		return false
	}
	for _, path := range t.TestsChanged { // what was approved stays named
		if !slices.ContainsFunc(t.ChangedTests, func(c TestChange) bool { return c.Path == path }) {
			t.ChangedTests = append(slices.Clip(t.ChangedTests), TestChange{Path: path, Kind: "changed"})
		}
	}
	t.TestsChanged, t.IfApproved = nil, nil
	if t.Reviewed == ReviewDisagreed || t.Reviewed == ReviewNone {
		return true // what the tests say was not what was missing
	}
	t.Evidence, t.Flipped, t.Why = g.Evidence, g.Flipped, g.Reason
	if t.Reviewed == ReviewPassed {
		t.Evidence = gate.AfterReview(g.Evidence)
	}
	return true
}

// OriginalsUnseen reports whether a done task changed old tests, and the gates could
// not be run with the originals: a place to run them in is missing then, not an approval.
func (t Task) OriginalsNotRun() bool {
	return t.Status == Done && t.IfApproved != nil && len(t.TestsChanged) == 0
}

// unseenHint is what a user can do where the gates could not be run with the originals.
func (m *machine) originalsHint() string {
	if len(m.s.Unapproved()) == 0 || !slices.ContainsFunc(m.s.Tasks, Task.OriginalsNotRun) {
		return ""
	}
	return "the gates could not be run with the tests as they were: [worktree] setup in pawl.toml makes checkouts ready;  pawl report  says why"
}

// ApproveCommand is what a user types to approve the changes of tests that wait for it,
// "" if none wait, or if it is a place to run the originals in that is missing.
func (s State) ApproveCommand(id string) string {
	if len(s.Unapproved()) == 0 || slices.ContainsFunc(s.Tasks, Task.OriginalsNotRun) {
		return ""
	}
	return "pawl approve " + id
}

// needsUnaskedInputs: the gates pass only with a change of gate inputs that are not tests, and
// the agent was not told so yet. It may do without, or say why not. One that asked for
// the change, or whose change a review may accept, has been heard.
func (m *machine) needsUnaskedInputs(g Gates) bool {
	if len(g.NeededInputs) == 0 || m.s.Ladder.RefusedForInputs || m.s.Policy.Verify || m.s.Policy.Reviews || m.limit() != "" {
		return false
	}
	return slices.ContainsFunc(g.NeededInputs, func(path string) bool {
		return !slices.ContainsFunc(m.s.TestRequests, func(a TestChangeRequest) bool { return slices.Contains(a.Paths, path) })
	})
}

// awaitEarlier makes work that passes only with an earlier task's change worth what was
// found once that change is approved. One approval is enough for both.
func (g *Gates) requireEarlierChanges() {
	if len(g.AwaitedChanges) == 0 {
		return
	}
	worth := IfApproved{Evidence: g.Evidence, Flipped: g.Flipped, Reason: g.Reason}
	if g.IfApproved != nil {
		worth = *g.IfApproved
	} else {
		g.Reason = "the gates pass only with what an earlier task changed, which waits for approval: " + strings.Join(g.AwaitedChanges, ", ")
	}
	both := func(paths []string) []string {
		paths = slices.Concat(paths, g.AwaitedChanges)
		slices.Sort(paths)
		return slices.Compact(paths)
	}
	worth.Paths = both(worth.Paths)
	g.IfApproved, g.TestsChanged, g.Evidence = &worth, both(g.TestsChanged), gate.NoEvidence
}

// dropAnsweredAsks drops the wishes that a user has answered.
func (m *machine) dropAnsweredAsks(paths []string) {
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

// without are all that do not match; nil for none, as the journal keeps it.
func exclude[T any](all []T, match func(T) bool) []T {
	var kept []T
	for _, v := range all {
		if !match(v) {
			kept = append(kept, v)
		}
	}
	return kept
}
