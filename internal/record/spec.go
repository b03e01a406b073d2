// Package record defines what is stored about a loop, and reads it back: the request it
// was created with (Spec, in spec.json), the messages in its inbox (Message), its tool
// calls, and the summary that lists and scripts show (Summary). It only reads and
// writes; package memory interprets the journal's records.
//
// All owners of a loop write these types and no others: the runner, and the hook of the
// session that has the loop. The package imports neither git nor an agent, since the hook
// uses it at every turn.
package record

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/notice"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/store"
)

// Spec is the complete request for a loop, resolved and frozen at its start. It is stored
// in spec.json and does not change with configuration or flags; only PlanSettings follow the
// user's edits of the plan. It is split into structs
// for the code that needs a part of it only. In JSON all fields are on one level.
type Spec struct {
	Identity `json:"-"`
	Request
	PlanSettings
	Policy loop.Policy `json:"policy"`
	Verification
	Agent Agent `json:"agent"`
	TurnOptions
	Repository
	Protection
	SessionOptions
	Observers
}

// Identity is what the store adds to spec.json about a loop.
type Identity struct {
	ID        string
	Root      string // of the repository or project, absolute
	CreatedAt time.Time
}

// Request is the work that the user asked for.
type Request struct {
	Name           string          `json:"name"`
	Prompt         string          `json:"prompt,omitempty"` // the goal as text; empty for a plan alone
	Plan           string          `json:"plan,omitempty"`   // path of the plan, relative to the root, slashes
	Tasks          loop.Tasks      `json:"tasks"`
	OnlyTasks      []string        `json:"only_tasks,omitempty"`  // ids of the plan's tasks to work on; none: all
	SkipOptional   bool            `json:"no_optional,omitempty"` // the plan's optional tasks are left out
	LeftOut        []string        `json:"left_out,omitempty"`    // open tasks that are left out, "ID title"
	UnfinishedWork *UnfinishedWork `json:"left_work,omitempty"`   // unfinished work of an earlier loop on one of the tasks; nil: none
	Lessons        []string        `json:"lessons,omitempty"`     // of the project, as of the start
	// Templates are the user's prompt templates by file name, as they were at the start: later the
	// agent may change the files.
	Templates map[string]string `json:"templates,omitempty"`
	Tracker   *TrackerIssues    `json:"tracker,omitempty"` // the issues that the plan was made of; nil: it is no plan of issues
}

// Verification says how finished work is verified.
type Verification struct {
	Gates            []gate.Gate   `json:"gates,omitempty"`
	RequiredEvidence gate.Evidence `json:"wanted_evidence,omitempty"`   // evidence required of tasks that are added to the plan later
	GateEnv          []string      `json:"gate_env,omitempty"`          // NAME=value, or NAME of the user's, added to the environment of gates
	Tests            []string      `json:"tests,omitempty"`             // globs of test files; none: by language
	Work             []string      `json:"work,omitempty"`              // globs of files that are work whatever their names
	NoRatchet        bool          `json:"no_ratchet,omitempty"`        // tests that passed may be missing later
	TestChangeTasks  []string      `json:"test_change_tasks,omitempty"` // tasks that may change tests; "*" = all
	// MutationTime bounds the mutation tests of one commit; nil: several times the time of
	// its gates; 0: none are run.
	MutationTime *time.Duration `json:"mutation_time,omitempty"`
}

// TurnOptions say how the agent's turns run.
type TurnOptions struct {
	Promise     string        `json:"promise,omitempty"`
	IdleTimeout time.Duration `json:"idle_timeout,omitempty"`
	Warm        bool          `json:"warm,omitempty"`
}

