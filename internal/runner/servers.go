package runner

import (
	"context"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/record"
)

// Processes that a runner's turn leaves running are ended with the turn. In a user's session
// many processes are the user's.

// endServers ends servers that certainly belong to the agent of a user's session before gates
// run, since tests could connect to them. It names those that may belong to it. Servers that
// ran before the loop, and those of gates and setup commands, stay.
func (r *Runner) endServers(ctx context.Context, m memory.ActionContext) {
	if !r.inSession || m.Bound.Session == "" || m.StartedAt.IsZero() {
		return
	}
	var ended, named []string
	inCall := record.StartedByAgent(r.Loop, "")
	for _, l := range proc.Listeners(m.StartedAt) {
		theirs, called := l.HasVariable("CLAUDE_CODE_SESSION_ID="+m.Bound.Session), inCall(l.StartedAt)
		words := plan.OneLine(l.Command, 100) + " (" + plan.OneLine(l.At, 60) + ")"
		switch {
		case l.PID == m.Bound.Client || !theirs && l.IsSameProgram(m.Bound.Client): // another session's client
		case l.HasVariable(proc.MarkerName+"="+r.Loop.ID) || !theirs && !called:
		case theirs && called:
			proc.EndListener(l, sweepGrace)
			ended = append(ended, words)
		default:
			named = append(named, words)
		}
	}
	if len(ended) > 0 {
		r.enqueueNote(ctx, loop.Info, "servers that the agent left running, ended before its work is checked: "+strings.Join(ended, "; "))
	}
	if named = firstN(named, maxListed); len(named) > 0 {
		r.enqueueNote(ctx, loop.Warning, "servers started during the loop still run and can affect gates; perhaps the agent started them: "+strings.Join(named, "; "))
	}
}
