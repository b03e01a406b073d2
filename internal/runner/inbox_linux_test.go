package runner_test

import (
	"context"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/dirwatch"
	"github.com/pawl-dev/pawl/internal/record"
)

// cancelledAtStart is an agent whose client never starts. A stop message arrives meanwhile.
type cancelledAtStart struct {
	agent.Agent
	t     *testing.T
	b     *bench
	after time.Duration // from the message to the end of Start
}

func (c *cancelledAtStart) Start(ctx context.Context, _ agent.Options) (agent.Session, error) {
	time.Sleep(200 * time.Millisecond) // the runner is waiting by now
	posted := time.Now()
	if err := c.b.loop.Post("stop", record.Message{Kind: record.MessageStop}); err != nil {
		c.t.Error(err)
	}
	<-ctx.Done()
	c.after = time.Since(posted)
	return nil, ctx.Err()
}

// A watched inbox is polled only every 5 s. A message must arrive sooner.
func TestStopMessageIsReceivedBeforeInboxPoll(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	d := b.begin("", []string{"have every word"}, withGate(nil))
	b.loop = d.Loop
	w := dirwatch.New(d.Loop.Inbox())
	if w == nil {
		agenttest.Lacks(t, "folders of this file system are not watched, or the watches of the user are used up")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	a := &cancelledAtStart{Agent: d.Agent, t: t, b: b}
	d.Agent = a
	s, err := b.drive(t.Context(), d, logObserver{t})
	if err != nil || s.Outcome != loop.CancelledEnd {
		t.Fatalf("%s: %v", s.Phase, err)
	}
	if a.after > 2*time.Second {
		t.Errorf("the message was taken after %s", a.after)
	}
}
