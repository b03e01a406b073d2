package checkout

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
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

// With mount namespaces, a gate in a checkout sees the checkout at the work tree's path, its
// separate home at the user's path, and empty temporary folders. So absolute paths (a virtual
// environment, an editable install) work, and nothing that an agent prepared in those folders is
// visible. Without namespaces, the checkout is at another path and variables name the home. Code
// that knows the paths can then reach the user's folders.

// InNamespace reports whether gates in a checkout run in a namespace.
func (k *Checkout) InNamespace(ctx context.Context) bool {
	if k.namespace == nil {
		k.namespace = &confine.Namespace{}
		if home := git.RealPath(environment.Variable(k.Env, "HOME")); k.Repo != nil && !k.NoNamespace && !exists(k.noNamespaceFile()) && !isWithin(home, git.RealPath(k.Repo.Root())) {
			*k.namespace, _ = confine.FindNamespace(ctx, k.Prefix)
		}
	}
	return k.namespace.Works()
}

// noNamespaceFile returns a file that exists if gates of this loop run without namespaces.
func (k *Checkout) noNamespaceFile() string { return filepath.Join(k.Dir, "by-folder") }

// UseNamespace chooses whether gates run in a namespace, if the system has them, and removes the
// current checkout.
func (k *Checkout) UseNamespace(ctx context.Context, wanted bool) error {
	k.namespace = nil
	if !wanted {
		k.namespace = &confine.Namespace{}
	}
	return k.Remove(ctx)
}

// DisableNamespace makes gates of this loop run without namespaces.
func (k *Checkout) DisableNamespace() error { return atomicfile.Write(k.noNamespaceFile(), nil, 0o600) }

// mountBase adds the first mounts of a run: those that hide folders, and the checkout.
func (k *Checkout) mountBase(i *Isolation, g gate.Gate) error {
	shared := filepath.Join(i.dir, "shared")
	if err := os.Mkdir(shared, 0o700); err != nil {
		return err
	}
	i.mounts = []confine.Mount{
		{Path: git.RealPath(i.userHome), From: i.home(), Writable: true},
		{Path: i.dir, From: i.dir, Writable: true},
	}
	for _, dir := range k.tempFolders() {
		i.mounts = append(i.mounts, confine.Mount{Path: dir, From: shared, Writable: true})
	}
	for _, xdg := range xdgFolders {
		dir := git.RealPath(environment.Variable(k.Env, xdg.name))
		if !filepath.IsAbs(dir) || !isFolder(dir) || isWithin(dir, git.RealPath(i.userHome)) {
			continue
		}
		made := filepath.Join(i.home(), filepath.FromSlash(xdg.path))
		if err := os.MkdirAll(made, 0o700); err != nil {
			return err
		}
		i.mounts = append(i.mounts, confine.Mount{Path: dir, From: made, Writable: true})
	}
	for _, path := range slices.Concat(k.toolFolders(i, g), k.home.sockets) {
		i.mounts = append(i.mounts, confine.Mount{Path: path, From: path})
	}
	for _, socket := range engineSockets(k.Env) {
		i.mounts = append(i.mounts, confine.Mount{Path: socket})
	}
	if k.current == nil {
		return nil
	}
	root := git.RealPath(k.Repo.Root())
	i.mounts = append(i.mounts, confine.Mount{Path: root, From: k.current.tree.Root(), Writable: true})
	return k.mountGitDir(i, root)
}

// mountGitDir mounts git's folder, which may be below the hidden work tree or home. The checkout's
// .git file points to it.
func (k *Checkout) mountGitDir(i *Isolation, root string) error {
	common := git.RealPath(k.Repo.CommonDir())
	at := common
	if isWithin(common, root) {
		at = filepath.Join(i.dir, "git")
		below, err := filepath.Rel(common, git.RealPath(k.current.tree.GitDir()))
		if err != nil {
			return err
		}
		file := filepath.Join(i.dir, "gitfile")
		if err := os.WriteFile(file, []byte("gitdir: "+filepath.Join(at, below)+"\n"), 0o600); err != nil {
			return err
		}
		i.mounts = append(i.mounts, confine.Mount{Path: filepath.Join(root, ".git"), From: file})
	}
	i.mounts = append(i.mounts, confine.Mount{Path: at, From: common, Writable: true})
	return nil
}

