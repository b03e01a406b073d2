package planfile

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
)

// Invalid says all that is wrong with a plan; there is at least one problem,
// in the order of lines. Find it with errors.As.
type Invalid struct {
	Name     string // as given to Decode
	Problems []plan.Problem
	Odd      []plan.Problem // see File.Odd
}

// NoTasks reports whether nothing is wrong but that there is no task.
func (e *Invalid) NoTasks() bool { return len(e.Problems) == 1 && e.Problems[0].Message == noTasks }

// noTasks is what is wrong with a file in which nothing is to be done.
const noTasks = "the plan has no tasks"

// Error is the first problem, and how many more there are.
func (e *Invalid) Error() string {
	more := ""
	if n := len(e.Problems) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	return e.Lines()[0] + more
}

// Renamed is the same error about a file that a user knows by another name.
func (e *Invalid) Renamed(name string) error { return invalid(name, e.Problems...) }

// Lines are the problems as "FILE:LINE: what is wrong: expected …".
func (e *Invalid) Lines() []string { return Lines(e.Name, e.Problems) }

// Lines are such lines of the problems of a plan, or of what is odd in it.
func Lines(name string, problems []plan.Problem) []string {
	lines := make([]string, len(problems))
	for i, p := range problems {
		lines[i] = fmt.Sprintf("%s:%d: %s: expected %s", clean(name), max(p.Line, 1), p.Message, p.Want)
	}
	return lines
}

func invalid(name string, problems ...plan.Problem) error {
	hint := "correct the file; pawl changes nothing in it but done marks"
	if len(problems) > 1 {
		hint = "pawl plan check " + clean(name) + " lists them all"
	}
	return failure.New(failure.Usage, hint, "%w", &Invalid{Name: name, Problems: problems})
}

// invalid says what is wrong with the file, and keeps what is odd in it.
func (f *File) invalid(problems []plan.Problem) error {
	err := invalid(f.name, problems...)
	if e, ok := errors.AsType[*Invalid](err); ok {
		e.Odd = f.Odd()
	}
	return err
}

// clean makes a path or an id fit for a message.
func clean(text string) string { return plan.OneLine(text, 0) }

// idMax bounds an id, in bytes: it stands in commits, on command lines and in
// every message about its task.
const idMax = 100

func longIDs(p plan.Plan) []plan.Problem {
	var found []plan.Problem
	for _, t := range p.Tasks {
		if len(t.ID) > idMax {
			found = append(found, plan.Problem{
				ID: t.ID, Line: t.Line,
				Message: fmt.Sprintf("task id %q is %d bytes long", plan.OneLine(t.ID, 20), len(t.ID)),
				Want:    fmt.Sprintf("an id of at most %d", idMax),
			})
		}
	}
	return found
}

// unreadable finds why data cannot be a plan in any format.
func unreadable(data []byte) (plan.Problem, bool) {
	if len(data) > MaxSize {
		return tooLarge, false
	}
	if at := bytes.IndexByte(data, 0); at >= 0 {
		return plan.Problem{Line: newLines(data).of(at), Message: "this is a binary file, or not UTF-8", Want: "a plan in UTF-8 text"}, false
	}
	for at := 0; at < len(data); {
		r, n := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && n == 1 {
			return plan.Problem{Line: newLines(data).of(at), Message: fmt.Sprintf("byte %#x is not UTF-8", data[at]), Want: "a plan in UTF-8 text"}, false
		}
		at += n
	}
	return plan.Problem{}, true
}

var tooLarge = plan.Problem{
	Message: fmt.Sprintf("the file is larger than %d MB", MaxSize>>20),
	Want:    "a plan: a list of tasks",
}

// blankBOM is data with spaces for a byte order mark, so that offsets hold.
func blankBOM(data []byte) []byte {
	bom := []byte("\xef\xbb\xbf")
	if !bytes.HasPrefix(data, bom) {
		return data
	}
	data = bytes.Clone(data)
	copy(data, "   ")
	return data
}
