package confine

import (
	"path/filepath"
	"slices"
	"strings"
)

// bwrapArgs returns the arguments of bubblewrap that confine a command. Later mounts cover earlier
// ones, so folders precede what is in them.
func (p Policy) bwrapArgs(dir string, argv []string) []string {
	args := []string{
		"--die-with-parent", // with a private process table: its processes end with it
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
		"--tmpfs", "/run", // hides the sockets of the machine's services
	)
	// Root may write these even without capabilities.
	for _, path := range resolve(joinEach("/proc", "sys sysrq-trigger irq bus acpi fs scsi mtrr driver")) {
		args = append(args, "--ro-bind", path, path)
	}
	for _, m := range p.mounts() {
		args = append(args, m.args()...)
	}
	args = append(args, "--chdir", dir, "--")
	return append(args, argv...)
}

// mount is one path of the view of the file system.
type mount struct {
	path   string
	option string // an option of bubblewrap, or hidden
}

// The options of mounts. If a path has several, the last of these applies.
const (
	mountWritable = "--bind"
	mountEmpty    = "--tmpfs"
	mountReadOnly = "--ro-bind"
	mountHidden   = "hide"
)

func (m mount) args() []string {
	switch m.option {
	case mountHidden:
		return hide(m.path)
	case mountEmpty:
		return []string{mountEmpty, m.path}
	}
	return []string{m.option, m.path, m.path}
}

// hide returns arguments that make a folder or file appear empty.
func hide(path string) []string {
	if isDir(path) {
		return []string{"--tmpfs", path, "--remount-ro", path}
	}
	return []string{"--ro-bind", "/dev/null", path}
}

// mounts returns all mounts of the policy, in order.
func (p Policy) mounts() []mount {
	at := map[string]string{}
	for _, kind := range []struct {
		how   string
		paths []string
	}{{mountWritable, p.Write}, {mountEmpty, p.Scratch}, {mountReadOnly, p.Read}, {mountHidden, p.Hide}} {
		for _, path := range kind.paths {
			at[path] = kind.how
		}
	}
	var all []mount
	for path, how := range at {
		if p.needsMount(path) {
			all = append(all, mount{path, how})
		}
	}
	slices.SortFunc(all, func(a, b mount) int { return slices.Compare(splitPath(a.path), splitPath(b.path)) })
	return slices.DeleteFunc(all, func(m mount) bool { return isBelowAny(m.path, p.Hide) })
}

// needsMount reports whether a path exists and needs a mount: bubblewrap mounts some paths by
// default.
func (p Policy) needsMount(path string) bool {
	return path != "/" && path != "/tmp" && path != "/run" && !isInside(path, "/proc") && !isInside(path, "/dev") && exists(path)
}

// isBelowAny reports whether a path is strictly below one of the folders.
func isBelowAny(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return path != dir && isInside(path, dir) })
}

func splitPath(path string) []string {
	return strings.Split(filepath.Clean(path), string(filepath.Separator))
}
