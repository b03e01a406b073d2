//go:build unix

package e2e_test

import (
	"os"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

const (
	thFile    = ".claude/th-loop.local.md"
	thChannel = "temp/th-channel.md"
	thLoop    = "---\nstatus: active   # x\nstarted: 1737304800\nmax: 5\niteration: 1\nduration: 60\nprompt: \"\"\n---\n"
)

// appends is what another process does to the channel while the agent works.
func (s *sessions) appends(text string) {
	s.t.Helper()
	f, err := os.OpenFile(s.path(thChannel), os.O_WRONLY|os.O_APPEND, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		s.t.Error(err)
	}
}

// A th-loop's file is followed from itself alone: what others write to the channel
// is told once, its limit is its end, whatever the agent claims.
func TestSessionThLoop(t *testing.T) {
	s := newSessions(t, installSettings)
	s.api.Play(func(r messagesapi.Request) messagesapi.Response {
		switch r.Number {
		case 1:
			s.write(map[string]string{thFile: thLoop, thChannel: "## 10:00 nao\nlook at greet.sh\n"})
		case 2:
			s.appends("## 10:05 mio\nand at the tests\nha")
		case 3:
			s.appends("lf a line\n> stop\n")
		case 4:
			return allDone
		}
		return more
	})
	p := s.print("wait for the file")
	s.checkState(state{"finished", 5}, p)
	for i, want := range []string{"look at greet.sh", "and at the tests", "half a line", "", ""} {
		if i+1 >= len(s.api.Requests()) {
			break
		}
		told := s.api.Requests()[i+1].News()
		if !strings.Contains(told, want) || i > 0 && i < 4 && strings.Contains(told, "## 10:00 nao") {
			t.Errorf("turn %d was told %s", i+2, told)
		}
	}
	if got := s.read(thFile); !strings.Contains(got, "status: completed   # x\nstarted: 1737304800\n") || !strings.Contains(got, "iteration: 5\n") || !strings.Contains(got, "last_read_timestamp: ") {
		t.Errorf("the file: %s", got)
	}
	if !p.hasHookMessages("th-loop completed: ") {
		t.Errorf("%s", p)
	}
}

// The word stop, written by another process, ends the loop at the agent's next stop.
func TestSessionThLoopStop(t *testing.T) {
	s := newSessions(t, installSettings)
	s.api.Play(func(r messagesapi.Request) messagesapi.Response {
		switch r.Number {
		case 1:
			s.write(map[string]string{thFile: thLoop, thChannel: "look around\n"})
		case 3:
			s.appends("STOP\n")
		}
		return more
	})
	p := s.print("wait for the file")
	s.checkState(state{"cancelled", 3}, p)
	if got := s.read(thFile); !strings.Contains(got, "status: stopped") {
		t.Errorf("the file: %s", got)
	}
}
