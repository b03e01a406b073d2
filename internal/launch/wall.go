package launch

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/pawl-dev/pawl/internal/confine"
	"github.com/pawl-dev/pawl/internal/environment"
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

// raiseWall puts what confines the loop's agent and gates around its work tree;
// where nothing does it is the empty wall. A machine that cannot is refused, also
// one to which a loop has moved.
func (d *Drive) raiseWall(ctx context.Context, l *store.Loop, env environment.Environment) (*confine.Wall, error) {
	level := confine.Level(d.Spec.Confine)
	if !level.On() {
		return &confine.Wall{}, nil
	}
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	elsewhere := verify.Elsewhere(filepath.Join(l.Dir, "verify"))
	if err := os.MkdirAll(elsewhere, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of worktrees: %w", err)
	}
	o := confine.Options{
		Level: level, Program: program, Dir: filepath.Join(l.Dir, "confine"),
		Root: d.Repo.Root(), Elsewhere: elsewhere,
		State: []string{env.PawlHome, filepath.Join(env.ConfigHome, "pawl")}, Home: env.Home, Vars: slices.Clone(env.Vars),
		Client: d.Spec.Agent.Name == "claude", Needs: d.agentNeeds(), Hosts: d.Spec.ConfineHosts,
	}
	for _, name := range slices.Sorted(maps.Keys(d.Spec.Agent.Env)) {
		o.Keep = append(o.Keep, name)
		o.Vars = append(o.Vars, name+"="+d.Spec.Agent.Env[name])
	}
	if !d.Spec.Shadow {
		o.GitDir, o.CommonDir, o.Index = d.Repo.GitDir(), d.Repo.CommonDir(), d.Repo.IndexDir()
	}
	wall, err := confine.Build(ctx, o)
	if err != nil {
		return nil, err
	}
	d.close = append(d.close, wall.Close)
	d.Prefix, d.Gaps = wall.Agent, wall.Says
	d.Repo.RunHooksBy(wall.Hooks)
	return wall, nil
}

// agentNeeds are the files that the agent is started with.
func (d *Drive) agentNeeds() []string {
	var needs []string
	command := d.Spec.Agent.Command
	if command == "" {
		command = d.Spec.Agent.Name
	}
	if path, err := exec.LookPath(command); err == nil {
		needs = append(needs, path)
	}
	for _, arg := range d.Spec.Agent.Args {
		if filepath.IsAbs(arg) {
			needs = append(needs, arg)
		}
	}
	return needs
}
