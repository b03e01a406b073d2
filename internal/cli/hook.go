package cli

import (
	"context"
	"os"
	"slices"
	"time"

	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/hook"
	"github.com/pawl-dev/pawl/internal/term"
	"github.com/pawl-dev/pawl/internal/version"
)

// hookCmd is pawl-hook inside this program, for machines with only this file. pawl-hook starts faster,
// and runs this command if it must.
type hookCmd struct {
	Args []string `arg:"" optional:"" placeholder:"AGENT" help:"the agent that calls: claude"`
}

// Run answers one event.
func (c *hookCmd) Run(a *app) error {
	parent := os.Getppid()
	code := hook.Run(context.Background(), hook.Call{
		Args: c.Args, In: a.In, Out: a.Out, Err: a.Err, Env: a.env, Tool: []string{a.self},
		Parent: parent, Version: version.String(), Untracked: untracked, IsOrphaned: func() bool { return os.Getppid() != parent },
	})
	if slices.Contains(c.Args, "--wake") {
		return exitError(code) // the agent is told what is on standard error
	}
	if err := a.startDaemon(a.env.Session.ID); err != nil {
		term.Warnf(a.Err, "hooks run slowly: %v", err)
	}
	return exitError(code)
}

// untrackedTimeout is how long git may take during a tool call.
const untrackedTimeout = 3 * time.Second

// untracked returns the untracked files below a folder. Git runs no program of the repository for it.
func untracked(root, dir string) ([]string, bool) {
	ctx, cancel := context.WithTimeout(context.Background(), untrackedTimeout)
	defer cancel()
	repo, err := git.Open(ctx, root)
	if err == nil {
		repo, err = repo.Inert(ctx)
	}
	if err != nil {
		return nil, false
	}
	files, err := repo.UntrackedBelow(ctx, dir)
	return files, err == nil
}
