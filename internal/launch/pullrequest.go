package launch

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/redact"
)

// setRemote stores where a pull request may go.
func (p *Prepared) setRemote(ctx context.Context) error {
	if p.Settings.Merge != config.MergePull {
		return nil
	}
	to, err := p.Repo.Remote(ctx, p.Status.Branch, p.Spec.DefaultBranch)
	if err != nil {
		return fmt.Errorf("find the remote: %w", err)
	}
	p.Spec.Remote = &record.Remote{Name: to.Name, Sum: to.Sum(), Settings: to.Sums()}
	return nil
}

// remoteChange says how the target of a push differs from when the loop started, or returns
// "".
func remoteChange(was record.Remote, to git.Remote) string {
	if to.Name != was.Name || to.Sum() != was.Sum {
		return fmt.Sprintf("the URL of remote %s changed since the loop started", was.Name)
	}
	var changed []string
	now := to.Sums()
	for name, sum := range now {
		if was.Settings[name] != sum {
			changed = append(changed, name)
		}
	}
	for name := range was.Settings {
		if now[name] == "" {
			changed = append(changed, name)
		}
	}
	if slices.Sort(changed); len(changed) > 0 {
		return "git's push settings changed since the loop started: " + strings.Join(changed, ", ")
	}
	return ""
}

// pullRequestTimeout bounds the program that opens a pull request.
const pullRequestTimeout = 2 * time.Minute

// OpenPullRequest opens a pull request if the loop ended verified, its agent asked for a
// merge, and the user allows it (merge = "pr"). It journals and returns the result, which
// is empty if nothing was to be done.
func (d *Driver) OpenPullRequest(ctx context.Context, s loop.State, env environment.Environment) (memory.PullRequest, error) {
	if d.Spec.Remote == nil || s.Merge == nil || s.Outcome != loop.Verified || d.Spec.NoCommit {
		return memory.PullRequest{}, nil
	}
	var p memory.PullRequest
	url, err := d.openPullRequest(ctx, s, env)
	if p.URL = url; err != nil {
		p.Problem = plan.OneLine(err.Error(), 300)
	}
	return p, d.RecordPullRequest(p)
}

// openPullRequest pushes the branch and returns the URL of the pull request.
func (d *Driver) openPullRequest(ctx context.Context, s loop.State, env environment.Environment) (string, error) {
	was, branch := *d.Spec.Remote, d.Spec.Branch
	to, err := d.Repo.Remote(ctx, branch, d.Spec.DefaultBranch)
	switch {
	case err != nil:
		return "", err
	case was.Name == "" || to.Name == "":
		return "", errors.New("the repository has no remote")
	case remoteChange(was, to) != "":
		return "", errors.New(remoteChange(was, to))
	case branch == d.Spec.DefaultBranch:
		return "", fmt.Errorf("the work is on %s itself", branch)
	}
	gh, err := exec.LookPath("gh")
	if err != nil {
		return "", errors.New("gh is not installed")
	}
	if err := d.Repo.Publish(ctx, to, branch); err != nil {
		return "", err
	}
	clean := redact.New(env.Vars).String // it goes to other people
	argv := []string{gh, "pr", "create", "--head", branch, "--title", plan.OneLine(clean(d.Spec.Goal()), 72), "--body", pullRequestBody(d.Loop.ID, s, clean)}
	if d.Spec.DefaultBranch != "" {
		argv = append(argv, "--base", d.Spec.DefaultBranch)
	}
	ctx, cancel := context.WithTimeout(ctx, pullRequestTimeout)
	defer cancel()
	var out, problem bytes.Buffer
	e := proc.Run(ctx, proc.Spec{Argv: argv, Dir: d.Repo.Root(), Env: env.Vars, Stdout: &out, Stderr: &problem})
	if !e.OK() {
		return "", fmt.Errorf("gh pr create: %s", cmp.Or(lastOutputLine(problem.String()), fmt.Sprintf("exit code %d", e.Code)))
	}
	return lastOutputLine(out.String()), nil
}

// pullRequestBody returns the agent's summary and the evidence. The summary is quoted: it mentions
// nobody, closes no issue, and cannot look like Pawl's text. clean removes secrets, which escaping would
// hide from it.
func pullRequestBody(id string, s loop.State, clean func(string) string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimSpace(clean(s.Merge.Summary))) {
		b.WriteString(strings.TrimSpace("> "+plan.Markdown(line)) + "\n")
	}
	fmt.Fprintf(&b, "\n(End of the agent's text.) Loop %s ended verified, with this evidence:\n\n", id)
	for _, t := range s.Tasks {
		if t.Status == loop.Done && !t.DoneEarlier {
			fmt.Fprintf(&b, "- %s: %s\n", plan.Markdown(plan.OneLine(clean(cmp.Or(t.Title, t.ID)), 100)), t.Evidence)
		}
	}
	return b.String()
}

// lastOutputLine returns the last line that a program printed.
func lastOutputLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}
