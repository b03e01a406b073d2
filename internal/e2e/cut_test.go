//go:build unix

package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// slow is an agent that is in the middle of a turn for long, and then adds a word.
const slow = "-- add bye/run --\ntouch half.txt; sleep 60\n"

// startInSlowTurn starts a loop whose agent is in the slow turn.
func (b *bench) startInSlowTurn(args ...string) *running {
	b.t.Helper()
	script := b.script(slow + part("bye"))
	r := b.start(append([]string{"run", "add bye", "--gate", checkWords, "--agent", "scripted", "--agent-command", script}, args...)...)
	r.waitUntil("the turn", func() bool { return len(b.git("status", "--porcelain")) > 0 || b.inAgentTurn() })
	return r
}

func (b *bench) inAgentTurn() bool {
	r := b.pawl("list", "--json")
	return r.contains(`"id"`) && b.status().Iteration == 1
}

// A terminal that is closed signals that more than once; the turn still ends cleanly. A pipe whose
// reader is gone ends the loop with its own exit code.
func TestLostTerminalEndsTurnCleanly(t *testing.T) {
	t.Parallel()
	t.Run("hung up twice", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, wordShop(nil))
		r := b.startInSlowTurn()
		r.signal(syscall.SIGHUP)
		r.signal(syscall.SIGHUP)
		b.checkExitCode(r.wait(), 129)
		if n := b.events("agent_failed"); n != 1 {
			t.Errorf("%d turns were ended cleanly", n)
		}
	})
	t.Run("a pipe without a reader", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, wordShop(nil))
		script := b.script(slow + part("bye"))
		reader, writer, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(b.binary, "run", "add bye", "--gate", checkWords, "--agent", "scripted", "--agent-command", script)
		cmd.Dir, cmd.Env, cmd.Stdout = b.root, b.environ(), writer
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer time.AfterFunc(timeout, func() { _ = cmd.Process.Kill() }).Stop()
		_ = writer.Close()
		_ = reader.Close()
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 141 {
			t.Errorf("exit %d, want 141", code)
		}
		if s := b.status(); s.Outcome != "cancelled" {
			t.Errorf("status %+v", s)
		}
	})
}

// A loop in its own worktree is resumed there.
func TestKilledLoopInWorktreeIsResumed(t *testing.T) {
	t.Parallel()
	b := newBench(t, wordShop(map[string]string{"plan.md": "- [ ] add bye\n"}))
	b.git("tag", "start")
	r := b.startInSlowTurn("--worktree", "--plan", "plan.md")
	r.signal(syscall.SIGKILL)
	r.wait()
	b.script(part("bye"))
	b.checkExitCode(b.pawl("resume", "."), 0)
	if got := b.git("log", "--format=%s", "start..pawl/"+b.status().ID); got != "feat(1): add bye" {
		t.Errorf("commits %q", got)
	}
	if got := b.git("status", "--porcelain") + b.git("branch", "--show-current"); got != "main" {
		t.Errorf("the person's own tree: %s", got)
	}
	if s := b.status(); s.Iteration != 1 {
		t.Errorf("status %+v", s)
	}
}

// A program that ends without reading its input breaks a pipe, but that is not the user's terminal.
func TestAgentNotReadingItsInput(t *testing.T) {
	t.Parallel()
	b := newBench(t, wordShop(nil))
	agent := filepath.Join(b.home, "agent")
	if err := os.WriteFile(agent, []byte("#!/bin/sh\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	r := b.run(1, "add bye", "--gate", checkWords, "--agent", "command", "--agent-command", agent)
	if !r.contains("exit code 3") {
		t.Errorf("the reason is not told: %s", r)
	}
}

// A gate that runs when the loop is interrupted is ended with it, at the latest when the loop is
// resumed.
func TestInterruptedGateIsEnded(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		signal syscall.Signal
		code   int
	}{"Ctrl-C": {syscall.SIGINT, 130}, "kill -9": {syscall.SIGKILL, 137}}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, wordShop(nil))
			b.git("tag", "start")
			b.write(map[string]string{".git/info/exclude": "pids\n"})
			gate := fmt.Sprintf("if [ -d .git ] && [ ! -e %s/go ]; then echo $$ >> pids; sleep 1000 & echo $! >> pids; wait; fi; %s", b.home, checkWords)
			r := b.start("run", "add bye", "--gate", gate, "--agent", "scripted", "--agent-command", b.script(part("bye")))
			r.waitUntil("the gate", func() bool { return len(sortedLines(b.read("pids"))) == 2 })
			r.signal(tc.signal)
			b.checkExitCode(r.wait(), tc.code)
			b.write(map[string]string{"../go": ""})
			if tc.signal == syscall.SIGKILL {
				b.checkExitCode(b.pawl("resume", "."), 0)
			}
			b.checkProcessesGone("pids")
		})
	}
}
