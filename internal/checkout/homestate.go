package checkout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/deps"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/git"
)

// There are too many packages in the user's home and programs on the PATH to copy them. Runs in a
// checkout see those that have not changed since the first turn.

// homeState is the record of the home before the first turn.
type homeState struct {
	Sites    map[string]string            `json:"sites"`    // package folders with their fingerprints
	Programs map[string]map[string]string `json:"programs"` // folders of the PATH, with the state of each program
	Scripts  map[string]string            `json:"scripts"`  // fingerprints of small programs in the home
	Sockets  map[string]string            `json:"sockets"`  // in temporary folders, with the state of each
}

const homeStateFile = "state.json"

// unchangedHome is the result of comparing the home with its record.
type unchangedHome struct {
	sites        []string            // unchanged package folders
	programs     map[string][]string // unchanged programs of each PATH folder in which some changed
	path         []string            // the PATH
	sockets      []string            // unchanged sockets
	changedFiles []string            // added or changed files of caches and toolchains, see openedfiles.go
	changed      []string            // added or changed package folders and programs, sorted
}

// recordHome records settings, packages and programs. It keeps an earlier record.
func (k *Checkout) recordHome(ctx context.Context) error {
	dir := k.homeRecordDir()
	if isFolder(dir) || !filepath.IsAbs(environment.Variable(k.Env, "HOME")) {
		return nil
	}
	if err := os.MkdirAll(k.Dir, 0o700); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(k.Dir, "home-")
	if err != nil {
		return err
	}
	state := homeState{Sites: map[string]string{}}
	for e, from := range k.homeSources() {
		if err := copySettings(from, filepath.Join(temp, filepath.FromSlash(e.path)), e.copy); err != nil {
			return err
		}
	}
	for _, site := range k.packageFolders() {
		state.Sites[site] = packageFingerprint(ctx, site)
	}
	state.Programs, state.Sockets = k.allPrograms(), k.sockets()
	state.Scripts = k.scripts(state.Programs)
	served := listeningSockets()
	maps.DeleteFunc(state.Sockets, func(socket, _ string) bool { return !served[socket] && isStaleSocket(socket) })
	if err = WriteRecord(filepath.Join(temp, homeStateFile), state); err == nil {
		err = os.Rename(temp, dir)
	}
	if err != nil {
		return fmt.Errorf("keep the settings in the home: %w", err)
	}
	return nil
}

// compareHome compares the home with its record, once per claim.
func (k *Checkout) compareHome(ctx context.Context) error {
	if k.home != nil {
		return nil
	}
	if err := k.recordHome(ctx); err != nil {
		return err
	}
	then, err := readOnce(&k.homeRecord, filepath.Join(k.homeRecordDir(), homeStateFile)) // a PATH has thousands of programs
	if err != nil {
		return err
	}
	now := unchangedHome{programs: map[string][]string{}, path: filepath.SplitList(k.Path())}
	for _, site := range k.packageFolders() {
		if print, known := then.Sites[site]; known && packageFingerprint(ctx, site) == print {
			now.sites = append(now.sites, site)
		} else {
			now.changed = append(now.changed, site)
		}
	}
	for socket, state := range then.Sockets {
		if socketState(socket) == state {
			now.sockets = append(now.sockets, socket)
		}
	}
	for dir, is := range k.allPrograms() {
		if _, known := then.Programs[dir]; known {
			now.comparePrograms(dir, is, then)
		}
	}
	if now.changedFiles, err = k.changedOpenedFiles(ctx); err != nil {
		return err
	}
	now.changed = append(now.changed, now.changedFiles...)
	slices.Sort(now.sites)
	slices.Sort(now.changed)
	k.home = &now
	return nil
}

// ChangedInHome returns the added or changed package folders and programs, or nil if they are unknown.
func (k *Checkout) ChangedInHome(ctx context.Context) []string {
	if k.compareHome(ctx) != nil { // a run in the checkout reports the error
		return nil
	}
	return k.home.changed
}

