package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/confine"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/deps"
	"github.com/pawl-dev/pawl/internal/proc"
)

// A gate that runs in a checkout of Pawl's own has a home of its own, too: what an agent
// puts into the user's (settings, start-up files, packages) does not reach it. That home
// is made for one run and holds links to toolchains and caches, and settings as they were
// before the first turn (homeEntries). Its temporary folder is empty.

// maxSettings bounds a settings file that is copied.
const maxSettings = 1 << 20

// isolation is the surroundings of one run. The zero value changes nothing.
type isolation struct {
	dir    string            // holds home, tmp and what else is made for the run; "" = the run is not isolated
	vars   map[string]string // to set; "" = to remove
	was    string            // the user's home
	mounts []confine.Mount   // what is seen in a namespace; nil = none
}

func (i *isolation) home() string { return filepath.Join(i.dir, "home") }
func (i *isolation) temp() string { return filepath.Join(i.dir, "tmp") }

// environ is an environment with the isolation's variables.
func (i *isolation) environ(env []string) []string {
	if i == nil || i.dir == "" {
		return env
	}
	out := slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		_, ours := i.vars[name]
		return ours
	})
	for name, value := range i.vars {
		if value != "" {
			out = append(out, name+"="+value)
		}
	}
	slices.Sort(out)
	return out
}

// plain is what was said in an isolated run, as if it were said in the user's home.
func (i *isolation) plain(text string) string {
	if i == nil || i.dir == "" {
		return text
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, i.home(), i.was), i.temp(), os.TempDir())
}

// remove removes what the run left. A daemon that it started may still write there.
func (i *isolation) remove() {
	if i != nil && i.dir != "" {
		_ = proc.RemoveAll(i.dir)
	}
}

// isolate makes the surroundings of a gate's run in a checkout, or, where none is given, of
// the set-up that makes a checkout ready.
func (v *Verifier) isolate(ctx context.Context, g *gate.Gate) (*isolation, error) {
	setUp := g == nil
	i := &isolation{was: variable(v.env, "HOME"), vars: map[string]string{}}
	if runtime.GOOS == "windows" || !filepath.IsAbs(i.was) {
		return i, nil
	}
	err := v.recordHome(ctx)
	if err == nil {
		i.dir, err = v.isolationDir()
	}
	if err == nil {
		err = errors.Join(os.Mkdir(i.home(), 0o700), os.Mkdir(i.temp(), 0o700))
	}
	if err == nil && v.inNamespace(ctx) {
		err = v.mountView(i, *cmp.Or(g, &gate.Gate{}))
	}
	if err == nil {
		err = v.furnish(i, setUp)
	}
	if err == nil && i.mounts != nil {
		err = v.hideOpened(i)
	}
	if err == nil {
		err = v.homeNow.path(i)
	}
	if err == nil && !setUp && v.place != nil && v.place.setUp != nil {
		err = layer(v.place.setUp.home(), i.home())
	}
	if err != nil {
		i.remove()
		return nil, fmt.Errorf("make a home for the gate: %w", err)
	}
	i.vars["TMPDIR"] = i.temp()
	if i.mounts == nil {
		i.vars["HOME"] = i.home()
		for _, xdg := range xdgFolders {
			i.vars[xdg.name] = ""
		}
	}
	for _, kv := range v.Set { // what the user set for gates stays
		if name, _, _ := strings.Cut(kv, "="); name != "PATH" {
			delete(i.vars, name)
		}
	}
	return i, nil
}

// isolationDir is a new folder: a confined gate may write below Elsewhere alone; else the
// path is short, for tests that make sockets in it.
func (v *Verifier) isolationDir() (string, error) {
	below := variable(v.env, "TMPDIR")
	if below == "" {
		below = os.TempDir()
	}
	if len(v.Prefix) > 0 {
		below = Elsewhere(v.Dir)
		if err := os.MkdirAll(below, 0o700); err != nil {
			return "", err
		}
	}
	dir, err := os.MkdirTemp(below, "pawl-")
	return resolved(dir), err
}

// furnish puts what homeEntries names into the home.
func (v *Verifier) furnish(i *isolation, setUp bool) error {
	for _, e := range homeEntries {
		from, movedBy := e.source(v.env)
		to := filepath.Join(i.home(), filepath.FromSlash(e.path))
		if from == "" || e.setUp && !setUp {
			continue
		}
		if err := i.move(e, from, movedBy); err != nil {
			return err
		}
		for _, name := range e.link {
			show := func(from, to string) error { return i.show(from, to, e.written || setUp) }
			if i.mounts == nil {
				show = v.homeNow.linkUnchanged
			}
			if err := show(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
				return err
			}
		}
		if len(e.copy) > 0 {
			kept := filepath.Join(v.keptHome(), filepath.FromSlash(e.path))
			if err := copySettings(kept, to, e.copy); err != nil {
				return err
			}
		}
		for _, site := range v.homeNow.sites {
			below, err := filepath.Rel(from, site)
			if e.same == "" || err != nil || !filepath.IsLocal(below) {
				continue
			}
			if err := i.show(site, filepath.Join(to, below), setUp); err != nil {
				return err
			}
		}
	}
	return nil
}

// layer copies what the set-up left in its home and another home lacks: packages that it
// installed for the user, programs that it fetched.
func layer(from, to string) error {
	return filepath.WalkDir(from, func(file string, e fs.DirEntry, err error) error {
		target := filepath.Join(to, file[len(from):])
		if err != nil || file == from {
			return err
		}
		if e.IsDir() {
			return os.MkdirAll(target, 0o700)
		}
		if _, err := os.Lstat(target); err == nil {
			return nil
		}
		return deps.CopyFile(file, target)
	})
}

// show puts what is there into the home: by a mount at its own path, or else by a link.
func (i *isolation) show(from, to string, writable bool) error {
	if !isThere(from) {
		return nil
	}
	if i.mounts != nil {
		i.mounts = append(i.mounts, confine.Mount{Path: i.seenAt(from), From: from, Writable: writable})
		return nil
	}
	return link(from, to)
}

func link(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return os.Symlink(from, to)
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func copySettings(from, to string, names []string) error {
	for _, name := range names {
		data, err := atomicfile.Read(filepath.Join(from, name), maxSettings)
		if err != nil {
			continue // there is none, or nothing that a tool would read
		}
		target := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(target, data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// keptHome is the folder of the settings as they were before the first turn.
func (v *Verifier) keptHome() string {
	if v.Known != "" {
		if known := filepath.Join(v.Known, "home"); isFolder(known) {
			return known
		}
	}
	return filepath.Join(v.Dir, "home")
}

func isFolder(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.IsDir()
}

// variable is the last value of a variable in an environment.
func variable(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}
