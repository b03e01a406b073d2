package checkout

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
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/proc"
)

// A gate in a checkout has a separate home, so that an agent's changes in the user's home
// (settings, startup files, packages) do not reach it. That home exists for one run. It contains
// links to toolchains and caches, and settings from before the first turn (homeEntries). Its
// temporary folder is empty.

// maxSettings limits the size of a copied settings file, in bytes.
const maxSettings = 1 << 20

// Isolation is the environment of one run. The zero value changes nothing.
type Isolation struct {
	dir      string            // contains home, tmp and more; "" = not isolated
	vars     map[string]string // variables to set; "" = remove
	userHome string            // the user's home
	mounts   []confine.Mount   // visible in a namespace; nil = no namespace
}

func (i *Isolation) home() string { return filepath.Join(i.dir, "home") }
func (i *Isolation) temp() string { return filepath.Join(i.dir, "tmp") }

// environ applies the isolation's variables to an environment.
func (i *Isolation) environ(env []string) []string {
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

// WithUserPaths replaces isolated paths in output with the user's paths.
func (i *Isolation) WithUserPaths(text string) string {
	if i == nil || i.dir == "" {
		return text
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, i.home(), i.userHome), i.temp(), os.TempDir())
}

// Remove removes the run's folder. A daemon that it started may still write there.
func (i *Isolation) Remove() {
	if i != nil && i.dir != "" {
		_ = proc.RemoveAll(i.dir)
	}
}

// Isolate prepares a gate's run in a checkout, or the setup's if g is nil.
func (k *Checkout) Isolate(ctx context.Context, g *gate.Gate) (*Isolation, error) {
	setUp := g == nil
	if k.current != nil {
		k.current.pristine = false
	}
	i := &Isolation{userHome: environment.Variable(k.Env, "HOME"), vars: map[string]string{}}
	if runtime.GOOS == "windows" || !filepath.IsAbs(i.userHome) {
		return i, nil
	}
	err := k.compareHome(ctx)
	if err == nil {
		i.dir, err = k.isolationDir()
	}
	if err == nil {
		err = errors.Join(os.Mkdir(i.home(), 0o700), os.Mkdir(i.temp(), 0o700))
	}
	if err == nil && k.InNamespace(ctx) {
		err = k.mountBase(i, *cmp.Or(g, &gate.Gate{}))
	}
	if err == nil {
		err = k.fillHome(i, setUp)
	}
	if err == nil && i.mounts != nil {
		err = k.hideChangedFiles(i)
	}
	if err == nil {
		err = k.home.replacePath(i)
	}
	if err == nil && !setUp && k.current != nil && k.current.setUp != nil {
		err = copyMissing(k.current.setUp.home(), i.home())
	}
	if err != nil {
		i.Remove()
		return nil, fmt.Errorf("make a home for the gate: %w", err)
	}
	i.vars["TMPDIR"] = i.temp()
	if i.mounts == nil {
		i.vars["HOME"] = i.home()
		for _, xdg := range xdgFolders {
			i.vars[xdg.name] = ""
		}
	}
	for _, kv := range k.UserEnv { // the user's settings for gates have priority
		if name, _, _ := strings.Cut(kv, "="); name != "PATH" {
			delete(i.vars, name)
		}
	}
	return i, nil
}

// isolationDir creates the folder of a run. Confined gates may only write below Folder, so it is
// there. Otherwise its path is short, for tests that create sockets.
func (k *Checkout) isolationDir() (string, error) {
	below := environment.Variable(k.Env, "TMPDIR")
	if below == "" {
		below = os.TempDir()
	}
	if len(k.Prefix) > 0 {
		below = Folder(k.Dir)
		if err := os.MkdirAll(below, 0o700); err != nil {
			return "", err
		}
	}
	dir, err := os.MkdirTemp(below, "pawl-")
	return git.RealPath(dir), err
}

// fillHome adds the homeEntries to the isolated home.
func (k *Checkout) fillHome(i *Isolation, setUp bool) error {
	for _, e := range homeEntries {
		from, movedBy := e.source(k.Env)
		to := filepath.Join(i.home(), filepath.FromSlash(e.path))
		if from == "" || e.setupOnly && !setUp {
			continue
		}
		if err := i.redirect(e, from, movedBy); err != nil {
			return err
		}
		for _, name := range e.link {
			show := func(from, to string) error { return i.expose(from, to, e.writable || setUp) }
			if i.mounts == nil {
				show = k.home.linkUnchanged
			}
			if err := show(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
				return err
			}
		}
		if len(e.copy) > 0 {
			kept := filepath.Join(k.homeRecordDir(), filepath.FromSlash(e.path))
			if err := copySettings(kept, to, e.copy); err != nil {
				return err
			}
		}
		for _, site := range k.home.sites {
			below, err := filepath.Rel(from, site)
			if e.packages == "" || err != nil || !filepath.IsLocal(below) {
				continue
			}
			if err := i.expose(site, filepath.Join(to, below), setUp); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyMissing copies what the setup installed in its home, such as packages and programs, to
// another home.
func copyMissing(from, to string) error {
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

// expose makes a path visible in the home, by a mount at its path or by a link.
func (i *Isolation) expose(from, to string, writable bool) error {
	if !exists(from) {
		return nil
	}
	if i.mounts != nil {
		i.mounts = append(i.mounts, confine.Mount{Path: i.visiblePath(from), From: from, Writable: writable})
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

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func copySettings(from, to string, names []string) error {
	for _, name := range names {
		data, err := atomicfile.Read(filepath.Join(from, name), maxSettings)
		if err != nil {
			continue // missing, or unreadable for tools as well
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

// homeRecordDir returns the folder of the settings from before the first turn.
func (k *Checkout) homeRecordDir() string {
	if k.Known != "" {
		if known := filepath.Join(k.Known, "home"); isFolder(known) {
			return known
		}
	}
	return k.ownHomeRecordDir()
}

func (k *Checkout) ownHomeRecordDir() string { return filepath.Join(k.Dir, "home") }

func isFolder(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.IsDir()
}

// isWithin reports whether a path is dir or below it.
func isWithin(path, dir string) bool {
	below, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(below)
}

// HidesWorkTree reports whether a command in this isolation cannot reach the work tree.
func (i *Isolation) HidesWorkTree() bool { return i != nil && i.mounts != nil }
