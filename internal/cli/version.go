package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/version"
)

type versionCmd struct {
	Check bool `help:"ask for the newest release; no other command does"`
}

const (
	releases    = "https://github.com/pawl-dev/pawl" // the repository whose tags name the releases
	tagsTimeout = 30 * time.Second
)

// Run prints the version and, with --check, the newest one.
func (c versionCmd) Run(ctx context.Context, a *app) error {
	a.printf("pawl %s\n", version.String())
	if !c.Check {
		return nil
	}
	tags, err := releaseTags(ctx, a.env.Vars)
	if err != nil {
		return failure.New(failure.Error, "try again when you are online", "read the releases of %s: %w", releases, err)
	}
	newest, own := version.Newest(tags), version.Release()
	switch {
	case newest == "":
		a.printf("no release is published yet\n")
	case own == "":
		a.printf("the newest release is %s; this is a build of your own\n", newest)
	case version.IsNewer(newest, own):
		a.printf("%s is newer: upgrade with what installed Pawl (%s/releases)\n", newest, releases)
	default:
		a.printf("this is the newest release\n")
	}
	return nil
}

// releaseTags asks git for the tags of the releases. Git must not ask for a password.
func releaseTags(ctx context.Context, env []string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, tagsTimeout)
	defer cancel()
	var out, said bytes.Buffer
	exit := proc.Run(ctx, proc.Spec{
		Argv: []string{"git", "ls-remote", "--tags", "--refs", releases, "v*"}, Dir: os.TempDir(), // outside of any repository, whose settings would apply
		Env: append(slices.Clip(env), "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "LC_ALL=C"), Stdout: &out, Stderr: &said, Grace: time.Second,
	})
	switch {
	case exit.Cancelled && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, fmt.Errorf("no answer within %s", tagsTimeout)
	case exit.Cancelled:
		return nil, context.Canceled
	case exit.Err != nil:
		return nil, exit.Err
	case !exit.OK():
		return nil, fmt.Errorf("git: %s", plan.OneLine(said.String(), 200))
	}
	var tags []string
	for line := range strings.Lines(out.String()) {
		if _, ref, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			tags = append(tags, strings.TrimPrefix(ref, "refs/tags/"))
		}
	}
	return tags, nil
}
