// Package telemetry converts a loop's journal to OpenTelemetry traces and metrics, and sends them
// by OTLP over HTTP, as JSON.
//
// Runs is a pure function of the journal's events: the same journal gives the same spans with the
// same ids. So the caller can skip what it has already sent. A Sender runs in a separate process,
// so that a slow collector does not delay a loop.
//
// Spans and metrics contain ids, counts, times and outcomes. They never contain a prompt, title,
// code or message of an agent.
package telemetry

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

// Loop holds properties of a loop that its journal does not contain.
type Loop struct {
	ID      string
	Agent   string              // "claude", or "command" for any other program
	Model   string              // the configured model; "" = the client chooses
	Version string              // Pawl's version
	Redact  func(string) string // removes secrets from the names of gates
}

// Run is a part of a loop: from its start to its end, or from a resume after its end to the next
// end.
type Run struct {
	Trace   string // trace id; all runs of a loop have the same
	Spans   []Span // the first span is the loop
	Metrics []Metric
}

// Span is a part of a run.
type Span struct {
	Name       string
	ID, Parent string // Parent is "" for the first span
	Start, End time.Time
	Attributes []Attribute
	Error      string // type of the error; "" = none
}

// Attribute is a property of a span, a metric or a resource. Its value is a string, an int, a bool,
// a float64 or a []string.
type Attribute struct {
	Key   string
	Value any
}

// Runs returns the runs of a loop that have ended, in order.
func Runs(l Loop, events iter.Seq[loop.Event]) []Run {
	sum := sha256.Sum256([]byte(l.ID))
	b := &builder{Loop: l, trace: hex.EncodeToString(sum[:16])}
	var s loop.State
	for e := range events {
		before := s
		var acts []loop.Action
		s, acts = loop.Step(s, e)
		if b.run == nil {
			if s.Phase == loop.Ended {
				continue
			}
			b.beginRun(e.At, before)
		}
		b.closeEventSpans(before, s, e)
		if s.Phase == loop.Ended {
			b.endRun(s, e.At)
			continue
		}
		for _, a := range acts {
			b.openActionSpan(a, e.At)
		}
	}
	return b.runs
}

// builder creates the spans of a run. Its fields hold indexes of open spans in the run, or noSpan.
// Index 0 is the loop.
type builder struct {
	Loop
	trace     string
	spanCount int // spans in all runs so far; span ids are derived from it
	runs      []Run
	run       *Run

	before               loop.State // state before the run
	tasks                map[string]int
	attempt, turn, gates int
	turns                []turn
	task                 string // id of the attempt's task
}

// turn holds the duration and usage of one turn of the agent.
type turn struct {
	seconds float64
	usage   loop.Usage
	failure string // type of the failure, "" if none
}

const noSpan = -1

func (b *builder) beginRun(at time.Time, before loop.State) {
	b.run, b.before, b.turns = &Run{Trace: b.trace}, before, nil
	b.tasks, b.attempt, b.turn, b.gates = map[string]int{}, noSpan, noSpan, noSpan
	b.openSpan("loop", noSpan, at, Attribute{"pawl.loop.id", b.ID})
}

// openSpan opens a span and returns its index.
func (b *builder) openSpan(name string, parent int, at time.Time, with ...Attribute) int {
	b.spanCount++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", b.ID, b.spanCount))
	span := Span{Name: name, ID: hex.EncodeToString(sum[:8]), Start: at, Attributes: with}
	if parent >= 0 {
		span.Parent = b.run.Spans[parent].ID
	}
	b.run.Spans = append(b.run.Spans, span)
	return len(b.run.Spans) - 1
}

// closeSpan closes the span at an index and sets the index to noSpan.
func (b *builder) closeSpan(index *int, at time.Time, failed string, with ...Attribute) {
	if *index < 0 {
		return
	}
	span := &b.run.Spans[*index]
	span.End, span.Error, span.Attributes = at, failed, append(span.Attributes, with...)
	*index = noSpan
}

// openActionSpan opens the span of an action.
func (b *builder) openActionSpan(a loop.Action, at time.Time) {
	switch p := a.Payload.(type) { // other actions have no span
	case loop.BeginTurn:
		b.closeSpan(&b.turn, at, "interrupted") // the process that ran the turn died
		b.closeSpan(&b.attempt, at, "")
		task, ok := b.tasks[p.Task]
		if !ok {
			task = b.openSpan("task", 0, at, Attribute{"pawl.task.id", p.Task})
			b.tasks[p.Task] = task
		}
		b.task = p.Task
		b.attempt = b.openSpan("attempt", task, at, Attribute{"pawl.iteration", p.Iteration}, Attribute{"pawl.situation", string(p.Situation)})
		b.turn = b.openSpan("invoke_agent "+b.Agent, b.attempt, at, b.operationAttributes()...)
	case loop.RunGates:
		b.closeSpan(&b.gates, at, "interrupted")
		parent := max(b.attempt, 0)
		name := "gate"
		if p.Purpose == loop.ForClaim {
			name = "claim"
		}
		b.gates = b.openSpan(name, parent, at, Attribute{"pawl.gates.purpose", string(p.Purpose)})
	}
}

