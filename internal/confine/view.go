package confine

import (
	"cmp"
	"context"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// probeTimeout bounds the try whether bubblewrap works: measured, 10 ms.
const probeTimeout = 5 * time.Second

// Mount shows a folder or file in the place of another. All paths are absolute, and no
// part of Path is a symbolic link.
type Mount struct {
	Path     string
	From     string // shown at Path; "" = nothing: an empty folder, or an empty file
	Writable bool
}

// Namespace starts commands that see other folders in the place of some of the machine's
// (mount namespaces, by bubblewrap). They share the network with the machine, and neither
// its processes nor its shared memory. The zero value starts none.
type Namespace struct {
	before []string // argv before that of bubblewrap
	bwrap  string
	base   []string
}

// namespaceBase shows the machine as it is, its devices too. Root may not take a mount
// away, which would show what lies below it.
var namespaceBase = []string{
	"--unshare-pid", "--unshare-ipc", "--cap-drop", "CAP_SYS_ADMIN",
	"--dev-bind", "/", "/", "--proc", "/proc", "--tmpfs", "/dev/shm",
}

// FindNamespace reports whether commands behind an argv can have such a view here, and why
// not: a program that is there says little, so it is tried.
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
		return Namespace{}, "bubblewrap does not run: " + cmp.Or(said, err.Error())
	}
	return n, ""
}

// Works reports whether it starts commands.
func (n Namespace) Works() bool { return n.bwrap != "" }

// Argv is what is put before a command that runs in dir. A mount lies on top of those
// whose folders hold its path, whatever their order.
func (n Namespace) Argv(mounts []Mount, dir string) []string {
	argv := slices.Concat(n.before, []string{n.bwrap}, n.base)
	sorted := slices.Clone(mounts)
	slices.SortStableFunc(sorted, func(a, b Mount) int { return slices.Compare(parts(a.Path), parts(b.Path)) })
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
