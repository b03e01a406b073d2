package launch

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/record"
)

// remote keeps where a pull request may go.
func (p *Prepared) remote(ctx context.Context) error {
	if p.Settings.Merge != config.MergePull {
		return nil
	}
	name, url, err := p.Repo.Remote(ctx, p.Status.Branch, p.Spec.Home)
	if err != nil {
		return fmt.Errorf("find the remote: %w", err)
	}
	p.Spec.Remote = &record.Remote{Name: name, Sum: addressSum(url)}
	return nil
}

// addressSum tells one address from another: it may hold a password.
func addressSum(url string) string {
	sum := sha256.Sum256([]byte(url))
	return hex.EncodeToString(sum[:16])
}

// pullTime bounds the program that opens a pull request.
const pullTime = 2 * time.Minute

// Pull opens a pull request for a loop that has ended verified and whose agent asked
// for a merge, where the person lets Pawl do so (merge = "pr"). What comes of it is
// journalled. It gives nothing where nothing was to be done.
func (d *Drive) Pull(ctx context.Context, s loop.State, env environment.Environment) (record.Pulled, error) {
	if d.Spec.Remote == nil || s.Merge == nil || s.Outcome != loop.Verified || d.Spec.NoCommit {
		return record.Pulled{}, nil
	}
	var p record.Pulled
	url, err := d.pull(ctx, s, env)
	if p.URL = url; err != nil {
		p.Problem = plan.OneLine(err.Error(), 300)
	}
	return p, d.Pulled(p)
}

func (d *Drive) pull(ctx context.Context, s loop.State, env environment.Environment) (string, error) {
	to := *d.Spec.Remote
	branch := d.Spec.Branch
	switch name, url, err := d.Repo.Remote(ctx, branch, d.Spec.Home); {
	case err != nil:
		return "", err
	case to.Name == "" || name == "":
		return "", errors.New("the repository has no remote")
	case name != to.Name || addressSum(url) != to.Sum:
		return "", fmt.Errorf("the remote %s is not where it was when the loop began", to.Name)
	case branch == d.Spec.Home:
		return "", fmt.Errorf("the work is on %s itself", branch)
	}
	gh, err := exec.LookPath("gh")
	if err != nil {
		return "", errors.New("gh is not there")
	}
	if err := d.Repo.Publish(ctx, to.Name, branch); err != nil {
		return "", err
	}
	argv := []string{gh, "pr", "create", "--head", branch, "--title", plan.OneLine(d.Spec.Goal(), 72), "--body", pullBody(d.Loop.ID, s)}
	if d.Spec.Home != "" {
		argv = append(argv, "--base", d.Spec.Home)
	}
	ctx, cancel := context.WithTimeout(ctx, pullTime)
	defer cancel()
	var out, problem bytes.Buffer
	e := proc.Run(ctx, proc.Spec{Argv: argv, Dir: d.Repo.Root(), Env: env.Vars, Stdout: &out, Stderr: &problem})
	if !e.OK() {
		return "", fmt.Errorf("gh pr create: %s", cmp.Or(lastOf(problem.String()), fmt.Sprintf("exit code %d", e.Code)))
	}
	return lastOf(out.String()), nil
}

// pullBody is the agent's summary, and who says what.
func pullBody(id string, s loop.State) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n(So far the agent.) Loop %s ended verified, on this evidence:\n\n", s.Merge.Summary, id)
	for _, t := range s.Tasks {
		if t.Status == loop.Done && !t.Earlier {
			fmt.Fprintf(&b, "- %s: %s\n", plan.OneLine(cmp.Or(t.Title, t.ID), 100), t.Evidence)
		}
	}
	return b.String()
}

// lastOf is the last line that a program printed.
func lastOf(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}
