package planfile

import (
	"path"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

const scopeWant = "such as src/** or docs/*.md, below the root"

// scope reads which files a task may change: a list of globs, or one text of some
// with commas between. Other tools write prose there, or a word ("backend"): a
// text that does not look like paths is theirs, and left alone.
func (s *shelf) scope(v *value, t *plan.Task) {
	if v == nil {
		return
	}
	if v.kind == '[' {
		for _, e := range v.elements {
			t.Scope = append(t.Scope, e.text)
			if e.kind != '"' || notScope(e.text) {
				s.problem(t.ID, s.lines.of(e.start), `"scope" has `+strings.TrimSpace(string(s.data[e.start:e.end])), "a glob "+scopeWant)
			}
		}
		return
	}
	var globs []string
	for part := range strings.SplitSeq(v.text, ",") {
		part = strings.TrimSpace(part)
		if notScope(part) || !strings.ContainsAny(part, "/*.") {
			return
		}
		globs = append(globs, part)
	}
	t.Scope = globs
}

// notScope tells what is not a glob of files below the root, or could not stand in a
// comment of Markdown.
func notScope(glob string) bool {
	if glob == "" || glob != clean(glob) || strings.ContainsAny(glob, " ,<>{}`\\") || path.IsAbs(glob) {
		return true
	}
	for part := range strings.SplitSeq(glob, "/") {
		if _, err := path.Match(part, ""); err != nil || part == ".." {
			return true
		}
	}
	return false
}
