package confine

// Without is a system that has no bubblewrap.
func Without(s System) System { s.bwrap = ""; return s }

// BuildOn makes the walls that a system would have.
func BuildOn(s System, o Options) (*Wall, error) { return o.build(s) }
