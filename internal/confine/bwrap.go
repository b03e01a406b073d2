package confine

import (
	"path/filepath"
	"slices"
	"strings"
)

// bwrapArgs are the arguments of bubblewrap that build the wall around a command.
// Later mounts lie on top of earlier ones, so folders come before what is in them.
func (p Policy) bwrapArgs(dir string, argv []string) []string {
	args := []string{
		"--die-with-parent", // with a process table of its own: all that it started ends with it
		"--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-cgroup-try",
		"--cap-drop", "ALL",
	}
	if p.Net != nil {
		args = append(args, "--unshare-net")
	}
	args = append(args,
		"--ro-bind", "/", "/",
		"--dev", "/dev", "--proc", "/proc",
		"--bind", p.Temp, "/tmp", "--bind", p.Temp, "/var/tmp",
		"--tmpfs", "/run", // sockets of everything that listens on the machine
	)
	// To root they are writable without any privilege.
	for _, path := range resolve(below("/proc", "sys sysrq-trigger irq bus acpi fs scsi mtrr driver")) {
		args = append(args, "--ro-bind", path, path)
	}
	for _, m := range p.mounts() {
		args = append(args, m.args()...)
	}
	args = append(args, "--chdir", dir, "--")
	return append(args, argv...)
}

// mount is one part of the view.
type mount struct {
	path string
	how  string // an option of bubblewrap's
}

// Each later one of these wins over the earlier at the same path.
const (
	writable = "--bind"
	scratch  = "--tmpfs"
	readonly = "--ro-bind"
	hidden   = "hide"
)

func (m mount) args() []string {
	switch m.how {
	case hidden:
		return hide(m.path)
	case scratch:
		return []string{scratch, m.path}
	}
	return []string{m.how, m.path, m.path}
}

// hide makes a folder or a file look empty.
func hide(path string) []string {
	if isDir(path) {
		return []string{"--tmpfs", path, "--remount-ro", path}
	}
	return []string{"--ro-bind", "/dev/null", path}
}

// mounts are all of them, in order.
func (p Policy) mounts() []mount {
	at := map[string]string{}
	for _, kind := range []struct {
		how   string
		paths []string
	}{{writable, p.Write}, {scratch, p.Scratch}, {readonly, p.Read}, {hidden, p.Hide}} {
		for _, path := range kind.paths {
			at[path] = kind.how
		}
	}
	var all []mount
	for path, how := range at {
		if p.visible(path) {
			all = append(all, mount{path, how})
		}
	}
	slices.SortFunc(all, func(a, b mount) int { return slices.Compare(parts(a.path), parts(b.path)) })
	return slices.DeleteFunc(all, func(m mount) bool { return beneath(m.path, p.Hide) })
}

// visible leaves out what bubblewrap shows by itself.
func (p Policy) visible(path string) bool {
	return path != "/" && path != "/tmp" && path != "/run" && !inside(path, "/proc") && !inside(path, "/dev") && exists(path)
}

// beneath reports whether a path is strictly below one of the folders.
func beneath(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return path != dir && inside(path, dir) })
}

func parts(path string) []string {
	return strings.Split(filepath.Clean(path), string(filepath.Separator))
}
