package doctor

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
