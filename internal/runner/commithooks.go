package runner

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
)

// ready is what is to be judged, and committed if it passes.
type ready struct {
	tree    string
	head    string   // commit that HEAD was at, "" if nothing is committed
	message string   // as the user's hooks left it
	hooked  []string // files that the user's hooks changed
}

// readyToCommit makes what the agent did one change against the base, and asks
// the user's commit hooks, whose refusal is a gate's failure.
func (r *Runner) readyToCommit(ctx context.Context, a loop.Action, m memory.ActionContext) (at ready, refusal *loop.Gates, err error) {
	commits := a.Purpose == loop.ForClaim && !r.Spec.NoCommit
	if commits && !r.keepsOwn() {
		noted, err := r.squash(ctx, m.Base)
		if err != nil {
			return at, nil, fmt.Errorf("squash the agent's commits: %w", err)
		}
		r.inRun(ctx, noted)
	}
	if commits {
		back, words, err := r.switchBack(ctx, m.Base)
		if err != nil {
			return at, nil, err
		}
		if words != "" {
			r.noteLater(ctx, loop.Warning, words)
		}
		at.head = back.Head
	}
	if at.tree, err = r.treeNow(ctx); err != nil {
		return at, nil, fmt.Errorf("take the tree to judge: %w", err)
	}
	if !commits {
		return at, nil, nil
	}
	if op := r.Repo.Operation(); op != "" { // in a user's session nobody ends it for them
		return at, &loop.Gates{Tree: at.tree, Status: gate.Fail, Reason: "a git " + op + " is half-done: nothing can be committed before it is finished"}, nil
	}
	own, err := r.withoutForeign(ctx, at.tree, m.Base.Commit, m.NewFiles)
	if err != nil {
		return at, nil, err
	}
	began := time.Now()
	hooks, err := r.Repo.RunHooks(ctx, git.HookRequest{Tree: own, Message: r.commitMessage(m.Tasks, a.Tasks)})
	if hooks.Ran { // what they write belongs to the work
		err = cmp.Or(err, r.appendSpan(authorship.Call{At: began, Until: time.Now(), Hooks: true}))
	}
	if err != nil {
		return at, nil, fmt.Errorf("run the commit hooks: %w", err)
	}
	if hooks.RefusesMessage() {
		return at, nil, r.messageRefused(hooks)
	}
	if hooks.Failed != "" {
		return at, &loop.Gates{
			Tree: at.tree, Status: gate.Fail, Reason: refusedBy(hooks),
			Failures: loop.Failures{FirstError: tail(hooks.Output, resultTail), Fingerprint: gate.Fingerprint(at.tree, []gate.Result{{Gate: hooks.Failed, Status: gate.Fail, Tail: hooks.Output}})},
		}, nil
	}
	at.message = hooks.Message
	if hooks.Ran {
		err = r.afterHooks(ctx, &at)
	}
	return at, nil, err
}

// checkMessage asks the user's hooks about the message of a task's commit before the agent
// is paid for its work: it could not change what they say.
func (r *Runner) checkMessage(ctx context.Context, task string, m memory.ActionContext) error {
	message := r.commitMessage(m.Tasks, []string{task})
	if r.Spec.NoCommit || message == r.agreed {
		return nil
	}
	hooks, err := r.Repo.RunHooks(ctx, git.HookRequest{Tree: "HEAD", Message: message, MessageOnly: true})
	if err != nil {
		return err
	}
	if hooks.RefusesMessage() {
		return r.messageRefused(hooks)
	}
	r.agreed = message
	return nil
}

// messageRefused ends the loop: the message is Pawl's, and the user's to give another form.
func (r *Runner) messageRefused(hooks git.HookResult) error {
	hint := "set another form in pawl.toml, such as  commit_message = \"JIRA-12 {title}\"  (docs/how-to/teams-and-ci.md), or change the hook; then  pawl resume " + r.Loop.ID
	if r.Spec.MessageFromCLI {
		hint = "run again with another --commit-message, or change the hook; then  pawl resume " + r.Loop.ID
	}
	return failure.New(failure.Error, hint, "%s (message: %q)", refusedBy(hooks), hooks.Message)
}

// afterHooks takes the tree as the user's hooks left it, and which files they changed.
func (r *Runner) afterHooks(ctx context.Context, at *ready) error {
	before := at.tree
	var err error
	if at.tree, _, err = r.Repo.Resnapshot(ctx); err != nil {
		return fmt.Errorf("take the tree to judge: %w", err)
	}
	changes, err := r.Repo.Diff(ctx, before, at.tree)
	if err != nil {
		return fmt.Errorf("look what the commit hooks changed: %w", err)
	}
	for _, c := range changes {
		at.hooked = append(at.hooked, c.Path)
	}
	return nil
}

// blameHooks says of red gates that the user's hooks changed files before: the agent's own run of
// them may have been green.
func (r *Runner) blameHooks(ctx context.Context, at ready, g *loop.Gates) {
	if g.Green || len(at.hooked) == 0 {
		return
	}
	words := "a commit hook changed " + plan.Few(at.hooked, 3) + " before the gates ran"
	g.Reason = cut(g.Reason, reasonMax) + "; " + words
	r.noteLater(ctx, loop.Warning, words)
}

// refusedBy says which of the user's hooks refused a commit, and its last words.
func refusedBy(hooks git.HookResult) string {
	why := "the " + hooks.Failed + " hook refused the commit"
	if hooks.RefusesMessage() {
		why = "the " + hooks.Failed + " hook refused the message that Pawl wrote for the commit"
	}
	if hooks.TimedOut {
		why = "the " + hooks.Failed + " hook timed out"
	}
	if said := strings.TrimSpace(hooks.Output); said != "" {
		why += ": " + plan.OneLine(said[strings.LastIndexByte(said, '\n')+1:], 200)
	}
	return why
}
