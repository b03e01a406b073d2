package confine

import (
	"cmp"
	"context"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// probeTimeout bounds the trial run of bubblewrap, which takes about 10 ms.
const probeTimeout = 5 * time.Second

// Mount shows a folder or file at another path. All paths are absolute, and Path contains no
// symbolic links.
type Mount struct {
	Path     string
	From     string // the path shown at Path; "" = an empty folder or file
	Writable bool
}

// Namespace starts commands that see other folders at some paths of the machine, by bubblewrap in
// a mount namespace. They share the machine's network, but not its processes or shared memory. The
// zero value starts no commands.
type Namespace struct {
	before []string // argv that precedes bubblewrap
	bwrap  string
	base   []string
}

// namespaceBase shows the machine as it is, with its devices. It drops the capability to unmount,
// since an unmount would show the path below.
var namespaceBase = []string{
	"--unshare-pid", "--unshare-ipc", "--cap-drop", "CAP_SYS_ADMIN",
	"--dev-bind", "/", "/", "--proc", "/proc", "--tmpfs", "/dev/shm",
}

// FindNamespace returns a namespace for commands with this argv prefix, or says why there is none.
// It tries bubblewrap, because an installed bubblewrap may not work.
func FindNamespace(ctx context.Context, before []string) (n Namespace, problem string) {
	path, err := exec.LookPath("bwrap")
	if err != nil {
		return n, "bubblewrap is not installed"
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	n = Namespace{before, path, namespaceBase}
	argv := append(n.Argv(nil, "/"), "true")
	if out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput(); err != nil {
		said, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		return Namespace{}, "bubblewrap cannot run: " + cmp.Or(said, err.Error())
	}
	return n, ""
}

// Works reports whether the namespace can start commands.
func (n Namespace) Works() bool { return n.bwrap != "" }

// Argv returns the prefix of a command that runs in dir. A mount covers the mounts of folders that
// contain its path, in any order of mounts.
func (n Namespace) Argv(mounts []Mount, dir string) []string {
	argv := slices.Concat(n.before, []string{n.bwrap}, n.base)
	sorted := slices.Clone(mounts)
	slices.SortStableFunc(sorted, func(a, b Mount) int { return slices.Compare(splitPath(a.Path), splitPath(b.Path)) })
	for _, m := range sorted {
		switch {
		case m.From == "":
			argv = append(argv, hide(m.Path)...)
		case m.Writable:
			argv = append(argv, "--bind", m.From, m.Path)
		default:
			argv = append(argv, "--ro-bind-try", m.From, m.Path) // a socket may be gone
		}
	}
	return append(argv, "--chdir", dir, "--")
}