// Repository says where the agent works and where commits go.
type Repository struct {
	Branch           string       `json:"branch"`                       // where commits go
	NewBranch        bool         `json:"new_branch,omitempty"`         // the loop creates Branch
	DefaultBranch    string       `json:"default_branch,omitempty"`     // protected from the agent
	StartCommit      string       `json:"start_commit"`                 // commit that the loop starts from
	StartBranch      string       `json:"start_branch,omitempty"`       // branch that was checked out then; "": none
	UsesWorktree     bool         `json:"own_worktree,omitempty"`       // --worktree: the loop has its own work tree
	Setup            []string     `json:"setup,omitempty"`              // commands that set up a worktree
	KeepAgentCommits bool         `json:"keep_agent_commits,omitempty"` // --squash=false: the agent's own commits stay
	CommitMessage    string       `json:"commit_message,omitempty"`     // form of the subject of commits; "": plan.DefaultCommitForm
	MessageFromCLI   bool         `json:"fixed_message,omitempty"`      // CommitMessage was given on the command line; pawl resume does not read another one from pawl.toml
	AllowDirty       bool         `json:"allow_dirty,omitempty"`        // the user's changes are committed before the loop starts
	Untracked        memory.Paths `json:"untracked,omitempty"`          // untracked before the loop; never committed
	HiddenFiles      memory.Paths `json:"hidden_files,omitempty"`       // tracked, but hidden from git by the user; committed unchanged
	Remote           *Remote      `json:"remote,omitempty"`             // where a pull request may go; nil: none is opened
	NoCommit         bool         `json:"no_commit,omitempty"`          // verified work is checkpointed, not committed: a user's session
	Shadow           bool         `json:"shadow,omitempty"`             // the folder has no git repository; Pawl's own one is used: the same
}

// Protection says what the agent may not do.
type Protection struct {
	Protect      []string    `json:"protect,omitempty"` // globs of protected files
	Guard        GuardConfig `json:"guard,omitzero"`
	Confine      string      `json:"confine,omitempty"`       // a confine.Level: the sandbox of agent and gates
	ConfineHosts []string    `json:"confine_hosts,omitempty"` // hosts that may be reached where the network is off
}

// SessionOptions are for loops in a user's session (Policy.InSession).
type SessionOptions struct {
	Tools        bool       `json:"tools,omitempty"`      // the session's plugin serves the agent's tools
	Unattended   bool       `json:"unattended,omitempty"` // no user is at the session: the guard answers permission prompts
	CompatFile   string     `json:"file,omitempty"`       // another tool's state file, kept up to date; relative to the root, slashes
	CompatFormat string     `json:"format,omitempty"`     // name of the file's statefile.Format
	Isolation    *Isolation `json:"isolation,omitempty"`  // limits of tries in a separate client; nil: there are no such tries
}

// Observers says who gets notices and telemetry about the loop.
type Observers struct {
	Notify         notice.Settings `json:"notify,omitzero"`
	Telemetry      Telemetry       `json:"telemetry,omitzero"`         // where traces and metrics are sent
	DetachOnHangup bool            `json:"detach_on_hangup,omitempty"` // a closed terminal does not end the loop
}

// UnfinishedWork is unfinished work that a loop left in the work tree.
type UnfinishedWork struct {
	Loop  string   `json:"loop"`
	Task  string   `json:"task"`            // id of its task
	Title string   `json:"title,omitempty"` // of the task
	Paths []string `json:"paths"`           // its files, relative to the root, slashes
}

// Isolation limits a try outside the user's session.
type Isolation struct {
	MaxCostUSD float64       `json:"max_cost_usd,omitempty"` // 0: unlimited
	Timeout    time.Duration `json:"timeout,omitempty"`      // 0: unlimited
}

// Telemetry is the collector of the user's configuration.
type Telemetry struct {
	Endpoint string            `json:"endpoint,omitempty"` // "": only the environment may name one
	Headers  map[string]string `json:"headers,omitempty"`  // by name, as env:NAME
}

// SendsTelemetry reports whether the configuration or the environment, as NAME=value, names
// a collector.
func (w Observers) SendsTelemetry(vars []string) bool {
	return w.Telemetry.Endpoint != "" || slices.ContainsFunc(vars, func(v string) bool {
		name, value, _ := strings.Cut(v, "=")
		return value != "" && strings.HasPrefix(name, "OTEL_EXPORTER_OTLP_") && strings.HasSuffix(name, "ENDPOINT")
	})
}

