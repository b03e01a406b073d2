package confine

// Without is a system that has no bubblewrap.
func Without(s System) System { s.bwrap = ""; return s }

// BuildOn makes the walls that a system would have.
func BuildOn(s System, o Options) (*Sandbox, error) { return o.build(s) }

// OfVersion is a system whose kernel has a version of Landlock, with bubblewrap
// or without.
func OfVersion(landlock int, bwrap string) System {
	return System{os: "linux", landlock: landlock, bwrap: bwrap}
}

// Scopes reports whether this kernel keeps signals and abstract sockets in.
func Scopes() bool { return landlockVersion() >= landlockScopes }
