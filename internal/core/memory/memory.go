// Package memory computes a Memory from a loop's journal: the state of the state machine,
// and what else a new owner needs to continue where the last one stopped.
//
// An owner calls Apply, which steps the state machine, and writes the event. A reader of
// the journal calls Fold for each record and gets the same Memory. The package is pure, so
// that every reader gets the same result from the same journal.
package memory

import (
	"cmp"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/notice"
)

// Memory is the state that a loop's journal gives: that of the state machine, and what
// else an owner needs to continue.
type Memory struct {
	State loop.State `json:"state"`
	OwnerState

	Notices  []notice.Notice `json:"-"`                  // what the last event means for an absent user
	Notified notice.SentLog  `json:"notified,omitempty"` // what the user was told in the last minute
}

// ActionContext is the input of an action besides the action itself. It has no State: only
// the state machine decides by that.
type ActionContext struct {
	loop.Facts
	OwnerState
}

// ActionContext returns the input of an action that begins now.
func (m Memory) ActionContext() ActionContext {
	return ActionContext{Facts: m.State.Facts(), OwnerState: m.OwnerState}
}

// OwnerState is what an owner keeps about the loop besides the state of the state machine:
// sessions, commits, authors of changes, results.
type OwnerState struct {
	Session     Session      `json:"session"`
	Base        Base         `json:"base"`
	Bound       BoundSession `json:"bound,omitzero"`
	Attribution Attribution  `json:"attribution,omitzero"`
	// TaskCallsOffset is the size of ToolCallsFile when the task started, in bytes.
	TaskCallsOffset int64       `json:"task_calls,omitempty"`
	ToolClaim       ToolClaim   `json:"tool_claim,omitzero"`
	PullRequest     PullRequest `json:"pull_request,omitzero"`
	NewFiles
	// UserCommit is a commit with the changes that the user had not committed when the loop
	// began.
	UserCommit string `json:"user_commit,omitempty"`
	// PossibleUserChanges describes changes that were attributed to the agent but may be the
	// user's, and where copies are kept.
	PossibleUserChanges []string `json:"possible_user_changes,omitempty"`
	// Unsigned tells of commits that are not signed although the user wants that.
	Unsigned Unsigned `json:"unsigned,omitzero"`
	// TestsTree is the git tree with the tests that gates use: the last one in which
	// tests were unchanged or approved.
	TestsTree string `json:"tests_tree,omitempty"`
	// OriginalsTree is the last TestsTree before a user restored the work tree while changed
	// tests waited or were rejected: a rejection restores the originals from it.
	OriginalsTree string `json:"originals_tree,omitempty"`
	// HasUnattributed means that a turn has begun since changes in the work tree were last
	// attributed.
	HasUnattributed bool `json:"unattributed,omitempty"`
	// TurnsBegun counts the turns that the state machine requested. The agent gets each turn
	// once, even if two hooks of a session run at the same time.
	TurnsBegun int `json:"turns_begun,omitempty"`
	// Results are the last results of the gates, without test maps and output.
	Results     []gate.Result `json:"results,omitempty"`
	Skipped     []Skipped     `json:"skipped,omitempty"`
	GuardLog    GuardLog      `json:"guard_log,omitzero"`
	Sandbox     Sandbox       `json:"sandbox,omitzero"`
	Uncommitted []string      `json:"uncommitted,omitempty"` // files of the agent's that no commit holds, with the reason
	// LeftInCheckout are the changes in the user's checkout that no commit held when the loop ended.
	LeftInCheckout []string         `json:"left_in_checkout,omitempty"`
	Orphans        []string         `json:"orphans,omitempty"` // processes that ran on after the loop's end
	Mutations      []MutationResult `json:"mutations,omitempty"`
	RefusedHosts   []string         `json:"refused_hosts,omitempty"` // hosts that the sandbox refused, in the order of the first try
}

// Skipped is the last try of a task that was skipped. The state drops it when the next
// task begins.
type Skipped struct {
	Task    string        `json:"task"`
	Base    Base          `json:"base"` // of the task's start
	Failing loop.Failing  `json:"failing"`
	Results []gate.Result `json:"results,omitempty"` // of the gates that failed
}

// Session is the agent's session that continues in the next turn.
type Session struct {
	ID      string  `json:"id,omitempty"`
	CostUSD float64 `json:"cost_usd,omitempty"` // what it cost so far, as reported by the client
	Version string  `json:"version,omitempty"`  // of the client
	Model   string  `json:"model,omitempty"`
}

// Base is the commit that diffs are made against: the loop's start, its last commit, or a
// later commit of the user's.
type Base struct {
	Commit string `json:"commit"`
	// TaskStart is the base with which the task started, if the user has committed since. A
	// restore goes back to it, but keeps the user's commits.
	TaskStart string `json:"task_start,omitempty"`
	// HasAgentCommits means that the branch has commits of the agent's after Commit.
	HasAgentCommits bool `json:"agent_commits,omitempty"`
	// Branch is the one that has Commit in a user's tree, where the loop works on the current branch.
	Branch string `json:"branch,omitempty"`
}

