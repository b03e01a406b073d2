package term

import (
	"encoding/json"
	"time"
)

// Event is something to show. The implementations are the structs of this file; their JSON is
// documented in docs/reference/events.schema.json.
type Event interface{ name() string }

// Span is a duration; in JSON it is a number of seconds.
type Span time.Duration

// MarshalJSON writes seconds, to the millisecond.
func (s Span) MarshalJSON() ([]byte, error) {
	return json.Marshal(time.Duration(s).Round(time.Millisecond).Seconds())
}

// UnmarshalJSON reads seconds.
func (s *Span) UnmarshalJSON(data []byte) error {
	var seconds float64
	err := json.Unmarshal(data, &seconds)
	*s = Span(time.Duration(seconds * float64(time.Second)).Round(time.Millisecond))
	return err
}

// LoopStarted is the first event of a run.
type LoopStarted struct {
	Loop          string   `json:"loop" jsonschema:"name of the loop"`
	Source        string   `json:"source" jsonschema:"the plan's file, or the beginning of the prompt"`
	Kind          string   `json:"kind,omitempty" jsonschema:"of the goal, where it is no change: answer, explore or periodic"`
	Open          int      `json:"open" jsonschema:"open tasks, 0 without a plan"`
	Done          int      `json:"done" jsonschema:"tasks that were done before"`
	Agent         string   `json:"agent" jsonschema:"name of the agent"`
	AgentVersion  string   `json:"agent_version,omitempty" jsonschema:"version of the agent's client"`
	Branch        string   `json:"branch,omitempty" jsonschema:"branch that commits go to"`
	From          string   `json:"from,omitempty" jsonschema:"branch and commit it begins at"`
	Checkout      string   `json:"checkout,omitempty" jsonschema:"how the checkout of the user's work tree moves, or where the loop's own worktree is, in words; absent where neither"`
	Gates         []Gate   `json:"gates,omitempty" jsonschema:"the gates of the loop"`
	Sandbox       []string `json:"wall,omitempty" jsonschema:"what confines agent and gates, and what they reach, in words"`
	MaxIterations int      `json:"max_iterations,omitempty" jsonschema:"limit of iterations, absent without one"`
	MaxDuration   Span     `json:"max_duration_seconds,omitempty" jsonschema:"limit of time"`
	MaxCostUSD    float64  `json:"max_cost_usd,omitempty" jsonschema:"limit of cost"`
	CostUnknown   bool     `json:"cost_unknown,omitempty" jsonschema:"the agent does not report its cost: a limit of cost has no effect"`
	Resumed       bool     `json:"resumed,omitempty" jsonschema:"the loop continues after an interruption"`
}

// Gate is a gate at the start of the loop.
type Gate struct {
	Name    string `json:"name,omitempty" jsonschema:"name of the gate"`
	Command string `json:"command" jsonschema:"what is run"`
}

// TaskStarted is the start of a task, or of the whole goal if there is no plan.
type TaskStarted struct {
	ID    string `json:"id,omitempty" jsonschema:"id of the task"`
	Title string `json:"title" jsonschema:"title of the task"`
	Index int    `json:"index,omitempty" jsonschema:"which of the loop's tasks it is, counted by those that have ended"`
	Total int    `json:"total,omitempty" jsonschema:"tasks of the loop, without those that are left out"`
}

// TurnActivity reports what the agent is doing, and the figures so far.
type TurnActivity struct {
	Iteration      int     `json:"iteration" jsonschema:"this iteration, from 1"`
	MaxIterations  int     `json:"max_iterations,omitempty" jsonschema:"limit of iterations"`
	Doing          string  `json:"doing" jsonschema:"what the agent does now, a few words"`
	ContextPercent int     `json:"context_percent" jsonschema:"fill of the context window, -1 if unknown"`
	Tokens         int64   `json:"tokens" jsonschema:"tokens of the loop so far, of all kinds"`
	CostUSD        float64 `json:"cost_usd" jsonschema:"cost of the loop so far"`
}

// GateFinished is the result of one run of one gate.
type GateFinished struct {
	Gate     string `json:"gate" jsonschema:"name of the gate"`
	Result   string `json:"result" jsonschema:"pass, fail or unknown"`
	Duration Span   `json:"duration_seconds" jsonschema:"how long it ran"`
	Summary  string `json:"summary,omitempty" jsonschema:"failing tests or the first error, one line"`
	Cached   bool   `json:"cached,omitempty" jsonschema:"the result of an equal tree was reused"`
	Clean    bool   `json:"clean_checkout,omitempty" jsonschema:"it ran in a clean checkout, not in the work tree"`
}

// ClaimRefused means that the agent claimed to be done and Pawl refused the claim.
type ClaimRefused struct {
	ID     string `json:"id,omitempty" jsonschema:"id of the task"`
	Title  string `json:"title" jsonschema:"title of the task"`
	Reason string `json:"reason" jsonschema:"why, one line"`
}

