package runner

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
)

// candidate is the tree that the gates run on, and that is committed if they pass.
type candidate struct {
	tree           string
	head           string   // commit that HEAD was at, "" if nothing is committed
	message        string   // commit message, as the user's hooks left it
	changedByHooks []string // files that the user's hooks changed
	logDir         string   // for the output of gates
}

// prepareCandidate squashes the agent's commits, takes the tree, and runs the user's commit
// hooks. A refusal by a hook counts as a failed gate.
func (r *Runner) prepareCandidate(ctx context.Context, a loop.RunGates, m memory.ActionContext) (c candidate, refusal *loop.Gates, err error) {
	commits := a.Purpose == loop.ForClaim && !r.Spec.NoCommit
	if commits && !r.keepsAgentCommits() {
		noted, err := r.squash(ctx, m, m.Base)
		if err != nil {
			return c, nil, fmt.Errorf("squash the agent's commits: %w", err)
		}
		r.enqueue(ctx, noted)
	}
	if commits {
		back, text, err := r.switchBack(ctx, m)
		if err != nil {
			return c, nil, err
		}
		if text != "" {
			r.enqueueNote(ctx, loop.Warning, text)
		}
		c.head = back.Head
	}
	if c.tree, err = r.currentTree(ctx); err != nil {
		return c, nil, fmt.Errorf("take the tree to check: %w", err)
	}
	if !commits {
		return c, nil, nil
	}
	if op, began := r.Repo.Operation(); op != "" { // in a user's tree Pawl does not end it
		if byUser, err := r.authors.MadeByUser(m, began); err != nil || byUser {
			return c, nil, cmp.Or(err, error(needsUser{failure.New(failure.Usage, "finish it or abort it, then  pawl resume "+r.Loop.ID, "your git %s is unfinished: nothing can be committed", op)}))
		}
		return c, &loop.Gates{Tree: c.tree, Status: gate.Fail, Reason: "a git " + op + " is unfinished: finish it, then commits are possible"}, nil
	}
	own, err := r.withoutUserFiles(ctx, c.tree, m.Base.Commit, m.NewFiles)
	if err != nil {
		return c, nil, err
	}
	began := time.Now()
	hooks, err := r.Repo.RunHooks(ctx, git.HookRequest{Tree: own, Message: r.commitMessage(m.Tasks, a.Claimed)})
	if hooks.Ran { // files that hooks write belong to the work
		err = cmp.Or(err, r.authors.RecordHooks(began))
	}
	if err != nil {
		return c, nil, fmt.Errorf("run the commit hooks: %w", err)
	}
	if hooks.RefusesMessage() {
		return c, nil, r.messageRefusedError(hooks)
	}
	if hooks.Failed != "" {
		if err := r.noteHookRefusal(hooks, a.Claimed); err != nil {
			return c, nil, err
		}
		return c, &loop.Gates{
			Tree: c.tree, Status: gate.Fail, Reason: hookRefusalText(hooks),
			Failures: loop.Failures{FirstError: tail(hooks.Output, maxResultTail), Fingerprint: gate.Fingerprint(c.tree, []gate.Result{{Gate: hooks.Failed, Status: gate.Fail, Tail: hooks.Output}})},
		}, nil
	}
	r.hookRefusal = hookRefusal{}
	c.message = hooks.Message
	if hooks.Ran {
		err = r.addHookChanges(ctx, &c)
	}
	return c, nil, err
}

// checkCommitMessage runs the user's hooks on the message of a task's commit before the agent
// works on the task, since the agent could not change the message.
func (r *Runner) checkCommitMessage(ctx context.Context, task string, m memory.ActionContext) error {
	message := r.commitMessage(m.Tasks, []string{task})
	if r.Spec.NoCommit || message == r.acceptedMessage {
		return nil
	}
	hooks, err := r.Repo.RunHooks(ctx, git.HookRequest{Tree: "HEAD", Message: message, MessageOnly: true})
	if err != nil {
		return err
	}
	if hooks.RefusesMessage() {
		return r.messageRefusedError(hooks)
	}
	r.acceptedMessage = message
	return nil
}

// messageRefusedError returns the error that ends the loop: only the user can change the form of the
// message.
func (r *Runner) messageRefusedError(hooks git.HookResult) error {
	hint := "set another form in pawl.toml, such as  commit_message = \"JIRA-12 {title}\"  (docs/how-to/teams-and-ci.md), or change the hook; then  pawl resume " + r.Loop.ID
	if r.Spec.MessageFromCLI {
		hint = "run again with another --commit-message, or change the hook; then  pawl resume " + r.Loop.ID
	}
	return failure.New(failure.Error, hint, "%s (message: %q)", hookRefusalText(hooks), hooks.Message)
}

// hookRefusal is a hook's last refusal to commit, unless a commit was accepted since.
type hookRefusal struct{ tasks, hook, output string }

// noteHookRefusal returns the error that ends the loop if a hook refused another task's work with the
// same output, and accepted none between: what the hook lacks, no agent's work can give it, and each
// task would try in vain. A timeout tells nothing of the kind: the machine may be busy.
func (r *Runner) noteHookRefusal(hooks git.HookResult, claimed []string) error {
	before, now := r.hookRefusal, hookRefusal{strings.Join(claimed, " "), hooks.Failed, hooks.Output}
	r.hookRefusal = now
	if hooks.TimedOut || before.hook != now.hook || before.output != now.output || before.tasks == now.tasks {
		return nil
	}
	text := strings.Replace(hookRefusalText(hooks), "refused the commit", "refuses the commits of all tasks", 1)
	return failure.New(failure.Error, "fix the hook, or what it needs; then  pawl resume "+r.Loop.ID, "%s", text)
}

// addHookChanges sets the tree as the user's hooks left it, and the files that they changed.
func (r *Runner) addHookChanges(ctx context.Context, at *candidate) error {
	before := at.tree
	var err error
	if at.tree, _, err = r.Repo.Resnapshot(ctx); err != nil {
		return fmt.Errorf("take the tree to check: %w", err)
	}
	changes, err := r.Repo.Diff(ctx, before, at.tree)
	if err != nil {
		return fmt.Errorf("find what the commit hooks changed: %w", err)
	}
	for _, c := range changes {
		at.changedByHooks = append(at.changedByHooks, c.Path)
	}
	return nil
}

// noteHookChanges adds to failed gates that the user's hooks changed files before: the gates may
// have passed when the agent ran them.
func (r *Runner) noteHookChanges(ctx context.Context, at candidate, g *loop.Gates) {
	if g.Green || len(at.changedByHooks) == 0 {
		return
	}
	text := "a commit hook changed " + plan.Few(at.changedByHooks, 3) + " before the gates ran"
	g.Reason = truncate(g.Reason, maxReasonBytes) + "; " + text
	r.enqueueNote(ctx, loop.Warning, text)
}

// hookRefusalText says which of the user's hooks refused a commit, with its last line of output.
func hookRefusalText(hooks git.HookResult) string {
	text := "the " + hooks.Failed + " hook refused the commit"
	if hooks.RefusesMessage() {
		text = "the " + hooks.Failed + " hook refused the message that Pawl wrote for the commit"
	}
	if hooks.TimedOut {
		text = "the " + hooks.Failed + " hook timed out"
	}
	if output := strings.TrimSpace(hooks.Output); output != "" {
		text += ": " + plan.OneLine(output[strings.LastIndexByte(output, '\n')+1:], 200)
	}
	return text
}
