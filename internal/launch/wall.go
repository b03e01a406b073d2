package launch

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/pawl-dev/pawl/internal/confine"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/verify"
)

// refuseUnconfined says why this machine cannot confine as is asked, or nil.
func (p *Prepared) refuseUnconfined() error {
	level := confine.Level(p.Spec.Confine)
	if !level.On() {
		return nil
	}
	return confine.Ask(context.Background()).Refuse(level)
}

// Wall is what would confine the loop on this machine.
func (p *Prepared) Wall(ctx context.Context) record.Sandbox {
	level := confine.Level(p.Spec.Confine)
	if !level.On() {
		return record.Sandbox{}
	}
	return wallOf(p.Spec, confine.Ask(ctx).Mechanism(level), p.env)
}

// wallOf is what is said of the wall that a mechanism builds around a loop.
func wallOf(spec record.Spec, by confine.Mechanism, env environment.Environment) record.Sandbox {
	w := record.Sandbox{Level: spec.Confine, Mechanism: string(by)}
	if confine.Level(spec.Confine) != confine.Strict {
		return w
	}
	w.Hosts = spec.ConfineHosts
	for _, a := range append([]record.Agent{spec.Agent}, strangers(spec)...) {
		for _, host := range around(a, spec, env).Endpoint() {
			if !slices.Contains(w.Endpoint, host) {
				w.Endpoint = append(w.Endpoint, host)
			}
		}
	}
	return w
}

// strangers are the agents of review gates that are not the loop's own.
func strangers(spec record.Spec) []record.Agent {
	var out []record.Agent
	for _, g := range gate.Reviews(spec.Gates) {
		if isStranger(g, spec.Agent) {
			out = append(out, reviewedBy(g, spec.Agent))
		}
	}
	return out
}

// around is what a wall has to know of the agent that it stands around.
func around(a record.Agent, spec record.Spec, env environment.Environment) confine.Options {
	o := confine.Options{
		Level: confine.Level(spec.Confine), State: []string{env.PawlHome, filepath.Join(env.ConfigHome, "pawl")}, Home: env.Home,
		Vars: slices.Clone(env.Vars), Client: a.Name == "claude", Needs: needs(a), Hosts: spec.ConfineHosts,
	}
	for _, name := range slices.Sorted(maps.Keys(a.Env)) {
		o.Keep = append(o.Keep, name)
		o.Vars = append(o.Vars, name+"="+a.Env[name])
	}
	return o
}

// needs are the files that an agent is started with.
func needs(a record.Agent) []string {
	var files []string
	if path, err := exec.LookPath(cmp.Or(a.Command, a.Name)); err == nil {
		files = append(files, path)
	}
	for _, arg := range a.Args {
		if filepath.IsAbs(arg) {
			files = append(files, arg)
		}
	}
	return files
}

// walled is a loop that may be confined.
type walled struct {
	loop *store.Loop
	spec record.Spec
	repo *git.Repo // of its work tree
	env  environment.Environment
}

// raise puts what confines a loop's agent and gates around its work tree; where
// nothing does it is the empty wall. A machine that cannot is refused, also one to
// which a loop has moved. The gates judge other trees in a folder below dir.
func (w walled) raise(ctx context.Context, a record.Agent, dir string) (*confine.Wall, error) {
	if !confine.Level(w.spec.Confine).On() {
		return &confine.Wall{}, nil
	}
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	elsewhere := verify.Elsewhere(dir)
	if err := os.MkdirAll(elsewhere, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of worktrees: %w", err)
	}
	o := around(a, w.spec, w.env)
	o.Program, o.Dir, o.Root, o.Elsewhere = program, filepath.Join(w.loop.Dir, "confine"), w.repo.Root(), elsewhere
	if !w.spec.Shadow {
		o.GitDir, o.CommonDir, o.Index = w.repo.GitDir(), w.repo.CommonDir(), w.repo.IndexDir()
	}
	return confine.Build(ctx, o)
}

// confined puts the loop's agent, its gates, its reviewers and the user's hooks
// behind a wall. A reviewer that is another agent than the loop's has a wall of its
// own: it reaches another endpoint, and has no business with the loop's.
func (d *Drive) confined(ctx context.Context, l *store.Loop, env environment.Environment) (*confine.Wall, error) {
	w, dir := walled{l, d.Spec, d.Repo, env}, filepath.Join(l.Dir, "verify")
	wall, err := w.raise(ctx, d.Spec.Agent, dir)
	if err != nil {
		return nil, err
	}
	walls := []*confine.Wall{wall}
	d.close = append(d.close, wall.Close)
	d.reviewers = map[string][]string{}
	for _, g := range gate.Reviews(d.Spec.Gates) {
		d.reviewers[g.Name] = wall.Agent
		if !isStranger(g, d.Spec.Agent) {
			continue
		}
		own, err := w.raise(ctx, reviewedBy(g, d.Spec.Agent), dir)
		if err != nil {
			return nil, err
		}
		walls = append(walls, own)
		d.close = append(d.close, own.Close)
		d.reviewers[g.Name] = own.Agent
	}
	d.Prefix, d.Gaps = wall.Agent, wall.Says
	if wall.By != "" {
		d.Wall = wallOf(d.Spec, wall.By, env)
	}
	d.Refused = func() (hosts []string) {
		for _, w := range walls {
			hosts = append(hosts, w.Refused()...)
		}
		return hosts
	}
	d.Repo.RunHooksBy(wall.Hooks)
	return wall, nil
}
