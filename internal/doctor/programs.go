package doctor

import (
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/deps"
)

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
	case v.before(version{2, 30}):
		return []Finding{bad(fix, "git %s is too old", v)}
	}
	return []Finding{ok("git %s", v)}
}

// checkConfine reports what --confine can do on this machine. Loops work without it.
func checkConfine(f Facts) []Finding {
	what, fix := f.sandboxes.Summary()
	if fix == "" {
		return []Finding{ok("%s", what)}
	}
	return []Finding{warn(fix, "%s", what)}
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