// Agent says which agent to run, and how.
type Agent struct {
	Name    string            `json:"name"`
	Command string            `json:"command,omitempty"`
	Model   string            `json:"model,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
}

// ReportsNoCost reports whether the agent reports neither cost nor tokens.
func (a Agent) ReportsNoCost() bool { return a.Name == "command" }

// DefaultLoopBranch returns the branch that a loop with this id creates.
func DefaultLoopBranch(id string) string { return "pawl/" + id }

// ReadSpec reads the spec of a loop. If the loop commits, Branch is set: to
// DefaultLoopBranch unless the user chose another one.
func ReadSpec(l *store.Loop) (Spec, error) {
	stored, err := l.Spec()
	if err != nil {
		return Spec{}, err
	}
	s := Spec{Identity: Identity{stored.ID, stored.Root, stored.CreatedAt}}
	if err := json.Unmarshal(stored.Body, &s); err != nil {
		return Spec{}, fmt.Errorf("decode spec of loop %s: %w", stored.ID, err)
	}
	if s.Branch == "" && !s.NoCommit {
		s.Branch = DefaultLoopBranch(s.ID)
	}
	s.PlanSettings, err = readPlanSettings(l, s.PlanSettings)
	return s, err
}

// ReadIdentity reads the identity of a loop.
func ReadIdentity(l *store.Loop) (Identity, error) {
	stored, err := l.Spec()
	return Identity{stored.ID, stored.Root, stored.CreatedAt}, err
}

// Read reads the spec of a loop and what its journal says. With a *journal.CorruptError the
// memory is as good as the journal.
func Read(l *store.Loop) (Spec, memory.Memory, error) {
	spec, err := ReadSpec(l)
	if err != nil {
		return spec, memory.Memory{}, err
	}
	m, _, err := Load(l)
	return spec, m, err
}

// AllDone reports whether every task was done before the loop.
func (r Request) AllDone() bool {
	return len(r.Tasks) > 0 && !slices.ContainsFunc(r.Tasks, func(t loop.Task) bool { return t.Status != loop.Done })
}

// MayLackGoal reports whether the agent may not have received the goal yet: a loop from
// another tool's file begins when a turn has ended.
func (s SessionOptions) MayLackGoal(turns int) bool { return s.CompatFile != "" && turns <= 1 }

// Goal describes the request in a few words.
func (r Request) Goal() string {
	text := r.Prompt
	if r.Plan != "" {
		text = r.Plan
	}
	if r.Name != "" {
		text = strings.TrimSuffix(r.Name+": "+text, ": ")
	}
	return plan.OneLine(text, 60)
}

// WorktreeDir is the name of a loop's own worktree in its folder.
const WorktreeDir = "tree"

// WorkTree returns where the loop's agent works: the root of the loop, or the loop's own
// work tree in its folder.
func (s Spec) WorkTree(l *store.Loop) string {
	if s.UsesWorktree {
		return filepath.Join(l.Dir, WorktreeDir)
	}
	return s.Root
}

// PlanPath returns the path of the loop's plan in a work tree, or "" without a plan.
func (s Spec) PlanPath(root string) string {
	if s.Plan == "" {
		return ""
	}
	return filepath.Join(root, filepath.FromSlash(s.Plan))
}

// TrackerIssues says which issues a loop works on, and how they are reached.
type TrackerIssues struct {
	Name    string  `json:"name"`              // of the tracker
	Command string  `json:"command,omitempty"` // the user's program; "": one of Pawl's
	From    string  `json:"from"`              // what the user named
	Label   string  `json:"label,omitempty"`   // issues are claimed by it; "": by assignee
	Issues  []Issue `json:"issues"`
}

// Issue is an issue and the tasks of the plan that stand for it.
type Issue struct {
	ID    string   `json:"id"`
	Key   string   `json:"key"`
	Title string   `json:"title"`
	URL   string   `json:"url,omitempty"`
	Tasks []string `json:"tasks"`
}

// Remote is where a pull request may go, as it was when the loop started. A push elsewhere
// is refused.
type Remote struct {
	Name string `json:"name,omitempty"`
	Sum  string `json:"sum"` // checksum of its addresses, which may contain a password
	// Settings are the checksums of git's settings that decide where a push goes, by
	// their names.
	Settings map[string]string `json:"settings,omitempty"`
}
