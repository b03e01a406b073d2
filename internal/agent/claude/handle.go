package claude

import (
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/agent/claude/codec"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

// handle processes one item of the stream.
func (t *turn) handle(it item) {
	now := time.Now()
	t.sign = now
	if it.note != "" {
		t.emit(agent.Event{Kind: agent.KindNote, Text: it.note})
		return
	}
	l := it.line
	t.observe(l)
	switch l.Type {
	case "system":
		t.system(l, now)
	case "assistant":
		t.assistant(l)
	case "user":
		t.toolResults(l)
	case "rate_limit_event":
		if l.RateLimit.Status == "rejected" && l.RateLimit.ResetsAt > 0 {
			t.trouble = requestError{kind: "rate_limit", until: time.Unix(int64(l.RateLimit.ResetsAt), 0)}
		}
	case "result":
		t.handleResult(l, now)
	case "control_request":
		t.answerRequest(l, now)
	case "control_response":
		t.handleUsageAnswer(l, now)
	case "command_lifecycle":
		t.noteMessageRead(l)
	}
}

func (t *turn) system(l line, now time.Time) {
	switch l.Subtype {
	case "init":
		if !t.told {
			t.told = true
			t.emit(agent.Event{Kind: agent.KindInit, Text: l.Version, Model: l.Model})
		}
	case "background_tasks_changed":
		t.hadTasks = true
	case "api_retry":
		f, giveUp := retryFailure(l, now)
		if f.Class == loop.UsageLimit && !t.trouble.until.IsZero() {
			f.Until, giveUp = t.trouble.until, true
		}
		t.emit(agent.Event{Kind: agent.KindRetry, Text: fmt.Sprintf("retry %d", l.Attempt), Failure: f})
		t.retried = f.Message
		if giveUp && t.failure == nil {
			t.failure = f
		}
	}
}

func (t *turn) assistant(l line) {
	if l.IsAPIError {
		t.trouble = requestError{kind: l.Error, until: t.trouble.until}
		return
	}
	t.result, t.retried = nil, ""
	t.bill.expect(l.Message)
	main := l.ParentID == ""
	for _, b := range l.Message.Content {
		switch b.Type {
		case "text":
			if main && b.Text != "" {
				t.text = b.Text
				t.emit(agent.Event{Kind: agent.KindText, Text: b.Text, Model: l.Message.Model})
			}
		case "tool_use":
			t.tools[b.ID] = calledTool{b.Name, b.Input}
			t.r.ToolCalls++
			t.emit(agent.Event{
				Kind: agent.KindTool, Tool: b.Name, Call: b.ID, Detail: describeCall(b.Name, b.Input, t.o.Dir), Does: codec.ToolCall(b.Name, b.Input, t.o.Dir),
			})
		}
	}
	if main {
		t.used = l.Message.Usage.total()
	}
}

func (t *turn) toolResults(l line) {
	for _, b := range l.Message.Content {
		if b.Type != "tool_result" {
			continue
		}
		called := t.tools[b.ToolUseID]
		t.emit(agent.Event{Kind: agent.KindToolEnd, Tool: called.name, Call: b.ToolUseID, Failed: b.IsError, Output: string(b.Content), Ran: called.ran(b)})
		delete(t.tools, b.ToolUseID)
	}
}

// handleResult processes a result; there may be more, see turn.
func (t *turn) handleResult(l line, now time.Time) {
	t.result, t.resultAt = &l, now
	clear(t.tools) // also those whose results were left out
	if l.Result != "" && !l.IsError {
		t.text = l.Result
	}
	if t.failure == nil {
		t.failure = resultFailure(l, t.trouble)
	}
	t.emit(agent.Event{Kind: agent.KindUsage, Usage: t.meter.turn()})
}

// answerRequest answers the client's requests.
func (t *turn) answerRequest(l line, now time.Time) {
	if l.Request.Subtype != "hook_callback" {
		t.answerOther(l)
		return
	}
	if t.holdCall(l, now) {
		return
	}
	t.checkTool(l)
}

// checkTool allows or denies a call.
func (t *turn) checkTool(l line) {
	in := l.Request.Input
	v := agent.Verdict{Allow: true}
	switch {
	case t.failure != nil || t.finished:
		v = agent.Verdict{Reason: "The turn is over."}
	case t.o.CheckTool != nil:
		v = t.o.CheckTool(codec.ToolCall(in.ToolName, in.Tool, in.Dir))
	}
	if !v.Allow {
		t.r.Denied++
		t.emit(agent.Event{Kind: agent.KindDenied, Tool: in.ToolName, Detail: describeCall(in.ToolName, in.Tool, in.Dir), Text: v.Reason})
	}
	_ = t.send(response(l.RequestID, permission(v.Allow, v.Reason)))
}
