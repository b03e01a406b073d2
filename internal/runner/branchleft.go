package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
)

// branchLeftError says that HEAD is not on the loop's branch, so that the work tree is
// another branch's. Nothing is judged, committed or restored there.
type branchLeftError struct{ text string }

func (e *branchLeftError) Error() string { return e.text }

// overBranch has an action performed only while the loop's branch is checked out. Where
// a tool call of the agent's left it, the work is brought back first. Where the user
// did, or it cannot be told, nothing is done: the machine holds the loop.
func (r *Runner) overBranch(do asked) asked {
	return func(ctx context.Context, a loop.Action, m record.Memory) (loop.Event, error) {
		var left *branchLeftError
		err := r.keepBranch(ctx, m)
		if err == nil {
			var e loop.Event
			if e, err = do(ctx, a, m); err == nil && (a.Do == loop.Checkpoint || a.Do == loop.RunGates) {
				err = r.checkBranch(ctx, m.Base) // else what was found is of another tree
			}
			if !errors.As(err, &left) {
				return e, err
			}
			r.retaken = r.judging
		}
		if errors.As(err, &left) {
			return loop.Event{Kind: loop.BranchLeft, Text: left.text}, nil
		}
		return loop.Event{}, err
	}
}

// keepBranch has HEAD on the loop's branch, or returns a branchLeftError.
func (r *Runner) keepBranch(ctx context.Context, m record.Memory) error {
	err := r.checkBranch(ctx, m.Base)
	if left := new(branchLeftError); !errors.As(err, &left) {
		return err
	}
	mine, failed := r.agentLeft(ctx, m)
	if failed != nil || !mine {
		return errors.Join(failed, err)
	}
	text, failed := r.returnToBranch(ctx, m)
	if failed != nil {
		return fmt.Errorf("go back to %s: %w", r.Spec.Branch, failed)
	}
	r.noteLater(ctx, loop.Info, text)
	return nil
}

// checkBranch returns a branchLeftError if HEAD is not on the loop's branch. A branch that
// was deleted under HEAD is made again.
func (r *Runner) checkBranch(ctx context.Context, base record.Base) error {
	if r.Spec.NoCommit || r.theirTree() {
		return nil
	}
	branch, err := r.Repo.Branch(ctx)
	if err != nil {
		return fmt.Errorf("read the current branch: %w", err)
	}
	if branch == r.Spec.Branch {
		_, err = r.Repo.SwitchBack(ctx, r.Spec.Branch, base.Commit)
		return err
	}
	there, err := r.Repo.HasBranch(ctx, r.Spec.Branch)
	if err != nil {
		return fmt.Errorf("look for branch %s: %w", r.Spec.Branch, err)
	}
	where, back := branch, "git switch "+r.Spec.Branch
	if where == "" {
		where = "no branch"
		if head, err := r.Repo.Head(ctx); err == nil {
			where = "commit " + short(head)
		}
	}
	if !there {
		back = fmt.Sprintf("git switch -c %s %s", r.Spec.Branch, short(base.Commit))
	}
	return &branchLeftError{fmt.Sprintf("%s is checked out, but the loop works on %s. Nothing was changed. To go on: %s && pawl resume %s",
		where, r.Spec.Branch, back, r.Loop.ID)}
}

// agentLeft reports whether a tool call of the agent's switched the branch: HEAD was
// written while a command ran that can do so.
func (r *Runner) agentLeft(ctx context.Context, m record.Memory) (bool, error) {
	if _, blind := r.Agent.(agent.Blind); blind {
		return false, nil
	}
	info, err := os.Stat(filepath.Join(r.Repo.GitDir(), "HEAD"))
	if err != nil {
		return false, fmt.Errorf("find when the branch was left: %w", err)
	}
	times, err := r.workTimes(ctx, m)
	if err != nil || times.unknown || !times.within(info.ModTime(), times.doubt) {
		return false, err
	}
	for _, file := range []string{record.ToolCallsPath(r.Loop), record.RunnerCallsPath(r.Loop)} {
		calls, _, err := callsIn(file, 0, -1)
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(calls, func(c record.ToolCall) bool {
			return switches(c.Command) && !c.At.After(info.ModTime().Add(times.doubt))
		}) {
			return true, nil
		}
	}
	return false, nil
}

// switches tells whether a command may leave the branch.
func switches(command string) bool {
	return strings.Contains(command, "git") && slices.ContainsFunc(
		[]string{"checkout", "switch", "rebase", "bisect", "symbolic-ref", "branch", " am"},
		func(verb string) bool { return strings.Contains(command, verb) })
}

// returnToBranch puts HEAD back on the loop's branch, and the files with it, as git does:
// what the agent changed elsewhere is carried over, its commits there included. It
// returns what it did, in words.
func (r *Runner) returnToBranch(ctx context.Context, m record.Memory) (string, error) {
	if _, err := r.Repo.QuitOperation(ctx); err != nil {
		return "", fmt.Errorf("end what was left half-done: %w", err)
	}
	back := "; no file changed"
	if from, tip, err := r.workFrom(ctx, m); err != nil {
		return "", err
	} else if from != "" {
		cp, err := r.Repo.Checkpoint(ctx, r.Loop.ID, 0, "before going back to "+r.Spec.Branch, DoneTrailers(r.Loop.ID, m.State.Tasks)...)
		if err != nil {
			return "", err
		}
		tree, clashes, err := r.Repo.Transfer(ctx, tip, from, cp.Tree)
		if err != nil {
			return "", err
		}
		if _, err := r.restoreFiles(ctx, tree, nil); err != nil {
			return "", err
		}
		back = "; the work was carried over"
		if len(clashes) > 0 {
			back += fmt.Sprintf(", but not of %s, which differ there (kept: git show %s:PATH)", strings.Join(atMost(clashes, maxLeft), ", "), short(cp.Commit))
		}
	}
	done, err := r.Repo.SwitchBack(ctx, r.Spec.Branch, m.Base.Commit)
	if err != nil {
		return "", err
	}
	return done.From + " was checked out: switched back to " + r.Spec.Branch + ", where the commits go" + back, nil
}

// workFrom returns the commit that the agent's work in the tree began from, and the tip
// of the loop's branch, where the work is to go; "" where the tree has all of that.
func (r *Runner) workFrom(ctx context.Context, m record.Memory) (from, tip string, err error) {
	head, err := r.Repo.Head(ctx)
	if err != nil {
		return "", "", ctx.Err() // else HEAD is a branch without a commit: the files are as they were
	}
	tip = m.Base.Commit
	if there, err := r.Repo.HasBranch(ctx, r.Spec.Branch); err != nil {
		return "", "", err
	} else if there {
		if tip, err = r.Repo.Resolve(ctx, "refs/heads/"+r.Spec.Branch+"^{commit}"); err != nil {
			return "", "", err
		}
	}
	if has, err := r.Repo.Contains(ctx, head, tip); err != nil || has {
		return "", tip, err
	}
	fork, err := r.Repo.MergeBase(ctx, tip, head)
	if err != nil || fork == "" {
		return head, tip, err
	}
	commits, err := r.Repo.LinearCommits(ctx, fork, head)
	if err != nil {
		return "", "", err
	}
	times, err := r.workTimes(ctx, m)
	if err != nil {
		return "", "", err
	}
	from = head
	for i, c := range slices.Backward(commits) { // those that the agent made there
		info, err := os.Stat(r.Repo.LooseObjectPath(c))
		if err != nil || !times.within(info.ModTime(), times.doubt) {
			break
		}
		if from = fork; i > 0 {
			from = commits[i-1]
		}
	}
	return from, tip, nil
}
