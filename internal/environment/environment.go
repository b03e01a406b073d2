// Package environment reads the environment variables of Pawl's process.
//
// It is read once, by the mains, and handed on as a value: no other package asks
// the system, so a test can give any environment. Variables of other tools are
// not read, but for those that name the files of their loops, and those by which
// a coding agent's client tells what it starts (a hook, a command) which session
// it is in.
package environment

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Environment is what Pawl takes from the environment.
type Environment struct {
	Home         string   // the user's home folder, "" if there is none
	PawlHome     string   // where loops live, absolute: $PAWL_HOME or $XDG_STATE_HOME/pawl
	ConfigHome   string   // holds pawl/config.toml, absolute: $XDG_CONFIG_HOME or ~/.config
	NoColor      bool     // $NO_COLOR is set and not empty
	Dumb         bool     // $TERM is dumb: a terminal that knows no control sequences
	ASCII        bool     // the locale ($LC_ALL, $LC_CTYPE or $LANG) is set, and not one of UTF-8
	Columns      int      // $COLUMNS: how wide text for people may be, 0 if not set
	RalphLoopDir string   // $RALPH_LOOP_DIR, "" if not set
	ThLoopAgent  string   // $TH_LOOP_AGENT, "" if not set
	Loop         string   // $PAWL_LOOP: the loop that started this process, "" if none did
	Vars         []string // all of it, as NAME=value, for child processes
	Session      Session  // of the client that started this process, if one did
}

// PlanLoop is what the scripts of ralph-cli's plan loop take from the environment, as it
// is written there.
type PlanLoop struct {
	Plan          string // $PLAN_PATH
	Number        string // $PRD_NUMBER: N of .ralph/PRD-N
	MaxIterations string // $MAX_ITERATIONS
	AgentTimeout  string // $TIMEOUT_AGENT: seconds of one turn
}

// Session is what the client of a coding agent tells its children.
type Session struct {
	Inside     bool   // $CLAUDECODE: some session started this process
	ID         string // $CLAUDE_CODE_SESSION_ID, "" from old clients
	Client     int    // $CLAUDE_PID: process id of the client, 0 unknown
	Project    string // $CLAUDE_PROJECT_DIR, absolute: only hooks have it
	Plugin     string // $CLAUDE_PLUGIN_ROOT: the folder of the plugin whose hook this is, "" for one of the settings
	Unattended bool   // $CLAUDE_CODE_SESSION_ATTENDED is 0: no user is at the terminal
	Cap        string // $CLAUDE_CODE_STOP_HOOK_BLOCK_CAP as it is, "" if not set
	Window     int64  // $CLAUDE_CODE_AUTO_COMPACT_WINDOW: tokens that the client takes for the whole context, 0 if not set
}

// Read reads the environment of this process.
func Read() (Environment, error) {
	return newEnvironment(os.Getenv, os.Environ(), runtime.GOOS)
}

// Of reads an environment that another process had, given as NAME=value; of
// several values the last one counts.
func Of(vars []string) (Environment, error) {
	e := Environment{Vars: vars}
	return newEnvironment(e.Variable, vars, runtime.GOOS)
}

// Variable is the value of a variable in Vars, "" if it is not set.
func (e Environment) Variable(name string) string { return Variable(e.Vars, name) }

// PlanLoop returns the settings of ralph-cli's plan loop. Hooks, which start at each tool
// call, do without.
func (e Environment) PlanLoop() PlanLoop {
	return PlanLoop{
		Plan: e.Variable("PLAN_PATH"), Number: e.Variable("PRD_NUMBER"),
		MaxIterations: e.Variable("MAX_ITERATIONS"), AgentTimeout: e.Variable("TIMEOUT_AGENT"),
	}
}

// ClientConfig returns the folder with the user's settings of Claude Code:
// $CLAUDE_CONFIG_DIR, otherwise .claude in the home folder; "" without either.
func (e Environment) ClientConfig() string {
	if dir := absolute(e.Variable("CLAUDE_CONFIG_DIR")); dir != "" || e.Home == "" {
		return dir
	}
	return filepath.Join(e.Home, ".claude")
}

