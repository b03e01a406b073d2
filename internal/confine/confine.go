// Package confine runs a command in a sandbox: it writes only the work tree, its own
// temporary folder and the caches (Tree), and optionally reaches no network except
// allowed hosts and finds no credentials (Strict). The sandbox enforces what the guard
// only asks for, whichever words, process or path an agent tries.
//
//	sandbox, err := confine.Build(ctx, confine.Options{…}) // Pawl, outside
//	defer sandbox.Close()
//	exec(append(sandbox.Agent, "claude", "-p"))            // "pawl confined --policy FILE -- claude -p"
//
// Two mechanisms of Linux enforce it. Bubblewrap gives the command a private view of the
// file system, in which the rest is read-only or absent, and a private process table. For
// Strict it also gives it a private network, connected only to sockets that Pawl serves.
// Without bubblewrap, Landlock denies writing. It cannot exclude part of an allowed folder,
// and it hides nothing. So it supports Tree only; System.Lacks lists the differences.
//
// Build decides the Policy once, outside the sandbox, and stores it where the confined
// command cannot write.
package confine

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl/internal/atomicfile"
)

// Level is how much is confined.
type Level string

// The levels. Each includes the one before.
const (
	Off    Level = "off"    // nothing; "" is the same
	Tree   Level = "tree"   // writes
	Strict Level = "strict" // writes, network and credentials
)

// On reports whether anything is confined.
func (l Level) On() bool { return l != "" && l != Off }

// Above reports whether a level confines more than another.
func (l Level) Above(other Level) bool {
	rank := func(l Level) int { return max(slices.Index(Levels(), l), 0) }
	return rank(l) > rank(other)
}

// Mechanism is what enforces a sandbox.
type Mechanism string

// The mechanisms.
const (
	Bubblewrap Mechanism = "bubblewrap"
	Landlock   Mechanism = "landlock"
)

// Policy lists what a confined command may do. All paths are absolute. Writable paths contain
// no symbolic links.
type Policy struct {
	Level     Level     `json:"level"`
	Mechanism Mechanism `json:"mechanism"`
	Program   string    `json:"program,omitempty"` // the program of the mechanism

	Temp    string   `json:"temp"`              // the folder that is /tmp and TMPDIR in the sandbox
	Write   []string `json:"write"`             // writable paths, with everything below
	Read    []string `json:"read,omitempty"`    // read-only paths below a writable one, or visible paths below /tmp
	Scratch []string `json:"scratch,omitempty"` // folders that begin empty and are discarded at the end
	Hide    []string `json:"hide,omitempty"`    // paths that appear empty

	Unset       []string `json:"unset,omitempty"`        // variables that lead out of the sandbox
	DropSecrets bool     `json:"drop_secrets,omitempty"` // unset variables that look like secrets,
	Keep        []string `json:"keep,omitempty"`         // except these
	Net         *Net     `json:"net,omitempty"`          // nil = the network of the machine
}

// Net lists the connections from a private network to the outside.
type Net struct {
	Socket string `json:"socket,omitempty"` // where Pawl receives listeners; "" = no connections
	Proxy  bool   `json:"proxy,omitempty"`  // a proxy forwards to allowed hosts
	Ports  []int  `json:"ports,omitempty"`  // loopback ports that forward to the same port of the machine
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