// TaskEnded is the end of a task.
type TaskEnded struct {
	ID         string `json:"id,omitempty" jsonschema:"id of the task"`
	Title      string `json:"title" jsonschema:"title of the task"`
	Index      int    `json:"index,omitempty" jsonschema:"as in task_started"`
	Total      int    `json:"total,omitempty" jsonschema:"as in task_started"`
	Review     bool   `json:"review,omitempty" jsonschema:"it is done with less evidence than wanted: you should look at it"`
	Result     string `json:"result" jsonschema:"proven, reviewed, unproven, unknown, skipped, blocked or another word"`
	Iterations int    `json:"iterations" jsonschema:"iterations it took"`
	Duration   Span   `json:"duration_seconds" jsonschema:"how long it took"`
	Evidence   string `json:"evidence,omitempty" jsonschema:"what shows it, in words"`
	Commit     string `json:"commit,omitempty" jsonschema:"short hash of its commit"`
}

// Waiting means that nothing happens until a time, because of a usage limit or a pause between
// attempts. It ends with the next event of another kind.
type Waiting struct {
	Until  time.Time `json:"until" jsonschema:"when the loop continues"`
	Reason string    `json:"reason" jsonschema:"what it waits for"`
}

// Question is a question to the user, who types the answer. It ends with the next event.
type Question struct {
	Text    string   `json:"text" jsonschema:"the question"`
	Choices []string `json:"choices,omitempty" jsonschema:"what can be typed, and what it means"`
}

// Level is the severity of a Note.
type Level string

// The levels.
const (
	Info Level = "info"
	Warn Level = "warn"
)

// Note is any other event that is worth a line: a restore, a violation, a hint.
type Note struct {
	Level Level  `json:"level" jsonschema:"info or warn"`
	Text  string `json:"text" jsonschema:"one line"`
}

// LoopEnded is the last event and the summary.
type LoopEnded struct {
	Loop                string   `json:"loop" jsonschema:"name of the loop"`
	Progress            string   `json:"progress,omitempty" jsonschema:"how many tasks are done and how many need you; absent where there is but one"`
	Outcome             string   `json:"outcome" jsonschema:"verified, unverified, stuck, blocked … as in the table of outcomes"`
	ExitCode            int      `json:"exit_code" jsonschema:"exit code of the tool"`
	Reason              string   `json:"reason,omitempty" jsonschema:"why it ended so, one line"`
	Duration            Span     `json:"duration_seconds" jsonschema:"from start to end"`
	Waited              Span     `json:"waited_seconds,omitempty" jsonschema:"of it waiting for limits"`
	Tested              Span     `json:"tested_seconds,omitempty" jsonschema:"of it mutation testing at the end"`
	Iterations          int      `json:"iterations" jsonschema:"iterations counted"`
	Tasks               []Tally  `json:"tasks,omitempty" jsonschema:"tasks by result"`
	Commits             int      `json:"commits" jsonschema:"commits made"`
	Branch              string   `json:"branch,omitempty" jsonschema:"branch they are on"`
	Tokens              int64    `json:"tokens" jsonschema:"tokens of all kinds"`
	CostUSD             float64  `json:"cost_usd" jsonschema:"cost"`
	CostUnknown         bool     `json:"cost_unknown,omitempty" jsonschema:"the agent reports neither cost nor tokens, so both are 0"`
	LeftOut             []string `json:"left_out,omitempty" jsonschema:"open tasks of the plan that the user left out"`
	Uncommitted         []string `json:"uncommitted,omitempty" jsonschema:"files of the agent that no commit holds, with the reason"`
	Unsigned            string   `json:"unsigned,omitempty" jsonschema:"commits that are not signed although the user wants that, and why"`
	LeftAlone           []string `json:"left_alone,omitempty" jsonschema:"new files that the user or a gate made meanwhile: in no commit"`
	UserCommit          string   `json:"user_commit,omitempty" jsonschema:"the commit of what the user had not committed when the loop started"`
	PossibleUserChanges []string `json:"possible_user_changes,omitempty" jsonschema:"what was treated as the agent's and may be the user's"`
	UnappliedEdits      []string `json:"aside,omitempty" jsonschema:"files that keep edits of the plan which were not applied"`
	EditsNotMade        []string `json:"edits_not_made,omitempty" jsonschema:"edits of the plan that waited at the end"`
	NotDelivered        []string `json:"not_delivered,omitempty" jsonschema:"messages of the user that the agent did not get"`
	Look                []string `json:"look,omitempty" jsonschema:"where to look: files and commands"`
	Next                []string `json:"next,omitempty" jsonschema:"what to type next"`
}

// Tally counts the tasks that ended in one way.
type Tally struct {
	Result string   `json:"result" jsonschema:"proven, reviewed, unproven, skipped …"`
	Tasks  []string `json:"tasks" jsonschema:"their ids"`
	Each   []string `json:"each,omitempty" jsonschema:"what there is to say of each, in the same order: its title, and why it ended so"`
	Note   string   `json:"note,omitempty" jsonschema:"what it means, in words"`
}

func (LoopStarted) name() string  { return "loop_started" }
func (TaskStarted) name() string  { return "task_started" }
func (TurnActivity) name() string { return "turn_activity" }
func (GateFinished) name() string { return "gate_finished" }
func (ClaimRefused) name() string { return "claim_refused" }
func (TaskEnded) name() string    { return "task_ended" }
func (Waiting) name() string      { return "waiting" }
func (Question) name() string     { return "question" }
func (Note) name() string         { return "note" }
func (LoopEnded) name() string    { return "loop_ended" }
