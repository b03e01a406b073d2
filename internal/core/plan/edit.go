package plan

import (
	"slices"
	"strconv"
	"strings"
)

// EditKind is what an edit does to a plan.
type EditKind string

// The edits, by the words that a user types.
const (
	Add     EditKind = "add"    // a new task, Title, at the end or at its place
	Retitle EditKind = "edit"   // the task's title becomes Title
	Skip    EditKind = "skip"   // a loop leaves the task out
	Retry   EditKind = "retry"  // a loop works on the task again, with all attempts
	Move    EditKind = "move"   // the task goes to its place: before the open ones, if none is given
	Reopen  EditKind = "reopen" // the task is not done
	Accept  EditKind = "accept" // File, an edit that was not applied, becomes the plan
)

// Edit is a user's change of a plan while a loop works on it. Applying it twice has no further effect.
type Edit struct {
	ID     string   `json:"id,omitempty"` // id of the user's message
	Do     EditKind `json:"do"`
	Task   string   `json:"task,omitempty"`   // id of the task; for Add: the new task's id
	Title  string   `json:"title,omitempty"`  // for Add and Retitle
	Before string   `json:"before,omitempty"` // id of the task after the new place
	After  string   `json:"after,omitempty"`  // id of the task before the new place
	File   string   `json:"file,omitempty"`   // for Accept: the file with the edit
	Since  []string `json:"since,omitempty"`  // for Accept: later changes of the plan that stay, in words
	Failed string   `json:"failed,omitempty"` // why it could not be applied, "" if it was
}

// Place returns the index at which the task goes among the other tasks. firstOpen is the index of the
// first open one. Without an existing neighbour, Add goes to the end.
func (e Edit) Place(ids []string, firstOpen int) int {
	if i := slices.Index(ids, e.Before); e.Before != "" && i >= 0 {
		return i
	}
	if i := slices.Index(ids, e.After); e.After != "" && i >= 0 {
		return i + 1
	}
	if e.Do == Move && firstOpen >= 0 {
		return firstOpen
	}
	return len(ids)
}

// String returns what the edit does, in words.
func (e Edit) String() string {
	task := "task " + OneLine(e.Task, 40)
	switch e.Do {
	case Add:
		if e.Task == "" {
			task = "a new task"
		}
		return task + ", " + strconv.Quote(OneLine(e.titleWithoutID(), 100)) + ", is added" + e.where()
	case Retitle:
		return task + " is now " + strconv.Quote(OneLine(e.Title, 100))
	case Skip:
		return task + " is left out"
	case Retry:
		return task + " is tried again"
	case Move:
		if e.Before+e.After == "" {
			return task + " comes next"
		}
		return task + " comes" + e.where()
	case Reopen:
		return task + " is open again"
	case Accept:
		text := "the edit in " + OneLine(e.File, 0) + " is the plan"
		if len(e.Since) > 0 {
			text += ", with what was changed since: " + strings.Join(e.Since, "; ")
		}
		return text
	}
	return string(e.Do)
}

// Command returns the command that makes the edit in a plan, or in a loop's plan.
func (e Edit) Command(of string) string {
	words := []string{"pawl plan", string(e.Do), of}
	for _, word := range []string{e.Task, quoted(e.Title), e.File} {
		if word != "" && (e.Do != Add || word != e.Task) {
			words = append(words, word)
		}
	}
	if e.Before != "" {
		words = append(words, "--before", e.Before)
	}
	if e.After != "" {
		words = append(words, "--after", e.After)
	}
	return strings.Join(words, " ")
}

func quoted(title string) string {
	if title == "" {
		return ""
	}
	return strconv.Quote(title)
}

// titleWithoutID returns the title without the id that a user typed in front of it.
func (e Edit) titleWithoutID() string {
	rest, ok := strings.CutPrefix(strings.TrimSpace(e.Title), e.Task)
	title := strings.TrimLeft(rest, ".:)]* \t")
	if !ok || e.Task == "" || title == "" || title == rest {
		return e.Title
	}
	return title
}

func (e Edit) where() string {
	switch {
	case e.Before != "":
		return " before task " + OneLine(e.Before, 40)
	case e.After != "":
		return " after task " + OneLine(e.After, 40)
	}
	return ""
}
