package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/term"
)

// statuslineCmd is `pawl statusline`, which prints a line below Claude Code's prompt. The client runs
// it often, and ends it if the next call is due.
type statuslineCmd struct {
	After string `placeholder:"CMD" help:"print what your own status line command prints, then Pawl's line"`
}

const (
	userLineTimeout = 5 * time.Second // time limit of the user's command
	maxStatusInput  = 1 << 20         // maximum bytes of the client's JSON and of the output of the user's command
)

// Run prints the line.
func (c *statuslineCmd) Run(a *app) error {
	if isTerminal(a.In) {
		return failure.New(failure.Usage, "pawl statusline --help shows the settings; pawl status shows the same here", "pawl statusline is run by Claude Code")
	}
	input, err := io.ReadAll(io.LimitReader(a.In, maxStatusInput))
	if err != nil {
		return fmt.Errorf("read the status that Claude Code sends: %w", err)
	}
	var client struct {
		Session   string `json:"session_id"`
		Workspace struct {
			Project string `json:"project_dir"`
		} `json:"workspace"`
	}
	if err := json.Unmarshal(input, &client); err != nil {
		return failure.New(failure.Usage, "pawl statusline --help shows the settings of Claude Code", "read the status that Claude Code sends: %w", err)
	}
	if filepath.IsAbs(client.Workspace.Project) {
		a.dir = client.Workspace.Project
	}
	var parts []string
	if c.After != "" {
		parts = append(parts, c.userLine(input))
	}
	if l, ok := a.statusLoop(client.Session); ok {
		if s, err := loopinfo.Read(l); err == nil { // other commands report a damaged journal
			parts = append(parts, term.Clean("⟲ "+s.ID+" "+s.Headline(s.Summary(), time.Now())))
		}
	}
	if line := strings.Join(parts, " · "); line != "" {
		a.print(a.text(line) + "\n")
	}
	return nil
}

// userLine returns the output of the user's command, with colours, without the final newline.
func (c *statuslineCmd) userLine(input []byte) string {
	ctx, cancel := context.WithTimeout(context.Background(), userLineTimeout)
	defer cancel()
	var out bytes.Buffer
	argv, more := proc.Shell(c.After)
	proc.Run(ctx, proc.Spec{Argv: argv, Env: append(os.Environ(), more...), Stdin: bytes.NewReader(input), Stdout: &out})
	return strings.TrimRight(string(out.Next(maxStatusInput)), "\n")
}

// statusLoop returns the loop of a session, else the newest one here that has not ended.
func (a *app) statusLoop(id string) (*store.Loop, bool) {
	if l, ok := a.sessionLoop(id); ok {
		return l, true
	}
	open, err := a.unendedHere()
	if err != nil || len(open) == 0 {
		return nil, false
	}
	return a.store.Loop(open[0].ID), true
}
