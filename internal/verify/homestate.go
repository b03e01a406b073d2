package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/deps"
)

// Packages in the user's home and programs on the PATH are too many to copy. What is as
// it was before the first turn is there for a run in a checkout; what came or changed
// since is not.

// homeState is what was noted of them then.
type homeState struct {
	Sites    map[string]string            `json:"sites"`    // folders of packages, with a fingerprint each
	Programs map[string]map[string]string `json:"programs"` // folders of the PATH, with one of each program
	Sockets  map[string]string            `json:"sockets"`  // in temporary folders, with what tells each from another
}

const homeStateFile = "state.json"

// homeNow is what is still so.
type homeNow struct {
	sites    []string            // folders of packages
	programs map[string][]string // of each folder of the PATH in which something changed, what did not
	search   []string            // the PATH
	sockets  []string            // those that are as they were
	opened   []string            // files of caches and toolchains that came or changed, see read.go
	changed  []string            // folders of packages and programs that came or changed, sorted
}

// keepHome keeps the settings, and what tells whether packages and programs change. What
// was kept before stays.
func (v *Verifier) keepHome(ctx context.Context) error {
	dir := v.keptHome()
	if isFolder(dir) || !filepath.IsAbs(variable(v.env, "HOME")) {
		return nil
	}
	if err := os.MkdirAll(v.Dir, 0o700); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(v.Dir, "home-")
	if err != nil {
		return err
	}
	state := homeState{Sites: map[string]string{}}
	for _, e := range homeEntries {
		from, _ := e.source(v.env)
		if from == "" {
			continue
		}
		if err := copySettings(from, filepath.Join(temp, filepath.FromSlash(e.path)), e.copy); err != nil {
			return err
		}
	}
	for _, site := range v.sites() {
		state.Sites[site] = sitePrint(ctx, site)
	}
	state.Programs = v.allPrograms()
	state.Sockets = v.sockets()
	served := listening()
	maps.DeleteFunc(state.Sockets, func(socket, _ string) bool { return !served[socket] && isLeft(socket) })
	if err = writeState(filepath.Join(temp, homeStateFile), state); err == nil {
		err = os.Rename(temp, dir)
	}
	if err != nil {
		return fmt.Errorf("keep the settings in the home: %w", err)
	}
	return nil
}

// recordHome finds what is as it was, once for each claim.
func (v *Verifier) recordHome(ctx context.Context) error {
	if v.homeNow != nil {
		return nil
	}
	if err := v.keepHome(ctx); err != nil {
		return err
	}
	var then homeState
	if _, err := readState(filepath.Join(v.keptHome(), homeStateFile), &then); err != nil {
		return err
	}
	now := homeNow{programs: map[string][]string{}, search: filepath.SplitList(v.Path())}
	for _, site := range v.sites() {
		if print, known := then.Sites[site]; known && sitePrint(ctx, site) == print {
			now.sites = append(now.sites, site)
		} else {
			now.changed = append(now.changed, site)
		}
	}
	for socket, print := range v.sockets() {
		if then.Sockets[socket] == print {
			now.sockets = append(now.sockets, socket)
		}
	}
	for dir, is := range v.allPrograms() {
		was, known := then.Programs[dir]
		if !known {
			continue
		}
		var same []string
		for name, print := range is {
			if was[name] == print {
				same = append(same, name)
			} else {
				now.changed = append(now.changed, filepath.Join(dir, name))
			}
		}
		if len(same) < len(is) {
			now.programs[dir] = same
		}
	}
	var err error
	if now.opened, err = v.changedOpened(ctx); err != nil {
		return err
	}
	now.changed = append(now.changed, now.opened...)
	slices.Sort(now.sites)
	slices.Sort(now.changed)
	v.homeNow = &now
	return nil
}

