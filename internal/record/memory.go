package record

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

// Types of the records in a loop's journal, besides the store's own. Each
// record of TypeEvent is a loop.Event; folding them gives the machine's state.
const (
	TypeEvent   = "event"
	TypeSession = "session" // data: Session
	TypeBase    = "base"    // data: Base
	TypeBound   = "bound"   // data: Bound
	TypeNote    = "note"    // data: Note, for people
	TypeReceipt = "receipt" // data: verify.Receipt, before the event that it belongs to
	TypeKept    = "kept"    // data: Kept, before the event Committed
	TypeNew     = "new"     // data: NewFiles, which add to those known
	TypeSorted  = "sorted"  // data: Sorted, after the event TreeSeen
	TypeClaimed = "claimed" // data: Claimed, before the event TurnEnded
	TypePulled  = "pulled"  // data: Pulled, after the loop's end
)

// Memory is the fold of a loop's journal: the machine's state and what the
// runner itself must know to go on.
type Memory struct {
	State   loop.State `json:"state"`
	Session Session    `json:"session"`
	Base    Base       `json:"base"`
	Bound   Bound      `json:"bound,omitzero"`
	Sorted  Sorted     `json:"sorted,omitzero"`
	// Calls are the bytes of ToolCallsFile that stood there when the task began.
	Calls   int64   `json:"calls,omitempty"`
	Claimed Claimed `json:"claimed,omitzero"`
	Pulled  Pulled  `json:"pulled,omitzero"`
	NewFiles
	// Judge is the tree that holds the judge's copies of the tests: the last in
	// which they were unchanged or approved.
	Judge string `json:"judge,omitempty"`
	// Unsorted says that a turn has begun since a look at the work tree told the
	// agent's changes from the user's.
	Unsorted bool `json:"unsorted,omitempty"`
	// Begun counts the turns that the machine asked for: each is given to the agent
	// once, also where two processes of a session's hooks could.
	Begun int `json:"begun,omitempty"`
	// Results are what the gates said last, without test maps and output.
	Results []gate.Result `json:"results,omitempty"`
	Skipped []Skipped     `json:"skipped,omitempty"`
	Guarded Guarded       `json:"guarded,omitzero"`
	Wall    Wall          `json:"wall,omitzero"`
	Left    []string      `json:"left,omitempty"` // processes that ran on after the loop's end
	Tested  []Tested      `json:"tested,omitempty"`
	Refused []string      `json:"refused,omitempty"` // hosts that the wall did not let through, in the order of the first try
}

// Skipped is the last try of a task that was skipped, which the state forgets with
// the next task.
type Skipped struct {
	Task    string        `json:"task"`
	Base    Base          `json:"base"` // that the task began with
	Failing loop.Failing  `json:"failing"`
	Results []gate.Result `json:"results,omitempty"` // of the gates that failed
}

// Session is the agent's session that goes on in the next turn.
type Session struct {
	ID      string  `json:"id,omitempty"`
	CostUSD float64 `json:"cost_usd,omitempty"` // what it cost so far, by the client's own count
	Version string  `json:"version,omitempty"`  // of the client
	Model   string  `json:"model,omitempty"`
}

// Base is the commit that every diff is against: the loop's start, its last
// commit, or what the user committed since.
type Base struct {
	Commit string `json:"commit"`
	// From is the base with which the task began, where the user has committed
	// since: a restore goes back to there, but keeps what they committed.
	From string `json:"from,omitempty"`
	// Own says that the branch holds commits of the agent's beyond Commit.
	Own bool `json:"own,omitempty"`
}

// Bound is the user's session that a loop lives in; its hooks drive the loop.
type Bound struct {
	Session string `json:"session,omitempty"` // the client's id of it
	Agent   string `json:"agent,omitempty"`   // claude
	Client  int    `json:"client,omitempty"`  // process id of the client, 0 unknown
	Closed  bool   `json:"closed,omitempty"`  // its client has ended: the loop rests until the session is taken up again
}

// Sorted is what a look at the work tree leaves to the next one, where the tool
// calls of a user's session are written down as they run.
type Sorted struct {
	Calls int64 `json:"calls,omitempty"` // bytes of ToolCallsFile that have been looked at
	Ran   int64 `json:"ran,omitempty"`   // bytes of RanFile, as far as an owner who left the loop said
	// Shut is one more than the bytes of ToolCallsFile that stood there when a runner
	// took the loop: what its session does since is none of the loop's. 0 while a
	// session has it.
	Shut int64 `json:"shut,omitempty"`
	// Stand are changes of what judges that stand although they are not the
	// person's: path → sum of the content.
	Stand map[string]string `json:"stand,omitempty"`
}

// Kept says what became of a tree that the gates have seen.
type Kept struct {
	Commit    string `json:"commit"`
	Gated     string `json:"gated_tree"`     // as the gates ran on it
	Committed string `json:"committed_tree"` // without the user's untracked files, with Pawl's marks
	Receipt   string `json:"receipt,omitempty"`
}

// Note is something worth knowing that is no event of the machine.
type Note struct {
	Level    loop.Level `json:"level"`
	Text     string     `json:"text"`
	Judged   *Judged    `json:"judged,omitempty"` // the tool call that it is about
	Host     string     `json:"host,omitempty"`   // the host that the wall refused, of which it tells
	NewFiles            // of which it tells
	Tested   *Tested    `json:"tested,omitempty"` // what broken functions showed, of which it tells
	Left     []string   `json:"left,omitempty"`   // the processes that run on after the loop's end, of which it tells: PID COMMAND
}

