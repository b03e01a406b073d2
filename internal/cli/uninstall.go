package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/install"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/term"
)

// uninstallCmd is `pawl uninstall`. It removes Pawl from the client.
type uninstallCmd struct {
	Agent   string `arg:"" enum:"claude,service" help:"claude or service"`
	Scope   string `enum:"all,user,project,local,plugin" default:"all" placeholder:"SCOPE" help:"all, user, project, local or plugin"`
	DryRun  bool   `help:"show what would change; change nothing"`
	Verbose bool   `help:"with --dry-run, show each changed line"`
	Yes     bool   `short:"y" help:"remove from all places without asking"`
}

// removal is a settings file from which to remove Pawl.
type removal struct {
	request install.Request
	name    string // the path relative to the current folder
	result  install.Result
}

// Run removes the hooks and prints the result for each place.
func (c *uninstallCmd) Run(ctx context.Context, a *app) error {
	if c.Agent == serviceName {
		return a.uninstallService(c.DryRun)
	}
	removals, err := c.removals(a)
	if err != nil {
		return err
	}
	_, missing := os.Stat(filepath.Join(a.env.PawlHome, "plugin")) // where Pawl writes the plugin that the client reads
	plugin := c.Scope == pluginScope || c.Scope == "all" && missing == nil
	if len(removals) == 0 && !plugin {
		places := "your settings, nor in those of this project, and the plugin is not installed"
		args := settingsArgs{Scope: c.Scope}
		if r, err := args.request(a); err == nil {
			places = a.displayPath(r.Path)
		}
		a.printf("nothing to remove: Pawl is not in %s\n", places)
		return nil
	}
	if err := c.consent(a, removals, plugin); err != nil {
		return err
	}
	a.warnOfSessionLoops()
	for _, r := range removals {
		if err := c.remove(a, r); err != nil {
			return err
		}
	}
	if plugin {
		return a.uninstallPlugin(ctx, c.DryRun)
	}
	return nil
}

// warnOfSessionLoops names the loops in sessions, because the removed hooks drive them.
func (a *app) warnOfSessionLoops() {
	listed, err := a.listed()
	if err != nil {
		return // pawl list says why
	}
	for _, l := range listed {
		if sum := loopinfo.CurrentSummary(l); sum.InSession && sum.State != "ended" {
			term.Warnf(a.Err, "loop %s runs in a session: it stops there unless the hooks are also installed elsewhere", sum.ID)
			term.Hintf(a.Err, "pawl handover %s continues in fresh sessions; pawl stop %[1]s ends it", sum.ID)
		}
	}
}

// removals returns the settings files of the scope that mention Pawl. The local one comes first,
// because the project's installation made their folder. In the home folder, the project's settings are
// the user's.
func (c *uninstallCmd) removals(a *app) ([]removal, error) {
	var out []removal
	for _, scope := range []install.Scope{install.Local, install.Project, install.User} {
		if c.Scope != "all" && c.Scope != string(scope) {
			continue
		}
		args := settingsArgs{Agent: c.Agent, Scope: string(scope), DryRun: true}
		r, err := args.request(a)
		if c.Scope == "all" && (err != nil || scope != install.User && isSameFile(a.root(), a.env.Home)) {
			continue
		}
		if err != nil {
			return nil, err
		}
		result, err := install.Uninstall(r)
		if err != nil {
			return nil, err
		}
		if result.Changed() {
			out = append(out, removal{request: r, name: a.displayPath(r.Path), result: result})
		}
	}
	return out, nil
}

// consent asks the user if Pawl is in several places and no scope was named.
func (c *uninstallCmd) consent(a *app, removals []removal, plugin bool) error {
	var places []string
	for _, r := range removals {
		places = append(places, r.name)
	}
	if plugin {
		places = append(places, "the client's plugins")
	}
	if c.Yes || c.DryRun || len(places) == 1 {
		return nil
	}
	const byScope = "--yes removes it from all of them; --scope chooses one"
	all := strings.Join(places, ", ")
	agreed, err := a.confirm(confirmation{
		text: fmt.Sprintf("remove Pawl from %s?", all), enter: true, instead: byScope, nobody: "Pawl is in several places: " + all,
	})
	if err == nil && !agreed {
		err = failure.New(failure.Usage, "--scope names one of them", "nothing was changed")
	}
	return err
}

// remove removes Pawl from one settings file.
func (c *uninstallCmd) remove(a *app, r removal) error {
	switch {
	case c.DryRun && c.Verbose:
		a.print(term.CleanText(r.result.Diff(r.name)))
		return nil
	case c.DryRun:
		a.printf("would remove Pawl from %s (--verbose shows each line)\n", r.name)
		return nil
	}
	r.request.DryRun = false
	result, err := install.Uninstall(r.request)
	if err != nil {
		return err
	}
	if result.After == nil {
		a.printf("removed Pawl and %s, which the installation had created\n", r.name)
	} else {
		a.printf("removed Pawl from %s\n", r.name)
	}
	return nil
}
