// Package confine runs a command in a sandbox: it writes only the work tree, its own
// temporary folder and the caches (Tree), and optionally reaches no network except
// allowed hosts and finds no credentials (Strict). The sandbox enforces what the guard
// only asks for, whichever words, process or path an agent tries.
//
//	wall, err := confine.Build(ctx, confine.Options{…}) // Pawl, outside
//	defer wall.Close()
//	exec(append(wall.Agent, "claude", "-p"))            // "pawl confined --policy FILE -- claude -p"
//
// Two mechanisms of Linux build it. Bubblewrap gives the command a view of the
// file system in which the rest is read-only or absent, a process table of its
// own and, for Strict, a network of its own, whose only ways out are sockets that
// Pawl serves. Where there is no bubblewrap, Landlock forbids the writing; it
// cannot take anything back out of a folder that it allows, and it hides nothing,
// so it does for Tree alone, and System.Lacks names the difference.
//
// A Policy is decided once, outside, and kept where the confined cannot write.
package confine

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl/internal/atomicfile"
)

// Level says how much is confined.
type Level string

// The levels; each holds the one before.
const (
	Off    Level = "off"    // nothing; "" is the same
	Tree   Level = "tree"   // writes
	Strict Level = "strict" // network and credentials, too
)

// On reports whether anything is confined.
func (l Level) On() bool { return l != "" && l != Off }

// Above reports whether a level confines more than another.
func (l Level) Above(other Level) bool {
	rank := func(l Level) int { return max(slices.Index(Levels(), l), 0) }
	return rank(l) > rank(other)
}

// Mechanism that a wall is built with.
type Mechanism string

// The mechanisms.
const (
	Bubblewrap Mechanism = "bubblewrap"
	Landlock   Mechanism = "landlock"
)

// Policy is what a confined command may do. All paths are absolute. Those that may
// be written are real: no part of them is a symbolic link.
type Policy struct {
	Level     Level     `json:"level"`
	Mechanism Mechanism `json:"mechanism"`
	Program   string    `json:"program,omitempty"` // of the mechanism

	Temp    string   `json:"temp"`              // the folder that is /tmp and TMPDIR inside
	Write   []string `json:"write"`             // may be written, with all below
	Read    []string `json:"read,omitempty"`    // may not, though it is below one that may; or is shown though it is below /tmp
	Scratch []string `json:"scratch,omitempty"` // folders that are empty at first, and forgotten
	Hide    []string `json:"hide,omitempty"`    // are empty

	Unset       []string `json:"unset,omitempty"`        // variables that lead out
	DropSecrets bool     `json:"drop_secrets,omitempty"` // variables that look like secrets are unset, too,
	Keep        []string `json:"keep,omitempty"`         // but for these
	Net         *Net     `json:"net,omitempty"`          // nil: the network of the machine
}

// Net are the ways out of a network of its own.
type Net struct {
	Socket string `json:"socket,omitempty"` // where Pawl waits for the listeners, "" if there is no way out
	Proxy  bool   `json:"proxy,omitempty"`  // there is a proxy that lets some hosts through
	Ports  []int  `json:"ports,omitempty"`  // of loopback, that lead to the same port of the machine's
}

func readPolicy(path string) (Policy, error) {
	data, err := atomicfile.Read(path, atomicfile.Large)
	if err != nil {
		return Policy{}, fmt.Errorf("read policy: %w", err)
	}
	var p Policy
	if err := json.Unmarshal(data, &p); err != nil {
		return Policy{}, fmt.Errorf("read policy %s: %w", path, err)
	}
	return p, nil
}
