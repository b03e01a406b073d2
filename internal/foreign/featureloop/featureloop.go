// Package featureloop reads and writes the files of the feature-list controller, a Stop
// hook in Python or Bash that works through a list of features: its folder, its
// progress file, its messages.
//
//	p, err := featureloop.Parse(path, data)  // of progress.txt
//	p = p.Set(featureloop.Values{Iteration: 4, Status: featureloop.InProgress})
//	why := featureloop.LimitReachedMessage(15, []string{"7", "9"})
//
// A loop is a folder with RALPH_PROMPT.md (the goal), feature_list.json (a plan,
// read by package planfile) and progress.txt, in which three lines are the
// controller's and all else is the agent's log:
//
//   - Iteration: 3
//   - Max Iterations: 15
//   - Status: IN_PROGRESS
//
// The files are untrusted: MayFollow reports whether a session may follow such a folder.
// docs/reference/feature-loop.md compares the controllers with what is done here.
package featureloop

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// A loop is in the folder Current in .claude/data/ralph-loops, or in a folder beside it.
const (
	Current      = "current" // often a link to another folder
	PromptName   = "RALPH_PROMPT.md"
	ListName     = "feature_list.json"
	ProgressName = "progress.txt"
)

// DefaultMax is the number of iterations of a loop whose progress.txt gives none.
const DefaultMax = 15

// MaxSize is the largest progress.txt that is read, in bytes.
const MaxSize = 1 << 20

// Values of Status. The controllers know InProgress, Complete and ReachedLimit; Pawl adds others
// for other ends.
const (
	InProgress   = "IN_PROGRESS"
	Complete     = "COMPLETE"
	ReachedLimit = "REACHED_LIMIT"
)

// StatusOf returns the status for an outcome, InProgress for a running loop. Complete is for
// verified or earlier work. A loop whose features were ticked without proof is UNVERIFIED.
func StatusOf(o loop.Outcome) string {
	switch o {
	case loop.Verified, loop.Finished:
		return Complete
	case loop.Iterations, loop.Duration, loop.Budget:
		return ReachedLimit
	case loop.Unverified:
		return "UNVERIFIED"
	case loop.Stuck:
		return "STUCK"
	case loop.BlockedEnd:
		return "BLOCKED"
	case loop.CancelledEnd:
		return "CANCELLED"
	case loop.Tampered:
		return "TAMPERED"
	case loop.Errored:
		return "ERROR"
	}
	return InProgress
}

// Progress is a progress.txt with its values. Changes to the fields do not affect Bytes.
type Progress struct {
	Iteration     int    // 0 if missing
	MaxIterations int    // DefaultMax if missing
	Status        string // one word in capitals, as in IN_PROGRESS; "" if missing

	name  string
	data  []byte
	lines [fieldCount]field
}

// The lines of the controller, in the order in which they are written.
const (
	iteration = iota
	maxIterations
	status
	fieldCount
)

var fieldNames = [fieldCount]string{"Iteration", "Max Iterations", "Status"}

// field is one of these lines in the file.
type field struct {
	found    bool
	at, end  int    // the value in the data: a number's digits, or the whole status
	from, to int    // the line, with its end
	wrong    string // what is expected instead of the value, "" = the value is valid
}

// Bytes returns the file. Callers must not change it.
func (p *Progress) Bytes() []byte { return p.data }

// Values are what Set writes.
type Values struct {
	Iteration     int
	MaxIterations int    // 0 = unchanged
	Status        string // "" = unchanged
}

// New returns a new progress.txt.
func New(v Values) *Progress {
	p := &Progress{name: ProgressName, data: []byte("# Ralph Loop Progress\n")}
	return p.Set(v)
}

// Set returns the file with other values and no other change. An equal value in other words stays
// (08, In Progress); an invalid one is replaced. A missing line is added beside the others, or
// below the first heading.
func (p *Progress) Set(v Values) *Progress {
	wanted := [fieldCount]string{iteration: strconv.Itoa(max(v.Iteration, 0)), status: v.Status}
	if v.MaxIterations > 0 {
		wanted[maxIterations] = strconv.Itoa(v.MaxIterations)
	}
	same := [fieldCount]bool{
		p.number(iteration) && p.Iteration == max(v.Iteration, 0),
		p.number(maxIterations) && p.MaxIterations == v.MaxIterations,
		p.Status == v.Status,
	}
	var edits []edit
	var missing strings.Builder
	eol := p.lineEnd()
	for i, text := range wanted {
		f := p.lines[i]
		switch {
		case text == "" || f.found && same[i]:
		case f.found:
			if before := p.data[f.at-1]; f.at == f.end && before != ' ' && before != '\t' {
				text = " " + text
			}
			edits = append(edits, edit{f.at, f.end, text})
		default:
			line := "- " + fieldNames[i] + ": " + text + eol
			if at, ok := p.insertOffset(i); ok {
				edits = append(edits, p.insertEdit(at, line))
			} else {
				missing.WriteString(line)
			}
		}
	}
	if missing.Len() > 0 {
		edits = append(edits, p.insertEdit(p.headInsertion(missing.String())))
	}
	q, err := Parse(p.name, applyEdits(p.data, edits))
	if err != nil {
		return p // not reached unless the file becomes too large
	}
	return q
}

