package record

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/store"
)

// Summary is a loop as lists and scripts see it (`pawl status --json`).
type Summary struct {
	ID             string          `json:"id"`
	Name           string          `json:"name"`
	Goal           string          `json:"goal"` // in few words
	Root           string          `json:"root"` // of the repository that the loop is bound to
	Kind           loop.GoalKind   `json:"kind"`
	State          string          `json:"state"`                // running, waiting, paused, ended; orphaned: its process is gone
	InSession      bool            `json:"in_session,omitempty"` // a user's session has the loop, and its hooks drive it
	Session        string          `json:"session,omitempty"`    // the client's id of that session, once it is known
	Client         int             `json:"client,omitempty"`     // process of that session's client, once it is known
	Closed         bool            `json:"closed,omitempty"`     // that session is closed; the loop rests until it is resumed
	Capped         bool            `json:"capped,omitempty"`     // its client ended the turn after too many stops without a tool call; the loop rests until the user types there
	Merge          string          `json:"merge,omitempty"`      // what the agent asks the user to merge, in its own words
	Outcome        loop.Outcome    `json:"outcome,omitempty"`
	Reason         string          `json:"reason,omitempty"` // why it ended so, or, while it is paused, what only the user can fix
	Iteration      int             `json:"iteration"`
	Tasks          TaskCount       `json:"tasks"`
	Gates          []GateResult    `json:"gates"`
	Sandbox        *memory.Sandbox `json:"sandbox,omitempty"`  // sandbox of agent and gates; absent without --confine
	Evidence       gate.Evidence   `json:"evidence"`           // the weakest of the tasks that the loop finished
	Question       *loop.Question  `json:"question,omitempty"` // that the agent asks, and that waits for an answer; the first
	Tests          []string        `json:"tests,omitempty"`    // existing tests whose change waits for approval
	Approved       []string        `json:"approved,omitempty"` // tests that the user lets the agent change; *: any
	CanUndoRestore bool            `json:"-"`                  // there is a restore that a user can undo
	Commits        int             `json:"commits"`
	CostUSD        float64         `json:"cost_usd"`
	CostUnknown    bool            `json:"cost_unknown,omitempty"` // at least a part is: the agent reports neither cost nor tokens, or a session has the loop, whose client does not
	Tokens         Tokens          `json:"tokens"`
	Turns          int             `json:"turns"`
	CreatedAt      time.Time       `json:"created_at"`
	StartedAt      time.Time       `json:"started_at,omitzero"`
	EndedAt        time.Time       `json:"ended_at,omitzero"`
}

// CountsTasks reports whether tasks of the loop are done or open: a goal that is not a
// change of the tree is neither.
func (s Summary) CountsTasks() bool {
	t := s.Tasks
	return s.Kind == "" || s.Kind == loop.Change || t.Done+t.Open+t.Skipped > 1 || t.Skipped > 0
}

// TaskProgress returns how many tasks are done, such as 2/3, or "" if CountsTasks is false.
func (s Summary) TaskProgress() string {
	t := s.Tasks
	if !s.CountsTasks() {
		return ""
	}
	return fmt.Sprintf("%d/%d", t.Done, t.Done+t.Open+t.Skipped)
}

// TaskCount counts tasks by status. Skipped includes those that the agent says it
// cannot do, and those that it claimed without a change.
type TaskCount struct {
	Done    int `json:"done"`
	Open    int `json:"open"`
	Skipped int `json:"skipped"`
}

// GateResult is the last result of a gate.
type GateResult struct {
	Name     string      `json:"name"`
	Result   gate.Status `json:"result"`
	ExitCode int         `json:"exit_code"`
	Failing  []string    `json:"failing,omitempty"` // names of failing tests
}

// Tokens counts tokens by kind.
type Tokens struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cache_read"`
	CacheWrite int64 `json:"cache_write"`
}

