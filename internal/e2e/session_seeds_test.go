//go:build unix

package e2e_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// seed is a tool whose loops people bring along: the files that begin one, as its own
// documents have them, and what comes of a loop whose agent does what it is told.
type seed struct {
	files map[string]string
	state string // the file that asks for the loop; "" where only a command begins it
	named string // what pawl start is given to begin it
	asks  string // the agent is told
	ends  string // the loop's outcome
	after string // what the state file says then, "" where it is gone
}

var seeds = map[string]seed{
	"ralph-loop": {
		map[string]string{ralphFile: ralphLoop},
		ralphFile, ralphFile, "add bye",
		"unverified", "",
	},
	"feature list": {
		map[string]string{
			featureList: features(1), featureDir + "RALPH_PROMPT.md": "Complete the words.\n",
			featureProgress: "# Progress\n\n- Iteration: 0\n- Max Iterations: 5\n- Status: IN_PROGRESS\n",
		},
		featureProgress, strings.TrimSuffix(featureDir, "/"), "add word1",
		"unverified", "Status: UNVERIFIED",
	},
	"th-loop": { // with the keys that its author names; no status
		map[string]string{thFile: "---\niteration: 1\nmax: 2\nduration: 600\n---\n\nLook around.\n"},
		thFile, thFile, "Look around.",
		"finished", "status: completed",
	},
	"verify loop": {
		map[string]string{verifyState: strings.ReplaceAll(verifyActive, "sh check.sh", "test -e bye.txt")},
		verifyState, verifyState, "test -e bye.txt",
		"verified", "",
	},
	"plan loop": {
		map[string]string{prd + "plan.md": "# Plan\n\n- [ ] US-001: add bye\n"},
		"", prd + "plan.md", "US-001",
		"unverified", "",
	},
}

// playSeedWork plays a model that does the work of any seed when it is asked.
func (s *sessions) playSeedWork(d seed) {
	s.api.Play(func(r messagesapi.Request) messagesapi.Response {
		switch {
		case len(r.ToolResults()) > 0:
			return messagesapi.Text("It works.\n\n<promise>ALL DONE</promise>\n<promise>DONE</promise>")
		case strings.Contains(r.News(), d.asks):
			return s.answerAddingWord("bye")
		}
		return more
	})
}

// writeSeed writes the files of a seed, as old as given.
func (s *sessions) writeSeed(d seed, ago time.Duration) {
	s.t.Helper()
	s.write(d.files)
	for name := range d.files {
		at := time.Now().Add(-ago)
		if err := os.Chtimes(s.path(name), at, at); err != nil {
			s.t.Fatal(err)
		}
	}
}

// checkSeed checks the loop of a seed, and the file that other tools read.
func (s *sessions) checkSeed(d seed, p fmt.Stringer) {
	s.t.Helper()
	if got := s.status(); got.Outcome != d.ends {
		s.t.Fatalf("%+v, want %s: %s\n%s\n%s", got, d.ends, p, s.conversation(), s.pawl("log", ".").out)
	}
	s.eventually("end in "+d.state, func() bool { // it is written after the loop's end
		there := exists(s.path(d.state))
		return d.state == "" || d.after == "" && !there || d.after != "" && there && strings.Contains(s.read(d.state), d.after)
	})
}

// A script writes the files and starts claude -p: the loop starts at the first stop.
func TestSessionSeeds(t *testing.T) {
	t.Parallel()
	for name, d := range seeds {
		t.Run(name, func(t *testing.T) {
			s := newSessions(t, installSettings)
			s.writeSeed(d, 30*time.Second)
			s.trustSeedCommand(d)
			s.playSeedWork(d)
			prompt := "hi there"
			if d.state == "" {
				prompt = "/pawl:loop " + d.named
				installPlugin(s)
			}
			s.checkSeed(d, s.print(prompt))
		})
	}
}

// Files that were prepared long before claude -p begin nothing. Its standard error says
// why at its end, and what begins them; nothing else of its text output does.
func TestSessionSeedsOfLongAgo(t *testing.T) {
	s := newSessions(t, installSettings)
	s.playAnswers(more)
	for _, d := range seeds {
		s.writeSeed(d, time.Hour)
	}
	p := s.print("hi there")
	if n := len(s.api.Requests()); p.code != 0 || n != 1 {
		t.Errorf("%d requests: %s", n, p)
	}
	for name, d := range seeds {
		if d.state != "" && !strings.Contains(p.err, "to start it:  touch "+d.state+" && claude") {
			t.Errorf("%s: %s", name, p)
		}
	}
}

// trustSeedCommand trusts the command of a seed's file, if it has one.
func (s *sessions) trustSeedCommand(d seed) {
	s.t.Helper()
	if d.state == verifyState {
		if r := s.pawl("trust", "--yes"); r.code != 0 {
			s.t.Fatalf("trust: %s", r)
		}
	}
}

// Files that come while the client is open begin their loop at the next stop, also those
// that were there before the first prompt. Of files that were prepared long before, the
// terminal says why they begin nothing, and what does.
func TestTerminalSeeds(t *testing.T) {
	t.Parallel()
	for name, d := range seeds {
		t.Run(name, func(t *testing.T) {
			s := newSessions(t, installSettings)
			s.playSeedWork(d)
			c := s.open()
			first := ""
			if d.state != "" {
				s.writeSeed(d, 10*time.Second)
				s.trustSeedCommand(d)
				c.typeLine("hi there")
				c.waitUntil("end of the loop", func() bool { return s.now().Outcome != "" })
				s.checkSeed(d, c)
				first = s.now().ID
			}
			_ = os.Remove(s.path("bye.txt")) // the work of the first loop, where there was one
			s.writeSeed(d, time.Hour)
			if d.state != "" {
				c.typeLine("anything new?")
				c.waitForScreen("to start it: ! pawl start " + d.state)
			}
			c.shell("pawl start " + d.named)
			c.waitUntil("end of the second loop", func() bool { now := s.now(); return now.ID != first && now.Outcome != "" })
			s.checkSeed(d, c)
		})
	}
}

// waitForScreen waits for words on the screen, wherever lines are broken.
func (c *terminal) waitForScreen(words string) {
	c.s.t.Helper()
	c.waitUntil(fmt.Sprintf("words %q", words), func() bool {
		return strings.Contains(strings.Join(strings.Fields(c.Screen()), " "), words)
	})
}
