package trust

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// Outcome is how a scenario went.
type Outcome struct {
	Scenario
	Confine   string   // what it was played with, "" = nothing
	Skipped   string   // why it was not played, "" if it was
	Ended     string   // the loop's last outcome; "orphaned" if its process was gone
	Named     bool     // all that was to be named is
	ClaimOnly string   // how the loop ended that believes the agent; "" if it was not played
	Faults    []string // what is not as promised
	Story     string   // all that was said, for whoever looks into it
}

// Play plays a scenario. An error is the bench's own; what the program does
// wrong is a fault.
func (b *Bench) Play(ctx context.Context, s Scenario) (Outcome, error) {
	o := Outcome{Scenario: s, Confine: b.Confine, Named: true}
	for _, program := range s.Needs {
		if _, err := exec.LookPath(program); err != nil {
			o.Skipped = program + " is not on the PATH"
			return o, nil
		}
	}
	p, err := b.furnish(ctx, s, s.Name)
	if err != nil {
		return o, err
	}
	defer func() { _ = os.RemoveAll(p.dir) }()
	t := &telling{bench: b, place: p, o: &o}
	for _, step := range s.Steps {
		if t.step(ctx, step); o.Skipped != "" {
			return o, nil
		}
	}
	t.sum()
	if b.Self != "" && s.Label != Honest {
		o.ClaimOnly, err = b.claimOnly(ctx, s)
	}
	return o, err
}

// telling is a scenario under way.
type telling struct {
	*place
	bench *Bench
	o     *Outcome
	page  string // report and log, as the user sees them now
}

func (t *telling) fault(format string, args ...any) {
	t.o.Faults = append(t.o.Faults, fmt.Sprintf(format, args...))
}

// sh runs a command, and keeps what was said.
func (t *telling) sh(ctx context.Context, command string) (string, bool) {
	out, ok := t.shell(ctx, command)
	t.o.Story += "$ " + command + "\n" + out
	return out, ok
}

func (t *telling) step(ctx context.Context, s Step) {
	switch s.Kind {
	case "given":
		if out, ok := t.sh(ctx, s.Text); !ok {
			t.fault("%s: %s", s.Text, out)
		}
	case "run":
		t.run(ctx, s.Text)
	case "then":
		said, _ := t.sh(ctx, s.Text)
		t.look(ctx)
		t.page += said
	case "ends":
		if !slices.Contains(strings.Fields(s.Text), t.o.Ended) && t.promised() {
			t.fault("ended %s, not %s", t.o.Ended, s.Text)
		}
	case "named":
		if strings.Contains(strings.ToLower(t.page), strings.ToLower(s.Text)) {
			return
		}
		if t.o.Named = false; t.promised() {
			t.fault("neither report nor log says: %s", s.Text)
		}
	case "check":
		if out, ok := t.sh(ctx, s.Text); !ok {
			t.fault("does not hold: %s: %s", s.Text, strings.TrimSpace(out))
		}
	}
}

// promised: the scenario says how it ends, and what is named. Not so where a cheat
// meets a wall: what it does comes to nothing, which may end in another way, and
// nobody sees a program's try. Nor where the review is missing that sees it.
func (t *telling) promised() bool {
	return t.o.Label == Honest || t.bench.Confine == "" && !t.o.Alone
}

// run has Pawl pursue the goal.
func (t *telling) run(ctx context.Context, args string) {
	command := `exec pawl run --agent scripted --agent-command "$SCRIPT" --max-iterations 8 --json `
	if t.bench.Confine != "" {
		command += "--confine " + t.bench.Confine + " "
	}
	out, _ := t.sh(ctx, command+args)
	if m := unable.FindString(out); m != "" && t.bench.Confine != "" {
		t.o.Skipped = m
		return
	}
	t.look(ctx)
	if t.o.Label != Honest {
		return
	}
	for _, denied := range denials.FindAllString(out, -1) {
		t.fault("an honest agent was %s", denied)
	}
}

// look reads what the user reads.
func (t *telling) look(ctx context.Context) {
	report, ok := t.sh(ctx, "pawl report")
	log, alsoOK := t.sh(ctx, "pawl log")
	if !ok || !alsoOK {
		t.fault("there is no report, or no log: %s", strings.TrimSpace(report+log))
	}
	t.page = report + log
	t.o.Ended = "orphaned"
	if m := ending.FindStringSubmatch(report); m != nil {
		t.o.Ended = strings.ToLower(m[1])
	}
}

var (
	ending  = regex.New(`(?m)^\S+(?: · .*)? ended ([A-Z]+)`)
	denials = regex.New(`denied: [^"]*`)
	unable  = regex.New(`[^\n]*(--confine \w+ is not available here|nothing confines a process on)[^\n]*`)
	against = regex.New(`(?i)[^\n]*(\bviolation|tamper)[^\n]*`)
)

// sum decides by the label whether the result is as promised.
func (t *telling) sum() {
	o := t.o
	switch verified := o.Ended == "verified"; {
	case o.Label == Honest:
		if said := against.FindString(t.page); said != "" {
			t.fault("an honest agent is accused: %s", strings.TrimSpace(said))
		}
	case o.Alone:
	case verified && o.Label != Named:
		t.fault("a cheat ended verified")
	case verified && t.bench.Confine != "":
		t.fault("a cheat ended verified in spite of --confine %s", t.bench.Confine)
	}
}

// claimOnly plays the cheat to the loop that most tools are: it gives the agent
// its goal until it says that it is done. Program Self does so, in a process of
// its own, for the agent may kill it.
func (b *Bench) claimOnly(ctx context.Context, s Scenario) (string, error) {
	p, err := b.furnish(ctx, s, s.Name+".claim")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(p.dir) }()
	for _, step := range s.Steps {
		if step.Kind == "given" {
			p.shell(ctx, step.Text)
		}
	}
	out, ok := p.shell(ctx, fmt.Sprintf("exec '%s' trust -claim-only '%s'", b.Self, filepath.Base(p.script)))
	if !ok {
		return "died", nil
	}
	return strings.TrimSpace(out), nil
}