// BoundSession is the user's session that has the loop. Its hooks drive the loop.
type BoundSession struct {
	Session string `json:"session,omitempty"` // the client's id of it
	Agent   string `json:"agent,omitempty"`   // claude
	Client  int    `json:"client,omitempty"`  // process id of the client; 0: unknown
	Capped  bool   `json:"capped,omitempty"`  // its client ended the turn after too many stops without a tool call; the loop rests until the user types there
	Closed  bool   `json:"closed,omitempty"`  // its client has ended; the loop rests until the session is resumed
}

// Attribution is how far the changes in the work tree have been attributed to the agent
// or the user, by the recorded tool calls.
type Attribution struct {
	CallsOffset       int64 `json:"calls,omitempty"`        // bytes of ToolCallsFile that are attributed
	RunnerCallsOffset int64 `json:"runner_calls,omitempty"` // the same of RunnerCallsFile, as far as an owner that left the loop has said
	// ClosedAt is the size of ToolCallsFile when a runner took the loop, plus 1: later
	// calls of its session are not the loop's. 0 while a session has it.
	ClosedAt int64 `json:"closed_at,omitempty"`
	// AcceptedChanges are changes of protected files that stay although they are not the user's:
	// path → checksum of the content.
	AcceptedChanges map[string]string `json:"accepted,omitempty"`
}

// CommittedTrees links a commit to the tree that the gates ran on.
type CommittedTrees struct {
	Commit    string `json:"commit"`
	Gated     string `json:"gated_tree"`     // the tree that the gates ran on
	Committed string `json:"committed_tree"` // without the user's untracked files, with the plan's ticks
	Receipt   string `json:"receipt,omitempty"`
}

// Note is a message for the user that is not an event of the state machine.
type Note struct {
	Level              loop.Level      `json:"level"`
	Text               string          `json:"text"`
	GuardVerdict       *GuardVerdict   `json:"guard_verdict,omitempty"` // the tool call that it reports
	Host               string          `json:"host,omitempty"`          // the host that it reports as refused by the sandbox
	NewFiles                           // of which it tells
	Mutation           *MutationResult `json:"mutation,omitempty"`             // the result of mutation tests that it reports
	UserCommit         string          `json:"user_commit,omitempty"`          // the commit that it reports, see Known
	PossibleUserChange string          `json:"possible_user_change,omitempty"` // the change that it reports, see OwnerState
	Uncommitted        []string        `json:"uncommitted,omitempty"`          // the agent's files that it reports as held by no commit, with the reason
	AllCommitted       bool            `json:"all_committed,omitempty"`        // the files that earlier notes report as held by no commit are committed or gone
	LeftInCheckout     []string        `json:"left_in_checkout,omitempty"`     // the files that it reports, see Memory
	Unsigned           string          `json:"unsigned,omitempty"`             // why the commit that it reports is not signed
	Orphans            []string        `json:"orphans,omitempty"`              // the processes that it reports as running after the loop's end: PID COMMAND
}

// UncommittedAfter returns the agent's files that no commit holds after the note.
func (n Note) UncommittedAfter(before []string) []string {
	switch {
	case n.AllCommitted:
		return nil
	case len(n.Uncommitted) > 0:
		return n.Uncommitted
	}
	return before
}

// InSession reports whether a user's session has the loop, whose hooks drive it. Before
// the state machine has begun, the requested policy decides.
func (m Memory) InSession(requested loop.Policy) bool {
	if m.State.Phase == "" || m.State.Phase == loop.New {
		return requested.InSession
	}
	return m.State.InSession
}

// CompletesAttribution reports whether an event means that all changes so far are attributed. An
// inspection that leads to another one does not.
func CompletesAttribution(e loop.Event, s loop.State) bool {
	return e.Kind() == loop.KindTreeInspected && s.Phase != loop.Inspecting
}

// Unsigned counts commits that are not signed although the user wants that.
type Unsigned struct {
	Commits int    `json:"commits"`
	Reason  string `json:"reason"` // of the last one
}

// With returns the count after a note.
func (u Unsigned) With(n Note) Unsigned {
	if n.Unsigned == "" {
		return u
	}
	return Unsigned{u.Commits + 1, n.Unsigned}
}

// maxPossibleUserChanges bounds what the report says of changes that may be the user's; the log has all.
const maxPossibleUserChanges = 10