// ChangedSettings names the settings in the user's home that came or changed since the
// first turn, and programs of installed dependencies that changed, each once. A clean
// checkout has those of then.
func (v *Verifier) ChangedSettings() []string {
	var changed []string
	compare := func(kept, file string) {
		then, _ := atomicfile.Read(kept, maxSettings) // what is not there is empty
		now, _ := atomicfile.Read(file, maxSettings)
		if !bytes.Equal(then, now) && !slices.Contains(v.named, file) {
			changed = append(changed, file)
		}
	}
	for _, e := range homeEntries {
		from, _ := e.source(v.env)
		for _, name := range e.copy {
			if from != "" {
				compare(filepath.Join(v.keptHome(), filepath.FromSlash(e.path), name), filepath.Join(from, name))
			}
		}
	}
	programs, _ := filepath.Glob(filepath.Join(v.dependencyDir(), "*", ".bin", "*")) // of a folder with brackets in its name none
	for _, kept := range programs {
		compare(kept, filepath.Join(v.Repo.Root(), kept[len(v.dependencyDir()):]))
	}
	v.named = append(v.named, changed...)
	if !isFolder(v.keptHome()) { // nothing of then is known
		return nil
	}
	return changed
}

// path puts folders of links to unchanged programs in the place of those of the PATH in
// which something changed.
func (n *homeNow) path(i *isolation) error {
	if len(n.programs) == 0 {
		return nil
	}
	search := slices.Clone(n.search)
	for at, dir := range search {
		same, changed := n.programs[dir]
		if !changed {
			continue
		}
		search[at] = filepath.Join(i.dir, fmt.Sprintf("bin%d", at))
		if err := os.Mkdir(search[at], 0o700); err != nil {
			return err
		}
		for _, name := range same {
			if err := os.Symlink(filepath.Join(dir, name), filepath.Join(search[at], name)); err != nil {
				return err
			}
		}
	}
	i.vars["PATH"] = strings.Join(search, string(filepath.ListSeparator))
	return nil
}

// searched are the folders of the PATH outside of the work tree: those in it are frozen.
func (v *Verifier) searched() []string {
	return slices.DeleteFunc(filepath.SplitList(v.Path()), func(dir string) bool {
		below, err := filepath.Rel(v.Root, dir)
		return !filepath.IsAbs(dir) || err == nil && filepath.IsLocal(below)
	})
}

// sites are the folders of packages in the home.
func (v *Verifier) sites() []string {
	var all []string
	for _, e := range homeEntries {
		from, _ := e.source(v.env)
		if from == "" || e.same == "" {
			continue
		}
		found, _ := filepath.Glob(filepath.Join(from, filepath.FromSlash(e.same))) // nothing in a home with brackets in its name
		all = append(all, found...)
	}
	return all
}

// maxHashed bounds the programs that are told apart by their text. A package manager
// writes small scripts anew that did not change.
const maxHashed = 16 << 10

// allPrograms are those in the folders of the PATH. A folder that is there under two names
// (/bin is often /usr/bin) is read once.
func (v *Verifier) allPrograms() map[string]map[string]string {
	found, read := map[string]map[string]string{}, map[string]map[string]string{}
	for _, dir := range v.searched() {
		real := resolved(dir)
		if _, known := read[real]; !known {
			read[real] = v.programs(dir)
		}
		found[dir] = read[real]
	}
	return found
}

// programs are those in a folder, each with what tells it from another.
func (v *Verifier) programs(dir string) map[string]string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	found := map[string]string{}
	ours, err := filepath.Rel(variable(v.env, "HOME"), dir)
	hashed := err == nil && filepath.IsLocal(ours)
	for _, e := range entries {
		file := filepath.Join(dir, e.Name())
		info, err := os.Stat(file)
		switch {
		case err != nil || !info.Mode().IsRegular():
		case hashed && info.Size() <= maxHashed:
			found[e.Name()] = atomicfile.Fingerprint(file, maxHashed)
		default:
			found[e.Name()] = fmt.Sprint(info.Mode(), info.Size(), info.ModTime().UnixNano(), deps.ChangeTime(info))
		}
	}
	return found
}

// sitePrint tells one state of a package folder from another, "" for one that is too
// large to tell.
func sitePrint(ctx context.Context, site string) string {
	state, err := deps.Fingerprint(ctx, filepath.Dir(site), filepath.Base(site))
	if err != nil && !errors.Is(err, deps.ErrTooLarge) {
		return "unknown: " + err.Error()
	}
	return state
}
