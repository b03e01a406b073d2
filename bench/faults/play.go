package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
)

// Bench holds what all runs share.
type Bench struct {
	Pawl string // the program to try
	Self string // a program that calls Enter when it is run as SELF faults -enter PROGRAM ARGS…
	dir  string
	path string
	next atomic.Int64
}

// New makes a bench in a folder.
func New(ctx context.Context, dir, pawl, self, path string) (*Bench, error) {
	b := &Bench{Pawl: pawl, Self: self, dir: dir, path: filepath.Dir(pawl) + string(os.PathListSeparator) + path}
	return b, newPlace(filepath.Join(dir, "template"), b.path).write(ctx, project, commit+furnish)
}

// Outcome is how one run went.
type Outcome struct {
	Point
	Calls      Calls    // of the run with the fault
	Failed     string   // what the call that failed was about, "" if there was none
	Violations []string // what is not as promised
	Story      string   // all that was printed
	ExitCode   int      // of the run with the fault
}

// Play runs a loop with a fault and, without one, to its end. An error is the
// bench's own; what Pawl does wrong is a violation.
func (b *Bench) Play(ctx context.Context, at Point) (Outcome, error) {
	o := Outcome{Point: at}
	dir := filepath.Join(b.dir, fmt.Sprintf("run%d", b.next.Add(1)))
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(b.dir, "template"))); err != nil {
		return o, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	c := &check{place: newPlace(dir, b.path), bench: b, o: &o}
	for _, name := range []string{filepath.Join(c.repo, "gate.sh"), filepath.Join(dir, "home", "agent.sh")} {
		if err := os.Chmod(name, 0o755); err != nil {
			return o, err
		}
	}
	c.before = c.usersOwn(ctx)
	if err := b.withFault(ctx, c); err != nil {
		return o, err
	}
	if c.afterFault(ctx); c.toTheEnd(ctx) {
		c.atEnd(ctx)
	}
	return o, nil
}

// begin are the arguments of the run.
func (p *place) begin() []string {
	return []string{
		"run", "plan.md", "--gate", "./gate.sh", "--agent", "command", "--agent-command", filepath.Join(p.dir, "home", "agent.sh"),
		"--evidence", "unproven",
	}
}

// withFault runs the loop until the fault has ended it, or it has ended.
func (b *Bench) withFault(ctx context.Context, c *check) error {
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var out bytes.Buffer
	cmd := c.command(bounded, &out, append([]string{b.Self, "faults", "-enter", b.Pawl}, c.begin()...)...)
	calls, err := supervise(bounded, cmd, c.o.Point, nil)
	c.o.Calls, c.o.Story = calls, out.String()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case bounded.Err() != nil:
		c.violation("the run with the fault does not end")
	case err != nil:
		return err
	case crashed(c.o.Story) || killed(cmd):
		c.violation("the run with the fault crashed")
	}
	if cmd.ProcessState != nil {
		c.o.ExitCode = cmd.ProcessState.ExitCode()
	}
	if made := calls[c.o.Kind]; c.o.N > 0 && c.o.N <= len(made) {
		c.o.Failed = made[c.o.N-1]
	}
	return nil
}

// toTheEnd resumes the loop without a fault; where none was made it runs it.
func (c *check) toTheEnd(ctx context.Context) bool {
	loops := c.list(ctx)
	argv := c.begin()
	switch {
	case len(loops) > 1:
		c.violation("%d loops were made by one run", len(loops))
		return false
	case len(loops) == 1:
		argv = []string{"resume", loops[0].ID}
	}
	out, err := c.pawl(ctx, argv...)
	c.o.Story += "$ pawl " + strings.Join(argv, " ") + "\n" + out
	if err != nil {
		c.violation("pawl %s: %v: %s", argv[0], err, lastLines(out, 3))
	}
	return true
}

// pawl runs the program without a fault.
func (c *check) pawl(ctx context.Context, args ...string) (string, error) {
	return c.run(ctx, append([]string{c.bench.Pawl}, args...)...)
}

// loopState is what `pawl list --json` says of a loop.
type loopState struct {
	ID      string `json:"id"`
	Outcome string `json:"outcome"`
	Tasks   struct {
		Done int `json:"done"`
	} `json:"tasks"`
}

// list is `pawl list --json`.
func (c *check) list(ctx context.Context) []loopState {
	out, err := c.pawl(ctx, "list", "--json")
	var loops []loopState
	if err == nil {
		err = json.Unmarshal([]byte(out), &loops)
	}
	if err != nil {
		c.violation("pawl list --json: %v: %s", err, lastLines(out, 3))
	}
	return loops
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], " | ")
}
