//go:build unix

// The name of this file begins with an a: its tests wait for real minutes, tests start
// in the order of their files, and what starts last would be waited for alone.

package e2e_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// useSubscription logs the client in with a made-up subscription, whose usage limits name their
// reset. More settings of the user may be added.
func (s *sessions) useSubscription(more map[string]any) {
	s.t.Helper()
	delete(s.env, "ANTHROPIC_API_KEY")
	s.writeJSON("../.claude/.credentials.json", map[string]any{"claudeAiOauth": map[string]any{
		"accessToken": "sk-ant-oat01-scripted", "refreshToken": "sk-ant-ort01-scripted", "subscriptionType": "max",
		"expiresAt": time.Now().Add(24 * time.Hour).UnixMilli(), "scopes": []string{"user:inference", "user:profile"},
	}})
	s.addClientSettings(more)
}

// addClientSettings adds to the user's client settings.
func (s *sessions) addClientSettings(more map[string]any) {
	s.t.Helper()
	path := filepath.Join(s.home, ".claude", "settings.json")
	settings := map[string]any{}
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &settings)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	maps.Copy(settings, more)
	s.writeJSON("../.claude/settings.json", settings)
}

func (s *sessions) writeJSON(path string, value any) {
	s.t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		s.t.Fatal(err)
	}
	s.write(map[string]string{path: string(data)})
}

// limitedUntil answers as the API does when a subscription's five hours are used up.
func limitedUntil(reset time.Time) messagesapi.Response {
	at := strconv.FormatInt(reset.Unix(), 10)
	const unified = "anthropic-ratelimit-unified-"
	return messagesapi.Fail(429, "This request would exceed your account's rate limit. Please try again later.",
		unified+"status", "rejected", unified+"reset", at, unified+"representative-claim", "five_hour",
		unified+"5h-status", "rejected", unified+"5h-reset", at, unified+"5h-utilization", "1.0",
		unified+"overage-status", "rejected", unified+"overage-disabled-reason", "org_level_disabled",
		"retry-after", strconv.Itoa(int(time.Until(reset).Seconds())))
}

// limitMost is how long a limit that ends in seconds keeps a session: the client names
// the end by the minute, and Pawl gives it two more to continue by itself.
const limitMost = 10 * time.Minute

// clientContinues is the beginning of what the client tells the model then.
const clientContinues = "Your claude.ai usage limit has reset."

// The client continues after a usage limit. Pawl does not prompt it as well, even if its turn has one
// long tool call, and counts the turn for the loop.
func TestTerminalUsageLimitClientContinues(t *testing.T) {
	s := newSessions(t, installPlugin, liftStopCap)
	s.useSubscription(nil)
	reset := time.Now().Add(10 * time.Second)
	late := reset.Add(2*time.Minute + 20*time.Second) // by then Pawl would have gone on
	s.playAnswers(messagesapi.Bash("true"), limitedUntil(reset),
		messagesapi.Tool("Bash", map[string]any{"command": fmt.Sprintf("while [ $(date +%%s) -lt %d ]; do sleep 1; done", late.Unix()), "description": "wait", "timeout": 300_000}),
		s.answerAddingWord("bye"), done)
	c := s.open()
	c.loops("add bye " + words)
	c.Until("word of the client's", limitMost, func() bool { return strings.Contains(s.conversation(), clientContinues) })
	c.Until("end of the loop", limitMost+turnMost, func() bool { return s.now().Outcome != "" })
	s.checkState(state{"verified", 1}, c)
	time.Sleep(5 * time.Second)
	if n := len(s.api.Requests()); n != 5 {
		t.Errorf("%d requests, want 5\n%s", n, s.conversation())
	}
}

// If the client does not continue, it shows a menu, which blocks the process that wakes the session.
// Pawl continues once the menu is closed.
func TestTerminalUsageLimitPawlContinues(t *testing.T) {
	s := newSessions(t, installPlugin, liftStopCap)
	s.useSubscription(map[string]any{"autoContinueAtUsageLimit": false})
	s.playAnswers(messagesapi.Bash("true"), limitedUntil(time.Now().Add(10*time.Second)), s.answerAddingWord("bye"), done)
	c := s.open()
	c.loops("add bye " + words)
	c.Shows("Stop and wait for limit to reset", turnMost)
	c.Until("end of the wait", limitMost, func() bool { return s.now().State == "running" })
	time.Sleep(5 * time.Second)
	c.Keys("Enter")
	c.ends(state{"verified", 1})
	time.Sleep(5 * time.Second)
	if n := len(s.api.Requests()); n != 4 || strings.Contains(s.conversation(), clientContinues) {
		t.Errorf("%d requests, want 4\n%s\n%s", n, s.conversation(), c)
	}
}

// claude -p ends at a usage limit. Its last output says how to continue the loop. If the user allowed
// fresh sessions, these wait for the limit's reset and continue.
func TestSessionUsageLimit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		flag string
		wait time.Duration
	}{"to be taken up": {"", time.Hour}, "continues by itself": {" --handover", 5 * time.Second}, "the limit has reset": {" --handover", -time.Minute}} {
		t.Run(name, func(t *testing.T) {
			s := newSessions(t, installSettings, onPath)
			s.useSubscription(nil)
			steps, asked := messagesapi.Steps(startLoopCall("'add bye' "+words+c.flag, messagesapi.Bash("true"), s.answerAddingWord("bye"), done)...), 0
			s.api.Play(func(r messagesapi.Request) messagesapi.Response {
				if asked++; asked == 3 {
					return limitedUntil(time.Now().Add(c.wait))
				}
				return steps(r)
			})
			p := s.print("loop")
			id := s.now().ID
			if p.code != 1 || !strings.Contains(p.err, "pawl: "+id+" is not done and waits until ") {
				t.Errorf("%s", p)
			}
			if c.flag == "" {
				if now := s.now(); now.Outcome != "" || !strings.Contains(p.err, "to continue:  pawl handover "+id) {
					t.Errorf("%+v\n%s", now, p)
				}
				return
			}
			for deadline := time.Now().Add(limitMost); s.now().Outcome == "" && time.Now().Before(deadline); {
				time.Sleep(time.Second)
			}
			s.checkState(state{"verified", 1}, p)
		})
	}
}
