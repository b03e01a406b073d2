package confine

import (
	"context"
	"os/exec"
	"strings"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// Detect returns what this machine supports. It tries bubblewrap with an empty policy, because an
// installed bubblewrap may not work.
func Detect(ctx context.Context) System {
	s := System{os: "linux", landlock: landlockVersion()}
	path, err := exec.LookPath("bwrap")
	if err != nil {
		return s
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	p := Policy{Temp: "/tmp", Net: &Net{}}
	out, err := exec.CommandContext(ctx, path, p.bwrapArgs("/", []string{"true"})...).CombinedOutput()
	if err == nil {
		s.bwrap = path
		return s
	}
	s.problem, _, _ = strings.Cut(strings.TrimSpace(string(out)), "\n")
	if s.problem == "" {
		s.problem = err.Error()
	}
	return s
}

// landlockVersion returns the version of the kernel's Landlock interface, 0 if there is none.
func landlockVersion() int {
	v, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return v
}
