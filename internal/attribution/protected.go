package attribution

import (
	"slices"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/protected"
)

// MayBeAgents reports whether the agent may have changed a file, given by its absolute path, since
// the last inspection: a tool call may have, and the file's times do not show that it was the user.
// A call that names alsoNamed counts too. In a user's session the calls alone decide, since the
// user has turns of their own there. Of a deleted file no time is left: other changes in its folder
// must not end a protection.
func (t *Tracker) MayBeAgents(m memory.ActionContext, file string, alsoNamed ...string) bool {
	return t.mayHaveChanged(append(alsoNamed, file)...) && !(!t.InSession && t.editedByUser(file, m))
}

func (t *Tracker) mayHaveChanged(files ...string) bool {
	return t.query(func(c *authorship.Calls) bool { return slices.ContainsFunc(files, c.MayHaveChanged) })
}

func (t *Tracker) editedByUser(file string, m memory.ActionContext) bool {
	timeline, err := t.timeline(m)
	edit := authorship.Edit{File: file, Times: timesOf(file)}
	return err == nil && t.query(func(c *authorship.Calls) bool { return authorship.EditAuthor(edit, c, timeline) == authorship.User })
}

// ChangedProtected reports whether the agent changed a protected file, given also by its absolute
// path: the change may be the agent's, or an earlier inspection attributed it to the agent and it
// stays, as in a user's session. The times of git's own files tell nothing.
func (t *Tracker) ChangedProtected(m memory.ActionContext, path, abs string) bool {
	maybe := t.MayBeAgents(m, abs) || protected.InGitDir(path) && t.mayHaveChanged(abs)
	sum := atomicfile.Fingerprint(abs, protected.MaxFileBytes)
	if !maybe && m.Attribution.AcceptedChanges[path] != sum {
		return false
	}
	if !t.InSession {
		return true // it is restored
	}
	if t.inspected.AcceptedChanges == nil {
		t.inspected.AcceptedChanges = map[string]string{}
	}
	t.inspected.AcceptedChanges[path] = sum
	return true
}