// ChangedSettings returns the user's settings and dependency programs that changed since the first
// turn, each only once. A clean checkout has the old ones.
func (k *Checkout) ChangedSettings() []string {
	var changed []string
	compare := func(kept, file string) {
		then, _ := atomicfile.Read(kept, maxSettings) // a missing file counts as empty
		now, _ := atomicfile.Read(file, maxSettings)
		if !bytes.Equal(then, now) && !slices.Contains(k.reportedSettings, file) {
			changed = append(changed, file)
		}
	}
	for e, from := range k.homeSources() {
		for _, name := range e.copy {
			compare(filepath.Join(k.homeRecordDir(), filepath.FromSlash(e.path), name), filepath.Join(from, name))
		}
	}
	programs, _ := filepath.Glob(filepath.Join(k.dependencyDir(), "*", ".bin", "*")) // a folder with brackets in its name has no match
	for _, kept := range programs {
		if _, err := os.Stat(kept); err != nil {
			continue // a link to the work itself, such as a workspace's own program
		}
		compare(kept, filepath.Join(k.Repo.Root(), kept[len(k.dependencyDir()):]))
	}
	k.reportedSettings = append(k.reportedSettings, changed...)
	if !isFolder(k.homeRecordDir()) { // there is no record
		return nil
	}
	return changed
}

// replacePath replaces PATH folders with changes by folders that contain links to the unchanged
// programs.
func (n *unchangedHome) replacePath(i *Isolation) error {
	if len(n.programs) == 0 {
		return nil
	}
	search := slices.Clone(n.path)
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

// pathFolders returns the PATH folders outside the work tree. Folders inside it are part of a tree.
func (k *Checkout) pathFolders() []string {
	return slices.DeleteFunc(filepath.SplitList(k.Path()), func(dir string) bool {
		return !filepath.IsAbs(dir) || isWithin(dir, k.Root)
	})
}

// packageFolders returns the package folders in the home.
func (k *Checkout) packageFolders() []string {
	var all []string
	for e, from := range k.homeSources() {
		if e.packages != "" {
			found, _ := filepath.Glob(filepath.Join(from, filepath.FromSlash(e.packages))) // nothing in a home with brackets in its name
			all = append(all, found...)
		}
	}
	return all
}

// packageFingerprint identifies a package folder's state, "" if it is too large.
func packageFingerprint(ctx context.Context, site string) string {
	state, err := deps.Fingerprint(ctx, filepath.Dir(site), filepath.Base(site))
	if err != nil && !errors.Is(err, deps.ErrTooLarge) {
		return "unknown: " + err.Error()
	}
	return state
}

// allPrograms returns the state of the programs in each PATH folder. It reads a folder with two
// names only once (/bin is often /usr/bin).
func (k *Checkout) allPrograms() map[string]map[string]string {
	found, read := map[string]map[string]string{}, map[string]map[string]string{}
	for _, dir := range k.pathFolders() {
		real := git.RealPath(dir)
		if _, known := read[real]; !known {
			read[real] = programs(dir)
		}
		found[dir] = read[real]
	}
	return found
}

// programs returns the programs in a folder, with mode, size and times of each.
func programs(dir string) map[string]string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	found := make(map[string]string, len(entries))
	for _, e := range entries {
		info, err := os.Stat(filepath.Join(dir, e.Name()))
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		state := make([]byte, 0, 64)
		for _, n := range []int64{int64(info.Mode()), info.Size(), info.ModTime().UnixNano(), deps.ChangeTime(info)} {
			state = append(strconv.AppendInt(state, n, 36), ' ')
		}
		found[e.Name()] = string(state)
	}
	return found
}

// maxHashedProgram limits the size of programs compared by content, in bytes.
const maxHashedProgram = 16 << 10

// scripts returns the fingerprints of small programs in the home, because package managers rewrite
// them with the same content.
func (k *Checkout) scripts(programs map[string]map[string]string) map[string]string {
	found, home := map[string]string{}, environment.Variable(k.Env, "HOME")
	for dir, names := range programs {
		if !isWithin(dir, home) {
			continue
		}
		for name := range names {
			file := filepath.Join(dir, name)
			if info, err := os.Stat(file); err == nil && info.Size() <= maxHashedProgram {
				found[file] = atomicfile.Fingerprint(file, maxHashedProgram)
			}
		}
	}
	return found
}

// comparePrograms compares a folder's programs with those of the record.
func (n *unchangedHome) comparePrograms(dir string, is map[string]string, then *homeState) {
	var same []string
	for name, state := range is {
		file := filepath.Join(dir, name)
		isSame := then.Programs[dir][name] == state
		if content, isScript := then.Scripts[file]; isScript && (!isSame || !deps.HasChangeTime) {
			isSame = atomicfile.Fingerprint(file, maxHashedProgram) == content
		}
		if isSame {
			same = append(same, name)
		} else {
			n.changed = append(n.changed, file)
		}
	}
	if len(same) < len(is) {
		n.programs[dir] = same
	}
}
