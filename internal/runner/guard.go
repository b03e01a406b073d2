package runner

import (
	"context"
	"os"
	"sync"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/guard"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
)

// guarding is the guard of the turn under way. What a turn left in the background
// may still ask while the next one begins.
type guarding struct {
	mu    sync.Mutex
	rules guard.Rules
	tell  func(guard.Call, guard.Verdict)
}

func (g *guarding) begin(rules guard.Rules, tell func(guard.Call, guard.Verdict)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.rules, g.tell = rules, tell
}

// judge answers a call. What the guard would ask a person about is denied: nobody
// is there.
func (g *guarding) judge(c guard.Call) guard.Verdict {
	g.mu.Lock()
	rules, tell := g.rules, g.tell
	g.mu.Unlock()
	v := guard.Judge(c, rules)
	if v.Decision == guard.Ask {
		v.Decision = guard.Deny
	}
	tell(c, v)
	return v
}

// judgeCall answers a tool call before it runs.
func (r *Runner) judgeCall(c agent.ToolCall) agent.Verdict {
	v := r.guard.judge(guard.Call{Tool: c.Tool, Input: c.Input, Dir: c.Dir})
	if v.Decision != guard.Allow {
		return agent.Verdict{Rule: v.Rule, Reason: v.Reason}
	}
	if r.ours(c.Tool) {
		return agent.Verdict{Allow: true} // it changes nothing in the tree
	}
	r.tools.saw(c)
	if err := r.ran(c); err != nil {
		return agent.Verdict{Reason: "Pawl cannot write down what runs: " + err.Error()}
	}
	return agent.Verdict{Allow: true}
}

// beginTools makes ready for the tool calls of a turn.
func (r *Runner) beginTools(ctx context.Context, a loop.Action, m record.Memory) error {
	judges, err := record.Judges(r.Loop)
	if err != nil {
		return err
	}
	rules := r.Spec.Rules(r.places(), record.Turn{Task: a.Task, Judges: judges, Granted: m.State.Granted})
	rules.Tools = r.mountsTools()
	r.guard.begin(rules, func(c guard.Call, v guard.Verdict) {
		if record.Notable(v) {
			r.inRun(ctx, func(context.Context) error { return r.noteJudged(record.JudgedOf(c, v, r.redacted())) })
		}
	})
	_, blind := r.Agent.(agent.Blind)
	r.tools.begin(blind)
	if !blind {
		return nil
	}
	return record.ToolCall{Any: true}.AppendTo(record.RanPath(r.Loop))
}

func (r *Runner) places() record.Places {
	return record.Places{Root: r.Repo.Root(), State: r.StateDir, Home: r.HomeDir, Temp: os.TempDir()}
}

// noteJudged journals what the guard did not just say yes to. It is shown as the
// agent hears of it. In Run's goroutine.
func (r *Runner) noteJudged(j record.Judged) error {
	if !r.mem.Guarded.News(j) {
		return nil
	}
	n := j.Note()
	r.mem.Take(n)
	return r.append(record.TypeNote, n)
}
