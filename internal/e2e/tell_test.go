//go:build unix

package e2e_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

// An urgent message is in the next request of the running client, once.
func TestClientUrgentMessageIsInNextRequest(t *testing.T) {
	c := newClientBench(t, wordShop(nil))
	c.playAnswers(messagesapi.Bash("until [ -e go ]; do sleep 0.1; done; rm go"), messagesapi.Text("I see."), c.answerAddingWord("bye"), done)
	run := c.start(append([]string{"run"}, c.goal("add bye")...)...)
	run.waitUntil("the tool", func() bool { return len(c.api.Requests()) == 1 })
	if r := c.pawl("tell", ".", "--now", "mind the hat"); !r.contains("after the running tool call") {
		t.Errorf("%s", r)
	}
	run.waitUntil("the message", func() bool { return strings.Contains(c.pawl("log", ".").out, "for this turn: mind the hat") })
	c.write(map[string]string{"go": ""})
	run.wait()
	if got := c.status(); got.Outcome != "verified" {
		t.Fatalf("%+v\n%s", got, c.pawl("log", ".").out)
	}
	told := 0
	for i, r := range c.api.Requests() {
		if strings.Contains(r.News(), "The user says: mind the hat") {
			if told++; i != 1 {
				t.Errorf("told by request %d", i+1)
			}
		}
	}
	log := c.pawl("log", ".").out
	if told != 1 || !strings.Contains(log, "1 message delivered into the turn") || !strings.Contains(log, "the turn had 1 message of the user") {
		t.Errorf("told %d times\n%s", told, log)
	}
}

// In a user's session the hook delivers it to the agent after the tool call.
func TestSessionUrgentMessageComesAfterTool(t *testing.T) {
	s := newSessions(t, installSettings)
	steps, asked := messagesapi.Steps(startLoopCall("'add bye' "+words, s.answerAddingWord("bye"), messagesapi.Bash("true"), more, done)...), 0
	s.api.Play(func(r messagesapi.Request) messagesapi.Response {
		if asked++; asked == 2 { // the loop has started
			if res := s.pawl("tell", ".", "--now", "make it polite"); res.code != 0 {
				t.Errorf("tell: %s", res)
			}
		}
		return steps(r)
	})
	p := s.print("loop")
	s.checkState(state{"verified", 2}, p)
	told := 0
	for i, r := range s.api.Requests() {
		if strings.Contains(r.News(), "make it polite") && !strings.Contains(r.News(), "pawl tell") {
			if told++; i != 2 {
				t.Errorf("told by request %d: %s", i+1, r.News())
			}
		}
	}
	if told != 1 {
		t.Errorf("told %d times\n%s", told, s.conversation())
	}
}

// Ten senders say twenty things each, half of them for the turn under way, while the loop
// is killed again and again: the agent reads each once, and those of a sender in order.
func TestMessagesSurviveKills(t *testing.T) {
	t.Parallel()
	const senders, each = 10, 20
	b := newBench(t, wordShop(nil))
	script := b.script("-- 1+/sleep --\n300ms\n-- 1+/tools --\n1\n-- 1+/reply --\nI look around.\n")
	run := b.start("run", "look around", "--kind", "explore", "--max-iterations", "500", "--agent", "scripted", "--agent-command", script)
	run.waitUntil("the first turn", b.inAgentTurn)
	var all sync.WaitGroup
	for sender := range senders {
		all.Go(func() {
			for n := range each {
				args := []string{"tell", ".", fmt.Sprintf("m%d-%02d", sender, n)}
				if n%2 == 0 {
					args = append(args, "--now")
				}
				if r := b.pawl(args...); r.code != 0 {
					t.Errorf("%s", r)
				}
			}
		})
	}
	sent := make(chan struct{})
	go func() { all.Wait(); close(sent) }()
	for kills := range 8 {
		time.Sleep(time.Duration(400+150*kills) * time.Millisecond)
		_ = syscall.Kill(run.cmd.Process.Pid, syscall.SIGKILL)
		run.wait()
		run = b.start("resume", ".")
	}
	<-sent
	run.waitUntil("the last message", func() bool { return len(b.readMessages()) >= senders*each })
	b.pawl("stop", ".")
	run.wait()
	got, next := b.readMessages(), map[string]int{}
	for _, text := range got {
		sender, n, _ := strings.Cut(text, "-")
		if want := fmt.Sprintf("%02d", next[sender]); n != want {
			t.Errorf("%s where %s of %s was due", n, want, sender)
		}
		next[sender]++
	}
	if len(got) != senders*each {
		t.Errorf("%d messages were read, want %d", len(got), senders*each)
	}
}

// readMessages are those that the agent has read, in order, by the journal.
func (b *bench) readMessages() (texts []string) {
	b.t.Helper()
	loops, err := store.Open(b.env["PAWL_HOME"]).Loops()
	if err != nil || len(loops) != 1 {
		b.t.Fatal(loops, err)
	}
	var st loop.State
	for r, err := range loops[0].Records(journal.Mark{}) {
		var e loop.Event
		if err != nil {
			break // it is being written
		}
		if r.Type != memory.TypeEvent || json.Unmarshal(r.Data, &e) != nil {
			continue
		}
		before := st.Messages
		st, _ = loop.Step(st, e)
		for len(before) > 0 && (len(st.Messages) == 0 || st.Messages[0].ID != before[0].ID) {
			texts, before = append(texts, before[0].Text), before[1:]
		}
	}
	return texts
}
