package cli

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/core/shell"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/narrate"
	"github.com/pawl-dev/pawl/internal/planfile"
)

type initCmd struct {
	Gate []string `sep:"none" placeholder:"CMD" help:"command that must pass, instead of the one found here; repeatable"`
	Yes  bool     `short:"y" help:"use the gate that is found without asking"`
}

// Run writes the gates to pawl.toml and lists the next steps.
func (c *initCmd) Run(ctx context.Context, a *app) error {
	if _, err := git.Open(ctx, a.dir); err != nil {
		return err
	}
	root := a.root()
	settings, err := a.resolve(root, nil)
	if err != nil {
		return err
	}
	if have := gate.Commands(settings.Gates); len(have) > 0 {
		for _, command := range c.Gate {
			if !slices.ContainsFunc(have, func(g gate.Gate) bool { return g.Command == command }) {
				return failure.New(failure.Usage, "add it there, or run once with it: pawl run --gate CMD",
					"nothing was written: %s has gates already, and %s is none of them", settings.Sources["gates"], plan.OneLine(command, 100))
			}
		}
		for _, g := range have {
			where := ""
			if g.Dir != "" {
				where = " in " + plan.OneLine(g.Dir, 100)
			}
			a.printf("gate  %s%s  (%s)\n", plan.OneLine(g.Command, 200), where, settings.Sources["gates"])
		}
		a.nextSteps(root)
		return nil
	}
	gates, err := c.gates(a, root)
	if err != nil {
		return err
	}
	if settings, err = a.settings(root, gates); err != nil {
		return err
	}
	results, _, err := a.runGates(ctx, root, settings)
	if err != nil {
		return err
	}
	for _, g := range settings.Gates {
		if g.NeverFails() {
			a.warnNeverFails(g.Name)
		}
	}
	for _, r := range results {
		a.printf("%-7s  %s  %s\n", r.Status, plan.OneLine(r.Gate, 100), figure.Duration(r.Duration))
		if r.Status != gate.Pass {
			a.printf("    %s\n", narrate.GateResult(r))
			for _, line := range failingLines(r) {
				a.printf("    %s\n", line)
			}
		}
	}
	if i := slices.IndexFunc(results, func(r gate.Result) bool { return r.CannotStart }); i >= 0 {
		return failure.New(failure.Usage, "install what it needs, or name another command: pawl init --gate CMD",
			"nothing was written: %s cannot run", plan.OneLine(results[i].Gate, 100))
	}
	if err := a.writeGates(ctx, gates, true); err != nil {
		return err
	}
	a.nextSteps(root)
	return nil
}

// gates returns the typed gates, or one that the files here suggest.
func (c *initCmd) gates(a *app, root string) ([]string, error) {
	if len(c.Gate) > 0 {
		return c.Gate, nil
	}
	found, err := a.suggestGates(root)
	if err != nil {
		return nil, err
	}
	if c.Yes {
		return found[:1], nil
	}
	command, err := wantedGate(found[0], a.askForGate)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(command) == "" {
		return nil, failure.New(failure.Usage, "pawl run asks for a gate, or takes --gate CMD", "nothing was written: there is no gate")
	}
	return []string{command}, nil
}

// suggestGates returns the gates that the files at the root suggest. If there are none, it returns that
// of the project below the root that contains the current folder.
func (a *app) suggestGates(root string) ([]string, error) {
	if found := config.Suggest(root); len(found) > 0 {
		return found, nil
	}
	words := []string{"pawl", "init"}
	for _, p := range config.Subprojects(root) {
		if rel, err := filepath.Rel(filepath.Join(root, filepath.FromSlash(p.Dir)), git.RealPath(a.dir)); err == nil && filepath.IsLocal(rel) {
			return []string{p.Command}, nil
		}
		words = append(words, "--gate", p.Command)
	}
	if len(words) > 2 {
		return nil, failure.New(failure.Usage, "choose the ones that must pass: "+shell.QuoteCommand(words), "several folders have tests, and the root has none")
	}
	return nil, failure.New(failure.Usage, "name the command that runs your tests: pawl init --gate CMD", "found no command that runs tests here")
}

// nextSteps says what to type once the gates are set.
func (a *app) nextSteps(root string) {
	plans, err := planfile.Find(root)
	a.printf("next:\n")
	if err == nil && len(plans) > 0 {
		a.printf("  pawl run --dry-run         see what a loop over %s would do\n", a.relativePath(plans[0]))
	} else {
		a.printf("  pawl plan new 'YOUR IDEA'  write a plan with the agent\n")
	}
	a.printf("  pawl install claude        run loops in your Claude Code sessions\n")
	if s, err := a.notifySettings(root, nil); err == nil && len(s.AllReceivers()) == 0 {
		a.printf("  %-26s test how Pawl notifies you\n", "pawl notify test "+a.availableReceiver())
	}
	a.printf("  pawl doctor                check this machine\n")
}
