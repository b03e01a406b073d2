// Package doctor finds what breaks loops in practice: a client that is too
// old, hooks that are turned off, a settings file of which the client reads
// nothing, a hook that is not where the settings say, another tool's hook for
// the same turn, an orphaned loop.
//
//	findings := doctor.Examine(doctor.Gather(ctx, options))
//
// Gather asks the machine and decides nothing: it reads files, asks programs for
// their version, and runs Pawl's hook just as the client would. Examine decides
// and asks nothing, so that every check is a function over facts which a test can
// make up. What the client does with what it finds was measured; each check says
// what that means for a loop, and what to type.
//
// Nothing is changed, and everything is bounded in time.
package doctor

import (
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/internal/confine"
	"github.com/pawl-dev/pawl/internal/deps"
)

// Status of a Finding.
type Status string

// The statuses: only Bad means that something is broken.
const (
	OK      Status = "ok"
	Warn    Status = "warn"    // loops work, but not as well as they could
	Bad     Status = "bad"     // loops break by it
	Skipped Status = "skipped" // could not be looked at; What says why
)

// Finding is what one check has to say, in one line.
type Finding struct {
	Check  string `json:"check" jsonschema:"name of the check"`
	Status Status `json:"status" jsonschema:"ok, warn (works, but not as well as it could), bad (loops break by it), or skipped (what says why)"`
	What   string `json:"what" jsonschema:"one line"`
	Fix    string `json:"fix,omitempty" jsonschema:"what to do about it, often a command to type"`
}

// Facts are what is known of the machine and of one project on it.
type Facts struct {
	system string // as runtime.GOOS
	now    time.Time
	dir    string // where the doctor was called, absolute
	root   string // of the project
	pawl   string // version of this program
	vars   map[string]string

	client, git program
	login       error  // nil: somebody is logged in to the client
	files       []file // settings, the weakest first
	plugins     []plugin
	hooks       []hook // of all settings and enabled plugins
	loops       []loop // of this project
	loopsErr    error  // why the loops cannot be read
	home        home
	sandboxes   confine.System
	lacking     []deps.Missing // dependencies that gates need
}

// program is something that was asked for its version.
type program struct {
	path    string // "" if it is not there
	version string
	problem string // why there is no version
}

// Examine draws the conclusions, in the order in which a user wants to read
// them.
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
		{"ralph-loop", checkOfficial},
		{"other-hooks", checkOthers},
		{"loops", checkLoops},
		{"home", checkHome},
		{"git", checkGit},
		{"confine", checkConfine},
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