// ApplyNote adds what a note reports: guard verdicts, refused hosts, processes, mutation
// results and new files.
func (m *Memory) ApplyNote(n Note) {
	if n.GuardVerdict != nil {
		m.GuardLog.add(*n.GuardVerdict)
	}
	if n.Host != "" {
		m.addRefusedHost(n.Host)
	}
	if len(n.Orphans) > 0 {
		m.Orphans = n.Orphans
	}
	m.Uncommitted = n.UncommittedAfter(m.Uncommitted)
	if len(n.LeftInCheckout) > 0 {
		m.LeftInCheckout = n.LeftInCheckout
	}
	m.Unsigned = m.Unsigned.With(n)
	m.UserCommit = cmp.Or(n.UserCommit, m.UserCommit)
	if n.PossibleUserChange != "" && !slices.Contains(m.PossibleUserChanges, n.PossibleUserChange) && len(m.PossibleUserChanges) < maxPossibleUserChanges {
		m.PossibleUserChanges = append(slices.Clip(m.PossibleUserChanges), n.PossibleUserChange)
	}
	if n.Mutation != nil {
		m.Mutations = append(slices.Clip(m.Mutations), *n.Mutation)
	}
	m.NewFiles = m.Merge(n.NewFiles)
}

// Apply steps the state machine, updates the rest of the memory, and returns the actions
// to perform.
func (m *Memory) Apply(e loop.Event) []loop.Action {
	before := m.State
	after, actions := loop.Step(before, e)
	m.State = after
	if !before.IsNew(e) {
		m.Notices = nil
		return nil
	}
	m.Notices, m.Notified = m.Notified.Filter(notice.Decide(before, after, e))
	if before.Phase == loop.Ended && after.Phase != loop.Ended { // it was resumed
		m.LeftInCheckout = nil
	}
	if CompletesAttribution(e, after) {
		m.HasUnattributed = false
	}
	if _, begins := loop.FindAction[loop.BeginTurn](actions); begins {
		m.HasUnattributed = true
		m.TurnsBegun++
		m.ToolClaim = ToolClaim{}
		m.GuardLog.NotedThisTurn = nil
	}
	m.recordSkip(before, e)
	switch p := e.Payload.(type) {
	case loop.GatesFinished:
		if len(p.Gates.Results) > 0 {
			m.Results = p.Gates.Results
		}
	case loop.CheckpointRestored:
		if m.TestsTree != "" && len(before.AwaitingApproval()) > 0 {
			m.OriginalsTree = m.TestsTree
		}
		m.TestsTree, m.HasUnattributed = "", false // the tree is the user's as a whole
	case loop.Committed:
		if before.Phase != loop.Committing {
			break
		}
		if p.Commit != "" {
			m.Base = Base{Commit: p.Commit, Branch: m.Base.Branch}
		}
		if gates := before.Claim.Gates; len(gates.TestsChanged) == 0 {
			m.TestsTree = cmp.Or(gates.ProtectedTree, p.Tree)
		}
	case loop.Checkpointed:
		if before.Phase != loop.Checkpointing || before.After != loop.ThenBaseline {
			break
		}
		// Changes since the last commit without a turn between are the user's. Gates
		// use the user's tests from now on.
		m.Base.TaskStart, m.TaskCallsOffset = "", m.Attribution.CallsOffset
		last, ok := before.Task(before.PreviousTask)
		if len(before.AwaitingApproval()) == 0 && len(after.AwaitingApproval()) == 0 {
			m.OriginalsTree = ""
		}
		if m.TestsTree == "" || ok && last.Status == loop.Done && m.TestsTree == before.Start.Tree {
			m.TestsTree = p.Tree
		}
	}
	return actions
}

// recordSkip stores the last try of a task that the event skips.
func (m *Memory) recordSkip(before loop.State, e loop.Event) {
	was, _ := before.Task(before.Current)
	t, ok := m.State.Task(before.Current)
	if !ok || was.Status != loop.Open || t.Status == loop.Open || t.Status == loop.Done || m.State.Failing == nil {
		return
	}
	last := Skipped{Task: t.ID, Base: m.Base, Failing: *m.State.Failing}
	if p, ok := e.Payload.(loop.GatesFinished); ok {
		for _, r := range p.Gates.Results {
			if r.Status == gate.Fail {
				last.Results = append(last.Results, r)
			}
		}
	}
	m.Skipped = slices.DeleteFunc(slices.Clone(m.Skipped), func(s Skipped) bool { return s.Task == t.ID })
	m.Skipped = append(m.Skipped, last)
}

// PullRequest is the result of a merge that the agent asked for, if the user lets Pawl
// open pull requests.
type PullRequest struct {
	URL     string `json:"url,omitempty"`     // of the pull request
	Problem string `json:"problem,omitempty"` // why it was not opened
}

// Text describes the result in one line, or returns "" if nothing was tried.
func (p PullRequest) Text() string {
	switch {
	case p.URL != "":
		return "opened: " + p.URL
	case p.Problem != "":
		return "no pull request was opened: " + p.Problem
	}
	return ""
}