// Summarize makes the summary of a loop from its spec and its memory.
func Summarize(spec Spec, m memory.Memory) Summary {
	s := m.State
	if s.Phase == "" { // it is about to begin
		s.Policy = spec.Policy
	}
	u := s.Usage
	sum := Summary{
		ID: spec.ID, Name: spec.Name, Goal: spec.Goal(), Root: spec.Root, Kind: spec.Policy.Kind, State: stateName(s.Phase),
		Iteration: s.Iteration, Gates: []GateResult{}, CostUSD: u.CostUSD, CostUnknown: s.CostUnknown() || m.InSession(spec.Policy), Turns: s.Turns,
		InSession: m.InSession(spec.Policy),
		Tests:     s.Unapproved(), Approved: s.Approved, CanUndoRestore: s.HasRestore(),
		Tokens:    Tokens{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite},
		CreatedAt: spec.CreatedAt, StartedAt: s.StartedAt,
	}
	if s.Phase == loop.Ended { // before, its owner may die and leave the work of the end
		sum.Outcome, sum.Reason, sum.EndedAt = s.Outcome, s.Reason, s.EndedAt
	}
	if s.Phase == loop.Paused {
		sum.Reason = s.Trouble.HoldReason
	}
	if w := spec.EffectiveSandbox(m); w.Level != "" {
		sum.Sandbox = &w
	}
	if s.Outcome == "" {
		if asked := s.Unanswered(); len(asked) > 0 {
			sum.Question = &asked[0]
		}
	}
	if s.Merge != nil {
		sum.Merge = s.Merge.Summary
	}
	if sum.InSession {
		sum.Session, sum.Client = m.Bound.Session, m.Bound.Client
		sum.Closed, sum.Capped = m.Bound.Closed && s.Phase != loop.Ended, m.Bound.Capped && s.Phase == loop.Turning
	}
	sum.setWaiting()
	commits := map[string]bool{}
	for _, t := range s.Tasks {
		if t.Commit != "" { // also of a task that is open again
			commits[t.Commit] = true
		}
		switch t.Status {
		case loop.Done:
			sum.Tasks.Done++
			if !t.DoneEarlier && (sum.Evidence == "" || !t.Evidence.Satisfies(sum.Evidence)) {
				sum.Evidence = t.Evidence
			}
		case loop.Open:
			sum.Tasks.Open++
		case loop.Skipped, loop.Blocked, loop.Unchanged:
			sum.Tasks.Skipped++
		}
	}
	sum.Evidence = cmp.Or(sum.Evidence, gate.EvidenceUnknown)
	sum.Commits = len(commits)
	for _, r := range m.Results {
		sum.Gates = append(sum.Gates, GateResult{Name: r.Gate, Result: r.Status, ExitCode: r.ExitCode, Failing: r.Failing})
	}
	return sum
}

// setWaiting sets the state to waiting if the loop's session is closed or waits for the user.
func (s *Summary) setWaiting() {
	if (s.Closed || s.Capped) && s.State == "running" {
		s.State = "waiting"
	}
}

// MarkClosedIfGone marks the session as closed if its client has exited: a killed client cannot report it.
// alive reports whether a process lives.
func (s *Summary) MarkClosedIfGone(alive func(pid int) bool) {
	if s.InSession && s.Client != 0 && s.State != "ended" && !alive(s.Client) {
		s.Closed = true
		s.setWaiting()
	}
}

// stateName maps a phase to the state in a Summary.
func stateName(p loop.Phase) string {
	switch p {
	case loop.Waiting:
		return "waiting"
	case loop.Paused:
		return "paused"
	case loop.Ended:
		return "ended"
	}
	return "running"
}

// ReadSummary reads a loop's files and returns its summary; see store.List.
func ReadSummary(l *store.Loop) (Summary, error) {
	spec, err := ReadSpec(l)
	if err != nil {
		return Summary{}, err
	}
	m, _, err := Load(l)
	return Summarize(spec, m), err
}

// Entry is a loop with its summary, or why it cannot be read.
type Entry = store.ListEntry[Summary]

// List returns all loops, the newest first.
func List(st *store.Store) ([]Entry, error) {
	listed, err := store.List(st, ReadSummary)
	slices.SortStableFunc(listed, func(x, y Entry) int { return y.Summary.CreatedAt.Compare(x.Summary.CreatedAt) })
	return listed, err
}
