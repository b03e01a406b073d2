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

	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/session/place"
)

// askOwn runs a hook of Pawl's at the two events on which everything hangs.
func (f Facts) askOwn(ctx context.Context, h *hook) {
	if h.event == "SessionStart" || h.event == "Stop" {
		h.answers = []answer{f.run(ctx, *h, f.dirFor(*h), probeTimeout)}
	}
}

// dirFor is where a hook is run: the project, as the client has it. But where the
// files of a loop of another tool's lie, Pawl's hook would take that up: then it
// is run where there is nothing.
func (f Facts) dirFor(h hook) string {
	vars := f.clientVars()
	p := place.Project{Root: f.root, RalphLoopDir: vars[ralphLoopDir], ThLoopAgent: vars[thLoopAgent]}
	if h.own() && p.MayHaveLoop() {
		return ""
	}
	return f.root
}

// The variables that say where the files of such loops are.
const (
	ralphLoopDir = "RALPH_LOOP_DIR"
	thLoopAgent  = "TH_LOOP_AGENT"
)

// clientVars is the environment of the client: its own, and what the settings set.
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

// run gives a hook the payload of its event, in a session that nobody knows, with
// the environment that the client would give it. An empty dir stands for a
// temporary folder. It is not run by package proc, whose care for what a process
// leaves behind takes longer than the answer that is timed here.
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
	session := newSession()
	c := f.command(ctx, h)
	c.Dir, c.Env = dir, f.environ(h, session, dir)
	c.Stdin = bytes.NewReader(payload(h.event, session, dir))
	out, stderr := &proc.Head{Most: maxHead}, &proc.Head{Most: maxHead}
	c.Stdout, c.Stderr = out, stderr
	c.WaitDelay = time.Second // somebody may have inherited the pipes
	begun := time.Now()
	err := c.Run()
	a.took, a.late = time.Since(begun), ctx.Err() != nil
	a.out, a.err = strings.TrimSpace(out.String()), firstLine(stderr)
	if c.ProcessState == nil && err != nil {
		a.fault = err.Error()
	} else if c.ProcessState != nil {
		a.exit = c.ProcessState.ExitCode()
	}
	return a
}

// command is a hook's process: with arguments it is started as it is, without by
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

// environ returns the environment of the client's hooks: the user's, and the variables of the session. Variables of a session in
// which the doctor itself runs are left out.
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

// payload is the line that the client writes to a hook's standard input.
func payload(event, session, dir string) []byte {
	p := map[string]any{
		"session_id": session, "transcript_path": filepath.Join(dir, ".pawl-doctor", session+".jsonl"), "cwd": dir, "hook_event_name": event,
	}
	if event == "SessionStart" {
		p["source"] = "startup"
	} else {
		maps.Copy(p, map[string]any{
			"prompt_id": newSession(), "permission_mode": "default", "stop_hook_active": false,
			"last_assistant_message": "This is a check by pawl doctor.", "background_tasks": []any{}, "session_crons": []any{},
		})
	}
	line, err := json.Marshal(p)
	if err != nil {
		panic(err) // strings, a bool and lists always marshal
	}
	return append(line, '\n')
}

// newSession is an id as the client makes them.
func newSession() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// maxHead bounds what is kept of what a hook prints.
const maxHead = 64 << 10

func firstLine(out *proc.Head) string {
	first, _, _ := strings.Cut(strings.TrimSpace(out.String()), "\n")
	return strings.TrimSpace(first)
}
