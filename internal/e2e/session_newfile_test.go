//go:build unix

package e2e_test

import (
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// In a session that commits, files that the user writes while the model thinks are not committed.
// Files that the agent's commands make without naming them are.
func TestSessionNewUserFilesAreNotCommitted(t *testing.T) {
	s := sessionsWith(t, wordShop(map[string]string{"words.sh": checkWords + "\n", "gen.sh": "echo made > made.txt\n", "edited.txt": "once\n"}), installSettings)
	thinks := func() { time.Sleep(2500 * time.Millisecond) } // longer than a file's time is doubted
	steps := []func() messagesapi.Response{
		func() messagesapi.Response { return messagesapi.Bash("pawl start 'add bye' --commit " + words) },
		func() messagesapi.Response {
			thinks()
			s.write(map[string]string{"notes.txt": "mine\n", "edited.txt": "mine\n"})
			thinks()
			return messagesapi.Bash("sh gen.sh")
		},
		func() messagesapi.Response { return s.answerAddingWord("bye") },
	}
	s.api.Play(func(messagesapi.Request) messagesapi.Response {
		if len(steps) == 0 {
			return done
		}
		step := steps[0]
		steps = steps[1:]
		return step()
	})
	p := s.print("loop")
	s.checkState(state{"verified", 1}, p)
	if got := s.git("show", "--format=", "--name-only", "HEAD"); got != "bye.txt\nmade.txt\ntests/bye.sh" {
		t.Errorf("in the commit: %s", got)
	}
	if got := s.git("status", "--porcelain"); got != "M edited.txt\n?? notes.txt" {
		t.Errorf("left over: %s", got)
	}
}
