package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl/internal/demo"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
	"github.com/pawl-dev/pawl/internal/term"
)

// demoCmd is `pawl demo`: `pawl run` in a repository made for it.
type demoCmd struct {
	Agent        string  `default:"scripted" placeholder:"NAME" help:"scripted (no model, no network) or claude (your client, at most $2)"`
	AgentCommand *string `placeholder:"PATH" help:"the agent's program"`
	Model        *string `placeholder:"M" help:"the agent's model"`
	JSON         bool    `name:"json" help:"print one JSON event per line (docs/reference/events.schema.json)"`
	Quiet        bool    `short:"q" help:"print only the final summary"`
}

// scriptedAgent is the name of the agent that follows a script.
const scriptedAgent = "scripted"

// Run makes the demo's repository and runs its plan.
func (c *demoCmd) Run(a *app) error {
	if c.Agent == scriptedAgent && (c.AgentCommand != nil || c.Model != nil) {
		return failure.New(failure.Usage, "add --agent claude", "the scripted agent has neither a program nor a model")
	}
	ctx := a.untilSignal()
	place, err := demo.Make(ctx, "", a.env.Vars)
	if err != nil {
		return err
	}
	// The loop is stored where all loops are, so that the commands on the screen work.
	d, err := c.begin(ctx, a.env, place)
	if err != nil {
		return errors.Join(err, os.RemoveAll(place.Dir))
	}
	talk := a.Out
	if c.JSON {
		talk = a.Err // what is not an event
	}
	if !c.Quiet {
		c.introduce(talk, place)
	}
	kept := d.Loop
	if err := a.runLoop(d, driveOptions{mode: term.ModeFor(a.Out, c.JSON, c.Quiet, a.env.Dumb)}); err != nil {
		fmt.Fprintf(talk, "\nThe demo's repository is kept: %s\n", place.Repo)
		return err
	}
	return c.conclude(a, talk, place, kept)
}

// begin begins the loop as `pawl run` with these flags would.
func (c *demoCmd) begin(ctx context.Context, env environment.Environment, p demo.Place) (*launch.Driver, error) {
	flags := map[string]any{"agent": c.Agent, "gates": []string{demo.Gate}, "protect": []string{demo.Protected}}
	if c.Agent == scriptedAgent {
		flags["agent_command"] = p.Script
		env.ConfigHome = p.Config // the script fits the defaults
	} else {
		flags["max_cost"], flags["max_iterations"] = "2", "12"
	}
	if c.AgentCommand != nil {
		flags["agent_command"] = *c.AgentCommand
	}
	if c.Model != nil {
		flags["model"] = *c.Model
	}
	prepared, err := launch.Prepare(ctx, launch.Request{Dir: p.Repo, Words: []string{demo.Plan}, Flags: flags, Env: env})
	if err != nil {
		return nil, err
	}
	return prepared.Begin(ctx)
}

// introduce says which parts of the demo are real.
func (c *demoCmd) introduce(out io.Writer, p demo.Place) {
	if c.Agent == scriptedAgent {
		fmt.Fprintln(out, "The agent of this demo is a script, not a model; its figures are made up.")
		fmt.Fprintln(out, "Everything else is real: the repository, the tests, the checks, the commits.")
	} else {
		fmt.Fprintf(out, "This demo runs your own %s on a small repository, for at most $2.\n", c.Agent)
	}
	fmt.Fprintf(out, "\n  cd %s\n  pawl run %s --gate '%s' --protect %s\n\n", p.Repo, demo.Plan, demo.Gate, demo.Protected)
}

// conclude says what was caught and what to type next.
func (c *demoCmd) conclude(a *app, out io.Writer, p demo.Place, l *store.Loop) error {
	catches, err := demo.ReadCatches(l.Records(journal.Mark{}))
	if err != nil {
		return err
	}
	if len(catches) > 0 {
		fmt.Fprintf(out, "\nWhat went wrong on the way, and was caught (from the loop's journal):\n\n")
	}
	for _, k := range catches {
		fmt.Fprintf(out, "  iteration %d  %s\n               → %s\n", k.Iteration, term.Clean(k.What), k.Then)
	}
	fmt.Fprintf(out, "\nThe repository is kept. Look around:\n\n  cd %s\n"+
		"  git log --stat main..HEAD    one commit for each task, with its evidence\n"+
		"  pawl report                  what was done, and what proves it\n"+
		"  pawl log                     every step\n", p.Repo)
	if c.Agent == scriptedAgent {
		fmt.Fprintf(out, "  %-27s  the part that the agent played\n", filepath.Join("..", filepath.Base(p.Script)))
		if err := demo.CheckAllCaught(catches); err != nil {
			return err
		}
		fmt.Fprintf(out, "\nThe same with a real model:   pawl demo --agent claude\n")
	}
	fmt.Fprintf(out, "In a repository of your own:  pawl run \"what you want\" --gate 'your tests'\n")
	fmt.Fprint(out, installFirst(a.self))
	return nil
}

// installFirst says how to install the pawl command if the shell does not find it, "" if it does. It
// does not after `go run ./cmd/pawl demo`. After `npx pawl demo`, only programs that npx starts find
// it.
func installFirst(program string) string {
	const without = "\nYour shell does not find pawl yet. "
	path, err := exec.LookPath("pawl")
	switch {
	case err == nil && strings.HasSuffix(filepath.ToSlash(filepath.Dir(path)), "node_modules/.bin"):
		return without + "To install it:\n\n  npm install --global pawl\n"
	case err == nil:
		return ""
	case strings.Contains(filepath.ToSlash(program), "/go-build"):
		return without + "In the folder of Pawl's source:\n\n" +
			"  go install ./cmd/pawl ./cmd/pawl-hook\n" +
			"  export PATH=\"$PATH:$(go env GOPATH)/bin\"\n"
	}
	return without + "It is there after:\n\n  export PATH=\"$PATH:" + filepath.Dir(program) + "\"\n"
}
