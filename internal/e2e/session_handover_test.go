//go:build unix

package e2e_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// nearlyFull is what an answer uses when the context is 85 % full.
var nearlyFull = messagesapi.Usage{Input: 850_000, Output: 50}

// newHandover is a project whose loops may continue in clients that Pawl starts.
func newHandover(t *testing.T, how ...installation) *sessions {
	t.Helper()
	agenttest.Needs(t, "ps") // for rests
	s := newSessions(t, append(how, onPath)...)
	t.Cleanup(s.waitUntilIdle)
	return s
}

// waitUntilIdle waits until no process drives a loop: a process that a hook started may still run
// when the test's folders are removed.
func (b *bench) waitUntilIdle() {
	entries, _ := os.ReadDir(filepath.Join(b.env["PAWL_HOME"], "loops")) // there may be none
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return len(b.drivers(e.Name())) > 0 }) {
			return
		}
	}
}

// drivers are the processes of Pawl's that drive a loop or run it, by their ids.
func (b *bench) drivers(loop string) []int {
	b.t.Helper()
	out, err := exec.Command("ps", "-eo", "pid=,ppid=,stat=,args=").Output()
	if err != nil {
		b.t.Error(err)
	}
	started := map[string]string{} // by whom
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) >= 7 && f[3] == b.binary && f[4] == "session" && f[6] == loop && !strings.HasPrefix(f[2], "Z") {
			started[f[0]] = f[1]
		}
	}
	var pids []int
	for pid, parent := range started {
		if _, half := started[parent]; half {
			continue // forked, and about to be git
		}
		n, err := strconv.Atoi(pid)
		if err != nil {
			b.t.Error(err)
		}
		pids = append(pids, n)
	}
	return pids
}

// playTwoModels plays two models: one for the user's session, which sent the first request, and one
// for the sessions that Pawl starts.
func (s *sessions) playTwoModels(person, fresh messagesapi.Script) {
	first := ""
	s.api.Play(func(r messagesapi.Request) messagesapi.Response {
		if first == "" {
			first = r.Session
		}
		if r.Session == first {
			return person(r)
		}
		return fresh(r)
	})
}

// owners are the epochs in which the newest loop was owned, in order.
func (s *sessions) owners() []int {
	s.t.Helper()
	var epochs []int
	for _, r := range s.journal() {
		var taken struct{ Epoch int }
		if r.Type == "owner_taken" && json.Unmarshal(r.Data, &taken) == nil {
			epochs = append(epochs, taken.Epoch)
		}
	}
	return epochs
}

// checkHandovers checks how often the newest loop went from the session to a runner, and that it
// stayed one loop.
func (s *sessions) checkHandovers(times int) {
	s.t.Helper()
	if entries, err := os.ReadDir(filepath.Join(s.env["PAWL_HOME"], "loops")); err != nil || len(entries) != 1 {
		s.t.Errorf("loops: %v %v", entries, err)
	}
	if got := s.owners(); len(got) != 1+times || got[times] != 1+times {
		s.t.Errorf("owners %v, want %d of them", got, 1+times)
	}
	if n := s.events("handed_over"); n != times {
		s.t.Errorf("handed over %d times\n%s", n, s.pawl("log", ".").out)
	}
}

// The context is full at 80 %: a fresh session continues with what the first one
// came to, and a session without a user ends with the loop. Who asks for commits
// gets them from both, on the branch that they are on.
func TestSessionHandoverFull(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		flags   string
		commits []string
	}{
		"with consent":  {flags: "--handover"},
		"hybrid":        {flags: "--session hybrid"},
		"with a commit": {flags: "--handover --commit", commits: []string{"feat:_add_bye_and_thanks"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newHandover(t, installSettings)
			s.playTwoModels(
				messagesapi.Steps(startLoopCall("'add bye and thanks' "+tc.flags+" "+words, s.answerAddingWord("bye"), messagesapi.Text("Half of it is there.").Using(nearlyFull), more)...),
				messagesapi.Steps(s.answerAddingWord("thanks"), done))
			p := s.print("loop")
			s.checkState(state{"verified", 2}, p)
			s.checkHandovers(1)
			if !p.hasHookMessages("ended VERIFIED after 2 iterations") || s.continued() != 0 {
				t.Errorf("%s\n%s", p, s.conversation())
			}
			fresh := s.requestWith("add bye and thanks\n")
			for _, want := range []string{"# Goal", "?? bye.txt", "the context is 85 % full"} {
				if !strings.Contains(fresh.News(), want) {
					t.Errorf("the fresh session was not told %q, but:\n%s", want, fresh.News())
				}
			}
			if got := s.status(); got.Turns != 2 || got.CostUSD <= 0 {
				t.Errorf("status %+v", got)
			}
			if got := s.subjects(); !slices.Equal(got, tc.commits) || s.git("branch", "--show-current") != "main" {
				t.Errorf("commits %q on %s", got, s.git("branch", "-a"))
			}
		})
	}
}

// On a terminal the user is told where the loop went and how to follow it.
func TestTerminalHandoverFull(t *testing.T) {
	s := newHandover(t, installSettings)
	s.playTwoModels(
		messagesapi.Steps(s.answerAddingWord("bye"), messagesapi.Text("Half of it is there.").Using(nearlyFull), messagesapi.Text("Hello.")),
		messagesapi.Steps(waitForFileCall("go"), s.answerAddingWord("thanks"), done))
	c := s.open()
	c.shell("pawl start 'add bye and thanks' --handover " + words)
	c.Shows("continues in fresh sessions, since the context is 85 % full", turnMost)
	c.Shows("--follow", turnMost)
	if r := s.pawl("status", "."); !r.contains("running", "fresh") {
		t.Errorf("status: %s", r)
	}
	c.typeLine("are you there")
	c.Shows("Hello.", turnMost)
	c.Kill() // the loop needs neither the client nor the terminal
	s.write(map[string]string{"go": ""})
	s.eventually("end of the loop", func() bool { return s.now().Outcome != "" })
	s.checkState(state{"verified", 2}, c)
	s.checkHandovers(1)
}

