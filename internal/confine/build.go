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
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/proc"
)

// Options describes a loop and what its commands may do. All paths are absolute.
type Options struct {
	Level   Level
	Program string // pawl itself, which enters the sandbox and starts the command there
	Dir     string // a folder for policies and temporary folders

	Root      string   // the work tree
	GitDir    string   // its git directory, "" without git
	CommonDir string   // the git directory that the repository's work trees share
	Index     string   // the folder of Pawl's own indexes, in the git directory
	Elsewhere string   // the folder in which gates run on other trees, "" = none
	State     []string // Pawl's state and configuration
	Home      string   // the user's home
	Vars      []string // the environment of the commands, NAME=value

	Client bool     // the agent is Claude Code
	Needs  []string // the agent's program and the files in its arguments: visible even below /tmp
	Keep   []string // variables that the user passes to the agent by name
	Hosts  []string // for Strict: allowed hosts: HOST, HOST:PORT or *.DOMAIN
}

// Sandbox holds the commands that confine a loop's programs, and the servers that they need.
type Sandbox struct {
	Agent       []string // prefix of the agent's argv
	Gates       []string // prefix of a gate's argv
	Hooks       []string // prefix of the argv of the user's git hooks
	Limitations []string // what this sandbox does not prevent, in plain words
	Mechanism   Mechanism

	bridges []*bridge
	close   []func() error
}

// Close stops the servers of the sandbox and removes the temporary folders.
func (w *Sandbox) Close() error {
	var failed error
	for _, f := range slices.Backward(w.close) {
		failed = errors.Join(failed, f())
	}
	w.close = nil
	return failed
}

// Refused returns the hosts that confined commands asked the proxy for and that are not allowed,
// each once, in the form that would allow them (HOST or HOST:PORT). It may be called at any time.
func (w *Sandbox) Refused() []string {
	var out []string
	for _, b := range w.bridges {
		for _, host := range b.refused() {
			if !slices.Contains(out, host) {
				out = append(out, host)
			}
		}
	}
	return out
}

// Build prepares the sandboxes of a loop, or says why they are not available here. Off needs none.
func Build(ctx context.Context, o Options) (*Sandbox, error) {
	if !o.Level.On() {
		return &Sandbox{}, nil
	}
	return o.build(Detect(ctx))
}

func (o Options) build(sys System) (_ *Sandbox, err error) {
	if err := sys.CheckLevel(o.Level); err != nil {
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
	w.Limitations, w.Mechanism = sys.Lacks(o.Level), sys.Mechanism(o.Level)
	if dir := filepath.Join(o.Root, ".claude"); !exists(dir) {
		w.close = append(w.close, func() error {
			_ = os.Remove(dir) // Build created it to protect it; it stays if it is not empty
			return nil
		})
	}
	base, err := o.basePolicy(sys)
	if err != nil {
		return nil, err
	}
	if w.Agent, err = w.addPolicy(o, "agent", o.agentPolicy(base)); err != nil {
		return nil, err
	}
	if w.Gates, err = w.addPolicy(o, "gates", o.gatePolicy(base)); err != nil {
		return nil, err
	}
	if o.GitDir != "" {
		w.Hooks, err = w.addPolicy(o, "hooks", o.hookPolicy(base))
	}
	return w, err
}

// addPolicy stores a policy and starts the servers that it needs. It returns the command that
// applies it.
func (w *Sandbox) addPolicy(o Options, name string, p Policy) ([]string, error) {
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
		bridge, err := openBridge(dir, hosts)
		if err != nil {
			return nil, err
		}
		w.bridges, w.close = append(w.bridges, bridge), append(w.close, bridge.close)
		p.Net = bridge.net()
	}
	path := filepath.Join(dir, "policy.json")
	if err := atomicfile.WriteIndentedJSON(path, p); err != nil {
		return nil, err
	}
	return []string{o.Program, "confined", "--policy", path, "--"}, nil
}

// basePolicy returns what the policies of agent and gates have in common.
func (o Options) basePolicy(sys System) (Policy, error) {
	p := Policy{Level: o.Level, Mechanism: sys.Mechanism(o.Level), Program: sys.bwrap, Unset: strings.Fields(controlVars)}
	p.Write = resolve([]string{o.Root, o.GitDir, o.CommonDir})
	precious := resolve([]string{o.Home})
	if p.Mechanism == Landlock { // it cannot exclude part of a writable folder
		precious = append(precious, resolve(append([]string{o.Program, o.clientHome()}, o.State...))...)
		p.Write = append(p.Write, temporaryFolders(precious)...)
	}
	closed := o.excludedFolders()
	p.Read = append(p.Read, closed...)
	for _, dir := range o.cacheFolders(precious) {
		if p.Mechanism == Landlock && coversAny(dir, closed) {
			p.Write = append(p.Write, openSubfolders(dir, closed)...)
		} else {
			p.Write = append(p.Write, dir)
		}
	}
	p.Read = append(p.Read, resolve(o.State)...)
	if err := o.protect(&p); err != nil {
		return p, err
	}
	p.Read = append(p.Read, slices.DeleteFunc(o.shownPaths(), func(path string) bool { return isInsideAny(path, p.Write) })...)
	p.Hide = resolve(joinEach(o.Home, controlSockets))
	if o.Level == Strict {
		p.DropSecrets = true
		p.Hide = append(p.Hide, resolve(joinEach(o.Home, strings.Join(guard.SecretPaths(), " ")))...)
	}
	return p, nil
}

