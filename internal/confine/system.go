package confine

import (
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/failure"
)

// System describes the mechanisms that this machine supports.
type System struct {
	os       string
	bwrap    string // the path of bubblewrap, "" if it is missing or does not work
	problem  string // why bubblewrap does not work, "" if it works or is missing
	landlock int    // the version of the kernel's Landlock, 0 = none
}

// Versions of the Landlock interface.
const (
	landlockTruncates = 3 // the first that can deny truncating a file
	landlockScopes    = 6 // the first that can deny signals and abstract sockets
)

const installHint = "apt install bubblewrap (or your system's package of that name)"

// Mechanism returns the mechanism for a level on this machine, "" if there is none.
func (s System) Mechanism(l Level) Mechanism {
	switch {
	case s.bwrap != "":
		return Bubblewrap
	case s.landlock >= landlockTruncates && l == Tree:
		return Landlock
	}
	return ""
}

// CheckLevel returns why a level is not available here, or nil.
func (s System) CheckLevel(l Level) error {
	if !l.On() || s.Mechanism(l) != "" {
		return nil
	}
	if s.os != "linux" {
		return failure.New(failure.Usage, "run the loop on Linux (a container or a virtual machine will do), or leave out --confine",
			"--confine %s: there is no sandbox on %s", l, s.os)
	}
	hint := installHint
	if s.problem != "" {
		hint = "allow bubblewrap to create user namespaces, or leave out --confine"
	}
	why := "bubblewrap is not installed"
	if s.problem != "" {
		why = "bubblewrap cannot run: " + s.problem
	}
	switch {
	case s.landlock >= landlockTruncates:
		why += ", and Landlock cannot block network or credentials"
	case s.landlock > 0:
		why += fmt.Sprintf(", and this kernel's Landlock is too old (version %d, %d is needed)", s.landlock, landlockTruncates)
	default:
		why += ", and this kernel has no Landlock"
	}
	return failure.New(failure.Usage, hint, "--confine %s is not available here: %s", l, why)
}

// Lacks lists in plain words what a level does not prevent on this machine and prevents on others.
func (s System) Lacks(l Level) []string {
	var lacks []string
	landlock := s.Mechanism(l) == Landlock
	if landlock {
		lacks = append(lacks, "git's hooks and configuration and the project's .claude folder can be written",
			"sockets with a path can be connected to (tmux, D-Bus, a container engine), and the temporary folders are the machine's")
	}
	if s.landlock >= landlockScopes {
		return lacks
	}
	if landlock {
		lacks = append(lacks, "other processes of yours can be sent signals")
	}
	if l == Tree && s.Mechanism(l) != "" { // Strict has a private network
		lacks = append(lacks, "abstract sockets can be connected to (a desktop's, a session bus's; this kernel is older than Linux 6.12)")
	}
	return lacks
}

// folderLimitation describes isolated checkouts without bubblewrap.
const folderLimitation = "; isolated checkouts are in a folder that can reach your home and temporary folders"

// Summary returns what this machine can do, in one line, and how to get more, "" for nothing.
func (s System) Summary() (what, fix string) {
	switch {
	case s.os == "":
		return "unknown what --confine can do here", ""
	case s.bwrap != "":
		what = "--confine tree and strict, and isolated checkouts at the work tree's own path, by bubblewrap"
		if lacks := s.Lacks(Tree); len(lacks) > 0 {
			what += " (tree: " + strings.Join(lacks, "; ") + ")"
		}
		return what, ""
	case s.Mechanism(Tree) == Landlock:
		what = "--confine tree only, by Landlock, which stops less (" + strings.Join(s.Lacks(Tree), "; ") + ")" + folderLimitation
	default:
		what = "--confine is refused here" + folderLimitation
	}
	if s.os != "linux" {
		return what + ": there is no sandbox on " + s.os, ""
	}
	if s.problem != "" {
		return what + "; bubblewrap cannot run: " + s.problem, "allow bubblewrap to create user namespaces"
	}
	return what + "; bubblewrap is not installed", installHint
}

// Levels returns all levels, from the least to the most confined.
func Levels() []Level { return []Level{Off, Tree, Strict} }
