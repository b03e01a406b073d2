// Package tracker works with the issues of a tracker: it lists issues as a plan, claims them while
// a loop works on them, and comments the result.
//
// Trackers are programs that speak a small protocol (Request, Reply): one JSON object a
// line on standard input and output. Program is the client, Serve the server. GitHub and Beads
// come with Pawl and use the same protocol as a user's own program.
//
// Strangers write issues. So their text leaves this package only as data of a JSON plan (Plan), in
// which no text can be a gate, a scope or another setting.
package tracker

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
)

// Verb is the operation of a request.
type Verb string

// The verbs.
const (
	List    Verb = "list"    // the issues that Query chooses, with those they depend on
	Claim   Verb = "claim"   // the issue is being worked on
	Comment Verb = "comment" // add Text to the issue
	Done    Verb = "done"    // the work is done and verified: add Text, release the claim
	Blocked Verb = "blocked" // nobody works on it any more: add Text, if any, release the claim
)

// Request is one line on a tracker's standard input.
type Request struct {
	Do    Verb   `json:"do"`
	Query string `json:"query,omitempty"` // of list: what the user named
	Issue string `json:"issue,omitempty"` // id of the issue, as list gave it
	Key   string `json:"key,omitempty"`   // the same for the same request: what was done under it is not done again
	Text  string `json:"text,omitempty"`  // Markdown
	Label string `json:"label,omitempty"` // claim by this label, not by assignee

	Release bool `json:"release,omitempty"` // of done and blocked: take back the claim, which the loop made
}

// Reply is the answer to a request, one line on the standard output.
type Reply struct {
	OK      bool    `json:"ok"`
	Error   string  `json:"error,omitempty"` // what went wrong, if not OK
	Hint    string  `json:"hint,omitempty"`  // what the user can do about it
	Retry   bool    `json:"retry,omitempty"` // the same request may succeed later
	Issues  []Issue `json:"issues,omitempty"`
	Changed bool    `json:"changed,omitempty"` // of claim: it was not claimed before
}

// Issue is an issue as a tracker has it.
type Issue struct {
	ID        string   `json:"id"`                   // names it in later requests
	Key       string   `json:"key"`                  // short, for people: "#12"; the id of its task
	Title     string   `json:"title"`                //
	Body      string   `json:"body,omitempty"`       // Markdown; its task list is the issue's tasks
	Criteria  []string `json:"criteria,omitempty"`   // what it is done when
	URL       string   `json:"url,omitempty"`        // for people
	DependsOn []string `json:"depends_on,omitempty"` // ids of issues that must be done before
	Priority  int      `json:"priority,omitempty"`   // lower comes first; 0: none
	Closed    bool     `json:"closed,omitempty"`     // it is done
	ClaimedBy string   `json:"claimed_by,omitempty"` // who else works on it
}

// Error is a tracker's answer to a request that failed.
type Error struct {
	What string
	Hint string
	// Retry reports whether the same request may succeed later.
	Retry bool
}

func (e *Error) Error() string { return e.What }

// userError makes an error for people of what a tracker says.
func (r Reply) userError(program string) error {
	if r.OK {
		return nil
	}
	what := cmp.Or(line(r.Error), "it gives no reason")
	return failure.New(failure.Usage, line(r.Hint), "%s: %w", program, &Error{What: what, Hint: line(r.Hint), Retry: r.Retry})
}

// Handler does what a request asks for. An *Error is told as it is.
type Handler func(ctx context.Context, r Request) (Reply, error)

// later is a problem of the way to the tracker, or of now: the same request may succeed
// later.
func later(hint, format string, args ...any) *Error {
	e := problem(hint, format, args...)
	e.Retry = true
	return e
}

// problem is an *Error with a hint.
func problem(hint, format string, args ...any) *Error {
	return &Error{What: fmt.Sprintf(format, args...), Hint: hint}
}

// Text returns the text of open issues, from which an agent is to write a plan. Strangers wrote it.
// Text that readers of an issue do not see, such as HTML comments, is left out.
func Text(from Address, issues []Issue) (string, error) {
	var parts, closed []string
	for _, i := range issues {
		name := strings.TrimSpace(line(i.Key) + " " + line(i.Title))
		if i.Closed {
			closed = append(closed, fmt.Sprintf("%s (%s) is closed", line(i.Key), plan.OneLine(i.Title, 60)))
			continue
		}
		parts = append(parts, "# "+name, strings.TrimSpace(hidden.ReplaceAllString(i.Body, "")))
		if len(i.Criteria) > 0 {
			parts = append(parts, "It is done when:\n\n- "+strings.Join(i.Criteria, "\n- "))
		}
	}
	if len(parts) == 0 {
		why := from.String() + " names none"
		if len(closed) > 0 {
			why = strings.Join(closed[:min(3, len(closed))], "; ")
		}
		return "", failure.New(failure.Usage, "name an issue that is open", "no issue to plan: %s", why)
	}
	return paragraphs(parts...), nil
}
