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

// walled is a loop that may be confined.
type walled struct {
	loop *store.Loop
	spec record.Spec
	repo *git.Repo // of its work tree
}

// raiseWall puts what confines a loop's agent and gates around its work tree; where
// nothing does it is the empty wall. A machine that cannot is refused, also one to
// which a loop has moved. The gates judge other trees in a folder below dir.
func raiseWall(ctx context.Context, w walled, dir string, env environment.Environment) (*confine.Wall, error) {
	l, spec, repo := w.loop, w.spec, w.repo
	level := confine.Level(spec.Confine)
	if !level.On() {
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
	o := confine.Options{
		Level: level, Program: program, Dir: filepath.Join(l.Dir, "confine"), Root: repo.Root(), Elsewhere: elsewhere,
		State: []string{env.PawlHome, filepath.Join(env.ConfigHome, "pawl")}, Home: env.Home, Vars: slices.Clone(env.Vars),
		Client: spec.Agent.Name == "claude", Needs: needs(spec.Agent), Hosts: spec.ConfineHosts,
	}
	for _, name := range slices.Sorted(maps.Keys(spec.Agent.Env)) {
		o.Keep = append(o.Keep, name)
		o.Vars = append(o.Vars, name+"="+spec.Agent.Env[name])
	}
	if !spec.Shadow {
		o.GitDir, o.CommonDir, o.Index = repo.GitDir(), repo.CommonDir(), repo.IndexDir()
	}
	return confine.Build(ctx, o)
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

// confined puts the loop's agent, its gates and the user's hooks behind a wall.
func (d *Drive) confined(ctx context.Context, l *store.Loop, env environment.Environment) (*confine.Wall, error) {
	wall, err := raiseWall(ctx, walled{l, d.Spec, d.Repo}, filepath.Join(l.Dir, "verify"), env)
	if err != nil {
		return nil, err
	}
	d.close = append(d.close, wall.Close)
	d.Prefix, d.Gaps = wall.Agent, wall.Says
	d.Repo.RunHooksBy(wall.Hooks)
	return wall, nil
}
