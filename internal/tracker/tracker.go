// Package tracker works with the issues of a tracker: it lists issues as a plan, claims them while
// a loop works on them, and comments the result.
//
// Trackers are programs that speak a small protocol (Request, Reply): one JSON object per line on
// standard input and output. Program is the client, Serve the server. GitHub and Beads are part of
// Pawl and use the same protocol as a user's program.
//
// The text of issues is untrusted. It leaves this package only as data of a JSON plan (Plan), in
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
	List    Verb = "list"    // list the issues that Query selects, with their dependencies
	Claim   Verb = "claim"   // mark the issue as being worked on
	Comment Verb = "comment" // add Text to the issue
	Done    Verb = "done"    // the work is verified: add Text, release the claim
	Blocked Verb = "blocked" // the work has stopped: add Text, if any, release the claim
)

// Request is one line on a tracker's standard input.
type Request struct {
	Do    Verb   `json:"do"`
	Query string `json:"query,omitempty"` // for list: selects issues
	Issue string `json:"issue,omitempty"` // id of the issue, as returned by list
	Key   string `json:"key,omitempty"`   // idempotency key: a repeated request has the same key and is executed once
	Text  string `json:"text,omitempty"`  // Markdown
	Label string `json:"label,omitempty"` // claim by this label, not by assignee

	Release bool `json:"release,omitempty"` // for done and blocked: release the loop's claim
}

// Reply is the reply to a request, one line on standard output.
type Reply struct {
	OK      bool    `json:"ok"`
	Error   string  `json:"error,omitempty"` // the error, if not OK
	Hint    string  `json:"hint,omitempty"`  // what the user can do about it
	Retry   bool    `json:"retry,omitempty"` // the same request may succeed later
	Issues  []Issue `json:"issues,omitempty"`
	Changed bool    `json:"changed,omitempty"` // for claim: the issue was not claimed before
}

// Issue is an issue of a tracker.
type Issue struct {
	ID        string   `json:"id"`                   // identifies it in later requests
	Key       string   `json:"key"`                  // short, for people: "#12"; the id of its task
	Title     string   `json:"title"`                //
	Body      string   `json:"body,omitempty"`       // Markdown; its task list is the issue's tasks
	Criteria  []string `json:"criteria,omitempty"`   // acceptance criteria
	URL       string   `json:"url,omitempty"`        // for people
	DependsOn []string `json:"depends_on,omitempty"` // ids of issues that must be done first
	Priority  int      `json:"priority,omitempty"`   // a lower number comes first; 0 = none
	Closed    bool     `json:"closed,omitempty"`     // the issue is done
	ClaimedBy string   `json:"claimed_by,omitempty"` // who else works on it
}

// Error is a tracker's reply to a failed request.
type Error struct {
	What string
	Hint string
	// Retry reports whether the same request may succeed later.
	Retry bool
}

func (e *Error) Error() string { return e.What }

// userError returns an error for people, with the tracker's message.
func (r Reply) userError(program string) error {
	if r.OK {
		return nil
	}
	what := cmp.Or(cleanLine(r.Error), "without a reason")
	return failure.New(failure.Usage, cleanLine(r.Hint), "%s: %w", program, &Error{What: what, Hint: cleanLine(r.Hint), Retry: r.Retry})
}

// Handler handles a request. An *Error becomes the reply.
type Handler func(ctx context.Context, r Request) (Reply, error)

// temporaryError returns an *Error after which the same request may succeed later, for example because
// the tracker is unreachable.
func temporaryError(hint, format string, args ...any) *Error {
	e := newError(hint, format, args...)
	e.Retry = true
	return e
}

// newError returns an *Error with a hint.
func newError(hint, format string, args ...any) *Error {
	return &Error{What: fmt.Sprintf(format, args...), Hint: hint}
}

// Text returns the text of open issues, from which an agent writes a plan. The text is untrusted.
// Parts that readers of an issue do not see, such as HTML comments, are left out.
func Text(from Address, issues []Issue) (string, error) {
	var parts, closed []string
	for _, i := range issues {
		name := strings.TrimSpace(cleanLine(i.Key) + " " + cleanLine(i.Title))
		if i.Closed {
			closed = append(closed, fmt.Sprintf("%s (%s) is closed", cleanLine(i.Key), plan.OneLine(i.Title, 60)))
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
