package launch

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/review"
	"github.com/pawl-dev/pawl/internal/store"
)

// maxRubric bounds the file of a rubric, in bytes: a reviewer is told all of it.
const maxRubric = 8 << 10

// addReviews makes gates of the rubrics that the option review names. A rubric is
// read once, here: who is reviewed may not rewrite it afterwards. What was typed as
// @FILE is sought from where the user stands; what a file says, below the root.
func (p *Prepared) addReviews(q Request) error {
	gates := slices.Clone(p.Settings.Gates)
	for i := range gates {
		if err := p.settleReview(&gates[i]); err != nil {
			return err
		}
	}
	_, typed := q.Flags["review"]
	for _, rubric := range p.Settings.Review {
		g := gate.Gate{Name: freeName(gates), Kind: gate.ByReview, Rubric: rubric}
		var err error
		if typed {
			err = readRubric(&g, func(name string) (string, error) { return absolute(q.Dir, name), nil })
		} else {
			err = p.settleReview(&g)
		}
		if err != nil {
			return err
		}
		gates = append(gates, g)
	}
	p.Settings.Gates = gates
	return nil
}

// settleReview reads what a configuration file says of a review.
func (p *Prepared) settleReview(g *gate.Gate) error {
	if g.Kind != gate.ByReview {
		return nil
	}
	if g.Agent != "" || g.AgentCommand != "" {
		a := record.Agent{Name: cmp.Or(g.Agent, p.Settings.Agent), Command: g.AgentCommand}
		g.AgentCommand = p.program(a)
		if a.Command = g.AgentCommand; a.Name != p.Settings.Agent || a.Command != "" {
			if _, err := agentFor(a, ""); err != nil {
				return err
			}
		}
	}
	return readRubric(g, p.belowRoot)
}

// belowRoot is a file of the work tree: what is in it goes to an agent.
func (p *Prepared) belowRoot(name string) (string, error) {
	path := resolved(filepath.Join(p.root, name))
	if rel, err := filepath.Rel(resolved(p.root), path); err != nil || !filepath.IsLocal(rel) {
		return "", errors.New("it lies outside of the work tree")
	}
	return path, nil
}

// freeName is review, review-2 and so on.
func freeName(gates []gate.Gate) string {
	name := "review"
	for n := 2; slices.ContainsFunc(gates, func(g gate.Gate) bool { return g.Name == name }); n++ {
		name = fmt.Sprintf("review-%d", n)
	}
	return name
}

// readRubric puts the text of a file in the place of its name.
func readRubric(g *gate.Gate, find func(name string) (string, error)) error {
	name, named := strings.CutPrefix(g.Rubric, "@")
	if !named {
		return nil
	}
	path, err := find(name)
	var text []byte
	if err == nil {
		text, err = atomicfile.Read(path, maxRubric)
	}
	if g.Rubric = strings.TrimSpace(string(text)); err == nil && g.Rubric == "" {
		err = errors.New("it is empty")
	}
	if err != nil {
		return failure.New(failure.Usage, "@FILE names a file that holds the rubric", "read the rubric %s: %w", name, err)
	}
	return nil
}

// reviewedBy is the agent that a review gate names: the loop's own but for what it
// names, or another, of which the loop's arguments and model say nothing.
func reviewedBy(g gate.Gate, own record.Agent) record.Agent {
	a := own
	if isStranger(g, own) {
		a = record.Agent{Name: cmp.Or(g.Agent, own.Name), Command: g.AgentCommand}
	}
	a.Model = cmp.Or(g.Model, a.Model)
	return a
}

// ReviewsAlone tells whether reviews are all that judges, and some open task wants
// more evidence than they give: then the loop can only end unverified.
func (p *Prepared) ReviewsAlone() bool {
	kind := p.Spec.Policy.Kind
	if len(gate.Commands(p.Spec.Gates)) > 0 || len(p.Spec.Gates) == 0 || kind != loop.Change && kind != loop.Answer {
		return false
	}
	return slices.ContainsFunc(p.Spec.Tasks, func(t loop.Task) bool {
		return t.Status == loop.Open && !gate.Reviewed.Satisfies(cmp.Or(t.Wanted, gate.Proven))
	})
}

// isStranger tells whether a review gate names another agent than the loop's own.
func isStranger(g gate.Gate, own record.Agent) bool {
	return g.Agent != "" && g.Agent != own.Name || g.AgentCommand != ""
}

// reviewer asks the agents of review gates: the loop's own where they name none,
// always in a session of its own.
func (d *Drive) reviewer(l *store.Loop) *review.Reviewer {
	return &review.Reviewer{
		Repo: d.Repo, Dir: filepath.Join(l.Dir, "reviews"), Marker: l.ID, Clean: d.Redact.String,
		Agent: func(g gate.Gate) (agent.Agent, agent.Options, error) {
			a := reviewedBy(g, d.Spec.Agent)
			who, err := agentFor(a, l.Dir)
			return who, agent.Options{Model: a.Model, Args: a.Args, Env: a.Env, Prefix: d.reviewers[g.Name], Redact: d.Redact}, err
		},
	}
}