// redirect makes tools find an entry whose path a variable sets. In a namespace it mounts the entry
// at that path, otherwise it changes the variable to the home's path.
func (i *Isolation) redirect(e homeEntry, from, movedBy string) error {
	to := filepath.Join(i.home(), filepath.FromSlash(e.path))
	switch {
	case i.mounts == nil && movedBy != "":
		i.vars[movedBy] = to
	case i.mounts == nil && e.set != "":
		i.vars[e.set] = to
	case i.mounts != nil && movedBy != "" && !slices.Equal(e.link, whole) && isFolder(from):
		if err := os.MkdirAll(to, 0o700); err != nil {
			return err
		}
		i.mounts = append(i.mounts, confine.Mount{Path: i.visiblePath(from), From: to, Writable: true})
	}
	return nil
}

// visiblePath returns the real path at which a path is visible in the namespace.
func (i *Isolation) visiblePath(path string) string {
	if below, err := filepath.Rel(i.userHome, path); err == nil && filepath.IsLocal(below) {
		return filepath.Join(git.RealPath(i.userHome), below)
	}
	return git.RealPath(path)
}

// Command is a command to run in a work tree or checkout.
type Command struct {
	Dir  string // below its top folder, with slashes
	Argv []string
	Env  []string // added to the gates' environment
}

// Spec returns how to run a command in an isolation. root is a work tree or checkout.
func (k *Checkout) Spec(i *Isolation, root string, c Command) proc.Spec {
	s := proc.Spec{
		Argv: slices.Concat(k.Prefix, c.Argv), Dir: filepath.Join(root, filepath.FromSlash(c.Dir)), Env: i.environ(slices.Concat(k.Env, c.Env)),
		Marker: k.Marker, KeepBackground: true,
	}
	if i != nil && i.mounts != nil {
		s.Argv = append(k.namespace.Argv(i.mounts, strings.Replace(s.Dir, k.current.tree.Root(), k.Repo.Root(), 1)), c.Argv...)
		s.Dir = root
		s.KeepBackground = false // a daemon ends with the namespace, which otherwise waits for it
	}
	return s
}

// tempFolders returns the temporary folders, each once.
func (k *Checkout) tempFolders() []string {
	var dirs []string
	for _, dir := range []string{"/tmp", "/var/tmp", environment.Variable(k.Env, "TMPDIR")} {
		if dir = git.RealPath(dir); filepath.IsAbs(dir) && isFolder(dir) && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// toolFolders returns the hidden folders that programs need. These are folders on the PATH or in
// variables, targets of links there and in dependencies, interpreters, and tools that a gate calls
// by path.
func (k *Checkout) toolFolders(i *Isolation, g gate.Gate) []string {
	t := toolFinder{home: git.RealPath(i.userHome), temp: k.tempFolders(), root: git.RealPath(k.Repo.Root())}
	for e, from := range k.homeSources() { // fillHome adds these
		if e.path != ".local" {
			t.known = append(t.known, git.RealPath(from))
		}
	}
	for _, kv := range k.Env {
		name, value, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "XDG_") || slices.Contains([]string{"HOME", "TMPDIR", "PATH", "PYTHONUSERBASE"}, name) {
			continue
		}
		for _, path := range filepath.SplitList(value) {
			t.add(path, path)
		}
	}
	for _, dir := range k.pathFolders() {
		t.add(dir, filepath.Join(dir, "program"))
		if t.hides(git.RealPath(dir)) {
			t.addProgramsOf(dir)
		}
	}
	for _, folder := range k.installed.folders {
		dir := filepath.Join(k.Repo.Root(), filepath.FromSlash(folder))
		for _, below := range []string{"bin", ".bin", "."} {
			t.addProgramsOf(filepath.Join(dir, below))
		}
	}
	for _, word := range deps.Words(g) {
		if below, ok := strings.CutPrefix(word, "~/"); ok {
			word = filepath.Join(i.userHome, below)
		}
		word = strings.NewReplacer("${HOME}", i.userHome, "$HOME", i.userHome).Replace(word)
		if info, err := os.Stat(word); err == nil && filepath.IsAbs(word) && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			t.add(filepath.Dir(word), word)
			t.addProgramsOf(filepath.Dir(word))
		}
	}
	return t.found
}

