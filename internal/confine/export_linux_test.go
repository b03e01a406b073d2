package confine

// Without returns a system without bubblewrap.
func Without(s System) System { s.bwrap = ""; return s }

// BuildOn builds the sandboxes that a system would have.
func BuildOn(s System, o Options) (*Sandbox, error) { return o.build(s) }

// OfVersion returns a system whose kernel has a version of Landlock, with or without bubblewrap.
func OfVersion(landlock int, bwrap string) System {
	return System{os: "linux", landlock: landlock, bwrap: bwrap}
}

// Scopes reports whether this kernel can deny signals and abstract sockets.
func Scopes() bool { return landlockVersion() >= landlockScopes }
