// Package doctor finds the usual causes of broken loops. Examples are an old client, disabled
// hooks, a settings file that the client does not load, a missing hook program, another tool's
// hook for the same event, and an orphaned loop.
//
//	findings := doctor.Examine(doctor.Gather(ctx, options))
//
// Gather collects facts: it reads files, asks programs for their version, and runs Pawl's hook
// as the client does. Examine draws the conclusions and does no I/O. Each check is thus a
// function of facts that a test can make up. The behaviour of the client was measured. Each
// check says what it means for a loop, and what to type.
//
// The package does not change settings or loops, and all its steps have a time limit.
package doctor

import (
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/internal/confine"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/deps"
)

// Status is the result of a check.
type Status string

// The values of Status. Only Bad means that something is broken.
const (
	OK      Status = "ok"
	Warn    Status = "warn"    // loops work, but not as well as they could
	Bad     Status = "bad"     // loops break because of it
	Skipped Status = "skipped" // could not be checked; What says why
)

// Finding is one result of a check, in one line.
type Finding struct {
	Check  string `json:"check" jsonschema:"name of the check"`
	Status Status `json:"status" jsonschema:"ok, warn (works, but not as well as it could), bad (loops break by it), or skipped (what says why)"`
	What   string `json:"what" jsonschema:"one line"`
	Fix    string `json:"fix,omitempty" jsonschema:"what to do about it, often a command to type"`
}

// Facts holds the collected facts about the machine and one project on it.
type Facts struct {
	system string // a value of runtime.GOOS
	now    time.Time
	dir    string // the current folder, absolute
	root   string // the project's root
	pawl   string // version of this program
	vars   map[string]string

	client, git program
	login       error          // nil if the client is logged in
	files       []settingsFile // settings files, the weakest first
	plugins     []plugin
	hooks       []hook // hooks of all settings and enabled plugins
	loops       []loop // loops of this project
	loopsErr    error  // the error of reading the loops
	home        home
	sandboxes   confine.System
	gates       []gate.Gate    // of the project's files
	missingDeps []deps.Missing // dependencies that gates need and that are not installed
}

// program is a program and its version.
type program struct {
	path    string // "" if it was not found
	version string
	problem string // why the version is unknown
}

// Examine runs all checks on the facts. The findings have the order in which a user reads them.
func Examine(f Facts) []Finding {
	checks := []struct {
		name string
		find func(Facts) []Finding
	}{
		{"client", checkClient},
		{"login", checkLogin},
		{"settings", checkSettings},
		{"folder", checkFolder},
		{"switched-off", checkSwitches},
		{"installed", checkInstalled},
		{"program", checkPrograms},
		{"answer", checkAnswers},
		{"plugin", checkPlugin},
		{"cap", checkCap},
		{"ralph-loop", checkRalphPlugins},
		{"other-hooks", checkOthers},
		{"loops", checkLoops},
		{"home", checkHome},
		{"git", checkGit},
		{"confine", checkConfine},
		{"gates", checkGates},
		{"dependencies", checkDependencies},
		{"bare", checkBare},
	}
	var all []Finding
	for _, c := range checks {
		for _, found := range c.find(f) {
			found.Check = c.name
			all = append(all, found)
		}
	}
	return all
}

func ok(format string, args ...any) Finding {
	return Finding{Status: OK, What: fmt.Sprintf(format, args...)}
}

func warn(fix, format string, args ...any) Finding {
	return Finding{Status: Warn, What: fmt.Sprintf(format, args...), Fix: fix}
}

func bad(fix, format string, args ...any) Finding {
	return Finding{Status: Bad, What: fmt.Sprintf(format, args...), Fix: fix}
}

func skipped(format string, args ...any) Finding {
	return Finding{Status: Skipped, What: fmt.Sprintf(format, args...)}
}
