package runner

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/guard"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/record"
)

// guardState is the guard of the running turn. It is locked, since a process that a turn left
// in the background may still make calls when the next turn begins.
type guardState struct {
	mu    sync.Mutex
	rules guard.Rules
	tell  func(toolcall.Call, guard.Verdict)
	known *guard.ShownFiles // files that the agent's context has seen; nil = the context began before this runner
	began time.Time         // start of the context
}

func (g *guardState) begin(rules guard.Rules, tell func(toolcall.Call, guard.Verdict)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.known != nil {
		rules.KnowsContent = g.isKnown
	}
	g.rules, g.tell = rules, tell
}

// newContext begins an empty context. A context that this runner resumes keeps its known
// files, also after the client has compacted it. For a context of another owner they are
// unknown.
func (g *guardState) newContext() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.known, g.began = &guard.ShownFiles{}, time.Now()
}

// addPrompt adds the files that the context knows without a tool call: those in its prompt,
// and the plan.
func (g *guardState) addPrompt(prompt, root, plan string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.known != nil {
		g.known.AddMentions(prompt, root)
		g.known.Add(plan)
	}
}

// maxStampLag is how far the time of a file may be behind the clock: Linux uses a coarse
// clock for files, which advances every 10 ms or more often (CONFIG_HZ=100).
const maxStampLag = 10 * time.Millisecond

// isKnown implements guard.Rules.KnowsContent. Missing and empty files count as known, and so do files
// that changed since the context began: most likely a command of the agent wrote them.
func (g *guardState) isKnown(path string) bool {
	info, err := os.Stat(path)
	if err != nil || info.Size() == 0 {
		return true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return info.ModTime().After(g.began.Add(-maxStampLag)) || g.known.Has(path)
}

// addTouched adds the files that an allowed call shows.
func (g *guardState) addTouched(touched []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.known != nil {
		g.known.Add(touched...)
	}
}

// check returns the verdict on a call. A call that the guard would ask about is denied, since
// no user is there.
func (g *guardState) check(c toolcall.Call) guard.Verdict {
	g.mu.Lock()
	rules, tell := g.rules, g.tell
	g.mu.Unlock()
	v := guard.Check(c, rules)
	if v.Decision == guard.Ask {
		v.Decision = guard.Deny
	}
	if v.Decision == guard.Allow {
		g.addTouched(v.Touched)
	}
	tell(c, v)
	return v
}

// checkCall answers a tool call before it runs.
func (r *Runner) checkCall(c toolcall.Call) agent.Verdict {
	v := r.guard.check(c)
	if v.Decision != guard.Allow {
		return agent.Verdict{Reason: v.Reason}
	}
	if r.isOwnTool(c) {
		return agent.Verdict{Allow: true} // it changes nothing in the tree
	}
	if err := r.authors.RecordCall(c, r.redactFunc()); err != nil {
		return agent.Verdict{Reason: "Pawl cannot record what runs: " + err.Error()}
	}
	return agent.Verdict{Allow: true}
}

// prepareTools prepares guard and attribution for the tool calls of a turn with this prompt.
func (r *Runner) prepareTools(ctx context.Context, a loop.BeginTurn, m memory.ActionContext, prompt string) error {
	protected, err := record.ReadProtected(r.Loop)
	if err != nil {
		return err
	}
	rules := record.WithHistory(r.spec().GuardRules(r.guardDirs(), record.TurnScope{Task: a.Task, Protected: protected, Approved: m.Approved}), r.Loop)
	rules.HasPawlTools = r.hasTools()
	rules.History.UntrackedFiles = func(dir string) ([]string, bool) {
		files, err := r.Repo.UntrackedBelow(ctx, dir)
		return files, err == nil
	}
	rules.History.OwnsEveryProcess = func(program string) bool { return proc.AllMarked(r.Loop.ID, program) }
	r.guard.addPrompt(prompt, rules.Root, r.plan.Path()) // the prompt has the needed parts of the plan, whose checkboxes alone it may change
	r.guard.begin(rules, func(c toolcall.Call, v guard.Verdict) {
		if memory.IsNotable(v) {
			r.enqueue(ctx, func(context.Context) error { return r.recordVerdict(memory.NewGuardVerdict(c, v, r.redactFunc())) })
		}
	})
	_, blind := r.Agent.(agent.Blind)
	return r.authors.BeginTurn(blind)
}

// isOwnTool reports whether a call is of one of Pawl's own tools.
func (r *Runner) isOwnTool(c toolcall.Call) bool {
	return r.Tools != nil && guard.IsOwnTool(c, r.Tools.Name())
}

func (r *Runner) guardDirs() record.GuardDirs {
	return record.GuardDirs{Root: r.Repo.Root(), StateDir: r.StateDir, HomeDir: r.HomeDir, TempDir: os.TempDir()}
}

// recordVerdict journals a verdict other than a plain allow. It must run in Run's goroutine.
func (r *Runner) recordVerdict(v memory.GuardVerdict) error {
	if !r.mem.GuardLog.IsNew(v) {
		return nil
	}
	n := v.Note()
	r.mem.ApplyNote(n)
	return r.appendRecord(memory.TypeNote, n)
}
