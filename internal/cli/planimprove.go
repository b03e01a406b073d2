package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/draft"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/planfile"
	"github.com/pawl-dev/pawl/internal/prompt"
)

type planImproveCmd struct {
	planArg
	Words []string `arg:"" optional:"" name:"WORDS" help:"what to improve; default: small tasks, in order, each with a test"`
	Out   string   `short:"o" placeholder:"FILE" help:"file to write, a checklist (default: the plan itself)"`
	planAuthor
}

// Run rewrites a plan, and writes it if the user accepts it.
func (c *planImproveCmd) Run(ctx context.Context, a *app) (err error) {
	defer func() { err = planError(err) }()
	f, err := c.open(a)
	if err != nil {
		return err
	}
	out, format, err := c.target(a, f.Plan())
	if err != nil {
		return err
	}
	settings, err := c.settings(a, a.root())
	if err != nil {
		return err
	}
	idea := c.idea(f)
	if len(idea) > prompt.MaxIdeaBytes {
		return failure.New(failure.Usage, "split it, or improve a part of it", "%s has more than %d bytes", c.File, prompt.MaxIdeaBytes)
	}
	return c.write(ctx, a, draft.Improve(idea, f.Plan()), planTarget{settings, out, format})
}

// target returns the file to write and its format.
func (c *planImproveCmd) target(a *app, p plan.Plan) (path, format string, err error) {
	path, format = a.abs(cmp.Or(c.Out, c.File)), p.Format
	if c.Out != "" {
		format = planfile.Checklist
	}
	if p.Open() == 0 {
		return "", "", failure.New(failure.Usage, planfile.NewCommand(a.dir, "YOUR IDEA")+" writes another plan", "every task of %s is done", c.File)
	}
	if _, err := planfile.Convert(plan.Plan{}, format); err != nil {
		return "", "", failure.New(failure.Usage, "--out plan.md makes a checklist of it", "%s is a plan of %s, which Pawl cannot rewrite", c.File, format)
	}
	s, err := a.loopOfPlan(path)
	if err == nil && s != nil && !s.HasEnded() {
		err = failure.New(failure.Usage, "pawl plan add, edit, skip and move change its plan; or stop it first", "loop %s works on %s", s.ID, a.relativePath(path))
	}
	return path, format, err
}

// idea returns the prompt for the author: what to improve, and the current plan.
func (c *planImproveCmd) idea(f *planfile.File) string {
	wanted := cmp.Or(strings.Join(c.Words, " "), "Its tasks shall be small, in order, and each shown by a test. What is unclear, missing or too big is put right.")
	text := "Improve the plan " + c.File + " of this repository. " + wanted + "\n"
	var done []string
	for _, t := range f.Plan().Tasks {
		if t.Done {
			done = append(done, t.ID)
		}
	}
	if len(done) > 0 {
		text += "\nThese tasks are done and stay as they are; leave them out, others may depend on them: " + strings.Join(done, ", ") + "\n"
	}
	return text + "\nKeep the ids of tasks that stay what they were. The plan:\n\n" + string(f.Bytes())
}

// keepOldPlan copies the existing plan to a new file beside it.
func (a *app) keepOldPlan(path string) error {
	old, err := atomicfile.Read(path, planfile.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("save the old plan: %w", err)
	}
	for n := 1; ; n++ {
		name := path + ".before"
		if n > 1 {
			name += fmt.Sprintf("-%d", n)
		}
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			if err != nil {
				return fmt.Errorf("save the old plan: %w", err)
			}
			continue
		}
		if err := atomicfile.Write(name, old, 0o644); err != nil {
			return fmt.Errorf("save the old plan: %w", err)
		}
		a.printf("the old plan is in %s\n", a.relativePath(name))
		return nil
	}
}
