package doctor

import (
	"strings"

	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/deps"
	"github.com/pawl-dev/pawl/internal/failure"
)

// home is the folder in which loops live.
type home struct {
	path  string
	fault error   // it cannot be written
	open  []error // what of it others own, or may write to
	kind  string  // of its file system, "" if not known
}

func checkHome(f Facts) []Finding {
	switch {
	case f.home.fault != nil:
		return []Finding{bad("make it writable for you, or set PAWL_HOME to a folder that is", "%s, where loops live, cannot be written: %s", f.home.path, f.home.fault)}
	case len(f.home.open) > 0:
		var out []Finding
		for _, err := range f.home.open {
			out = append(out, bad(failure.Hint(err), "%s; it is not used", err))
		}
		return out
	case remote(f.home.kind):
		return []Finding{warn("set PAWL_HOME to a folder on a local disk", "%s, where loops live, is on a network file system (%s): locks may not hold there", f.home.path, f.home.kind)}
	}
	return []Finding{ok("state can be written")}
}

// remote reports whether a kind of file system lives on another machine.
func remote(kind string) bool {
	switch kind {
	case "nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "9p", "ceph", "glusterfs", "lustre", "fuse.sshfs", "fuse.glusterfs", "fuse.rclone":
		return true
	}
	return false
}

// kindAt finds the kind of the file system that a path lies on in what Linux
// shows as mountinfo.
func kindAt(mounts, path string) string {
	kind, longest := "", -1
	for line := range strings.Lines(mounts) {
		mount, rest, ok := strings.Cut(line, " - ")
		fields, after := strings.Fields(mount), strings.Fields(rest)
		if !ok || len(fields) < 5 || len(after) == 0 {
			continue
		}
		at := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(fields[4])
		inside := at == "/" || path == at || strings.HasPrefix(path, at+"/")
		if inside && len(at) >= longest { // of two at one place, the later hides the earlier
			kind, longest = after[0], len(at)
		}
	}
	return kind
}

// checkConfine says what --confine can do here. Loops work without it.
func checkConfine(f Facts) []Finding {
	what, fix := f.sandboxes.Line()
	if fix == "" {
		return []Finding{ok("%s", what)}
	}
	return []Finding{warn(fix, "%s", what)}
}

func oldestGit() version { return version{2, 30} }

func checkGit(f Facts) []Finding {
	const fix = "install git 2.30 or newer and put it on PATH"
	if f.git.path == "" {
		return []Finding{bad(fix, "git is not on the PATH: checkpoints are kept with it")}
	}
	v, known := readVersion(f.git.version)
	switch {
	case !known:
		return []Finding{bad(fix, "%s does not say its version: %s", f.git.path, f.git.problem)}
	case v.before(oldestGit()):
		return []Finding{bad(fix, "git %s is too old", v)}
	}
	return []Finding{ok("git %s", v)}
}

// lacking finds the dependencies that the project's gates need and that are not
// installed. Where it names no gates, those that its files suggest count.
func lacking(root string) []deps.Missing {
	project, err := config.ReadProject(root)
	if err != nil {
		return nil // pawl run says what is wrong with it
	}
	s, err := config.Resolve(project)
	if err != nil {
		return nil
	}
	gates := s.Gates
	if len(gates) == 0 {
		for _, command := range config.Suggest(root) {
			gates = append(gates, gate.Gate{Name: command, Command: command})
		}
	}
	return deps.Find(root, gates)
}

// checkDependencies says what gates lack here. Checkouts in which they are judged get
// copies of what is installed here.
func checkDependencies(f Facts) []Finding {
	var all []Finding
	for _, m := range f.lacking {
		all = append(all, warn(m.Command+"; "+m.Setup()+" does so in each checkout that work is judged in", "%s", m))
	}
	return all
}
