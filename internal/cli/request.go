package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/foreign/ralphloop"
	"github.com/pawl-dev/pawl/internal/foreign/verifyactive"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/hook"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/statefile"
)

// wish is a request that was understood.
type wish struct {
	launch.SessionRequest
	ready  func(*launch.SessionLoop) error // before the loop lives in the session; may be nil
	remark string                          // for the user, where it begins
}

// understand finds out what a request asks for. It is nil where there is nothing
// to begin; the message says why, if that is for the user.
func (a *app) understand(ctx context.Context, r hook.BeginRequest) (_ *wish, message string, err error) {
	var w wish
	w.Request = launch.Request{Dir: cmp.Or(r.Dir, r.Root, a.dir), Flags: map[string]any{}, Env: a.env}
	w.Project = cmp.Or(r.Root, w.Dir)
	w.Session = launch.UserSession{Session: r.Session, Client: r.Client, Prompt: r.PromptID, Unattended: r.Unattended, Responder: r.Responder}
	if r.Adopt != "" {
		ok, why, err := w.adopt(ctx, r, a)
		if !ok {
			return nil, why, err
		}
		return &w, "", nil
	}
	if r.Command == "verify-prompt" {
		found, err := w.asked(r.Args)
		if err != nil || !found {
			return nil, "", err
		}
		return &w, "", nil
	}
	args, err := ralphloop.ParseArgs(r.Args)
	switch {
	case r.Command == "verify" && errors.Is(err, ralphloop.ErrNoPrompt):
		return nil, "", failure.New(failure.Usage, "/pawl:verify go test ./...", "no command was given")
	case err != nil:
		return nil, "", err
	case args.Help:
		return nil, beginUsage(r.Command), nil
	}
	w.typed(args)
	switch r.Command {
	case "loop":
		if args.Prompt != "" {
			w.Words = []string{args.Prompt}
		}
		err = w.adoptNamed(ctx, a)
	case "verify":
		w.verifies(args)
	case "ralph-loop":
		err = w.ralph(ctx, args, a.env.Home)
	default:
		err = failure.New(failure.Usage, "", "there is no command %q to begin a loop with", r.Command)
	}
	return &w, "", err
}

// typed takes over the flags.
func (w *wish) typed(args ralphloop.Args) {
	if args.MaxGiven {
		w.Flags["max_iterations"] = args.MaxIterations
	}
	if args.MaxDuration > 0 {
		w.Flags["max_duration"] = args.MaxDuration
	}
	if args.Promise != "" {
		w.Flags["promise"] = args.Promise
	}
	if len(args.Gates) > 0 {
		w.Flags["gates"] = args.Gates
	}
	if len(args.Reviews) > 0 {
		w.Flags["review"] = args.Reviews
	}
	if len(args.Approve) > 0 {
		w.Flags["approve"] = args.Approve
	}
	if args.Evidence != "" {
		w.Flags["evidence"] = []string{args.Evidence}
	}
	if args.Kind != "" {
		w.Flags["kind"] = args.Kind
	}
	if args.Every > 0 {
		w.Flags["every"] = args.Every
	}
	verify := map[string]any{}
	if args.Tries > 0 {
		verify["tries"] = args.Tries
	}
	if args.Isolate != nil {
		verify["isolate"] = *args.Isolate
	}
	if len(verify) > 0 {
		w.Flags["verify"] = verify
	}
	w.Verify, w.Commit, w.Handover = args.Verify, args.Commit, args.Handover
	w.Session.Unattended = w.Session.Unattended || args.Unattended
}

// asked understands a prompt in which the user asks for a verify loop.
func (w *wish) asked(prompt string) (found bool, err error) {
	p, found, err := verifyactive.ParsePrompt(prompt)
	if !found || err != nil {
		return found, err
	}
	w.Text, w.Verify, w.VerifyTimeout = p.Goal, p.Command, p.Timeout
	w.Flags["max_iterations"] = p.Max
	return true, nil
}

// verifies: the words are the command that is to succeed, unless one was named.
func (w *wish) verifies(args ralphloop.Args) {
	switch {
	case args.Verify == "" && len(args.Gates) == 0:
		w.Verify = args.Prompt
	default:
		w.Text, w.VerifyGates = args.Prompt, true
	}
}

// ralph begins a loop as the ralph-loop plugin does, with a file of its format.
func (w *wish) ralph(ctx context.Context, args ralphloop.Args, home string) error {
	if statefile.RalphPlugin(w.Project, home) {
		return failure.New(failure.Usage, "disable it:  claude plugin disable ralph-loop;  or use /pawl:loop, which writes no file of its kind",
			"the original plugin is enabled, and would judge the same %s", ralphloop.Path)
	}
	w.Text = args.Prompt
	w.File = filepath.Join(w.Project, filepath.FromSlash(ralphloop.Path))
	tracked, err := git.Tracks(ctx, w.Project, ralphloop.Path)
	if err != nil {
		return err
	}
	if tracked {
		return failure.New(failure.Usage, "git rm --cached "+ralphloop.Path, "git tracks %s", ralphloop.Path)
	}
	w.ready = func(begun *launch.SessionLoop) error {
		f, err := ralphloop.New(ralphloop.Options{
			SessionID: w.Session.Session, MaxIterations: begun.Spec.Policy.Limits.Iterations, Promise: args.Promise,
			StartedAt: time.Now(), Prompt: begun.Spec.Prompt,
		})
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(w.File), 0o755); err != nil {
			return fmt.Errorf("write %s: %w", ralphloop.Path, err)
		}
		if err := atomicfile.Write(w.File, f.Bytes(), 0o644); err != nil {
			return fmt.Errorf("write %s: %w", ralphloop.Path, err)
		}
		return nil
	}
	return nil
}

// beginUsage is what a command says to --help.
func beginUsage(command string) string {
	what := map[string]string{"loop": "GOAL", "verify": "COMMAND", "ralph-loop": "PROMPT"}[command]
	return fmt.Sprintf("usage: /pawl:%s %s [--gate COMMAND]… [--max-iterations N] [--max-duration 2h] [--completion-promise TEXT]\n"+
		"  [--kind answer|explore|periodic] [--every 5m] [--handover] [--tries N] [--isolate=false]\n"+
		"Without a limit there are %d iterations; 0 = unlimited.", command, what, launch.DefaultIterations)
}
