package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/core/draft"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/planfile"
	"github.com/pawl-dev/pawl/internal/term"
)

// printDraft prints a plan that is not written yet.
func (a *app) printDraft(c draft.Conversation, usage loop.Usage) {
	p := c.Plan()
	a.printf("\n%s: %s, %s\n", term.Clean(p.Title), figure.Count(len(p.Tasks), "task"), figure.Money(usage.CostUSD))
	for _, t := range p.Tasks {
		after := ""
		if len(t.DependsOn) > 0 {
			after = "  after " + strings.Join(t.DependsOn, ", ")
		}
		a.printf("  %s  %s%s\n", t.ID, term.Clean(t.Title), after)
		if t.Done {
			a.printf("      done\n")
			continue
		}
		made := c.Draft.Tasks[slices.IndexFunc(c.Draft.Tasks, func(d draft.Task) bool { return d.ID == t.ID })]
		a.printf("      %s: %s\n", made.Evidence, plan.OneLine(made.Proof, 200))
	}
	for _, g := range p.Gates {
		a.printf("  gate  %s\n", term.Clean(g))
	}
	if c.Warning != "" {
		term.Warnf(a.Err, "%s", c.Warning)
	}
}

// acceptPlan asks whether to write the plan, and lets the user edit it. It returns the text to write,
// or nil.
func (a *app) acceptPlan(ctx context.Context, data []byte, out string) ([]byte, error) {
	for {
		word, err := a.askForPlan(ctx, fmt.Sprintf("write %s? [Y]es, [e]dit it first, [n]o ", a.relativePath(out)))
		if err != nil {
			return nil, err
		}
		switch strings.ToLower(word) {
		case "", "y", "yes":
			return data, nil
		case "n", "no":
			a.printf("nothing was written\n")
			return nil, nil
		case "e", "edit":
			edited, err := a.edit(ctx, filepath.Base(out), data)
			if err == nil {
				_, err = planfile.Decode(out, edited)
			}
			if err != nil {
				term.Warnf(a.Err, "the plan was not changed: %v", err)
				continue
			}
			data = edited
		}
	}
}

// edit opens a text in the user's editor, in a temporary file with that name. It returns the new text.
func (a *app) edit(ctx context.Context, name string, data []byte) ([]byte, error) {
	editor := cmp.Or(a.env.Variable("VISUAL"), a.env.Variable("EDITOR"))
	words := strings.Fields(editor)
	if len(words) == 0 {
		return nil, errors.New("no editor is set: EDITOR names one")
	}
	dir, err := os.MkdirTemp("", "pawl-plan-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, words[0], append(words[1:], path)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.In, a.Err, a.Err
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("run the editor %s: %w", editor, err)
	}
	return atomicfile.Read(path, planfile.MaxSize)
}

// acceptedPlan is a plan that the user accepted.
type acceptedPlan struct {
	path  string
	text  []byte
	gates []string // for a project without gates
	seen  bool     // the user saw the gates, so they may run
}

// writePlan writes the plan, and its gates to pawl.toml.
func (a *app) writePlan(ctx context.Context, p acceptedPlan) error {
	name := a.relativePath(p.path)
	if err := atomicfile.Write(p.path, p.text, 0o644); err != nil {
		a.print(string(p.text)) // so that it is not lost: the user paid for it
		return fmt.Errorf("write %s: %w", name, err)
	}
	a.printf("wrote %s\n", name)
	if len(p.gates) > 0 {
		if err := a.writeGates(ctx, p.gates, p.seen); err != nil {
			return err
		}
	}
	a.printf("next:  pawl run %s\n", name)
	return nil
}

// writeGates adds gates at the start of pawl.toml: after a table, the key would belong to it.
func (a *app) writeGates(ctx context.Context, gates []string, trust bool) error {
	root := a.root()
	path := filepath.Join(root, config.ProjectFile)
	was, err := atomicfile.Read(path, atomicfile.Large)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("read %s: %w", config.ProjectFile, err)
	}
	var quoted []string
	for _, g := range gates {
		quoted = append(quoted, tomlString(g))
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, "# Commands that must pass before a task counts as done.\ngates = [%s]\n", strings.Join(quoted, ", "))
	if len(was) > 0 {
		text.WriteByte('\n')
	}
	text.Write(was)
	if err := atomicfile.Write(path, text.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write %s: %w", config.ProjectFile, err)
	}
	a.printf("wrote gates = [%s] to %s\n", strings.Join(quoted, ", "), a.relativePath(path))
	settings, err := a.resolve(root, nil)
	if err != nil {
		return err
	}
	if !trust {
		a.printf("pawl trust  shows them and asks you to trust them\n")
		return nil
	}
	seen := slices.DeleteFunc(settings.RepoCommands(), func(c config.Command) bool { return c.Kind != "gate" || !slices.Contains(gates, c.Text) })
	return config.OpenTrust(a.env.PawlHome).Add(ctx, root, seen)
}

// tomlString returns a text as a basic string of TOML.
func tomlString(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// askForPlan asks a question and reads a line, unless ctx ends first.
func (a *app) askForPlan(ctx context.Context, question string) (string, error) {
	type reply struct {
		text string
		err  error
	}
	replies := make(chan reply, 1)
	go func() {
		text, err := a.ask(question, "--yes takes the proposed answers")
		replies <- reply{text, err}
	}()
	select {
	case r := <-replies:
		return r.text, r.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
