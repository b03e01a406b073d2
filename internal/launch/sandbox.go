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

	"github.com/pawl-dev/pawl/internal/checkout"
	"github.com/pawl-dev/pawl/internal/confine"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
)

// refuseUnconfined returns why this machine cannot provide the requested sandbox, or nil.
func (p *Prepared) refuseUnconfined() error {
	level := confine.Level(p.Spec.Confine)
	if !level.On() {
		return nil
	}
	return confine.Detect(context.Background()).CheckLevel(level)
}

// Sandbox describes the sandbox that the loop would have on this machine.
func (p *Prepared) Sandbox(ctx context.Context) memory.Sandbox {
	level := confine.Level(p.Spec.Confine)
	if !level.On() {
		return memory.Sandbox{}
	}
	return describeSandbox(p.Spec, confine.Detect(ctx).Mechanism(level), p.env)
}

// describeSandbox describes the sandbox that a mechanism provides for a loop.
func describeSandbox(spec record.Spec, by confine.Mechanism, env environment.Environment) memory.Sandbox {
	w := memory.Sandbox{Level: spec.Confine, Mechanism: string(by)}
	if confine.Level(spec.Confine) != confine.Strict {
		return w
	}
	w.Hosts = spec.ConfineHosts
	for _, a := range append([]record.Agent{spec.Agent}, otherReviewers(spec)...) {
		for _, host := range sandboxOptions(a, spec.Protection, env).Endpoint() {
			if !slices.Contains(w.AgentHosts, host) {
				w.AgentHosts = append(w.AgentHosts, host)
			}
		}
	}
	return w
}

// otherReviewers returns the agents of review gates that are not the loop's own.
func otherReviewers(spec record.Spec) []record.Agent {
	var out []record.Agent
	for _, g := range gate.Reviews(spec.Gates) {
		if isOtherAgent(g, spec.Agent) {
			out = append(out, reviewAgent(g, spec.Agent))
		}
	}
	return out
}

// sandboxOptions returns the sandbox's options for an agent.
func sandboxOptions(a record.Agent, spec record.Protection, env environment.Environment) confine.Options {
	o := confine.Options{
		Level: confine.Level(spec.Confine), State: []string{env.PawlHome, filepath.Join(env.ConfigHome, "pawl")}, Home: env.Home,
		Vars: slices.Clone(env.Vars), Client: a.Name == "claude", Hosts: spec.ConfineHosts,
		Needs: slices.DeleteFunc(slices.Clone(a.Args), func(arg string) bool { return !filepath.IsAbs(arg) }),
	}
	if path, err := exec.LookPath(cmp.Or(a.Command, a.Name)); err == nil {
		o.Needs = append(o.Needs, path)
	}
	for _, name := range slices.Sorted(maps.Keys(a.Env)) {
		o.Keep = append(o.Keep, name)
		o.Vars = append(o.Vars, name+"="+a.Env[name])
	}
	return o
}

// sandboxBuilder builds the sandboxes of a loop.
type sandboxBuilder struct {
	loop *store.Loop
	spec record.Spec
	repo *git.Repo // of its work tree
	env  environment.Environment
}

// build returns the sandbox of a loop's agent and gates, empty if none is requested. It
// returns an error if this machine cannot provide it. Gates check other trees in a folder
// below dir.
func (w sandboxBuilder) build(ctx context.Context, a record.Agent, dir string) (*confine.Sandbox, error) {
	if !confine.Level(w.spec.Confine).On() {
		return &confine.Sandbox{}, nil
	}
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find executable of pawl: %w", err)
	}
	elsewhere := checkout.Folder(dir)
	if err := os.MkdirAll(elsewhere, 0o700); err != nil {
		return nil, fmt.Errorf("create worktrees folder: %w", err)
	}
	o := sandboxOptions(a, w.spec.Protection, w.env)
	o.Program, o.Dir, o.Root, o.Elsewhere = program, filepath.Join(w.loop.Dir, "confine"), w.repo.Root(), elsewhere
	if !w.spec.Shadow {
		o.GitDir, o.CommonDir, o.Index = w.repo.GitDir(), w.repo.CommonDir(), w.repo.IndexDir()
	}
	return confine.Build(ctx, o)
}

// buildSandboxes puts the loop's agent, gates, reviewers and the user's hooks into a
// sandbox. A reviewer that is another agent gets its own, since it uses another endpoint.
func (d *Driver) buildSandboxes(ctx context.Context, l *store.Loop, env environment.Environment) (*confine.Sandbox, error) {
	w, dir := sandboxBuilder{l, d.Spec, d.Repo, env}, verifyDir(l)
	sandbox, err := w.build(ctx, d.Spec.Agent, dir)
	if err != nil {
		return nil, err
	}
	sandboxes := []*confine.Sandbox{sandbox}
	d.closers = append(d.closers, sandbox.Close)
	d.reviewers = map[string][]string{}
	for _, g := range gate.Reviews(d.Spec.Gates) {
		d.reviewers[g.Name] = sandbox.Agent
		if !isOtherAgent(g, d.Spec.Agent) {
			continue
		}
		own, err := w.build(ctx, reviewAgent(g, d.Spec.Agent), dir)
		if err != nil {
			return nil, err
		}
		sandboxes = append(sandboxes, own)
		d.closers = append(d.closers, own.Close)
		d.reviewers[g.Name] = own.Agent
	}
	d.Prefix, d.Gaps = sandbox.Agent, sandbox.Limitations
	if sandbox.Mechanism != "" {
		d.Sandbox = describeSandbox(d.Spec, sandbox.Mechanism, env)
	}
	d.RefusedHosts = func() (hosts []string) {
		for _, w := range sandboxes {
			hosts = append(hosts, w.Refused()...)
		}
		return hosts
	}
	d.Repo.RunHooksBy(sandbox.Hooks)
	return sandbox, nil
}
