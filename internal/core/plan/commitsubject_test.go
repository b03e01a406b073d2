package plan

import (
	"strings"
	"testing"
)

func TestCommitSubjectIsShort(t *testing.T) {
	t.Parallel()
	story := CommitSubject{Type: "feat", ID: "US-001", Title: "Add parse() {id}"}
	for _, c := range []struct {
		subject    CommitSubject
		form, want string
	}{
		{story, DefaultCommitForm, "feat(US-001): Add parse() {id}"},
		{story, "{type}({id_lower}): {title_lower}", "feat(us-001): add parse() {id}"},
		{story, "JIRA-12 {title}", "JIRA-12 Add parse() {id}"},
		{CommitSubject{Type: "fix", Title: "API docs"}, DefaultCommitForm, "fix: API docs"},
		{CommitSubject{Type: "fix", Title: "API docs"}, "[{id}] {title_lower}", "api docs"},
		{CommitSubject{Type: "feat", Title: "fix(api): say why"}, DefaultCommitForm, "fix(api): say why"},
		{CommitSubject{Type: "feat", Title: "chore: say why"}, DefaultCommitForm, "chore: say why"},
		{CommitSubject{Type: "feat", ID: "3", Title: "fix(api)!: say why"}, DefaultCommitForm, "fix(3)!: say why"},
		{CommitSubject{Type: "feat", Title: "fix: say why"}, "JIRA-12 {title}", "JIRA-12 fix: say why"},
		{CommitSubject{Type: "fix", Title: "x"}, "{id} {title}", "x"},
	} {
		if got := c.subject.Format(c.form); got != c.want {
			t.Errorf("%s: %q, want %q", c.form, got, c.want)
		}
	}
	for form, want := range map[string]string{DefaultCommitForm: "", "{scope}: {title}": "{title_lower}", "{title}\nx": "one line"} {
		err := CheckCommitForm(form)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", form, err, want)
		}
	}
}
