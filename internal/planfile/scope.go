package planfile

import (
	"path"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

const scopeWant = "such as src/** or docs/*.md, below the root"

// readScope reads the files that a task may change: a list of globs, or a text with commas between
// globs. It ignores other texts, since other tools write prose or a word such as "backend" there.
func (s *jsonTaskReader) readScope(v *jsonValue, t *plan.Task) {
	if v == nil {
		return
	}
	if v.kind == '[' {
		for _, e := range v.elements {
			t.Scope = append(t.Scope, e.text)
			if e.kind != '"' || isInvalidGlob(e.text) {
				s.addProblem(t.ID, s.lines.lineAt(e.start), `"scope" has `+strings.TrimSpace(string(s.data[e.start:e.end])), "a glob "+scopeWant)
			}
		}
		return
	}
	var globs []string
	for part := range strings.SplitSeq(v.text, ",") {
		part = strings.TrimSpace(part)
		if isInvalidGlob(part) || !strings.ContainsAny(part, "/*.") {
			return
		}
		globs = append(globs, part)
	}
	t.Scope = globs
}

// isInvalidGlob reports whether text is not a glob of files below the root, or cannot be written in
// a Markdown comment.
func isInvalidGlob(glob string) bool {
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