// temporaryFolders returns the machine's temporary folders, except those that contain a path which
// must not be written.
func temporaryFolders(precious []string) []string {
	var out []string
	for _, dir := range resolve([]string{os.TempDir(), "/tmp", "/var/tmp", "/dev/shm"}) {
		if !slices.Contains(out, dir) && !coversAny(dir, precious) {
			out = append(out, dir)
		}
	}
	return out
}

// openSubfolders returns the existing folders in a folder, except those that contain a closed one.
func openSubfolders(dir string, closed []string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if path := filepath.Join(dir, e.Name()); e.IsDir() && !coversAny(path, closed) {
			out = append(out, path)
		}
	}
	return out
}

// coversAny reports whether one of the paths is a folder or below it.
func coversAny(dir string, paths []string) bool {
	return slices.ContainsFunc(paths, func(path string) bool { return isInside(path, dir) })
}

// cacheFolders returns the folders that builds keep between runs. It does not follow paths in a
// writable folder: they may have been redirected.
func (o Options) cacheFolders(precious []string) []string {
	var named []string
	for _, c := range guard.Caches() {
		if dir := o.cacheDir(c); dir != "" {
			named = append(named, dir)
		}
	}
	for name := range strings.FieldsSeq(cacheVars) {
		named = append(named, environment.Variable(o.Vars, name))
	}
	if goPath := environment.Variable(o.Vars, "GOPATH"); goPath != "" {
		named = append(named, filepath.Join(goPath, "pkg"))
	}
	if cargo := environment.Variable(o.Vars, "CARGO_HOME"); cargo != "" {
		named = append(named, filepath.Join(cargo, "registry"), filepath.Join(cargo, "git"))
	}
	var out, seen []string
	for _, dir := range named {
		if !filepath.IsAbs(dir) || isInsideAny(dir, seen) {
			continue
		}
		seen = append(seen, dir)
		if p, ok := realPath(dir); ok && !coversAny(p, precious) && isDir(p) {
			out = append(out, p)
		}
	}
	return out
}

// cacheDir returns the folder of a cache, "" if it is unknown. It creates the folder if its
// program, or other files of that program, exist: inside the sandbox nobody could create it.
func (o Options) cacheDir(c guard.Cache) string {
	dir := ""
	if o.Home != "" {
		dir = filepath.Join(o.Home, filepath.FromSlash(c.Dir))
	}
	moved := strings.Fields(movedFolderVars)
	for i := 0; i < len(moved); i += 2 {
		if to := environment.Variable(o.Vars, moved[i+1]); to != "" && (c.Dir == moved[i] || strings.HasPrefix(c.Dir, moved[i]+"/")) {
			dir = filepath.Join(to, filepath.FromSlash(strings.TrimPrefix(c.Dir, moved[i])))
		}
	}
	beside := filepath.Dir(dir)
	if filepath.IsAbs(dir) && c.Program != "" && !exists(dir) && (o.isInPath(c.Program) || beside != filepath.Clean(o.Home) && exists(beside)) {
		_ = makeDir(dir) // if it fails, the program has no cache
	}
	return dir
}

// excludedFolders returns the folders in caches that may not be written.
func (o Options) excludedFolders() []string {
	var out []string
	for _, c := range guard.Caches() {
		if dir := o.cacheDir(c); isDir(dir) {
			for _, name := range c.Excluded {
				_ = makeDir(filepath.Join(dir, name)) // a missing folder could be created by the confined
				out = append(out, filepath.Join(dir, name))
			}
		}
	}
	return resolve(out)
}

// isInPath reports whether a program is in the PATH.
func (o Options) isInPath(program string) bool {
	return slices.ContainsFunc(filepath.SplitList(environment.Variable(o.Vars, "PATH")), func(dir string) bool { return exists(filepath.Join(dir, program)) })
}

// shownPaths returns paths that must be visible although they, or their targets, are in folders
// that bubblewrap replaces.
func (o Options) shownPaths() []string {
	var out []string
	all := append([]string{o.Home, o.Program, "/etc/resolv.conf"}, o.Needs...)
	for _, path := range append(all, filepath.SplitList(environment.Variable(o.Vars, "PATH"))...) {
		target, ok := realPath(path)
		if !ok {
			continue
		}
		for _, name := range []string{filepath.Clean(path), target} {
			if isBelowAny(name, []string{"/tmp", "/var/tmp", "/run"}) {
				out = append(out, name)
			}
		}
	}
	return out
}
