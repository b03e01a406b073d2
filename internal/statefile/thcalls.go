package statefile

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/shell"
	"github.com/pawl-dev/pawl/internal/foreign/thloop"
	"github.com/pawl-dev/pawl/internal/record"
)

// thCalls is what tool calls of the agent's may have written to.
type thCalls struct {
	state, channel bool
	at             int64 // how far the session's calls were read, 0 if others are among these
	theirs         bool  // what it did when m.At was set was the user's after all
}

// callsMax bounds how much of the tool calls is looked at.
const callsMax = 16 << 20

// calls looks at the tool calls that may have come to something since the last
// time. Those of the user's session are written down when they have run, and in
// a turn that was the user's they are theirs. Those of our own sessions are
// written down before they run: all of this turn's count until the next.
func (t thFiles) calls(m *thMemory) thCalls {
	ran, _ := t.since(record.RunnerCallsFile, m.Ran, thMemory{})
	did, n := t.since(record.ToolCallsFile, m.Calls, *m)
	m.Calls += n
	if did.at = m.Calls; ran.state || ran.channel {
		did.at = 0
	}
	did.state, did.channel = did.state || ran.state, did.channel || ran.channel
	return did
}

// ranSoFar is how much our own sessions have written down.
func (t thFiles) ranSoFar() int64 {
	info, err := os.Stat(filepath.Join(t.LoopDir, record.RunnerCallsFile))
	if err != nil {
		return 0
	}
	return info.Size()
}

// since looks at the calls in a file from an offset on, and tells how many bytes
// of whole lines there were.
func (t thFiles) since(name string, from int64, m thMemory) (did thCalls, n int64) {
	f, err := atomicfile.Open(filepath.Join(t.LoopDir, name))
	if err != nil {
		return did, 0
	}
	defer f.Close()
	data, err := io.ReadAll(io.NewSectionReader(f, from, callsMax))
	if err != nil {
		return did, 0
	}
	type at struct {
		offset int64
		did    thCalls
	}
	var all []at
	for line := range bytes.Lines(data) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		var c record.ToolCall
		if json.Unmarshal(line, &c) == nil { // else it is damaged, and the rest counts
			if c.UserTurn {
				all = slices.DeleteFunc(all, func(a at) bool { return a.offset >= c.From })
				did.theirs = did.theirs || m.At > c.From
			}
			all = append(all, at{from + n, t.wrote(c)})
		}
		n += int64(len(line))
	}
	for _, a := range all {
		did.state, did.channel = did.state || a.did.state, did.channel || a.did.channel
	}
	return did, n
}

// wholly is how long a command may be that was surely written down as a whole.
const wholly = record.MaxCommandBytes - 100

// wrote tells what a tool call may have written to: of the channel, where a stop
// may be what it wrote. What is written by a command stands in it.
func (t thFiles) wrote(c record.ToolCall) thCalls {
	if c.AnyChange {
		return thCalls{state: true, channel: true}
	}
	if !mayWrite(c.Tool, c.Command) {
		return thCalls{}
	}
	text := filepath.ToSlash(c.Path)
	if c.Path == "" {
		text = c.Command
	}
	return thCalls{
		state: strings.Contains(text, strings.TrimSuffix(filepath.Base(t.Path), ".local.md")),
		channel: strings.Contains(text, filepath.Base(thloop.ChannelDir)) &&
			(c.Path != "" || len(text) > wholly || strings.Contains(strings.ToLower(text), "stop")),
	}
}

// mayWrite tells whether a tool call, of a command if it has one, may write to a
// file: it does not only look.
func mayWrite(tool, command string) bool {
	return !slices.Contains([]string{"Read", "Grep", "Glob", "LS"}, tool) && (command == "" || writes(command))
}

// MayMake tells whether a call of this tool may have made a file that it names, or
// put another text into it: not by an edit, which changes some of what was there.
func MayMake(tool, command string) bool {
	return !slices.Contains([]string{"Edit", "MultiEdit"}, tool) && mayWrite(tool, command)
}

// writes tells whether a command may write to a file: it does not only look.
func writes(command string) bool {
	var l looker
	shell.Read(command, shell.Options{}, &l)
	return l.writes
}

// looker hears what a script would do, and whether it is more than to look.
type looker struct{ writes bool }

// Run is told of each command.
func (l *looker) Run(c *shell.Command) {
	looks := len(c.Args) == 0 || slices.Contains([]string{"cat", "tail", "head", "grep", "rg", "ls", "wc", "cd", "less", "stat", "echo", "sort"}, c.Args[0].Text)
	l.writes = l.writes || !looks || slices.ContainsFunc(c.Writes, func(w shell.Word) bool { return w.Text != "/dev/null" })
}

// Script is told of what cannot be read.
func (l *looker) Script(*shell.Command, shell.Word) { l.writes = true }

// TooMuch is told of what is too long to be read.
func (l *looker) TooMuch(*shell.Command, shell.Word) { l.writes = true }

// Code is told of what another language does.
func (l *looker) Code(*shell.Command, shell.Word) { l.writes = true }
