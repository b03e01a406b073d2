package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/review"
	"github.com/pawl-dev/pawl/internal/store"
)

// maxRubricBytes bounds the file of a rubric, since a reviewer receives all of it.
const maxRubricBytes = 8 << 10

// addReviews adds a gate for each rubric of the option review. Rubrics are read here,
// once, so that the agent cannot change them. A typed @FILE is relative to the current
// folder, one in a file to the root.
func (p *Prepared) addReviews(q Request) error {
	gates := slices.Clone(p.Settings.Gates)
	for i := range gates {
		if err := p.resolveReview(&gates[i]); err != nil {
			return err
		}
	}
	_, typed := q.Flags["review"]
	for _, rubric := range p.Settings.Review {
		name := "review"
		for n := 2; slices.ContainsFunc(gates, func(g gate.Gate) bool { return g.Name == name }); n++ {
			name = fmt.Sprintf("review-%d", n)
		}
		g := gate.Gate{Name: name, Kind: gate.ByReview, Rubric: rubric}
		var err error
		if typed {
			err = readRubric(&g, func(name string) (string, error) { return AbsPath(q.Dir, name), nil })
		} else {
			err = p.resolveReview(&g)
		}
		if err != nil {
			return err
		}
		gates = append(gates, g)
	}
	p.Settings.Gates = gates
	return nil
}

// resolveReview reads a review gate of a configuration file.
func (p *Prepared) resolveReview(g *gate.Gate) error {
	if g.Kind != gate.ByReview {
		return nil
	}
	if g.Agent != "" || g.AgentCommand != "" {
		a := record.Agent{Name: cmp.Or(g.Agent, p.Settings.Agent), Command: g.AgentCommand}
		g.AgentCommand = p.agentProgram(a)
		if a.Command = g.AgentCommand; a.Name != p.Settings.Agent || a.Command != "" {
			if _, err := newAgent(a, ""); err != nil {
				return err
			}
		}
	}
	return readRubric(g, p.workTreeFile)
}

// workTreeFile returns the path of a file in the work tree. Others are refused, since an
// agent receives the content.
func (p *Prepared) workTreeFile(name string) (string, error) {
	path := record.ResolvePath(filepath.Join(p.root, name))
	if !contains(p.root, path) {
		return "", errors.New("it is outside the work tree")
	}
	return path, nil
}

// readRubric replaces the name of a file by its text.
func readRubric(g *gate.Gate, find func(name string) (string, error)) error {
	name, named := strings.CutPrefix(g.Rubric, "@")
	if !named {
		return nil
	}
	path, err := find(name)
	var text []byte
	if err == nil {
		text, err = atomicfile.Read(path, maxRubricBytes)
	}
	if g.Rubric = strings.TrimSpace(string(text)); err == nil && g.Rubric == "" {
		err = errors.New("it is empty")
	}
	if err != nil {
		return failure.New(failure.Usage, "@FILE names a file that holds the rubric", "read the rubric %s: %w", name, err)
	}
	return nil
}

// reviewAgent returns the agent of a review gate: the loop's own with the gate's
// settings, or another one, without the loop's arguments and model.
func reviewAgent(g gate.Gate, own record.Agent) record.Agent {
	a := own
	if isOtherAgent(g, own) {
		a = record.Agent{Name: cmp.Or(g.Agent, own.Name), Command: g.AgentCommand}
	}
	a.Model = cmp.Or(g.Model, a.Model)
	return a
}

// OnlyReviews reports whether all gates are reviews and an open task requires more
// evidence than they give: then the loop can only end unverified.
func (p *Prepared) OnlyReviews() bool {
	kind := p.Spec.Policy.Kind
	if len(gate.Commands(p.Spec.Gates)) > 0 || len(p.Spec.Gates) == 0 || kind != loop.Change && kind != loop.Answer {
		return false
	}
	return slices.ContainsFunc(p.Spec.Tasks, func(t loop.Task) bool {
		return t.Status == loop.Open && !gate.Reviewed.Satisfies(cmp.Or(t.Wanted, gate.Proven))
	})
}

// isOtherAgent reports whether a review gate names another agent than the loop's.
func isOtherAgent(g gate.Gate, own record.Agent) bool {
	return g.Agent != "" && g.Agent != own.Name || g.AgentCommand != ""
}

// reviewer returns the reviewer for review gates. It asks the loop's agent unless a gate
// names another, always in a session of its own.
func (d *Driver) reviewer(l *store.Loop) *review.Reviewer {
	return &review.Reviewer{
		Repo: d.Repo, Dir: filepath.Join(l.Dir, "reviews"), Marker: l.ID, Redact: d.Redact.String,
		Agent: func(g gate.Gate) (agent.Agent, agent.Options, error) {
			a := reviewAgent(g, d.Spec.Agent)
			who, err := newAgent(a, l.Dir)
			return who, agent.Options{Model: a.Model, Args: a.Args, Env: a.Env, Prefix: d.reviewers[g.Name], Redact: d.Redact}, err
		},
	}
}

// checkReviewers returns an error if a reviewer other than the loop's agent cannot be
// started.
func checkReviewers(ctx context.Context, spec record.Spec) error {
	for _, a := range otherReviewers(spec) {
		if _, err := agentVersion(ctx, a, ""); err != nil {
			return reviewError(err)
		}
	}
	return nil
}

// reviewError adds what failed.
func reviewError(err error) error { return fmt.Errorf("review cannot be requested: %w", err) }

// checkPrograms repeats these checks for a loop that is resumed.
func (d *Driver) checkPrograms(ctx context.Context, env environment.Environment) error {
	if absent := missingGatePrograms(d.Spec, d.Repo.Root(), env); len(absent) > 0 {
		return absent[0]
	}
	return checkReviewers(ctx, d.Spec)
}
