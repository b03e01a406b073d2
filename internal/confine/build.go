package confine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/guard"
	"github.com/pawl-dev/pawl/internal/proc"
)

// Options say what the walls of a loop stand around. All paths are absolute.
type Options struct {
	Level   Level
	Program string // pawl itself, which enters the wall and starts what is to run there
	Dir     string // a folder of Pawl's own, for policies and temporary folders

	Root      string   // the work tree
	GitDir    string   // its git dir, "" without git
	CommonDir string   // what it shares with the other work trees of the repository
	Index     string   // folder of Pawl's own indexes, in the git dir
	Elsewhere string   // folder in which the gates judge other trees, "" for none
	State     []string // Pawl's own: state and configuration
	Home      string   // of the user
	Vars      []string // the environment of what will run, NAME=value

	Client bool     // the agent is Claude Code
	Needs  []string // the agent's program, and what its arguments name: shown also where they lie below /tmp
	Keep   []string // variables that the user gave the agent by name
	Hosts  []string // Strict: what may be reached, HOST, HOST:PORT or *.DOMAIN
}

// Sandbox is what a loop's commands are put behind.
type Sandbox struct {
	Agent []string // before the argv of the agent
	Gates []string // before the argv of a gate
	Hooks []string // before the argv of the user's git hooks
	Says  []string // what this wall does not stop, in plain words
	By    Mechanism

	ways  []*bridge
	close []func() error
}

// Close ends what serves the ways out, and removes the temporary folders.
func (w *Sandbox) Close() error {
	var failed error
	for _, f := range slices.Backward(w.close) {
		failed = errors.Join(failed, f())
	}
	w.close = nil
	return failed
}

// Refused are the hosts that something behind the wall has asked the proxy for in
// vain since it stands, as they would be allowed (HOST, or HOST:PORT), each once. It
// may be called at any time.
func (w *Sandbox) Refused() []string {
	var out []string
	for _, b := range w.ways {
		for _, host := range b.refused() {
			if !slices.Contains(out, host) {
				out = append(out, host)
			}
		}
	}
	return out
}

// Build makes the walls of a loop, or says why they cannot stand here. Off needs
// none.
func Build(ctx context.Context, o Options) (*Sandbox, error) {
	if !o.Level.On() {
		return &Sandbox{}, nil
	}
	return o.build(Ask(ctx))
}

func (o Options) build(sys System) (_ *Sandbox, err error) {
	if err := sys.Refuse(o.Level); err != nil {
		return nil, err
	}
	w := &Sandbox{}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close())
		}
	}()
	if err := makeDir(o.Dir); err != nil {
		return nil, fmt.Errorf("make the folder of the sandbox: %w", err)
	}
	w.Says, w.By = sys.Lacks(o.Level), sys.Mechanism(o.Level)
	if dir := filepath.Join(o.Root, ".claude"); !exists(dir) {
		w.close = append(w.close, func() error {
			_ = os.Remove(dir) // made to be protected; not ours any more if it holds something
			return nil
		})
	}
	base, err := o.base(sys)
	if err != nil {
		return nil, err
	}
	if w.Agent, err = w.raise(o, "agent", o.agent(base)); err != nil {
		return nil, err
	}
	if w.Gates, err = w.raise(o, "gates", o.gates(base)); err != nil {
		return nil, err
	}
	if o.GitDir != "" {
		w.Hooks, err = w.raise(o, "hooks", o.hooks(base))
	}
	return w, err
}

// raise keeps a policy, with all that it needs outside.
func (w *Sandbox) raise(o Options, name string, p Policy) ([]string, error) {
	dir, err := os.MkdirTemp(o.Dir, name+"-")
	if err != nil {
		return nil, fmt.Errorf("make the folder of the sandbox: %w", err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, fmt.Errorf("make the folder of the sandbox: %w", err)
	}
	w.close = append(w.close, func() error { return proc.RemoveAll(dir) })
	p.Temp = filepath.Join(dir, "tmp")
	if err := makeDir(p.Temp); err != nil {
		return nil, fmt.Errorf("make the folder of the sandbox: %w", err)
	}
	p.Read = append(slices.Clip(p.Read), dir)
	if p.Mechanism == Landlock {
		p.Write = append(slices.Clip(p.Write), p.Temp)
	}
	if o.Level == Strict {
		hosts := o.Hosts
		if name == "agent" {
			hosts = slices.Concat(hosts, o.Endpoint())
		}
		bridge, err := openWays(dir, hosts)
		if err != nil {
			return nil, err
		}
		w.ways, w.close = append(w.ways, bridge), append(w.close, bridge.close)
		p.Net = bridge.net()
	}
	path := filepath.Join(dir, "policy.json")
	if err := atomicfile.WriteIndentedJSON(path, p); err != nil {
		return nil, err
	}
	return []string{o.Program, "confined", "--policy", path, "--"}, nil
}

// base is what agent and gates have in common.
func (o Options) base(sys System) (Policy, error) {
	p := Policy{Level: o.Level, Mechanism: sys.Mechanism(o.Level), Program: sys.bwrap, Unset: strings.Fields(doorVars)}
	p.Write = resolve([]string{o.Root, o.GitDir, o.CommonDir})
	precious := resolve([]string{o.Home})
	if p.Mechanism == Landlock { // it can take nothing out of what may be written
		precious = append(precious, resolve(append([]string{o.Program, o.clientHome()}, o.State...))...)
		p.Write = append(p.Write, temps(precious)...)
	}
	closed := o.closed()
	p.Read = append(p.Read, closed...)
	for _, dir := range o.caches(precious) {
		if p.Mechanism == Landlock && holdsAny(dir, closed) {
			p.Write = append(p.Write, besides(dir, closed)...)
		} else {
			p.Write = append(p.Write, dir)
		}
	}
	p.Read = append(p.Read, resolve(o.State)...)
	if err := o.protect(&p); err != nil {
		return p, err
	}
	p.Read = append(p.Read, slices.DeleteFunc(o.shown(), func(path string) bool { return insideAny(path, p.Write) })...)
	p.Hide = resolve(below(o.Home, doors))
	if o.Level == Strict {
		p.DropSecrets = true
		p.Hide = append(p.Hide, resolve(below(o.Home, strings.Join(guard.SecretPaths(), " ")))...)
	}
	return p, nil
}

// temps are the machine's temporary folders, but for those that hold something
// that must not be written.
func temps(precious []string) []string {
	var out []string
	for _, dir := range resolve([]string{os.TempDir(), "/tmp", "/var/tmp", "/dev/shm"}) {
		if !slices.Contains(out, dir) && !holdsAny(dir, precious) {
			out = append(out, dir)
		}
	}
	return out
}

// besides are the folders in one that are there, but for those that are closed.
func besides(dir string, closed []string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if path := filepath.Join(dir, e.Name()); e.IsDir() && !holdsAny(path, closed) {
			out = append(out, path)
		}
	}
	return out
}

