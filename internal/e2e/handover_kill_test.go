//go:build unix

package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
)

// handoverBench is a user's session without a client: the test tells Pawl's hooks what a
// client would, and plays the agent. The loop leaves it after its first turn, for
// the context is full then.
type handoverBench struct {
	*bench
	id      string // of the loop
	prompts int
	left    int // kills that may still come
	killed  int
	usual   time.Duration // for a stop that leaves the session
	race    bool          // runners ask for the loop at the moment of each stop
}

const handoverSession = "0d1f2a3b-0000-4000-8000-000000000001"

func newHandoverBench(t *testing.T, kills int) *handoverBench {
	t.Helper()
	agenttest.Needs(t, "ps") // for rests
	s := &handoverBench{bench: newBench(t, wordShop(map[string]string{"words.sh": checkWords + "\n", "plan.md": threeWords})), left: kills}
	t.Cleanup(s.waitUntilIdle)
	var story strings.Builder
	for _, word := range []string{"bye", "thanks", "please"} {
		fmt.Fprintf(&story, "%s-- add %[2]s/cost --\n0.01\n-- add %[2]s/sleep --\n200ms\n", part(word), word)
	}
	s.write(map[string]string{"../.config/pawl/config.toml": fmt.Sprintf("agent = \"scripted\"\nagent_command = %q\n", s.script(story.String()))})
	maps.Copy(s.env, map[string]string{
		"CLAUDECODE": "1", "CLAUDE_PID": strconv.Itoa(os.Getpid()), "CLAUDE_CODE_SESSION_ID": handoverSession,
		"CLAUDE_PROJECT_DIR": s.root, "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "0",
	})
	return s
}

// transcript returns the path of the client's transcript.
func (s *handoverBench) transcript() string { return filepath.Join(s.home, "transcript.jsonl") }

func (s *handoverBench) appendTranscript(line any) {
	s.t.Helper()
	data, err := json.Marshal(line)
	if err != nil {
		s.t.Fatal(err)
	}
	f, err := os.OpenFile(s.transcript(), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(append(data, '\n')); err != nil {
		s.t.Fatal(err)
	}
}

// hook tells Pawl of an event, and returns what the client would be told to do: a
// hook that was killed says nothing that is whole.
func (s *handoverBench) hook(event string, mayDie bool, more map[string]any) (goOn bool) {
	s.t.Helper()
	payload := map[string]any{
		"hook_event_name": event, "session_id": handoverSession, "transcript_path": s.transcript(), "cwd": s.root,
		"prompt_id": fmt.Sprintf("p%d", s.prompts),
	}
	maps.Copy(payload, more)
	data, err := json.Marshal(payload)
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(s.binary, "hook", "claude")
	cmd.Dir, cmd.Env, cmd.Stdin = s.root, s.environ(), bytes.NewReader(data)
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	cmd.WaitDelay = 2 * time.Second
	began := time.Now()
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	if mayDie && s.left > 0 {
		time.Sleep(rand.N(s.usual))
		if rand.N(3) > 0 {
			_ = cmd.Process.Kill() // it may have ended just now
		} else {
			s.killOneProcess()
		}
	}
	err = cmd.Wait()
	switch ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); {
	case ok && ws.Signaled():
		s.countKill()
	case err != nil:
		s.t.Errorf("hook: %v %s", err, problem.String())
	case mayDie && s.usual == 0:
		s.usual = time.Since(began)
	}
	return json.Valid(out.Bytes()) && strings.Contains(out.String(), "additionalContext")
}

// countKill counts a kill.
func (s *handoverBench) countKill() {
	s.left--
	s.killed++
}

// killOneProcess kills one of the processes that drive or run the loop.
func (s *handoverBench) killOneProcess() {
	s.t.Helper()
	pids := s.drivers(s.id)
	if len(pids) > 0 && syscall.Kill(pids[rand.N(len(pids))], syscall.SIGKILL) == nil {
		s.countKill()
	}
}

// turn plays a turn of the agent in the session, which does a part of the work and fills the context.
// It begins with a user message if the last stop did not continue the session.
func (s *handoverBench) turn(goOn bool) bool {
	s.t.Helper()
	if !goOn {
		s.prompts++
		s.hook("UserPromptSubmit", false, map[string]any{"prompt": "continue"})
		s.appendTranscript(map[string]any{"type": "user", "promptId": fmt.Sprintf("p%d", s.prompts), "turnOrigin": "human", "message": map[string]any{"content": "continue"}})
	}
	s.write(map[string]string{"bye.txt": "bye\n"})
	s.hook("PostToolUse", false, map[string]any{"tool_name": "Write", "tool_input": map[string]any{"file_path": s.path("bye.txt")}})
	const said = "Half of it is there."
	s.appendTranscript(map[string]any{"type": "assistant", "message": map[string]any{
		"id": fmt.Sprintf("m%d", time.Now().UnixNano()), "model": "claude-opus-5-5", "content": []any{map[string]any{"type": "text", "text": said}},
		"usage": map[string]any{"input_tokens": 850_000},
	}})
	if s.race {
		defer s.startUnchecked("handover", s.id)()
		defer s.startUnchecked("resume", s.id, "--quiet")()
	}
	return s.hook("Stop", true, map[string]any{"stop_hook_active": goOn, "last_assistant_message": said})
}

