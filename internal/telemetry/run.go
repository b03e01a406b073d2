// Package telemetry makes OpenTelemetry traces and metrics of a loop's journal, and sends
// them by OTLP over HTTP, as JSON.
//
// Runs is a pure function of the journal's events: the same journal gives the same spans
// with the same ids, so what was sent once can be left out later. A Sender sends them. It
// is used by a process of its own, which a slow collector keeps waiting instead of a loop.
//
// Spans and metrics hold ids, counts, times and outcomes: no prompt, title, code or
// message of an agent.
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

// Loop is what the journal does not say of a loop.
type Loop struct {
	ID      string
	Agent   string              // claude, or command for any other program
	Model   string              // that was asked for; "": the client's own choice
	Version string              // of Pawl
	Redact  func(string) string // takes secrets out of names of gates
}

// Run is a loop from its start, or from where it was resumed after its end, to its end.
type Run struct {
	Trace   string // id; all runs of a loop are in one trace
	Spans   []Span // the loop first
	Metrics []Metric
}

// Span is a part of a run.
type Span struct {
	Name       string
	ID, Parent string // Parent "": none
	Start, End time.Time
	Attributes []Attribute
	Error      string // type of what went wrong; "": nothing did
}

// Attribute is a property of a span, a metric or a resource. Its value is a string, an
// int, a bool, a float64 or a []string.
type Attribute struct {
	Key   string
	Value any
}

// Runs returns the runs of a loop that are over, in order.
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
			b.begin(e.At, before)
		}
		b.finished(before, s, e)
		if s.Phase == loop.Ended {
			b.end(s, e.At)
			continue
		}
		for _, a := range acts {
			b.begun(a, e.At)
		}
	}
	return b.runs
}

// builder makes the spans of a run. Spans stand as indexes in the run; 0 is the loop, and
// below 0 is none.
type builder struct {
	Loop
	trace string
	count int // of spans in all runs: their ids are made of it
	runs  []Run
	run   *Run

	first                loop.State // before the run
	tasks                map[string]int
	attempt, turn, gates int
	turns                []turn
	task                 string // of the attempt
}

// turn is what a turn of the agent took.
type turn struct {
	seconds float64
	usage   loop.Usage
	failed  string // type of the failure
}

const none = -1

func (b *builder) begin(at time.Time, before loop.State) {
	b.run, b.first, b.turns = &Run{Trace: b.trace}, before, nil
	b.tasks, b.attempt, b.turn, b.gates = map[string]int{}, none, none, none
	b.open("loop", none, at, Attribute{"pawl.loop.id", b.ID})
}

// open begins a span and returns its index.
func (b *builder) open(name string, parent int, at time.Time, with ...Attribute) int {
	b.count++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", b.ID, b.count))
	span := Span{Name: name, ID: hex.EncodeToString(sum[:8]), Start: at, Attributes: with}
	if parent >= 0 {
		span.Parent = b.run.Spans[parent].ID
	}
	b.run.Spans = append(b.run.Spans, span)
	return len(b.run.Spans) - 1
}

// close ends the span at an index, if there is one.
func (b *builder) close(index *int, at time.Time, failed string, with ...Attribute) {
	if *index < 0 {
		return
	}
	span := &b.run.Spans[*index]
	span.End, span.Error, span.Attributes = at, failed, append(span.Attributes, with...)
	*index = none
}

// begun opens the span of an action.
func (b *builder) begun(a loop.Action, at time.Time) {
	switch p := a.Payload.(type) { // the others have no span
	case loop.BeginTurn:
		b.close(&b.turn, at, "interrupted") // its owner died
		b.close(&b.attempt, at, "")
		task, ok := b.tasks[p.Task]
		if !ok {
			task = b.open("task", 0, at, Attribute{"pawl.task.id", p.Task})
			b.tasks[p.Task] = task
		}
		b.task = p.Task
		b.attempt = b.open("attempt", task, at, Attribute{"pawl.iteration", p.Iteration}, Attribute{"pawl.situation", string(p.Situation)})
		b.turn = b.open("invoke_agent "+b.Agent, b.attempt, at, b.operation()...)
	case loop.RunGates:
		b.close(&b.gates, at, "interrupted")
		parent := max(b.attempt, 0)
		name := "gate"
		if p.Purpose == loop.ForClaim {
			name = "claim"
		}
		b.gates = b.open(name, parent, at, Attribute{"pawl.gates.purpose", string(p.Purpose)})
	}
}

// operation are the attributes of a turn, in the words of the conventions for generative AI.
func (b *builder) operation() []Attribute {
	out := []Attribute{{"gen_ai.operation.name", "invoke_agent"}, {"gen_ai.agent.name", b.Agent}}
	if b.Agent == "claude" {
		out = append(out, Attribute{"gen_ai.provider.name", "anthropic"})
	}
	if b.Model != "" {
		out = append(out, Attribute{"gen_ai.request.model", b.Model})
	}
	return out
}

// finished closes the spans that an event ends.
func (b *builder) finished(before, s loop.State, e loop.Event) {
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
			b.close(&b.attempt, e.At, "")
		}
		failed := ""
		if t.Status != loop.Done {
			failed = string(t.Status)
		}
		b.close(&index, e.At, failed, Attribute{"pawl.task.status", string(t.Status)}, Attribute{"pawl.task.evidence", string(t.Evidence)})
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
		t.failed = string(f.Failure.Class)
	}
	with := []Attribute{
		{"gen_ai.usage.input_tokens", t.input()},
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
	b.close(&b.turn, e.At, t.failed, with...)
}

// input are all tokens that the model was given, as the conventions count them.
func (t turn) input() int { return int(t.usage.Input + t.usage.CacheRead + t.usage.CacheWrite) }

func (b *builder) gatesFinished(g loop.Gates, at time.Time) {
	with := []Attribute{{"pawl.gates.status", string(g.Status)}}
	if g.Evidence != "" {
		with = append(with, Attribute{"pawl.evidence", string(g.Evidence)})
	}
	var failing []string
	for _, r := range g.Results {
		if r.Status == gate.Fail {
			failing = append(failing, b.clean(r.Gate))
		}
	}
	if len(failing) > 0 {
		with = append(with, Attribute{"pawl.gates.failing", failing})
	}
	failed := ""
	if g.Status == gate.Fail {
		failed = "gates_failed"
	}
	b.close(&b.gates, at, failed, with...)
}

func (b *builder) clean(text string) string {
	if b.Redact == nil {
		return text
	}
	return b.Redact(text)
}

// end closes the run with all that is open.
func (b *builder) end(s loop.State, at time.Time) {
	b.close(&b.gates, at, "interrupted")
	b.close(&b.turn, at, "interrupted")
	b.close(&b.attempt, at, "")
	for id, index := range b.tasks {
		t, _ := s.Task(id)
		b.close(&index, at, "", Attribute{"pawl.task.status", string(t.Status)})
	}
	failed := ""
	if s.Outcome != loop.Verified {
		failed = string(s.Outcome)
	}
	root := 0
	b.close(&root, at, failed, Attribute{"pawl.outcome", string(s.Outcome)}, Attribute{"pawl.iterations", s.Iteration - b.first.Iteration})
	b.run.Metrics = b.metrics(s)
	b.runs, b.run = append(b.runs, *b.run), nil
}
