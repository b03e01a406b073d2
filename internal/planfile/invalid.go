package planfile

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
)

// Invalid is the error of a plan that cannot be read. It holds at least one problem, in the order
// of lines. Find it with errors.As.
type Invalid struct {
	Name     string // as given to Decode
	Problems []plan.Problem
	Warnings []plan.Problem // see File.Warnings
}

// NoTasks reports whether the only problem is that there are no tasks.
func (e *Invalid) NoTasks() bool { return len(e.Problems) == 1 && e.Problems[0].Message == noTasks }

// noTasks is the message for a file without tasks.
const noTasks = "the plan has no tasks"

// Error returns the first problem and the number of the others.
func (e *Invalid) Error() string {
	more := ""
	if n := len(e.Problems) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	return e.Lines()[0] + more
}

// WithName returns the same error for a file that the user knows by another name.
func (e *Invalid) WithName(name string) error { return newInvalid(name, e.Problems...) }

// Lines returns the problems as "FILE:LINE: what is wrong: expected …".
func (e *Invalid) Lines() []string { return Lines(e.Name, e.Problems) }

// Lines returns such lines for the problems or warnings of a plan.
func Lines(name string, problems []plan.Problem) []string {
	lines := make([]string, len(problems))
	for i, p := range problems {
		lines[i] = fmt.Sprintf("%s:%d: %s: expected %s", clean(name), max(p.Line, 1), p.Message, p.Want)
	}
	return lines
}

func newInvalid(name string, problems ...plan.Problem) error {
	hint := "correct the file; pawl changes only done marks"
	if len(problems) > 1 {
		hint = "pawl plan check " + clean(name) + " lists them all"
	}
	return failure.New(failure.Usage, hint, "%w", &Invalid{Name: name, Problems: problems})
}

// invalid returns an error with these problems and the warnings of the file.
func (f *File) invalid(problems []plan.Problem) error {
	err := newInvalid(f.name, problems...)
	if e, ok := errors.AsType[*Invalid](err); ok {
		e.Warnings = f.Warnings()
	}
	return err
}

// clean returns a path or an id as one line for messages.
func clean(text string) string { return plan.OneLine(text, 0) }

// maxIDBytes limits an id, in bytes: commits, command lines and messages contain it.
const maxIDBytes = 100

func checkIDLengths(p plan.Plan) []plan.Problem {
	var found []plan.Problem
	for _, t := range p.Tasks {
		if len(t.ID) > maxIDBytes {
			found = append(found, plan.Problem{
				ID: t.ID, Line: t.Line,
				Message: fmt.Sprintf("task id %q is %d bytes long", plan.OneLine(t.ID, 20), len(t.ID)),
				Want:    fmt.Sprintf("an id of at most %d", maxIDBytes),
			})
		}
	}
	return found
}

// unreadable returns the problem of data that is not text or is too large. It returns true if there
// is none.
func unreadable(data []byte) (plan.Problem, bool) {
	if len(data) > MaxSize {
		return tooLarge, false
	}
	if at := bytes.IndexByte(data, 0); at >= 0 {
		return plan.Problem{Line: newLines(data).lineAt(at), Message: "this is a binary file, or not UTF-8", Want: "a plan in UTF-8 text"}, false
	}
	for at := 0; at < len(data); {
		r, n := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && n == 1 {
			return plan.Problem{Line: newLines(data).lineAt(at), Message: fmt.Sprintf("byte %#x is not UTF-8", data[at]), Want: "a plan in UTF-8 text"}, false
		}
		at += n
	}
	return plan.Problem{}, true
}

var tooLarge = plan.Problem{
	Message: fmt.Sprintf("the file is larger than %d MB", MaxSize>>20),
	Want:    "a plan: a list of tasks",
}

// blankBOM returns data with spaces in place of a byte order mark, so that offsets stay the same.
func blankBOM(data []byte) []byte {
	bom := []byte("\xef\xbb\xbf")
	if !bytes.HasPrefix(data, bom) {
		return data
	}
	data = bytes.Clone(data)
	copy(data, "   ")
	return data
}
