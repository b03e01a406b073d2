package verifyactive

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
)

// Parse reads a state file. Errors read "PATH:LINE: what is wrong: expected …" and have a hint.
// Parse keeps data without a copy. It ignores values that only inform (sessionId, lastResult,
// startedAt).
func Parse(data []byte) (*File, error) {
	if len(data) > MaxSize {
		return nil, fault(&fileError{1, fmt.Sprintf("the file has %d bytes", len(data)), fmt.Sprintf("at most %d", MaxSize)})
	}
	return parse(data)
}

func parse(data []byte) (*File, error) {
	d, root, err := openDocument(data)
	if err != nil {
		return nil, fault(err)
	}
	r := reader{document: d}
	f := &File{data: data}
	config, state := r.object(root, "config"), r.object(root, "state")
	if config == (span{}) {
		r.addError(root, "there is no config", `"config": {"command": "…"}`)
	}
	f.Command = r.command(root, config)
	f.Timeout = time.Duration(r.number(config, number{"timeout", 1, maxTimeout.Seconds() * 1000, DefaultTimeout.Seconds() * 1000}) * float64(time.Millisecond))
	f.MaxIterations = int(r.number(config, number{"maxIterations", 1, maxIterations, DefaultMaxLoop}))
	f.WorkingDir = r.text(config, "workingDir")
	f.Preset = r.text(config, "preset")
	f.Goal = r.text(config, "originalGoal")
	f.Iteration = int(r.number(state, number{"iteration", 0, math.MaxInt32, 0}))
	if r.err != nil {
		return nil, fault(r.err)
	}
	return f, nil
}

// reader reads values from a document. It keeps the first error, or reports each one if a default
// is used instead.
type reader struct {
	document
	err    error
	report func(*fileError)
}

func (r *reader) addError(at span, what, want string) {
	w := &fileError{r.line(at.at), what, want}
	switch {
	case r.report != nil:
		r.report(w)
	case r.err == nil:
		r.err = w
	}
}

// value returns the value of a name, and false if it is missing or null.
func (r *reader) value(object span, name string) (span, bool) {
	if object == (span{}) {
		return span{}, false
	}
	v, found := r.find(object, name)
	return v, found && r.kind(v) != 'n'
}

// object returns the object of a name, the zero span if it is missing or null.
func (r *reader) object(parent span, name string) span {
	v, found := r.value(parent, name)
	if found && r.kind(v) != '{' {
		r.addError(v, name+" is "+r.shown(v), "an object")
		return span{}
	}
	return v
}

// text returns the string of a name, "" if it is missing or null.
func (r *reader) text(object span, name string) string {
	v, found := r.value(object, name)
	if !found {
		return ""
	}
	var s string
	if json.Unmarshal(r.document[v.at:v.end], &s) != nil {
		r.addError(v, name+" is "+r.shown(v), "a text in quotes")
	}
	if strings.ContainsRune(s, 0) {
		r.addError(v, name+" holds a NUL character", "plain text")
		return ""
	}
	return s
}

// number describes a whole number: its name, its limits, and the value if it is missing or null.
type number struct {
	name               string
	min, max, fallback float64
}

func (r *reader) number(object span, n number) float64 {
	v, found := r.value(object, n.name)
	if !found {
		return n.fallback
	}
	f, ok := r.decimal(v)
	if !ok || f != math.Trunc(f) || f < n.min || f > n.max {
		r.addError(v, n.name+" is "+r.shown(v), fmt.Sprintf("a whole number from %.0f to %.0f", n.min, n.max))
		return n.fallback
	}
	return f
}

func (r *reader) decimal(v span) (float64, bool) {
	var f float64
	err := json.Unmarshal(r.document[v.at:v.end], &f)
	return f, err == nil
}

// command returns the command that must succeed. It refuses a blank one, which would always
// succeed.
func (r *reader) command(root, config span) string {
	command := r.text(config, "command")
	v, found := r.value(config, "command")
	if !found {
		v = config
		if config == (span{}) {
			v = root
		}
	}
	if why := commandProblem(command); why != "" {
		r.addError(v, why, "a shell command on one line")
	}
	return command
}

// maxCommandBytes limits a command, in bytes.
const maxCommandBytes = 8 << 10

// commandProblem returns why a text is not a command, "" if it is one.
func commandProblem(command string) string {
	switch {
	case strings.TrimSpace(command) == "":
		return "there is no command"
	case len(command) > maxCommandBytes:
		return fmt.Sprintf("the command has %d bytes, more than %d", len(command), maxCommandBytes)
	case strings.ContainsFunc(command, func(r rune) bool { return unicode.IsControl(r) && r != '\t' }):
		return "the command holds a line break or another control character"
	}
	return ""
}

// shown returns a value as written, on one line.
func (r *reader) shown(v span) string {
	return plan.OneLine(string(r.document[v.at:min(v.end, v.at+200)]), 40)
}

func fault(err error) error {
	w, ok := errors.AsType[*fileError](err)
	if !ok {
		return err
	}
	return failure.New(failure.Usage, "correct the file, or delete it; pawl does not change it",
		"%s:%d: %s: expected %s", StatePath, w.line, w.what, w.want)
}
