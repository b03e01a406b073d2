package doctor

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/install"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/session/place"
)

// prober examines the programs of hooks. It caches results, because many hooks share one
// program.
type prober struct {
	Facts
	runOthers     bool // run hooks of other tools too
	versions      map[string]string
	onDefaultPath map[string]bool
}

// probe finds a hook's program and runs the hook. It runs hooks of other tools only on request,
// because their effects are unknown.
func (p prober) probe(ctx context.Context, h *hook) {
	if h.kind != "command" || len(h.argv) == 0 && !p.runOthers {
		return
	}
	own := h.isOwn()
	if !own && h.event != "Stop" {
		return
	}
	if len(h.argv) > 0 {
		p.locate(ctx, h)
	}
	switch {
	case h.problem != "":
	case own:
		h.version = p.version(ctx, h.found)
		if h.event == "SessionStart" || h.event == "Stop" { // every loop needs these
			h.answers = []answer{p.run(ctx, *h, p.hookDir(*h), probeTimeout)}
		}
	case p.runOthers:
		limit := 2 * probeTimeout
		if h.timeout > 0 {
			limit = min(limit, h.timeout)
		}
		h.answers = []answer{p.run(ctx, *h, p.hookDir(*h), limit)}
	}
}

// locate finds the program of a hook, and the script if the program is an interpreter.
func (p prober) locate(ctx context.Context, h *hook) {
	path, _, _ := p.variable("PATH")
	program := h.argv[0]
	h.found = lookPath(path, p.absolute(program))
	if h.found == "" && h.args == nil && p.system == "windows" && filepath.IsAbs(p.absolute(program)) {
		if _, err := os.Stat(p.absolute(program)); err == nil {
			h.found = program // the shell on Windows runs scripts that the system cannot start
		}
	}
	if h.found == "" {
		h.problem, h.fix = p.explainMissing(program)
		return
	}
	if at := scriptOf(h.argv); at != "" {
		full := at
		if !filepath.IsAbs(at) {
			full = filepath.Join(p.root, at)
		}
		if _, err := os.Stat(full); err != nil {
			h.problem, h.fix = at+" does not exist", "put it there, or remove the hook from the "+h.location()
		}
	}
	h.shellOnly = !strings.ContainsAny(program, `/\`) && !p.isOnDefaultPath(ctx, program)
}

// explainMissing returns the reason why a program cannot be started, and a fix.
func (f Facts) explainMissing(program string) (problem, fix string) {
	path := f.absolute(program)
	switch _, err := os.Stat(path); {
	case !strings.ContainsAny(program, `/\`):
		return program + " is not on the PATH", "install it, or write its full path"
	case err != nil:
		return program + " does not exist", "put it there, or remove the hook"
	}
	return program + " is not executable", "chmod +x " + path
}

// absolute resolves a path relative to the project's root, where hooks run. It returns a bare
// name unchanged.
func (f Facts) absolute(program string) string {
	if filepath.IsAbs(program) || !strings.ContainsAny(program, `/\`) {
		return program
	}
	return filepath.Join(f.root, program)
}

// isOnDefaultPath reports whether a program is on the shell's default PATH. Programs that no
// login shell started have only this PATH.
func (p prober) isOnDefaultPath(ctx context.Context, name string) bool {
	if p.system == "windows" {
		return true // Windows has one PATH for all programs
	}
	found, asked := p.onDefaultPath[name]
	if !asked {
		ctx, cancel := context.WithTimeout(ctx, probeTimeout)
		defer cancel()
		c := exec.CommandContext(ctx, "/bin/sh", "-c", `command -v -- "$1"`, "sh", name)
		c.Env = []string{}
		found = c.Run() == nil
		p.onDefaultPath[name] = found
	}
	return found
}

// lookPath returns the path of a program on the given PATH, "" if it is not there.
func lookPath(path, program string) string {
	if strings.ContainsAny(program, `/\`) {
		found, err := exec.LookPath(program)
		if err != nil {
			return ""
		}
		return found
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if found, err := exec.LookPath(filepath.Join(dir, program)); err == nil {
			return found
		}
	}
	return ""
}

// version returns the version of one of Pawl's programs, as the program prints it. It returns ""
// if the program is not Pawl's.
func (p prober) version(ctx context.Context, program string) string {
	version, asked := p.versions[program]
	if !asked {
		flag := "--version"
		if install.ProgramName(program) == "pawl" {
			flag = "version"
		}
		said, _ := versionOf(ctx, program, flag)
		who, of, _ := strings.Cut(said, " ")
		if who == "pawl" || who == "pawl-hook" {
			version = of
		}
		p.versions[program] = version
	}
	return version
}

// hookDir returns the folder in which a hook runs: the project, as for the client. It returns ""
// for Pawl's hook if the project may have a loop file of another tool, because the hook would
// start that loop. run then uses an empty folder.
func (f Facts) hookDir(h hook) string {
	vars := f.clientVars()
	p := place.Project{Root: f.root, RalphLoopDir: vars[ralphLoopDir], ThLoopAgent: vars[thLoopAgent]}
	if h.isOwn() && p.MayHaveLoop() {
		return ""
	}
	return f.root
}

// The variables that name the place of other tools' loop files.
const (
	ralphLoopDir = "RALPH_LOOP_DIR"
	thLoopAgent  = "TH_LOOP_AGENT"
)

// clientVars returns the environment of the client, with the variables of its settings.
func (f Facts) clientVars() map[string]string {
	vars := maps.Clone(f.vars)
	if vars == nil {
		vars = map[string]string{}
	}
	for _, s := range f.files {
		maps.Copy(vars, s.settings.env)
	}
	return vars
}

// run runs a hook with the payload of its event and the client's environment, in a new session.
// If dir is empty, it uses a temporary folder. It does not use package proc: the clean-up there
// takes longer than the answer, whose time run measures.
func (f Facts) run(ctx context.Context, h hook, dir string, limit time.Duration) answer {
	a := answer{event: h.event}
	if dir == "" {
		temp, err := os.MkdirTemp("", "pawl-doctor-")
		if err != nil {
			a.fault = err.Error()
			return a
		}
		defer os.RemoveAll(temp)
		dir = temp
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	session := newSessionID()
	c := f.command(ctx, h)
	c.Dir, c.Env = dir, f.environ(h, session, dir)
	c.Stdin = bytes.NewReader(payload(h.event, session, dir))
	out, stderr := &proc.Head{MaxBytes: maxOutputBytes}, &proc.Head{MaxBytes: maxOutputBytes}
	c.Stdout, c.Stderr = out, stderr
	c.WaitDelay = time.Second // a child process may have inherited the pipes
	begun := time.Now()
	err := c.Run()
	a.took, a.timedOut = time.Since(begun), ctx.Err() != nil
	a.out, a.err = strings.TrimSpace(out.String()), firstLine(stderr)
	if c.ProcessState == nil && err != nil {
		a.fault = err.Error()
	} else if c.ProcessState != nil {
		a.exit = c.ProcessState.ExitCode()
	}
	return a
}

// command returns the process of a hook. A hook with arguments starts directly, others start in
// a shell.
func (f Facts) command(ctx context.Context, h hook) *exec.Cmd {
	if h.args == nil && f.system != "windows" {
		return exec.CommandContext(ctx, "/bin/sh", "-c", h.command)
	}
	if len(h.argv) == 0 {
		return exec.CommandContext(ctx, "bash", "-c", h.command)
	}
	return exec.CommandContext(ctx, h.found, h.argv[1:]...)
}

// environ returns the environment of the client's hooks: the client's, and the variables of the
// session. It removes variables of a session in which doctor itself runs.
func (f Facts) environ(h hook, session, dir string) []string {
	vars := f.clientVars()
	if dir != f.root {
		delete(vars, ralphLoopDir)
		delete(vars, thLoopAgent)
	}
	for _, name := range []string{"PAWL_LOOP", "CLAUDE_ENV_FILE", "CLAUDE_CODE_MESSAGING_SOCKET", "CLAUDE_CODE_MESSAGING_TOKEN", "CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA"} {
		delete(vars, name)
	}
	maps.Copy(vars, map[string]string{
		"CLAUDECODE": "1", "CLAUDE_PROJECT_DIR": dir, "CLAUDE_CODE_SESSION_ID": session, "CLAUDE_PID": fmt.Sprint(os.Getpid()),
		"CLAUDE_CODE_ENTRYPOINT": "cli", "CLAUDE_CODE_SESSION_ATTENDED": "1",
	})
	if h.scope == fromPlugin {
		vars["CLAUDE_PLUGIN_ROOT"] = h.root
	}
	var env []string
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		env = append(env, name+"="+vars[name])
	}
	return env
}

// payload returns the line that the client writes to a hook's standard input.
func payload(event, session, dir string) []byte {
	p := map[string]any{
		"session_id": session, "transcript_path": filepath.Join(dir, ".pawl-doctor", session+".jsonl"), "cwd": dir, "hook_event_name": event,
	}
	if event == "SessionStart" {
		p["source"] = "startup"
	} else {
		maps.Copy(p, map[string]any{
			"prompt_id": newSessionID(), "permission_mode": "default", "stop_hook_active": false,
			"last_assistant_message": "This is a check by pawl doctor.", "background_tasks": []any{}, "session_crons": []any{},
		})
	}
	line, err := json.Marshal(p)
	if err != nil {
		panic(err) // strings, a bool and lists always marshal
	}
	return append(line, '\n')
}

// newSessionID returns a random UUID, the form of the client's session ids.
func newSessionID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// maxOutputBytes is the maximum output of a hook that is kept, in bytes.
const maxOutputBytes = 64 << 10

// firstLine returns the first line of an output, without surrounding blanks.
func firstLine(out *proc.Head) string {
	first, _, _ := strings.Cut(strings.TrimSpace(out.String()), "\n")
	return strings.TrimSpace(first)
}