// holdsAny reports whether one of the paths is a folder, or lies below it.
func holdsAny(dir string, paths []string) bool {
	return slices.ContainsFunc(paths, func(path string) bool { return inside(path, dir) })
}

// caches are the folders that builds keep between runs. What is named in one that
// is writable is not followed: it may have been made to point elsewhere.
func (o Options) caches(precious []string) []string {
	var named []string
	for _, c := range guard.Caches() {
		if dir := o.cacheDir(c); dir != "" {
			named = append(named, dir)
		}
	}
	for name := range strings.FieldsSeq(cacheVars) {
		named = append(named, o.env(name))
	}
	if goPath := o.env("GOPATH"); goPath != "" {
		named = append(named, filepath.Join(goPath, "pkg"))
	}
	if cargo := o.env("CARGO_HOME"); cargo != "" {
		named = append(named, filepath.Join(cargo, "registry"), filepath.Join(cargo, "git"))
	}
	var out, seen []string
	for _, dir := range named {
		if !filepath.IsAbs(dir) || insideAny(dir, seen) {
			continue
		}
		seen = append(seen, dir)
		if p, ok := real(dir); ok && !holdsAny(p, precious) && isDir(p) {
			out = append(out, p)
		}
	}
	return out
}

// cacheDir is where a cache lies, "" if that is not known. One that a program uses
// is made for it where the program, or what else it keeps, is there: inside the
// wall it could not be made any more.
func (o Options) cacheDir(c guard.Cache) string {
	dir := ""
	if o.Home != "" {
		dir = filepath.Join(o.Home, filepath.FromSlash(c.Dir))
	}
	moved := strings.Fields(movedBy)
	for i := 0; i < len(moved); i += 2 {
		if to := o.env(moved[i+1]); to != "" && (c.Dir == moved[i] || strings.HasPrefix(c.Dir, moved[i]+"/")) {
			dir = filepath.Join(to, filepath.FromSlash(strings.TrimPrefix(c.Dir, moved[i])))
		}
	}
	beside := filepath.Dir(dir)
	if filepath.IsAbs(dir) && c.Program != "" && !exists(dir) && (o.find(c.Program) || beside != filepath.Clean(o.Home) && exists(beside)) {
		_ = makeDir(dir) // then it does without
	}
	return dir
}

// closed are the folders in caches that are none.
func (o Options) closed() []string {
	var out []string
	for _, c := range guard.Caches() {
		if dir := o.cacheDir(c); isDir(dir) {
			for _, name := range c.Excluded {
				_ = makeDir(filepath.Join(dir, name)) // what is not there could be put there
				out = append(out, filepath.Join(dir, name))
			}
		}
	}
	return resolve(out)
}

// env is the last value of a variable.
func (o Options) env(name string) string {
	for _, v := range slices.Backward(o.Vars) {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

// find looks a program up in the PATH.
func (o Options) find(program string) bool {
	return slices.ContainsFunc(filepath.SplitList(o.env("PATH")), func(dir string) bool { return exists(filepath.Join(dir, program)) })
}

// shown is what must be seen though it lies, by its name or by where that leads,
// where bubblewrap shows nothing of the machine's.
func (o Options) shown() []string {
	var out []string
	all := append([]string{o.Home, o.Program, "/etc/resolv.conf"}, o.Needs...)
	for _, path := range append(all, filepath.SplitList(o.env("PATH"))...) {
		target, ok := real(path)
		if !ok {
			continue
		}
		for _, name := range []string{filepath.Clean(path), target} {
			if beneath(name, []string{"/tmp", "/var/tmp", "/run"}) {
				out = append(out, name)
			}
		}
	}
	return out
}