// Remember brings the memory of a loop up to date with its journal.
func Remember(l *store.Loop) (Memory, journal.Mark, error) {
	return store.Fold(l, func() Memory { return Memory{} }, fold)
}

func fold(m Memory, r journal.Record) (Memory, error) {
	var err error
	switch r.Type {
	case TypeEvent:
		var e loop.Event
		if err = json.Unmarshal(r.Data, &e); err == nil {
			m.Apply(e)
		}
	case TypeSession:
		m.Session = Session{} // a field that is left out is empty, not as before
		err = json.Unmarshal(r.Data, &m.Session)
	case TypeBound:
		m.Bound = Bound{}
		err = json.Unmarshal(r.Data, &m.Bound)
	case TypeSorted:
		m.Sorted = Sorted{}
		err = json.Unmarshal(r.Data, &m.Sorted)
	case TypeWalled:
		m.Wall = Wall{}
		err = json.Unmarshal(r.Data, &m.Wall)
	case TypePulled:
		m.Pulled = Pulled{}
		err = json.Unmarshal(r.Data, &m.Pulled)
	case TypeClaimed:
		var c Claimed
		if err = json.Unmarshal(r.Data, &c); err == nil {
			m.Claimed = m.Claimed.With(c)
		}
	case TypeBase:
		m.Base = Base{}
		err = json.Unmarshal(r.Data, &m.Base)
	case TypeNew:
		var n NewFiles
		if err = json.Unmarshal(r.Data, &n); err == nil {
			m.NewFiles = m.With(n)
		}
	case TypeNote:
		var n Note
		if err = json.Unmarshal(r.Data, &n); err == nil {
			m.Take(n)
		}
	}
	if err != nil {
		return m, fmt.Errorf("record %d (%s): %w", r.Seq, r.Type, err)
	}
	return m, nil
}

// Attended tells whether the loop lives in a user's session, whose hooks drive
// it. Before the machine has begun, it lives where it is to begin.
func (m Memory) Attended(asked Spec) bool {
	if m.State.Phase == "" || m.State.Phase == loop.New {
		return asked.Policy.Attended
	}
	return m.State.Attended
}

// SortedOut: a look has been at all that was done. One that leads to another
// look has not, the machine wants to know more first.
func SortedOut(e loop.Event, s loop.State) bool {
	return e.Kind == loop.TreeSeen && s.Phase != loop.Looking
}

// Take remembers what a note says of the guard, of the wall, of processes and of files.
func (m *Memory) Take(n Note) {
	if n.Judged != nil {
		m.Guarded.add(*n.Judged)
	}
	if n.Host != "" {
		m.refuses(n.Host)
	}
	if len(n.Left) > 0 {
		m.Left = n.Left
	}
	if n.Tested != nil {
		m.Tested = append(slices.Clip(m.Tested), *n.Tested)
	}
	m.NewFiles = m.With(n.NewFiles)
}

// Apply steps the machine and keeps the rest in line with it.
func (m *Memory) Apply(e loop.Event) []loop.Action {
	before := m.State
	s, acts := loop.Step(before, e)
	m.State = s
	if SortedOut(e, s) {
		m.Unsorted = false
	}
	if slices.ContainsFunc(acts, func(a loop.Action) bool { return a.Do == loop.BeginTurn }) {
		m.Unsorted = true
		m.Begun++
		m.Claimed = Claimed{}
		m.Guarded.Noted = nil
	}
	if e.Gates != nil && len(e.Gates.Results) > 0 {
		m.Results = e.Gates.Results
	}
	m.skips(before, e)
	switch {
	case e.Kind == loop.WentBack:
		m.Judge, m.Unsorted = "", false // the tree is the user's as a whole
	case e.Kind == loop.Committed && before.Phase == loop.Committing:
		if e.Commit != "" {
			m.Base = Base{Commit: e.Commit}
		}
		if before.Found != nil && len(before.Found.TestsChanged) == 0 {
			m.Judge = cmp.Or(before.Found.Judge, e.Tree)
		}
	case e.Kind == loop.Checkpointed && before.Phase == loop.Checkpointing && before.After == loop.ThenBaseline:
		// What changed since the last commit, with no turn between, is the
		// person's: their tests judge from now on.
		m.Base.From, m.Calls = "", m.Sorted.Calls
		last, ok := before.Task(before.Last)
		if m.Judge == "" || ok && last.Status == loop.Done && m.Judge == before.Base {
			m.Judge = e.Tree
		}
	}
	return acts
}

// skips keeps the last try of the task that an event sets aside.
func (m *Memory) skips(before loop.State, e loop.Event) {
	was, _ := before.Task(before.Current)
	t, ok := m.State.Task(before.Current)
	if !ok || was.Status != loop.Open || t.Status == loop.Open || t.Status == loop.Done || m.State.Failing == nil {
		return
	}
	last := Skipped{Task: t.ID, Base: m.Base, Failing: *m.State.Failing}
	if e.Gates != nil {
		for _, r := range e.Gates.Results {
			if r.Status == gate.Fail {
				last.Results = append(last.Results, r)
			}
		}
	}
	m.Skipped = slices.DeleteFunc(slices.Clone(m.Skipped), func(s Skipped) bool { return s.Task == t.ID })
	m.Skipped = append(m.Skipped, last)
}
