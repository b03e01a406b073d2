package cli

import (
	"context"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/watch"
)

type watchCmd struct {
	Loop  string `arg:"" optional:"" placeholder:"LOOP" help:"the loop to open; default: the overview"`
	All   bool   `help:"show the loops of every repository; default: this one, all its worktrees"`
	Plain bool   `help:"print lines instead of a screen, each event as it happens; the default with TERM=dumb"`
}

// Run shows the screen.
func (c *watchCmd) Run(ctx context.Context, a *app) error {
	show := watch.Run
	switch {
	case c.Plain:
		show = watch.Plain
	case !isTerminal(a.Out) || !isTerminal(a.In):
		return failure.New(failure.Usage, "pawl watch --plain prints lines instead; pawl list prints once", "pawl watch needs a terminal")
	case a.env.Dumb:
		show = watch.Plain
	}
	o := watch.Options{In: a.In, Out: a.Out, Env: a.env.Vars, ASCII: a.env.ASCII}
	if c.Loop != "" {
		s, err := a.find(c.Loop)
		if err != nil {
			return err
		}
		o.ID = s.ID
	}
	return show(ctx, loopinfo.NewScreen(ctx, a.displayOptions(c.All)), o)
}

// displayOptions returns the options for the loops of this repository, or of all.
func (a *app) displayOptions(all bool) loopinfo.Options {
	return loopinfo.Options{Store: a.store, Root: a.root(), All: all, Env: a.env, Program: a.self, Dir: a.dir}
}
