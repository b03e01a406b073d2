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

// orphanedClientAgent is an agent whose owner is killed during a turn: its client and its changes
// stay behind.
type orphanedClientAgent struct {
	agent.Agent
	root string
	kill func()
	gone chan struct{} // closed when the client has ended
}

type orphanedClientSession struct {
	agent.Session
	a *orphanedClientAgent
	o agent.Options
}

func (a *orphanedClientAgent) Start(ctx context.Context, o agent.Options) (agent.Session, error) {
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
	return orphanedClientSession{s, a, o}, err
}

func (s orphanedClientSession) Turn(ctx context.Context, _ agent.Turn, _ func(agent.Event)) (agent.Result, error) {
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

func (orphanedClientSession) Close() error { return nil }

// If the driver of an isolated attempt is killed, the client is ended before the attempt is restarted
// as the same iteration, and its changes are still attributed.
func TestKilledIsolatedAttemptIsRestarted(t *testing.T) {
	t.Parallel()
	st := beginIsolatedLoop(t, `
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
	left := &orphanedClientAgent{Agent: script, root: st.root, kill: kill}
	st.agent = left
	if _, err := st.runDriverWith(ctx, logObserver{t}); err == nil || st.s.Phase != loop.TurningIsolated || st.s.Iteration != 4 {
		t.Fatalf("not killed: %s", st.s.Phase)
	}
	select {
	case <-left.gone:
		t.Fatal("the client went by itself")
	default:
	}
	st.agent = script
	if st.runDriver(); st.s.Outcome != loop.Verified || st.s.Iteration != 5 || st.s.Violations != 1 {
		t.Fatalf("%s in iteration %d with %d violations: %s", st.s.Outcome, st.s.Iteration, st.s.Violations, st.s.Reason)
	}
	select {
	case <-left.gone:
	case <-time.After(5 * time.Second):
		t.Error("the client is still there")
	}
}