// HomeError says why there is no folder to keep loops in.
type HomeError struct{ what, hint string }

func (e *HomeError) Error() string { return e.what }

// Hint returns what the user can do about it.
func (e *HomeError) Hint() string { return e.hint }

func newEnvironment(getenv func(string) string, vars []string, goos string) (Environment, error) {
	e := Environment{
		Home:         getenv("HOME"),
		PawlHome:     getenv("PAWL_HOME"),
		ConfigHome:   absolute(getenv("XDG_CONFIG_HOME")),
		NoColor:      getenv("NO_COLOR") != "",
		Dumb:         getenv("TERM") == "dumb",
		ASCII:        asciiLocale(cmp.Or(getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG"))),
		RalphLoopDir: getenv("RALPH_LOOP_DIR"),
		ThLoopAgent:  getenv("TH_LOOP_AGENT"),
		Loop:         getenv("PAWL_LOOP"),
		Vars:         vars,
		Session: Session{
			Inside:     getenv("CLAUDECODE") != "",
			ID:         getenv("CLAUDE_CODE_SESSION_ID"),
			Project:    absolute(getenv("CLAUDE_PROJECT_DIR")),
			Plugin:     getenv("CLAUDE_PLUGIN_ROOT"),
			Unattended: getenv("CLAUDE_CODE_SESSION_ATTENDED") == "0",
			Cap:        getenv("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"),
		},
	}
	if n, err := strconv.ParseInt(getenv("CLAUDE_CODE_AUTO_COMPACT_WINDOW"), 10, 64); err == nil && n > 0 {
		e.Session.Window = n
	}
	if n, err := strconv.Atoi(getenv("COLUMNS")); err == nil && n > 0 {
		e.Columns = n
	}
	if pid, err := strconv.Atoi(getenv("CLAUDE_PID")); err == nil && pid > 0 {
		e.Session.Client = pid
	}
	state := absolute(getenv("XDG_STATE_HOME"))
	config := ""
	if goos == "windows" {
		e.Home = getenv("USERPROFILE")
		state, config = cmp.Or(state, getenv("LOCALAPPDATA")), getenv("APPDATA")
	} else if e.Home != "" {
		state, config = cmp.Or(state, filepath.Join(e.Home, ".local", "state")), filepath.Join(e.Home, ".config")
	}
	e.ConfigHome = cmp.Or(e.ConfigHome, config)
	if e.Home != "" && goos != "windows" && !filepath.IsAbs(e.Home) {
		return Environment{}, &HomeError{what: "HOME is " + strconv.Quote(e.Home), hint: "set it to an absolute path"}
	}
	if e.PawlHome != "" && !filepath.IsAbs(e.PawlHome) {
		return Environment{}, &HomeError{what: "PAWL_HOME is " + strconv.Quote(e.PawlHome), hint: "set it to an absolute path, or unset it"}
	}
	if !utf8.ValidString(e.PawlHome) {
		return Environment{}, &HomeError{what: "PAWL_HOME is not UTF-8: " + strconv.Quote(e.PawlHome), hint: "set it to another folder, or unset it"}
	}
	if e.PawlHome == "" && state == "" {
		return Environment{}, &HomeError{what: "there is no home folder for loops", hint: "set HOME or PAWL_HOME"}
	}
	e.PawlHome = cmp.Or(e.PawlHome, filepath.Join(state, "pawl"))
	return e, nil
}

// asciiLocale reports whether a locale is set, and its characters are not UTF-8's.
func asciiLocale(locale string) bool {
	locale = strings.ToLower(locale)
	return locale != "" && !strings.Contains(locale, "utf-8") && !strings.Contains(locale, "utf8")
}

// absolute is path, or "" where it is relative: the XDG specification wants such
// values ignored.
func absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return ""
}
