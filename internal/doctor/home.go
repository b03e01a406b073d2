package doctor

import (
	"strings"

	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/deps"
	"github.com/pawl-dev/pawl/internal/failure"
)

// home is the folder that holds the loops.
type home struct {
	path       string
	fault      error   // why it cannot be written
	ownerErrs  []error // the parts that other users own or can write
	fileSystem string  // the kind of its file system, "" if unknown
}

// checkHome checks that Pawl's folder is writable, private and on a local disk.
func checkHome(f Facts) []Finding {
	switch {
	case f.home.fault != nil:
		return []Finding{bad("make it writable for you, or set PAWL_HOME to a folder that is", "%s, where loops live, cannot be written: %s", f.home.path, f.home.fault)}
	case len(f.home.ownerErrs) > 0:
		var out []Finding
		for _, err := range f.home.ownerErrs {
			out = append(out, bad(failure.Hint(err), "%s; it is not used", err))
		}
		return out
	case isRemoteFileSystem(f.home.fileSystem):
		return []Finding{warn("set PAWL_HOME to a folder on a local disk", "%s, where loops live, is on a network file system (%s): locks may not hold there", f.home.path, f.home.fileSystem)}
	}
	return []Finding{ok("state can be written")}
}

// isRemoteFileSystem reports whether this kind of file system is on another machine.
func isRemoteFileSystem(kind string) bool {
	switch kind {
	case "nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "9p", "ceph", "glusterfs", "lustre", "fuse.sshfs", "fuse.glusterfs", "fuse.rclone":
		return true
	}
	return false
}

// fileSystemAt returns the kind of the file system that holds a path. mounts is the text of
// Linux's /proc/self/mountinfo.
func fileSystemAt(mounts, path string) string {
	kind, longest := "", -1
	for line := range strings.Lines(mounts) {
		mount, rest, ok := strings.Cut(line, " - ")
		fields, after := strings.Fields(mount), strings.Fields(rest)
		if !ok || len(fields) < 5 || len(after) == 0 {
			continue
		}
		at := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(fields[4])
		inside := at == "/" || path == at || strings.HasPrefix(path, at+"/")
		if inside && len(at) >= longest { // a later mount on the same folder hides the earlier
			kind, longest = after[0], len(at)
		}
	}
	return kind
}

// checkConfine reports what --confine can do on this machine. Loops work without it.
func checkConfine(f Facts) []Finding {
	what, fix := f.sandboxes.Summary()
	if fix == "" {
		return []Finding{ok("%s", what)}
	}
	return []Finding{warn(fix, "%s", what)}
}

// minGitVersion returns the oldest version of git that Pawl works with.
func minGitVersion() version { return version{2, 30} }

// checkGit checks that git is installed and recent enough.
func checkGit(f Facts) []Finding {
	const fix = "install git 2.30 or newer and put it on PATH"
	if f.git.path == "" {
		return []Finding{bad(fix, "git is not on the PATH: checkpoints need it")}
	}
	v, known := readVersion(f.git.version)
	switch {
	case !known:
		return []Finding{bad(fix, "%s does not say its version: %s", f.git.path, f.git.problem)}
	case v.before(minGitVersion()):
		return []Finding{bad(fix, "git %s is too old", v)}
	}
	return []Finding{ok("git %s", v)}
}

// missingDependencies returns the dependencies that the project's gates need and that are not
// installed. If the project has no gates, it uses those that its files suggest.
func missingDependencies(root string, gates []gate.Gate) []deps.Missing {
	if len(gates) == 0 {
		for _, command := range config.Suggest(root) {
			gates = append(gates, gate.Gate{Name: command, Command: command})
		}
	}
	return deps.Find(root, gates)
}

// configuredGates returns the gates of the project's files.
func configuredGates(root string) []gate.Gate {
	project, err := config.ReadProject(root)
	if err != nil {
		return nil // pawl run reports the error
	}
	s, err := config.Resolve(project)
	if err != nil {
		return nil
	}
	return s.Gates
}

// checkGates reports gates that cannot fail.
func checkGates(f Facts) []Finding {
	var all []Finding
	for _, g := range f.gates {
		if g.NeverFails() {
			all = append(all, warn("name a command that fails when the work is wrong, such as the tests", "gate %q passes whatever the agent does, so it checks nothing", g.Name))
		}
	}
	return all
}

// checkDependencies reports missing dependencies of gates. Checkouts in which gates run get
// copies of the dependencies that are installed here.
func checkDependencies(f Facts) []Finding {
	var all []Finding
	for _, m := range f.missingDeps {
		all = append(all, warn(m.Command+"; "+m.Setup()+" does so in each checkout that gates run in", "%s", m))
	}
	return all
}
