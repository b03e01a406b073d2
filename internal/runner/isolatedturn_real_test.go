package runner_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
	"github.com/pawl-dev/pawl/internal/agent/claude"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
)

// An isolated attempt with the real client, skipped where it is not installed: the guard applies, the
// prompt contains the session's attempts, and the attempt stops at its limits.
func TestClientInIsolatedAttempt(t *testing.T) {
	t.Parallel()
	client := agenttest.Client(t)
	costly := messagesapi.Usage{Input: 100_000, Output: 1_000} // $0.42 by the client's list
	first := ""
	api := agenttest.API(t, func(r messagesapi.Request) messagesapi.Response {
		first = cmp.Or(first, r.Session)
		begun := slices.ContainsFunc(r.Messages, func(m messagesapi.Message) bool { return m.Role == "assistant" })
		switch {
		case r.Session == first && !begun:
			return messagesapi.Bash("git push").Using(costly)
		case r.Session == first: // passes the budget, does not run; the client may ask once more before it is stopped
			return messagesapi.Bash("touch late.txt").Using(costly)
		case !begun:
			return messagesapi.Bash("test -n \"$PAWL_LOOP\" && echo two >> have.txt")
		}
		return messagesapi.Text("There it is.")
	})
	st := beginIsolatedLoopWith(t, nil, func(s *record.Spec) {
		s.Isolation = &record.Isolation{MaxCostUSD: 0.5, Timeout: time.Minute}
		s.Agent.Env = agenttest.Env(t, api)
	})
	st.agent = claude.Agent{Command: client}
	var tries []loop.IsolatedTurn
	o := &onPhase{logObserver: logObserver{t}, at: loop.Inspecting}
	o.then = func() { tries = append(tries, *st.memory().State.Isolated) }
	s, err := st.runDriverWith(t.Context(), o)
	if err != nil || s.Outcome != loop.Verified || s.Iteration != 5 {
		t.Fatalf("%s in iteration %d: %s %v", s.Outcome, s.Iteration, s.Reason, err)
	}
	if len(tries) != 2 || !strings.Contains(tries[0].Died, "of $0.50") || tries[0].Rounds < 2 || tries[0].Usage.CostUSD < 0.5 ||
		tries[1].Died != "" || tries[1].Rounds != 2 {
		t.Errorf("%+v", tries)
	}
	if got := st.git("status", "--porcelain"); got != "M have.txt\n?? notes.txt" {
		t.Errorf("the tree:\n%s", got)
	}
	st.checkHistoryUnchanged()
}
