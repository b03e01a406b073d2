package cli

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl/internal/install"
	"github.com/pawl-dev/pawl/internal/plugin"
	"github.com/pawl-dev/pawl/internal/term"
)

// pluginScope is the scope of an installation without a settings file.
const pluginScope = "plugin"

type pluginCmd struct {
	Export pluginExportCmd `cmd:"" help:"write the Claude Code plugin into a folder"`
}

type pluginExportCmd struct {
	Dir string `arg:"" help:"a new or empty folder, or an earlier export to update"`
}

// Run writes the plugin.
func (c *pluginExportCmd) Run(a *app) error {
	hook, p, err := a.ownPlugin()
	if err != nil {
		return err
	}
	changed, err := plugin.Export(c.Dir, p)
	if err != nil {
		return err
	}
	name := term.Clean(c.Dir)
	if !changed {
		a.printf("%s already holds the plugin pawl %s\n", name, p.Version)
		return nil
	}
	a.printf("the plugin pawl %s is in %s\n", p.Version, name)
	a.printf("  its hooks start %s\n", term.Clean(strings.Join(append([]string{hook.Command}, hook.Args...), " ")))
	setup := plugin.Setup{Plugin: p, Dir: a.abs(c.Dir)}
	for _, command := range setup.Commands() {
		a.printf("  %s\n", term.Clean(command))
	}
	return nil
}

// ownPlugin returns the plugin whose hooks start this Pawl.
func (a *app) ownPlugin() (plugin.Hook, plugin.Plugin, error) {
	command, args := a.hookCommand(install.User)
	hook := plugin.Hook{Command: command, Args: args, Tool: a.ownPath()}
	p, err := plugin.New(hook)
	return hook, p, err
}

// pluginSetup returns the plugin as pawl install adds it to the client. The client reads the plugin in
// its folder, so that folder is in Pawl's own.
func (a *app) pluginSetup(dry bool) (plugin.Setup, error) {
	_, p, err := a.ownPlugin()
	return plugin.Setup{
		Plugin: p, Dir: filepath.Join(a.env.PawlHome, "plugin"), Env: a.env.Vars, DryRun: dry,
	}, err
}

// installPlugin runs pawl install claude --scope plugin.
func (a *app) installPlugin(ctx context.Context, dry bool) error {
	s, err := a.pluginSetup(dry)
	if err != nil {
		return err
	}
	did, err := s.Install(ctx)
	a.printSteps(did, dry)
	switch err = cmp.Or(err, ctx.Err()); {
	case err != nil || dry:
	case did == nil:
		a.printf("the client already has the plugin pawl %s\n", s.Plugin.Version)
	default:
		a.printf("open sessions get the plugin with /reload-plugins\n")
	}
	return err
}

// uninstallPlugin removes the plugin from the client.
func (a *app) uninstallPlugin(ctx context.Context, dry bool) error {
	s, err := a.pluginSetup(dry)
	if err != nil {
		return err
	}
	did, err := s.Uninstall(ctx)
	a.printSteps(did, dry)
	if err = cmp.Or(err, ctx.Err()); err == nil && did == nil {
		a.printf("the client does not have the plugin from %s\n", term.Clean(s.Dir))
	}
	return err
}

// printSteps prints the steps that were done or would be done.
func (a *app) printSteps(did []string, dry bool) {
	word := "done:"
	if dry {
		word = "would:"
	}
	for _, step := range did {
		a.printf("%s %s\n", word, term.Clean(step))
	}
}
