// Package config resolves options from five layers, each of which overrides the one before:
//
//	defaults < user (~/.config/pawl/config.toml) < project (pawl.toml)
//	         < loop file (front matter) < flags
//
// Resolve merges them into one Settings, which records the source of each value. --dry-run
// shows the sources, and messages name file and line. Sources also decide trust: commands in a
// repository's files run only after the user has trusted them (Trust).
//
// The struct Settings is the only list of options. Its tags name the keys. Decoding, messages,
// JSON Schemas and the reference page are made from it. A value of a higher layer replaces the
// lower one. Tables (evidence, agent_env, gate_env, worktree, verify) merge key by key. The
// lists of protect and guard are joined: no layer can unprotect what another protects.
package config

import (
	"time"

	"github.com/pawl-dev/pawl/internal/confine"
	"github.com/pawl-dev/pawl/internal/core/claim"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

//go:generate env UPDATE=1 go test -run TestReferenceIsFresh .

// Settings holds the options of one loop, complete and checked. It is plain data that JSON can
// store, and nothing changes it after Resolve.
type Settings struct {
	Name  string        `json:"name,omitempty" doc:"display name of the loop"`
	Kind  loop.GoalKind `json:"kind" doc:"kind of the goal: a change of the tree, an answer in text, a time-boxed exploration, or a goal that repeats"`
	Every time.Duration `json:"every,omitempty" doc:"interval of a periodic goal; implies kind periodic"`
	Plan  string        `json:"plan,omitempty" doc:"file of tasks, below the root of the repository"`

	Tasks      []string `json:"tasks,omitempty" doc:"ids of the plan's tasks to work on; default: all open tasks"`
	NoOptional bool     `json:"no_optional,omitempty" doc:"leave out the plan's optional tasks, which otherwise come last"`

	Agent        string            `json:"agent" doc:"which coding agent works"`
	AgentCommand string            `json:"agent_command,omitempty" doc:"the agent's program, if it is not the usual one on the PATH"`
	AgentArgs    []string          `json:"agent_args,omitempty" doc:"further arguments for the agent's program"`
	AgentEnv     map[string]string `json:"agent_env,omitempty" doc:"environment variables for the agent, added to the user's own"`
	Model        string            `json:"model,omitempty" doc:"model of the agent; default: the agent's choice"`

	Gates        []gate.Gate `json:"gates,omitempty" doc:"commands that must pass, or tables; Pawl runs them itself"`
	Review       []string    `json:"review,omitempty" doc:"what another agent must review, in a separate session that only reads: text, or @FILE; each is a gate"`
	ReviewRounds Rounds      `json:"review_rounds" doc:"how often a review may fail the work of a task; then the work is kept, unverified"`
	GateEnv      GateEnv     `json:"gate_env,omitempty" doc:"environment variables for the gates: a list of names that pass with the user's values, or a table of values, where true passes the user's"`
	GatesWhen    GatesWhen   `json:"gates_when" doc:"run the gates when the agent claims to be done, or after every turn"`
	Evidence     Evidence    `json:"evidence" doc:"evidence that a task needs to be done: one level for all tasks, or a table of task ids with a default"`

	MaxIterations Iterations    `json:"max_iterations" doc:"limit of iterations; 0 = unlimited, auto is four for each open task and at least 25"`
	MaxDuration   time.Duration `json:"max_duration" doc:"limit of time, without waits for usage limits; 0 = unlimited"`
	MaxCost       USD           `json:"max_cost,omitempty" doc:"limit of cost in US dollars; 0 = unlimited"`
	MaxTokens     int64         `json:"max_tokens,omitempty" doc:"limit of tokens; 0 = unlimited"`
	TurnTimeout   time.Duration `json:"turn_timeout" doc:"how long one turn of the agent may take; 0 = unlimited"`
	IdleTimeout   time.Duration `json:"idle_timeout" doc:"how long the agent may be silent while no tool runs; 0 = unlimited"`

	AnswerWithin time.Duration `json:"answer_within,omitempty" doc:"how long the agent's question waits for an answer before the agent continues as it proposed; without it, the task is skipped after a day; a repository's file needs trust for it"`

	Approve Approve `json:"approve,omitempty" doc:"where the loop stops until the user approves: plan (before the first task), claim (before the gates run on it), task (before accepted work is committed), end"`

	MutationTime time.Duration `json:"mutation_time" doc:"time limit of mutation testing beside the agent's work, which shows which functions of a task its tests check; default: six times the gates' time, at least 12s, at most 10m; 0 = never"`

	Verify Verify `json:"verify" doc:"a loop in a session whose goal is that a command passes: a table"`

	Session    loop.SessionMode `json:"session" doc:"when the agent gets a fresh context: for each task, for each turn, when handover_at is reached, or never"`
	HandoverAt Percent          `json:"handover_at" doc:"how full the context may be before a hybrid session gets a fresh one, or a user's session hands over, if allowed"`
	Warm       bool             `json:"warm" doc:"reuse the agent's process for a fresh context, where that is like a new process; in a sandbox only if you set it"`
	Promise    string           `json:"promise" doc:"text of the agent's claim to be done; default: the one that the prompt asks for, else DONE"`

	OnFailure OnFailure `json:"on_failure" doc:"what to do with the tree when a task keeps failing: restore it to the start of the task, or keep it"`
	Worktree  Worktree  `json:"worktree" doc:"work in a separate git worktree: true, or a table with the commands that set one up"`
	Branch    string    `json:"branch,omitempty" doc:"branch for the commits, or current; default: pawl/LOOP if the default or a protected branch is checked out"`

	OnHangup OnHangup `json:"on_hangup" doc:"what happens when the terminal closes: cancel ends the loop and keeps the work, detach continues it in the background"`

	Confine      confine.Level `json:"confine" doc:"sandbox of agent and gates: none, write only the work tree and caches, or also no network and credentials; a repository's file can only tighten it"`
	ConfineHosts []string      `json:"confine_hosts,omitempty" doc:"hosts that are allowed with confine strict: HOST, HOST:PORT or *.DOMAIN"`

	Merge Merge `json:"merge" doc:"when the agent asks to merge: record it, or open a pull request with gh after a verified end; a repository's file needs trust for pr"`

	AllowDirty       bool     `json:"allow_dirty,omitempty" doc:"commit the user's uncommitted changes first, under the user's name, instead of refusing to start"`
	CommitMessage    string   `json:"commit_message" doc:"subject of the commits, one line; of {type} (feat, fix or docs), {id}, {id_lower}, {title} and {title_lower} (its first word in lower case)"`
	Squash           bool     `json:"squash" doc:"make one commit per task; false keeps the agent's own commits"`
	Protect          []string `json:"protect,omitempty" merge:"add" doc:"globs of files that the agent must not change; entries of all layers count"`
	Tests            []string `json:"tests,omitempty" doc:"globs of test files, instead of the usual ones of each language"`
	Work             []string `json:"work,omitempty" doc:"globs of files that the agent may change without approval although gates may read them: data, scripts"`
	Ratchet          bool     `json:"ratchet" doc:"tests that passed at the last verified commit must still exist, where a gate reports them one by one"`
	AllowTestChanges TaskSet  `json:"allow_test_changes,omitempty" doc:"let the agent change existing tests and other gate inputs: true, or the ids of the tasks that may"`

	Guard Guard `json:"guard,omitzero" doc:"what the guard allows, denies and asks about, besides its own rules: a table; entries of all layers count"`

	Notify Notify `json:"notify,omitzero" doc:"who is notified of what: a table, or its to"`

	Telemetry Telemetry `json:"telemetry,omitzero" doc:"where traces and metrics are sent, off by default: a table, in your own configuration only"`

	Tracker Tracker `json:"tracker,omitzero" doc:"how Pawl reads and claims issues: a table"`

	// Sources holds the source of each key that a layer set. Entries of tables have the key
	// "key.entry". A missing key means that the value is a default.
	Sources map[string]Source `json:"sources,omitempty"`
}

// Set reports whether a layer set the option with this key. Otherwise it has its default.
func (s Settings) Set(key string) bool {
	_, ok := s.Sources[key]
	return ok
}

// SetForRun reports whether the option was set for this run only, by a flag or its loop file.
func (s Settings) SetForRun(key string) bool {
	from := s.Sources[key].Layer
	return from == layerFlags || from == layerLoop
}

// Evidence is the level of evidence that tasks need to be done.
type Evidence struct {
	Default gate.Evidence            `json:"default"`
	Tasks   map[string]gate.Evidence `json:"tasks,omitempty"` // by task id
}

// For returns the level of evidence that a task needs.
func (e Evidence) For(task string) gate.Evidence {
	if level, ok := e.Tasks[task]; ok {
		return level
	}
	return e.Default
}

// Worktree holds the options of git worktrees: whether the loop works in a separate one, and
// the commands that prepare any checkout, also those for evidence.
type Worktree struct {
	Use   bool     `json:"use,omitempty" doc:"work in a separate git worktree"`
	Setup []string `json:"setup,omitempty" doc:"shell commands that prepare a fresh checkout, such as npm ci"`
}

// Verify holds the options of a loop in a session whose goal is that a command succeeds. After
// its tries in the session, each further try runs in an isolated session.
type Verify struct {
	Tries           int64         `json:"tries" doc:"failed tries in the session before isolated ones; default: three, or two identical failures"`
	Isolate         bool          `json:"isolate" doc:"make further tries in fresh sessions beside the user's; false stays in the user's"`
	IsolatedCost    USD           `json:"isolated_cost" doc:"limit of cost of an isolated try, in US dollars; 0 = unlimited"`
	IsolatedTimeout time.Duration `json:"isolated_timeout" doc:"limit of time of an isolated try; 0 = unlimited"`
}

// Tracker holds the command that reads issues, and the label that claims one.
type Tracker struct {
	Command string `json:"command,omitempty" doc:"command that sh runs for each request of pawl run tracker:QUERY; a repository's file needs trust for it"`
	Label   string `json:"label,omitempty" doc:"claim an issue by this label, instead of assigning it"`
}

// Iterations is the maximum number of iterations: 0 means unlimited, or it is Auto.
type Iterations int

// Auto is the default limit: max(25, 4 × open tasks).
const Auto Iterations = -1

// For returns the limit for a plan with this number of open tasks; 0 means unlimited.
func (n Iterations) For(open int) int {
	if n == Auto {
		return max(25, 4*open)
	}
	return int(n)
}

// USD is an amount of money in US dollars.
type USD float64

// Rounds is a whole number from 1.
type Rounds int

// Percent is a whole number from 1 to 100.
type Percent int

// TaskSet is a set of task ids; "*" stands for all tasks.
type TaskSet []string

// GatesWhen is the time at which gates run.
type GatesWhen string

// The values of GatesWhen.
const (
	AtClaim   GatesWhen = "claim"
	EveryTurn GatesWhen = "every-turn"
)

// OnFailure is the action on the work tree when a task keeps failing.
type OnFailure string

// The values of OnFailure.
const (
	Restore OnFailure = "restore"
	Keep    OnFailure = "keep"
)

// OnHangup is the action of a loop when its terminal closes or its connection drops.
type OnHangup string

// The values of OnHangup.
const (
	CancelOnHangup OnHangup = "cancel"
	DetachOnHangup OnHangup = "detach"
)

// Merge is the action when the agent asks for a merge.
type Merge string

// The values of Merge.
const (
	MergeRecord Merge = "record"
	MergePull   Merge = "pr"
)

// Defaults returns the settings without any layer.
func Defaults() Settings {
	return Settings{
		Kind:          loop.Change,
		Agent:         "claude",
		GatesWhen:     AtClaim,
		ReviewRounds:  3,
		Evidence:      Evidence{Default: gate.Proven},
		MaxIterations: Auto,
		MaxDuration:   8 * time.Hour,
		TurnTimeout:   time.Hour,
		IdleTimeout:   10 * time.Minute,
		MutationTime:  10 * time.Minute,
		Verify:        Verify{Isolate: true, IsolatedCost: 1, IsolatedTimeout: 5 * time.Minute},
		Session:       loop.PerTask,
		HandoverAt:    80,
		Warm:          true,
		Promise:       claim.DefaultPromise,
		OnFailure:     Restore,
		OnHangup:      CancelOnHangup,
		Confine:       confine.Off,
		Merge:         MergeRecord,
		CommitMessage: plan.DefaultCommitForm,
		Squash:        true,
		Ratchet:       true,
	}
}
