package verifyactive

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/foreign/freshness"
)

// Circumstances are what is known about a state file beside its content.
type Circumstances struct {
	SessionStarted time.Time // zero if not known
	Modified       time.Time // of the file
	Now            time.Time
	Driven         bool // the hook of claude-prompts is in effect, and follows the file itself
}

// Adopt says why a session may not follow the file, as a person would be told
// behind the file's name; "" if it may. The file names no session of the client's: its id is the server's
// own. So it has to be younger than the session that takes it.
func Adopt(f *File, c Circumstances) (why string) {
	switch {
	case c.Driven:
		return "is left to the Stop hook of claude-prompts, which is in effect: disable that plugin or hook to have pawl follow it"
	case freshness.Future(c.Modified, c.Now):
		return "has a time that lies in the future"
	case !Fresh(c.Modified, c):
		return "is older than this session; if it is meant for this one, ask for the loop again"
	case f.Iteration >= f.MaxIterations:
		return fmt.Sprintf("says that all of its %d iterations are used up", f.MaxIterations)
	}
	return ""
}

// Fresh tells whether what was written at a time was written in this session, as
// far as one can know.
func Fresh(at time.Time, c Circumstances) bool {
	return !freshness.Stale(at, c.SessionStarted, c.Now)
}

// Driven tells whether the settings of Claude Code have the Stop hook of
// claude-prompts in effect, by itself or as a plugin's. Settings that are no JSON
// are in effect for nobody.
func Driven(settings []byte) bool {
	var s struct {
		Off     bool           `json:"disableAllHooks"`
		Plugins map[string]any `json:"enabledPlugins"`
		Hooks   struct {
			Stop []struct {
				Hooks []struct {
					Command string `json:"command"`
				} `json:"hooks"`
			} `json:"Stop"`
		} `json:"hooks"`
	}
	if json.Unmarshal(settings, &s) != nil || s.Off {
		return false
	}
	for id, on := range s.Plugins {
		if name, _, _ := strings.Cut(id, "@"); on != false && (name == "claude-prompts" || name == "claude-prompts-mcp") {
			return true
		}
	}
	for _, group := range s.Hooks.Stop {
		for _, h := range group.Hooks {
			if strings.Contains(h.Command, "ralph-stop") {
				return true
			}
		}
	}
	return false
}
