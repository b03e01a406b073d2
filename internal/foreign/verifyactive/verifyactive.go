// Package verifyactive speaks the language of the verify loop of claude-prompts:
// its state file, the part of its settings that concerns the loop, what a user
// types to begin one, and its messages.
//
//	f, err := verifyactive.Parse(data)      // of runtime-state/verify-active.json
//	f = f.SetIteration(f.Iteration + 1)     // f.Bytes() differs in the number only
//	p, found, err := verifyactive.ParsePrompt(`Fix it :: verify:"npm test" max:3`)
//	text := verifyactive.Again(2, 5)        // what people's scripts look for
//
// The state file is JSON of a server that we are not: keys that nobody here
// knows, their order and their layout stay. What cannot be understood is an
// error that names the line; what is missing has the defaults of the tool that
// made the file.
//
// The file is untrusted: its command runs only after a user's consent, which
// is not asked here. Nothing here reads a file, runs a command or decides when a
// loop ends.
package verifyactive

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Where the files of a claude-prompts folder lie in it, with slashes. The server
// writes its state below the folder in which it was started: that of the plugin,
// or server in it.
const (
	StatePath        = "runtime-state/verify-active.json"
	ServerConfigPath = "server/config.json"
	ConfigPath       = "config.json"
)

// MaxSize is the largest file that is read, in bytes.
const MaxSize = 1 << 20

// What holds where a file or a user does not say.
const (
	DefaultTimeout  = 300 * time.Second
	DefaultMax      = 5  // of checks, see ParsePrompt
	DefaultMaxLoop  = 10 // of a loop: in state files, and with loop:true
	maxIterations   = 1000
	longestTimeout  = 24 * time.Hour
	longestOfOutput = 5000 // bytes of each stream that lastResult keeps
)

// File is a state file and what it says. The fields are for reading: what is
// written to them does not reach Bytes.
type File struct {
	Command       string // that is to succeed; never blank
	Timeout       time.Duration
	MaxIterations int    // 1 or more
	WorkingDir    string // as written; "" is the session's
	Preset        string
	Goal          string // what the user asked for, as they typed it; "" if not known
	Iteration     int    // how many checks were made

	data []byte
}

// Result is what a run of the command said, as the file has it.
type Result struct {
	Passed     bool   `json:"passed"`
	ExitCode   int    `json:"exitCode"` // -1 if it did not exit by itself
	Stdout     string `json:"stdout"`
	Stderr     string `json:"stderr"` // "" where both went into Stdout
	DurationMs int64  `json:"durationMs"`
	Command    string `json:"command"`
	TimedOut   bool   `json:"timedOut"`
}

// Bytes is the file, as it was read or with what was set since. The caller does
// not write to it.
func (f *File) Bytes() []byte { return f.data }

// SetIteration is the file after n checks (0 or more), all else as it was, to
// the byte.
func (f *File) SetIteration(n int) *File {
	return f.set("iteration", strconv.Itoa(max(n, 0)))
}

// SetLast is the file with this as the last result, all else as it was, to the
// byte. The ends of the streams are kept, as many bytes as the server keeps.
func (f *File) SetLast(r Result) *File {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	r.Stdout, r.Stderr = end(r.Stdout), end(r.Stderr)
	_ = enc.Encode(r) // strings, numbers and booleans: no error
	return f.set("lastResult", string(bytes.TrimSpace(b.Bytes())))
}

func end(output string) string { return output[max(0, len(output)-longestOfOutput):] }

// set puts a value in the place of the one that the state has under this name.
func (f *File) set(name, value string) *File {
	d, root, _ := open(f.data) // it was read before
	state, found := d.find(root, "state")
	var at span
	var text string
	switch {
	case !found:
		at, text = d.room(root, "state", fmt.Sprintf("{%q: %s}", name, value))
	case d.kind(state) != '{': // null
		at, text = state, fmt.Sprintf("{%q: %s}", name, value)
	default:
		if at, found = d.find(state, name); found {
			text = value
			break
		}
		at, text = d.room(state, name, value)
	}
	data := make([]byte, 0, len(f.data)+len(text))
	data = append(data, f.data[:at.at]...)
	data = append(data, text...)
	data = append(data, f.data[at.end:]...)
	g, err := parse(data)
	if err != nil { // never, see FuzzEdit
		return f
	}
	return g
}
