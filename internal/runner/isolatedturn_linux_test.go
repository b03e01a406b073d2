package runner_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
	"github.com/pawl-dev/pawl/internal/proc"
)

// leaves is an agent whose owner is killed in mid-turn: its client stays behind,
// with what it did.
type leaves struct {
	agent.Agent
	root string
	kill func()
	gone chan struct{} // closed when the client has ended
}

type leftSession struct {
	agent.Session
	a *leaves
	o agent.Options
}

func (a *leaves) Start(ctx context.Context, o agent.Options) (agent.Session, error) {
	client := exec.Command("sleep", "300")
	client.Env = append(os.Environ(), "PAWL_LOOP="+o.Marker)
	proc.Detach(client)
	if err := client.Start(); err != nil {
		return nil, err
	}
	a.gone = make(chan struct{})
	go func() {
		_ = client.Wait()
		close(a.gone)
	}()
	s, err := a.Agent.Start(ctx, o)
	return leftSession{s, a, o}, err
}

func (s leftSession) Turn(ctx context.Context, _ agent.Turn, _ func(agent.Event)) (agent.Result, error) {
	file := filepath.Join(s.a.root, "check.sh")
	if v := s.o.CheckTool(toolcall.Call{Kind: toolcall.Run, Command: "sh loosen.sh check.sh", Dir: s.a.root}); !v.Allow {
		return agent.Result{}, errors.New(v.Reason)
	}
	if err := os.WriteFile(file, []byte("exit 0\n"), 0o600); err != nil {
		return agent.Result{}, err
	}
	s.a.kill()
	<-ctx.Done()
	return agent.Result{}, ctx.Err()
}

func (leftSession) Close() error { return nil }

// The client of a try whose drive was killed is ended before the try is begun
// again, as the same iteration, and what it did is not forgotten.
func TestATryThatWasKilledIsBegunAgain(t *testing.T) {
	t.Parallel()
	st := spent(t, `
-- 1/reply --
Nothing to do?
-- 2/files/check.bak --
`+gateScript+`-- 2/files/fix.sh --
mv check.bak check.sh
-- 2/run --
sh fix.sh
-- 2/files/have.txt --
one
two
`, nil, nil)
	script := st.agent
	ctx, kill := context.WithCancel(t.Context())
	left := &leaves{Agent: script, root: st.root, kill: kill}
	st.agent = left
	if _, err := st.driven(ctx, teller{t}); err == nil || st.s.Phase != loop.TurningIsolated || st.s.Iteration != 4 {
		t.Fatalf("not killed: %s", st.s.Phase)
	}
	select {
	case <-left.gone:
		t.Fatal("the client went by itself")
	default:
	}
	st.agent = script
	if st.runInSession(); st.s.Outcome != loop.Verified || st.s.Iteration != 5 || st.s.Violations != 1 {
		t.Fatalf("%s in iteration %d with %d violations: %s", st.s.Outcome, st.s.Iteration, st.s.Violations, st.s.Reason)
	}
	select {
	case <-left.gone:
	case <-time.After(5 * time.Second):
		t.Error("the client is still there")
	}
}