// continueWithKills continues the loop until it has ended, whoever owns it, with kills in between.
func (s *handoverBench) continueWithKills() {
	s.t.Helper()
	if r := s.pawl("start", "plan.md", "--gate", "sh words.sh", "--handover"); r.code != 0 {
		s.t.Fatalf("start: %s", r)
	}
	s.id = s.status().ID
	goOn := true
	for deadline := time.Now().Add(2 * timeout); ; {
		if time.Now().After(deadline) {
			s.t.Fatalf("no end after %d kills\n%s\n%s", s.killed, s.pawl("status", ".").out, s.pawl("log", ".").out)
		}
		switch now := s.position(); {
		case now.Outcome != "":
			return
		case now.InSession:
			if now.Iteration > 1 { // who was to take it was killed: it stays until somebody asks
				s.pawl("handover", s.id)
			}
			goOn = s.turn(goOn)
		case s.left > 0 && rand.N(4) == 0:
			goOn = true
			for s.runWithKill("start", "--take", s.id) { // back into the session: who asked is waited for
			}
		case now.State != "orphaned":
			time.Sleep(rand.N(300 * time.Millisecond))
			if s.left > 0 {
				s.killOneProcess()
			}
		default:
			s.runWithKill("resume", ".", "--quiet") // by a person
		}
	}
}

// runWithKill runs pawl, and kills it while there are kills left.
func (s *handoverBench) runWithKill(args ...string) (died bool) {
	s.t.Helper()
	r := s.start(args...)
	if s.left > 0 {
		select {
		case <-r.done:
		case <-time.After(rand.N(s.usual)):
			_ = r.cmd.Process.Kill() // it may have ended just now
		}
	}
	if died = r.wait().code == 128+int(syscall.SIGKILL); died {
		s.countKill()
	} // else it may have come too late: another has the loop
	return died
}

// loopPosition are how a loop stands, and who has it.
type loopPosition struct {
	status
	InSession bool `json:"in_session"`
}

// position returns where the loop is now.
func (s *handoverBench) position() (now loopPosition) {
	s.t.Helper()
	r := s.pawl("status", s.id, "--json")
	if err := json.Unmarshal([]byte(r.out), &now); err != nil {
		s.t.Fatalf("status: %v\n%s", err, r)
	}
	return now
}

// checkNothingLost checks that the loop ended as without kills.
func (s *handoverBench) checkNothingLost() {
	s.t.Helper()
	now := s.status()
	if got := s.read("plan.md"); now.Outcome != "verified" || got != strings.ReplaceAll(threeWords, "[ ]", "[x]") {
		s.t.Errorf("%+v, the plan:\n%s", now, got)
	}
	// Each iteration had one turn, and three of them were the runner's, at a cent
	// each. More are those that were interrupted, for a session took the loop.
	cut := s.events("agent_failed")
	if now.Tasks.Done != 3 || now.Turns != now.Iteration+cut || s.killed == 0 && now.Iteration != 4 {
		s.t.Errorf("after %d kills and %d interruptions %+v", s.killed, cut, now)
	}
	if cents := int(math.Round(100 * now.CostUSD)); cents < 3 || cents > 3+cut {
		s.t.Errorf("after %d kills and %d interruptions it cost %d cents", s.killed, cut, cents)
	}
	s.checkJournalChain()
	s.checkOneOwner()
	s.turn(false) // the user is shown the end at the latest now,
	s.turn(false) // and the agent is told
	if entries, err := os.ReadDir(filepath.Join(s.env["PAWL_HOME"], "sessions")); err == nil {
		if slices.ContainsFunc(entries, func(e os.DirEntry) bool {
			return strings.HasPrefix(e.Name(), handoverSession) && filepath.Ext(e.Name()) == ".json"
		}) {
			s.t.Errorf("the loop still lives in the session")
		}
	}
	if s.t.Failed() {
		s.t.Log(s.pawl("log", ".").out)
	}
}

// Hooks and runners are killed at any moment of a handover. There is one owner at a time, and the end
// is the same as without kills.
func TestHandoverKills(t *testing.T) {
	t.Parallel()
	calm := newHandoverBench(t, 0)
	calm.continueWithKills()
	calm.checkNothingLost()
	for i, most := range []int{*kills / 2, (*kills + 1) / 2} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			killed, loops := 0, 0
			for ; killed < most && !t.Failed(); loops++ {
				s := newHandoverBench(t, min(most-killed, 3)) // the first of them fall into the handover
				s.usual = calm.usual
				s.continueWithKills()
				s.left = 0
				s.checkNothingLost()
				killed += s.killed
			}
			t.Logf("%d kills over %d loops", killed, loops)
		})
	}
}