func (p *Progress) number(i int) bool {
	return p.lines[i].found && p.lines[i].wrong == "" && p.lines[i].at < p.lines[i].end
}

// edit replaces the bytes [at, end) by a text.
type edit struct {
	at, end int
	text    string
}

func applyEdits(data []byte, edits []edit) []byte {
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.at, b.at) })
	var out bytes.Buffer
	last := 0
	for _, e := range edits {
		out.Write(data[last:e.at])
		out.WriteString(e.text)
		last = e.end
	}
	out.Write(data[last:])
	return out.Bytes()
}

// insertOffset returns where a missing line goes: after the line that precedes it, or before the next
// one.
func (p *Progress) insertOffset(i int) (at int, ok bool) {
	for j := i - 1; j >= 0; j-- {
		if p.lines[j].found {
			return p.lines[j].to, true
		}
	}
	for j := i + 1; j < fieldCount; j++ {
		if p.lines[j].found {
			return p.lines[j].from, true
		}
	}
	return 0, false
}

// insertEdit returns the edit that inserts whole lines at an offset. After a last line without a line end,
// the line end comes first.
func (p *Progress) insertEdit(at int, lines string) edit {
	if at > 0 && at == len(p.data) && p.data[at-1] != '\n' && !bytes.Equal(p.data, bom) {
		eol := p.lineEnd()
		lines = eol + lines[:len(lines)-len(eol)]
	}
	return edit{at, at, lines}
}

// headInsertion returns where lines go in a file that has none of them: after a heading in its first line,
// else at the beginning, with blank lines around them.
func (p *Progress) headInsertion(lines string) (at int, block string) {
	eol := p.lineEnd()
	at = len(p.data) - len(bytes.TrimPrefix(p.data, bom))
	rest := p.data[at:]
	if bytes.HasPrefix(rest, []byte("#")) {
		first, _, ended := bytes.Cut(rest, []byte("\n"))
		at += len(first)
		if ended {
			at++
		}
		rest, lines = p.data[at:], eol+lines
	}
	if next, _, _ := bytes.Cut(rest, []byte("\n")); len(bytes.TrimSpace(next)) > 0 {
		lines += eol
	}
	return at, lines
}

// lineEnd returns the file's line end.
func (p *Progress) lineEnd() string {
	if first := bytes.IndexByte(p.data, '\n'); first > 0 && p.data[first-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// IterationMessage returns the line for the start of iteration n of most (0 = unlimited), with the current
// feature unless id is "".
func IterationMessage(n, most int, id, description string) string {
	text := fmt.Sprintf("Ralph Loop iteration %d", n)
	if most > 0 {
		text += fmt.Sprintf("/%d", most)
	}
	if id != "" {
		text += fmt.Sprintf(" | NEXT FEATURE (ID %s): %s", plan.OneLine(id, 40), plan.OneLine(description, 120))
	}
	return text
}

// VerifiedMessage returns the message when all n features are verified.
func VerifiedMessage(n int) string {
	return fmt.Sprintf("All %d features verified. Loop complete.", n)
}

// maxListedIDs limits the ids in a message.
const maxListedIDs = 30

// LimitReachedMessage returns the message when the limit of n iterations ends the loop. remaining has the
// ids of the open features.
func LimitReachedMessage(n int, remaining []string) string {
	text := fmt.Sprintf("Max iterations (%d) reached. %d features remaining.", n, len(remaining))
	if len(remaining) == 0 {
		return text
	}
	shown := make([]string, min(len(remaining), maxListedIDs))
	for i := range shown {
		shown[i] = plan.OneLine(remaining[i], 40)
	}
	text += " remaining_features: " + strings.Join(shown, ", ")
	if more := len(remaining) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