// operationAttributes returns the attributes of a turn, as named in OpenTelemetry's semantic
// conventions for generative AI.
func (b *builder) operationAttributes() []Attribute {
	out := []Attribute{{"gen_ai.operation.name", "invoke_agent"}, {"gen_ai.agent.name", b.Agent}}
	if b.Agent == "claude" {
		out = append(out, Attribute{"gen_ai.provider.name", "anthropic"})
	}
	if b.Model != "" {
		out = append(out, Attribute{"gen_ai.request.model", b.Model})
	}
	return out
}

// closeEventSpans closes the spans that an event ends.
func (b *builder) closeEventSpans(before, s loop.State, e loop.Event) {
	switch p := e.Payload.(type) {
	case loop.TurnEnded, loop.AgentFailed:
		if b.turn >= 0 {
			b.turnEnded(before, s, e)
		}
	case loop.GatesFinished:
		b.gatesFinished(p.Gates, e.At)
	}
	for _, t := range s.ChangedTasks(before) {
		index, ok := b.tasks[t.ID]
		if !ok || t.Status == loop.Open {
			continue
		}
		if b.task == t.ID {
			b.closeSpan(&b.attempt, e.At, "")
		}
		failed := ""
		if t.Status != loop.Done {
			failed = string(t.Status)
		}
		b.closeSpan(&index, e.At, failed, Attribute{"pawl.task.status", string(t.Status)}, Attribute{"pawl.task.evidence", string(t.Evidence)})
		delete(b.tasks, t.ID)
	}
}

func (b *builder) turnEnded(before, s loop.State, e loop.Event) {
	t := turn{seconds: e.At.Sub(b.run.Spans[b.turn].Start).Seconds(), usage: loop.Usage{
		Input: s.Usage.Input - before.Usage.Input, Output: s.Usage.Output - before.Usage.Output,
		CacheRead: s.Usage.CacheRead - before.Usage.CacheRead, CacheWrite: s.Usage.CacheWrite - before.Usage.CacheWrite,
		CostUSD: s.Usage.CostUSD - before.Usage.CostUSD,
	}}
	if f, failed := e.Payload.(loop.AgentFailed); failed {
		t.failure = string(f.Failure.Class)
	}
	with := []Attribute{
		{"gen_ai.usage.input_tokens", t.inputTokens()},
		{"gen_ai.usage.output_tokens", int(t.usage.Output)},
		{"gen_ai.usage.cache_read.input_tokens", int(t.usage.CacheRead)},
		{"gen_ai.usage.cache_creation.input_tokens", int(t.usage.CacheWrite)},
		{"pawl.cost_usd", t.usage.CostUSD},
	}
	if result, ok := e.Turn(); ok {
		with = append(with, Attribute{"pawl.tool_calls", result.ToolCalls}, Attribute{"pawl.claimed", result.Claim != nil})
		if result.SessionID != "" {
			with = append(with, Attribute{"gen_ai.conversation.id", result.SessionID})
		}
	}
	b.turns = append(b.turns, t)
	b.closeSpan(&b.turn, e.At, t.failure, with...)
}

// inputTokens returns all tokens that the model received, as the conventions count them.
func (t turn) inputTokens() int { return int(t.usage.Input + t.usage.CacheRead + t.usage.CacheWrite) }

func (b *builder) gatesFinished(g loop.Gates, at time.Time) {
	with := []Attribute{{"pawl.gates.status", string(g.Status)}}
	if g.Evidence != "" {
		with = append(with, Attribute{"pawl.evidence", string(g.Evidence)})
	}
	var failing []string
	for _, r := range g.Results {
		if r.Status == gate.Fail {
			failing = append(failing, b.redact(r.Gate))
		}
	}
	if len(failing) > 0 {
		with = append(with, Attribute{"pawl.gates.failing", failing})
	}
	failed := ""
	if g.Status == gate.Fail {
		failed = "gates_failed"
	}
	b.closeSpan(&b.gates, at, failed, with...)
}

func (b *builder) redact(text string) string {
	if b.Redact == nil {
		return text
	}
	return b.Redact(text)
}

// endRun closes all open spans and adds the run.
func (b *builder) endRun(s loop.State, at time.Time) {
	b.closeSpan(&b.gates, at, "interrupted")
	b.closeSpan(&b.turn, at, "interrupted")
	b.closeSpan(&b.attempt, at, "")
	for id, index := range b.tasks {
		t, _ := s.Task(id)
		b.closeSpan(&index, at, "", Attribute{"pawl.task.status", string(t.Status)})
	}
	failed := ""
	if s.Outcome != loop.Verified {
		failed = string(s.Outcome)
	}
	root := 0
	b.closeSpan(&root, at, failed, Attribute{"pawl.outcome", string(s.Outcome)}, Attribute{"pawl.iterations", s.Iteration - b.before.Iteration})
	b.run.Metrics = b.metrics(s)
	b.runs, b.run = append(b.runs, *b.run), nil
}
