package plan

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// CommitSubject holds the parts of a commit's subject.
type CommitSubject struct {
	Type  string // feat, fix or docs
	ID    string // id of the task, as a scope; "" if the goal has none
	Title string
}

// DefaultCommitForm is the form of a conventional commit.
const DefaultCommitForm = "{type}({id}): {title}"

var (
	commitField = regex.New(`\{[^{}]*\}`)
	noID        = regex.New(`[(\[]\{id(_lower)?\}[)\]]`)
	typedTitle  = regex.New(`^(feat|fix|docs|style|refactor|perf|test|build|ci|chore|revert)(?:\(([^()]+)\))?(!?): (.+)`)
)

// CheckCommitForm returns what is wrong with a form, or nil.
func CheckCommitForm(form string) error {
	known := []string{"{type}", "{id}", "{id_lower}", "{title}", "{title_lower}"}
	for _, found := range commitField.FindAllString(form, -1) {
		if !slices.Contains(known, found) {
			return fmt.Errorf("there is no placeholder %s: there are %s", found, strings.Join(known, ", "))
		}
	}
	if strings.ContainsAny(form, "\r\n") {
		return errors.New("a subject is one line")
	}
	return nil
}

// Format returns the subject. Without an id, it omits the brackets around it. If the title is a
// conventional subject already, such as "fix(api): say why", its type and scope are used.
func (c CommitSubject) Format(form string) string {
	if m := typedTitle.FindStringSubmatch(c.Title); m != nil && strings.Contains(form, "{type}") {
		c.Type, c.ID, c.Title = m[1], cmp.Or(c.ID, m[2]), m[4]
		form = strings.Replace(form, ":", m[3]+":", 1)
	}
	if c.ID == "" {
		form = noID.ReplaceAllString(form, "")
	}
	first, rest, _ := strings.Cut(c.Title, " ")
	text := strings.NewReplacer(
		"{type}", c.Type, "{id}", c.ID, "{id_lower}", strings.ToLower(c.ID),
		"{title}", c.Title, "{title_lower}", strings.TrimSpace(strings.ToLower(first)+" "+rest),
	).Replace(form)
	return strings.Join(strings.Fields(text), " ")
}
