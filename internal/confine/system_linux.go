package confine

import (
	"context"
	"os/exec"
	"strings"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// Ask finds out what this machine can do: whether a program is there says little,
// so bubblewrap builds a wall around nothing.
func Ask(ctx context.Context) System {
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

// landlockVersion is that of the kernel's interface, 0 where there is none.
func landlockVersion() int {
	v, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return v
}