// The session that a loop left is told of the loop's end: the user sees it, and the agent reads it
// with the next prompt.
func TestTerminalHandoverEndIsReported(t *testing.T) {
	s := newHandover(t, installSettings)
	s.playTwoModels(
		messagesapi.Steps(s.answerAddingWord("bye"), messagesapi.Text("Half of it is there.").Using(nearlyFull), messagesapi.Text("Hello.")),
		messagesapi.Steps(s.answerAddingWord("thanks"), done))
	c := s.open()
	c.shell("pawl start 'add bye and thanks' --handover " + words)
	c.Shows("continues in fresh sessions", turnMost)
	s.eventually("end of the loop", func() bool { return s.now().Outcome != "" })
	c.typeLine("are you there")
	c.Shows("ended VERIFIED after 2 iterations", turnMost)
	c.Shows("Hello.", turnMost)
	if news := s.requestWith("are you there").News(); !strings.Contains(news, "The loop that was in this session: ") || !strings.Contains(news, "ended VERIFIED") {
		t.Errorf("the agent was not told of the end, but:\n%s", news)
	}
	s.checkHandovers(1)
}

// If the client would end the session despite its hooks, the loop is handed over before.
func TestSessionHandoverAtStopCap(t *testing.T) {
	s := newHandover(t, installWithStopCap)
	s.playTwoModels(
		messagesapi.Steps(startLoopCall("'add bye' --handover "+words, more)...),
		messagesapi.Steps(s.answerAddingWord("bye"), done))
	p := s.print("loop")
	s.checkHandovers(1)
	got := s.status()
	if got.Outcome != "verified" || got.Iteration < 8 || got.Iteration > 10 {
		t.Errorf("status %+v\n%s\n%s", got, p, s.pawl("log", ".").out)
	}
	if n := s.continued(); n > 8 {
		t.Errorf("continued %d times", n)
	}
}

// Three false claims use up the session's attempts.
func TestSessionHandoverAfterThreeFailures(t *testing.T) {
	s := newHandover(t, installSettings)
	test := messagesapi.Write(s.path("tests/bye.sh"), wordTest("bye"))
	wrong := messagesapi.Bash("echo bey >> bye.txt")
	s.playTwoModels(
		messagesapi.Steps(startLoopCall("'add bye' --handover "+words, test, done, wrong, done, wrong, done, more)...),
		messagesapi.Steps(messagesapi.Bash("echo bye > bye.txt"), done))
	p := s.print("loop")
	s.checkState(state{"verified", 4}, p)
	s.checkHandovers(1)
}

// Without consent the user is told what to type, and it works from another
// terminal. Nothing waits then for the client, which writes an answer's use behind:
// each answer is full, that whichever is seen tells.
func TestTerminalHandoverByCommand(t *testing.T) {
	s := newHandover(t, installPlugin, liftStopCap)
	s.playTwoModels(
		messagesapi.Steps(s.answerAddingWord("bye"), messagesapi.Text("Half of it is there.").Using(nearlyFull), messagesapi.Bash("true").Using(nearlyFull), more.Using(nearlyFull), waitForFileCall("go"), more),
		messagesapi.Steps(s.answerAddingWord("thanks"), done))
	c := s.open()
	c.loops("add bye and thanks " + words)
	c.Shows("until [", turnMost)
	if said := strings.Join(strings.Fields(c.Screen()), " "); !strings.Contains(said, "the context is 85 % full") || !strings.Contains(said, "pawl handover") {
		t.Errorf("no offer: %s", c)
	}
	if r := s.pawl("handover", "."); r.code != 0 || !r.contains("when this turn ends") {
		t.Fatalf("handover: %s", r)
	}
	s.write(map[string]string{"go": ""})
	c.Shows("continues in fresh sessions", turnMost)
	c.ends(state{"verified", 4})
	s.checkHandovers(1)
}

// A loop goes to a runner, and comes back into another session during a turn.
func TestTerminalHandoverAndBack(t *testing.T) {
	s := newHandover(t, installSettings)
	ids := map[string]int{}
	s.api.Play(func(r messagesapi.Request) messagesapi.Response {
		if _, known := ids[r.Session]; !known {
			ids[r.Session] = len(ids)
		}
		switch turn := len(r.ToolResults()); ids[r.Session] {
		case 0:
			return []messagesapi.Response{
				messagesapi.Bash("pawl start 'add bye and thanks' --handover " + words),
				s.answerAddingWord("bye"), messagesapi.Text("Half of it is there.").Using(nearlyFull),
			}[min(turn, 2)]
		case 1:
			return waitForFileCall("never")
		}
		if len(r.ToolResults()) == 0 {
			return s.answerAddingWord("thanks")
		}
		return done
	})
	first := make(chan printed)
	go func() { first <- s.print("loop") }()
	s.eventually("turn of a fresh session", func() bool { return len(s.clients()) == 2 })
	c := s.open()
	c.shell("pawl start --take " + s.now().ID)
	c.ends(state{"verified", 2})
	s.checkHandovers(2)
	if p := <-first; !p.hasHookMessages("now runs in another session") && !p.hasHookMessages("ended VERIFIED") { // by then it may have ended there
		t.Errorf("%s", p)
	}
}