// toolFinder collects hidden folders that programs need.
type toolFinder struct {
	home, root  string
	temp, known []string
	found       []string
}

func (t *toolFinder) hides(path string) bool {
	return !isWithin(path, t.root) && (isWithin(path, t.home) || slices.ContainsFunc(t.temp, func(dir string) bool { return isWithin(path, dir) }))
}

// add adds the folder that a program needs: the parent of its bin folder, otherwise path.
func (t *toolFinder) add(path, program string) {
	path = git.RealPath(path)
	if !filepath.IsAbs(path) || !exists(path) || !t.hides(path) {
		return
	}
	if above := filepath.Dir(filepath.Dir(program)); filepath.Base(filepath.Dir(program)) == "bin" && !t.isTooBroad(above) {
		path = git.RealPath(above)
	}
	if t.isTooBroad(path) || slices.ContainsFunc(append(t.known, t.found...), func(dir string) bool { return isWithin(path, dir) }) {
		return
	}
	t.found = append(t.found, path)
}

// isTooBroad reports whether the folder contains more than a tool.
func (t *toolFinder) isTooBroad(dir string) bool {
	dir = git.RealPath(dir)
	return filepath.Base(dir) == ".local" || isWithin(t.home, dir) || isWithin(t.root, dir) ||
		slices.ContainsFunc(t.temp, func(temp string) bool { return isWithin(temp, dir) })
}

// addProgramsOf adds the link targets in a folder and its scripts' interpreters.
func (t *toolFinder) addProgramsOf(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		file := filepath.Join(dir, e.Name())
		if e.Type()&os.ModeSymlink != 0 {
			t.add(file, git.RealPath(file))
		}
		if by := interpreter(file); by != "" {
			t.add(by, by)
		}
	}
}

// interpreter returns the program in a script's first line.
func interpreter(file string) string {
	f, err := atomicfile.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	begin, err := io.ReadAll(io.LimitReader(f, 256))
	line, isScript := bytes.CutPrefix(begin, []byte("#!"))
	if err != nil || !isScript {
		return ""
	}
	line, _, _ = bytes.Cut(line, []byte("\n"))
	if words := strings.Fields(string(line)); len(words) > 0 {
		return words[0]
	}
	return ""
}

// engineSockets returns the sockets of container engines. They mount paths of the machine, not of a
// namespace.
func engineSockets(env []string) []string {
	var found []string
	paths := []string{"/run/docker.sock", "/run/podman/podman.sock"}
	if dir := environment.Variable(env, "XDG_RUNTIME_DIR"); dir != "" {
		paths = append(paths, filepath.Join(dir, "docker.sock"), filepath.Join(dir, "podman", "podman.sock"))
	}
	if socket, ok := strings.CutPrefix(environment.Variable(env, "DOCKER_HOST"), "unix://"); ok {
		paths = append(paths, socket)
	}
	for _, path := range paths {
		if exists(path) && !slices.Contains(found, git.RealPath(path)) {
			found = append(found, git.RealPath(path))
		}
	}
	return found
}
