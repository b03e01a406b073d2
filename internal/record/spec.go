// Package record says what is written down of a loop, and reads it back: what
// was asked of it (Spec, in spec.json), the records of its journal and their
// fold (Memory), what anyone may leave in its inbox (Message), and what lists
// and scripts see of it (Summary).
//
// Each owner of a loop writes these and no others: the runner, and the hook of
// the session that a loop lives in. The machine's state is the fold of the
// records of TypeEvent; the other types hold what an owner must know besides, to
// go on where the last one stopped. It links neither git nor an agent: the hook
// reads it at every turn.
package record

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/store"
)

// Spec is everything that was asked of a loop, resolved and frozen at its
// start: it is kept in spec.json and does not change when configuration or
// flags do.
type Spec struct {
	Name   string      `json:"name"`
	Prompt string      `json:"prompt,omitempty"` // the goal as text; empty for a plan alone
	Plan   string      `json:"plan,omitempty"`   // path of the plan, relative to the root, slashes
	Policy loop.Policy `json:"policy"`
	Tasks  []loop.Task `json:"tasks"`
	Gates  []gate.Gate `json:"gates,omitempty"`

	Wanted gate.Evidence `json:"wanted,omitempty"` // evidence wanted of a task that is added to the plan later

	Agent       Agent         `json:"agent"`
	Promise     string        `json:"promise,omitempty"`
	TurnTimeout time.Duration `json:"turn_timeout,omitempty"`
	IdleTimeout time.Duration `json:"idle_timeout,omitempty"`
	Warm        bool          `json:"warm,omitempty"`
	// MutationTime bounds the runs on the broken code of one commit; nil = twice what
	// its gates take, 0 = there are none.
	MutationTime *time.Duration `json:"mutation_time,omitempty"`

	Branch          string   `json:"branch"`                      // where the commits go
	NewBranch       bool     `json:"new_branch,omitempty"`        // Branch was named, and is the loop's to make
	Home            string   `json:"home,omitempty"`              // the default branch, protected
	From            string   `json:"from"`                        // commit the loop starts from
	FromBranch      string   `json:"from_branch,omitempty"`       // branch that was checked out then, "" for none
	OwnTree         bool     `json:"own_tree,omitempty"`          // --worktree: a work tree of its own
	KeepOwn         bool     `json:"keep_own,omitempty"`          // --squash=false: the agent's own commits stay
	AllowDirty      bool     `json:"allow_dirty,omitempty"`       // the user's changes are committed before it begins
	Foreign         []string `json:"foreign,omitempty"`           // untracked before the loop: never committed
	Left            *Left    `json:"left,omitempty"`              // what an earlier loop did of a task of this one; nil: nothing
	Hidden          []string `json:"hidden,omitempty"`            // tracked, but hidden from git by the user: committed as they were
	Remote          *Remote  `json:"remote,omitempty"`            // where a pull request may go; nil: none is opened
	Setup           []string `json:"setup,omitempty"`             // of worktrees
	GateEnv         []string `json:"gate_env,omitempty"`          // NAME=value, added to what gates see
	Tests           []string `json:"tests,omitempty"`             // globs of test files; none = by language
	Work            []string `json:"work,omitempty"`              // globs of files that are work whatever their names say
	Protect         []string `json:"protect,omitempty"`           // globs that judge
	NoRatchet       bool     `json:"no_ratchet,omitempty"`        // tests that passed need not exist any more
	TestChangeTasks []string `json:"test_change_tasks,omitempty"` // tasks that may change tests; "*" = all
	Lessons         []string `json:"lessons,omitempty"`           // of the project, as they were at the start
	Prompts         string   `json:"prompts,omitempty"`           // folder of templates of one's own

	Guard  Guard               `json:"guard,omitzero"`
	Scopes map[string][]string `json:"scopes,omitempty"` // globs of the files that a task may change, by its id; none = any

	Confine      string   `json:"confine,omitempty"`       // a confine.Level: what agent and gates may do at all
	ConfineHosts []string `json:"confine_hosts,omitempty"` // what may be reached where the network is off

	// Of loops that live in a user's session (Policy.Attended).
	Tools      bool   `json:"tools,omitempty"`      // the session's plugin serves the agent's tools
	NoCommit   bool   `json:"no_commit,omitempty"`  // what is verified is checkpointed, not committed
	Shadow     bool   `json:"shadow,omitempty"`     // there is no git here: the repository is Pawl's own
	Unattended bool   `json:"unattended,omitempty"` // nobody sits there: the guard answers permission prompts
	File       string `json:"file,omitempty"`       // another tool's state file, kept up to date; relative to the root, slashes
	Format     string `json:"format,omitempty"`     // whose file it is: the Name of a statefile.Format

	Isolation *Isolation `json:"isolation,omitempty"` // bounds of the tries in a client of their own; nil: there are none
}

// Left is work that a loop left half-done in the work tree.
type Left struct {
	Loop  string   `json:"loop"`
	Task  string   `json:"task"`            // id of the task that it belongs to
	Title string   `json:"title,omitempty"` // of the task
	Paths []string `json:"paths"`           // its files, relative to the root, slashes
}

// Isolation bounds a try outside the user's session.
type Isolation struct {
	MaxCostUSD float64       `json:"max_cost_usd,omitempty"` // 0 is no bound
	Timeout    time.Duration `json:"timeout,omitempty"`      // 0 is no bound
}

// Agent is the agent to drive and how.
type Agent struct {
	Name    string            `json:"name"`
	Command string            `json:"command,omitempty"`
	Model   string            `json:"model,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
}

// GoalTask is the id of the one task that a prompt without a plan is.
const GoalTask = "goal"

// ReadSpec reads what a loop was created with.
func ReadSpec(l *store.Loop) (Spec, error) {
	kept, err := l.Spec()
	if err != nil {
		return Spec{}, err
	}
	return Asked(kept)
}

// Asked reads what a loop was created with out of what the store kept of it.
func Asked(kept store.Spec) (Spec, error) {
	var s Spec
	if err := json.Unmarshal(kept.Body, &s); err != nil {
		return Spec{}, fmt.Errorf("read what loop %s was asked: %w", kept.ID, err)
	}
	return s, nil
}

// Untold tells whether the agent may not have been told anything yet: a loop that
// came out of another tool's file is found when a turn has ended.
func (s Spec) Untold(st loop.State) bool { return s.File != "" && st.Turns <= 1 }

// Goal is what was asked, in few words.
func (s Spec) Goal() string {
	words := s.Prompt
	if s.Plan != "" {
		words = s.Plan
	}
	if s.Name != "" {
		words = strings.TrimSuffix(s.Name+": "+words, ": ")
	}
	return plan.OneLine(words, 60)
}

// WorkTree is where the loop's agent works: the root that the loop is bound to,
// or a work tree of its own in the loop's folder.
func (s Spec) WorkTree(l *store.Loop, root string) string {
	if s.OwnTree {
		return filepath.Join(l.Dir, "tree")
	}
	return root
}
