package launch

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
	"github.com/pawl-dev/pawl/internal/session"
	"github.com/pawl-dev/pawl/internal/statefile"
)

// ReadBeginRequest returns the loop that a hook's request asks for, nil if there is none to begin. The
// message for the user says why. q has the current folder and the environment.
func ReadBeginRequest(ctx context.Context, q Request, r session.BeginRequest) (_ *SessionRequest, message string, err error) {
	w := SessionRequest{Request: q}
	w.Dir, w.Flags = cmp.Or(r.Dir, r.Root, q.Dir), map[string]any{}
	w.Project = cmp.Or(r.Root, w.Dir)
	w.Session = UserSession{Session: r.Session, Client: r.Client, Prompt: r.PromptID, Unattended: r.Unattended, Responder: r.Responder}
	if r.Adopt != "" {
		ok, why, err := w.adopt(ctx, r)
		if !ok {
			return nil, why, err
		}
		return &w, "", nil
	}
	if r.Command == "verify-prompt" {
		p, found, err := verifyactive.ParsePrompt(r.Args)
		if err != nil || !found {
			return nil, "", err
		}
		w.Text, w.Verify, w.VerifyTimeout = p.Goal, p.Command, p.Timeout
		w.Flags["max_iterations"] = p.Max
		return &w, "", nil
	}
	args, err := ralphloop.ParseArgs(r.Args)
	switch {
	case r.Command == "verify" && errors.Is(err, ralphloop.ErrNoPrompt):
		return nil, "", failure.New(failure.Usage, "/pawl:verify go test ./...", "no command was given")
	case err != nil:
		return nil, "", err
	case args.Help:
		what := map[string]string{"loop": "GOAL", "verify": "COMMAND", "ralph-loop": "PROMPT"}[r.Command]
		return nil, fmt.Sprintf("usage: /pawl:%s %s [--gate COMMAND]… [--max-iterations N] [--max-duration 2h] [--completion-promise TEXT]\n"+
			"  [--kind answer|explore|periodic] [--every 5m] [--handover] [--tries N] [--isolate=false]\n"+
			"Without a limit there are %d iterations; 0 = unlimited.", r.Command, what, DefaultIterations), nil
	}
	w.setOptions(args)
	switch r.Command {
	case "loop":
		if args.Prompt != "" {
			w.Words = []string{args.Prompt}
		}
		err = w.AdoptNamed(ctx)
	case "verify":
		if args.Verify == "" && len(args.Gates) == 0 { // the words are the command that must succeed
			w.Verify = args.Prompt
		} else {
			w.Text, w.VerifyGates = args.Prompt, true
		}
	case "ralph-loop":
		err = w.setRalphLoop(ctx, args)
	default:
		err = failure.New(failure.Usage, "", "there is no command %q to start a loop with", r.Command)
	}
	return &w, "", err
}

// setOptions sets the typed options.
func (q *SessionRequest) setOptions(args ralphloop.Args) {
	q.setFlag("max_iterations", args.MaxIterations, args.MaxGiven)
	q.setFlag("max_duration", args.MaxDuration, args.MaxDuration > 0)
	q.setFlag("promise", args.Promise, args.Promise != "")
	q.setFlag("gates", args.Gates, len(args.Gates) > 0)
	q.setFlag("review", args.Reviews, len(args.Reviews) > 0)
	q.setFlag("approve", args.Approve, len(args.Approve) > 0)
	q.setFlag("evidence", []string{args.Evidence}, args.Evidence != "")
	q.setFlag("kind", args.Kind, args.Kind != "")
	q.setFlag("every", args.Every, args.Every > 0)
	verify := map[string]any{}
	if args.Tries > 0 {
		verify["tries"] = args.Tries
	}
	if args.Isolate != nil {
		verify["isolate"] = *args.Isolate
	}
	q.setFlag("verify", verify, len(verify) > 0)
	q.Verify, q.Commit, q.Handover = args.Verify, args.Commit, args.Handover
	q.Session.Unattended = q.Session.Unattended || args.Unattended
}

// setFlag sets an option that is given, unless the user typed it.
func (q *Request) setFlag(key string, value any, given bool) {
	if _, typed := q.Flags[key]; given && !typed {
		q.Flags[key] = value
	}
}

// setRalphLoop starts a loop as the ralph-loop plugin does, with a file of its format.
func (q *SessionRequest) setRalphLoop(ctx context.Context, args ralphloop.Args) error {
	if statefile.IsRalphPluginEnabled(q.Project, q.Env.ClientConfig()) {
		return failure.New(failure.Usage, "disable it:  claude plugin disable ralph-loop;  or use /pawl:loop, which writes no file of its kind",
			"the original plugin is enabled and would check the same %s", ralphloop.Path)
	}
	q.Text = args.Prompt
	q.File = filepath.Join(q.Project, filepath.FromSlash(ralphloop.Path))
	tracked, err := git.Tracks(ctx, q.Project, ralphloop.Path)
	if err != nil {
		return err
	}
	if tracked {
		return failure.New(failure.Usage, "git rm --cached "+ralphloop.Path, "git tracks %s", ralphloop.Path)
	}
	q.OnReady = func(begun *SessionLoop) error {
		f, err := ralphloop.New(ralphloop.Options{
			SessionID: q.Session.Session, MaxIterations: begun.Spec.Policy.Limits.Iterations, Promise: args.Promise,
			StartedAt: time.Now(), Prompt: begun.Spec.Prompt,
		})
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(q.File), 0o755); err != nil {
			return fmt.Errorf("write %s: %w", ralphloop.Path, err)
		}
		if err := atomicfile.Write(q.File, f.Bytes(), 0o644); err != nil {
			return fmt.Errorf("write %s: %w", ralphloop.Path, err)
		}
		return nil
	}
	return nil
}
