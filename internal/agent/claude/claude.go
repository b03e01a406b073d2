// Package claude drives Claude Code over its stream-json control protocol.
//
// One process is one session. Prompts go in as JSON lines on its stdin, and
// everything it does comes out as JSON lines on its stdout. Before a tool runs
// the client asks (a PreToolUse callback in this process, registered by the
// initialize request) and the answer, allow or deny, is final: no settings file
// is touched, no hook process spawned, no permission flag given. A callback
// that is not answered denies. Tools of our own (Options.Tools) are served on the
// same stream.
//
// How a turn ended is decided by the fields of its result line and by the
// events before it, never by exit code or subtype: a failed request is a
// "success" to the client. Trouble is acted upon at its first notice
// (api_retry), because the client itself would retry a dead login for three
// minutes.
package claude

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/regex"
)

// Agent starts sessions of Claude Code.
type Agent struct {
	Command string // path or name of the client; "" = "claude"
}

var (
	_ agent.Agent   = Agent{}
	_ agent.Session = (*session)(nil)
	_ agent.Warm    = (*session)(nil)
	_ agent.Mounts  = Agent{}

	_ agent.LoginChecker = Agent{}
)

const (
	versionTimeout = 10 * time.Second
	startTimeout   = 60 * time.Second // MCP servers may be slow to connect
)

// Name returns the agent's name.
func (Agent) Name() string { return "claude" }

// Mounts says that the client offers Options.Tools to the model.
func (Agent) Mounts() {}

// Version asks the client for its version, for at most 10 s.
func (a Agent) Version(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	var out bytes.Buffer
	e := proc.Run(ctx, proc.Spec{Argv: []string{a.command(), "--version"}, Stdout: &out, Env: environ(nil)})
	if e.Err != nil {
		return "", a.startError(e.Err)
	}
	version, _, _ := strings.Cut(strings.TrimSpace(out.String()), " ")
	switch {
	case !e.OK():
		return "", a.notClaudeError(fmt.Sprintf("exit code %d", e.Code))
	case !versionNumber.MatchString(out.String()):
		return "", a.notClaudeError("it prints no version")
	}
	return version, nil
}

// versionNumber matches the client's version in its output; a wrapper may print more.
var versionNumber = regex.New(`\d+\.\d+\.\d+`)

// notClaudeError returns the error for a program that does not answer --version as the client does.
func (a Agent) notClaudeError(why string) error {
	hint := "claude --version should print its version; else npm install -g @anthropic-ai/claude-code"
	if a.Command != "" {
		hint = "for an agent of your own add --agent command (agent = \"command\" in pawl.toml)"
	}
	return failure.New(failure.Usage, hint, "%s does not seem to be Claude Code: %[1]s --version: %s", a.command(), why)
}

// Start starts the client and waits until it answers, for at most a minute.
func (a Agent) Start(ctx context.Context, o agent.Options) (agent.Session, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	s, err := a.spawn(ctx, o)
	if err != nil {
		return nil, a.startError(err)
	}
	if err := s.initialize(ctx); err != nil {
		s.end(0)
		return nil, a.startError(err)
	}
	s.startIdleReader()
	return s, nil
}

func (a Agent) command() string {
	if a.Command == "" {
		return "claude"
	}
	return a.Command
}

func (a Agent) startError(err error) error {
	hint := ""
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		hint = "install Claude Code (npm install -g @anthropic-ai/claude-code), or name its path: agent_command in pawl.toml, --agent-command of pawl run"
	}
	if strings.HasPrefix(err.Error(), "start "+a.command()+": ") { // what starts processes says so itself
		return failure.New(failure.Error, hint, "%w", err)
	}
	return failure.New(failure.Error, hint, "start %s: %w", a.command(), err)
}

// argv of a session. The tools that are taken away would wake the session at a
// time of their own; here the loop decides when the next turn is. One that only
// reads knows neither the hooks nor the instructions in the work tree: whose work
// it looks at may have written them.
func (a Agent) argv(o agent.Options) []string {
	argv := []string{
		a.command(), "-p", "--verbose", "--output-format", "stream-json", "--input-format", "stream-json",
		"--disallowedTools=ScheduleWakeup,CronCreate",
	}
	if o.Resume != "" {
		argv = append(argv, "--resume", o.Resume)
	}
	if o.Model != "" {
		argv = append(argv, "--model", o.Model)
	}
	argv = append(argv, o.Args...)
	if o.ReadOnly { // last, so that no argument before undoes it
		argv = append(argv, "--tools", "Read,Grep,Glob", "--strict-mcp-config", "--setting-sources", "user")
	}
	if o.Schema != "" {
		argv = append(argv, "--json-schema", o.Schema)
	}
	return argv
}

// sessionVars lists variables that a surrounding session of the client sets for its children. With
// them, this session would take itself for a part of it. They have no common pattern: variables
// that configure the client begin alike.
func sessionVars() []string {
	return []string{
		"CLAUDECODE", "CLAUDE_PID", "CLAUDE_PROJECT_DIR", "CLAUDE_EFFORT", "CLAUDE_ENV_FILE",
		"CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID",
		"CLAUDE_CODE_SESSION_ATTENDED", "CLAUDE_CODE_MESSAGING_SOCKET", "CLAUDE_CODE_MESSAGING_TOKEN",
		"CLAUDE_CODE_SSE_PORT", "AI_AGENT",
		// With these a session keeps no transcript, and reports into the folder and the traces of
		// the surrounding session.
		"CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_CHILD_NOTES_DIR", "CLAUDE_CODE_LAUNCHED_BY_SESSION_IDS", "TRACEPARENT",
	}
}

// environ returns our environment without the session variables, with additions.
func environ(add map[string]string) []string {
	drop := sessionVars()
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if !slices.Contains(drop, name) {
			env = append(env, kv)
		}
	}
	// With the watchdog, a rejected request is announced as a retry whose delay is the time until
	// the limit resets, from whichever header contains it. Without it, the client gives up at once
	// and does not report that time.
	env = append(env, "CLAUDE_CODE_RETRY_WATCHDOG=1")
	for name, value := range add {
		env = append(env, name+"="+value)
	}
	return env
}
