package guard

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/shell"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
)

// isDevice reports whether a path is a device that may be read and written from anywhere.
func isDevice(name string) bool {
	switch name {
	case "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "/dev/zero", "NUL":
		return true
	}
	return strings.HasPrefix(name, "/dev/fd/") || strings.HasPrefix(name, "/dev/tcp/") || strings.HasPrefix(name, "/dev/udp/") || strings.HasPrefix(name, "/proc/self/fd/")
}

// checkFileTool checks a call of an editing tool.
func (j *checker) checkFileTool(c toolcall.Call) {
	if c.Path == "" {
		j.ask(c.Tool + " without a path")
		return
	}
	j.onlyMarks, j.isFileTool = changesOnlyMarks(c.Edits), true
	j.checkWrite(c.Path, false)
}

// checkReadTool checks a call of a reading or searching tool.
func (j *checker) checkReadTool(c toolcall.Call) {
	if c.Path != "" {
		j.checkRead(c.Path, false)
	}
	if c.Glob != "" {
		j.checkRead(c.Glob, true)
	}
	if c.Kind == toolcall.Search && c.Lines {
		j.touchBelow(word{Text: path.Clean(cleanPath(c.Path)), Static: true})
	}
}

// checkFile checks the file that a word names, by the part of its name that is known. A name whose
// start is unknown may be in the work tree.
func (j *checker) checkFile(w word, checkPath func(name string, glob bool)) {
	switch {
	case w.Text == "":
	case w.Static:
		checkPath(w.Text, w.Glob)
	case !strings.HasPrefix(w.Text, shell.Unknown):
		checkPath(w.Text, w.Glob)
		j.noteUnknown(w.Source)
	default: // the folder is unknown: it may be the work tree
		before := j.verdict
		_, rest, _ := strings.Cut(w.Text[len(shell.Unknown):], "/")
		checkPath(path.Join(cleanPath(j.rules.Root), path.Clean("/"+rest)), w.Glob)
		switch id := j.verdict.Rule; {
		case before.Decision != Allow || rest == "":
			j.verdict = before
		case id == RuleSecret: // decided by the name alone
		case id == RuleState || id == RuleSettings || id == RuleGitDir || id == RuleProtected:
			j.verdict = before
			j.ask("a path that is computed at run time, " + clip(w.Source))
		default:
			j.verdict = before
		}
		j.noteUnknown(w.Source)
	}
}

// checkFiles checks the files that words name.
func (j *checker) checkFiles(words []word, checkPath func(name string, glob bool)) {
	for _, w := range words {
		j.checkFile(w, checkPath)
	}
}

// checkWrite checks the change of one file: the target of its links and, in the work tree, the
// link itself.
func (j *checker) checkWrite(name string, glob bool) {
	p := j.resolve(name)
	if p == "" {
		j.noteUnknown("writing " + name)
		j.touchSomewhere(name)
	}
	if p == "" || isDevice(name) {
		return
	}
	j.checkChange("writing "+clip(name), p, j.followLinks(p), glob)
}

// checkChange checks the change of a path and of the real path that it links to. The root may be
// reached by a link, so only the real path shows what is outside of it.
func (j *checker) checkChange(what, p, real string, glob bool) {
	j.checkChangeAt(what, real, glob)
	if real != p && isWithin(p, cleanPath(j.rules.Root)) {
		j.checkChangeAt(what, p, glob)
	}
}

// followLinks resolves the links of a path, including those that the call itself makes.
func (j *checker) followLinks(p string) string {
	for link, to := range j.links {
		if isWithin(p, link) {
			p = to + strings.TrimPrefix(p, link)
			break
		}
	}
	if j.rules.ResolveLinks == nil {
		return p
	}
	return cleanPath(j.rules.ResolveLinks(p))
}

// checkChangeAt checks the change of the file at an absolute path.
func (j *checker) checkChangeAt(what, p string, glob bool) {
	lifted := j.isLifted
	defer func() { j.isLifted = lifted }()
	j.touchPath(p)
	j.recordTo.addFile(p)
	j.applyPathPatterns("write", p)
	switch {
	case j.isState(p):
		j.deny(RuleState, what)
	case j.isSettings(p, glob):
		j.deny(RuleSettings, what)
	case j.isProtectedFile(p, glob):
		j.deny(RuleProtected, what)
	case !j.onlyMarks && j.isPlan(p, glob):
		j.deny(RuleProtected, what+" other than by an edit of its done marks")
	case inGitDir(p, glob) && !j.isWritableOutside(p):
		j.deny(RuleGitDir, what)
	case isWithin(p, cleanPath(j.rules.Root)): // before isWritable: the root may be in a temporary folder
		switch {
		case !j.inScope(p):
			j.deny(RuleScope, what)
		case j.isFileTool && j.isUnread(p):
			j.deny(RuleUnread, what)
		}
	case !j.isWritable(p):
		j.deny(RuleOutside, what)
	}
}

// touchPath records a path that the call may show or write. After the limit it records the whole
// work tree.
func (j *checker) touchPath(p string) {
	const most = 1024
	switch n := len(j.verdict.Touched); {
	case n < most:
		j.verdict.Touched = append(j.verdict.Touched, p)
	case n == most:
		j.verdict.Touched = append(j.verdict.Touched, cleanPath(j.rules.Root)+allBelow)
	}
}

// applyPathPatterns applies the patterns of the settings to a path.
func (j *checker) applyPathPatterns(verb, p string) {
	if x, ok := j.findPathPattern(j.rules.Deny, verb, p); ok {
		j.applyPattern(Deny, x)
	}
	if x, ok := j.findPathPattern(j.rules.Ask, verb, p); ok {
		j.applyPattern(Ask, x)
		j.isLifted = true
	}
	if _, ok := j.findPathPattern(j.rules.Allow, verb, p); ok {
		j.isLifted = true
	}
}

// CheckScope returns what the scope says about a change of the file at an absolute path, made by
// any program. It applies no other rule.
func CheckScope(p string, r Rules) Decision {
	j := &checker{rules: r}
	j.applyPathPatterns("write", cleanPath(p))
	j.verdict = Verdict{Decision: Allow}
	if !j.inScope(cleanPath(p)) {
		j.deny(RuleScope, "")
	}
	return j.verdict.Decision
}

// inScope reports whether the task's scope covers a path.
func (j *checker) inScope(p string) bool {
	scope := j.rules.Scope
	return len(scope) == 0 || slices.ContainsFunc(scope, func(glob string) bool { return j.globCovers(glob, p) })
}

// checkRemove checks the removal of a path. A folder is removed with its content; of a link only
// the link is removed.
func (j *checker) checkRemove(name string, glob bool) {
	p := j.resolve(name)
	if p == "" {
		j.noteUnknown("removing " + name)
		return
	}
	real := path.Join(j.followLinks(path.Dir(p)), path.Base(p))
	if j.isWholeTree(p, glob) || j.isWholeTree(real, glob) {
		j.deny(RuleDestructive, "removing the whole work tree")
		return
	}
	j.checkChange("removing "+clip(name), p, real, glob)
	j.recordTo.removeFiles(p, real)
	if p == cleanPath(j.rules.Root)+"/.claude" || p == j.resolve("~/.claude") {
		j.deny(RuleSettings, "removing "+clip(name))
	}
	for _, x := range j.rules.Deny {
		if x.glob != "" && x.verb != "read" && (isWithin(j.globFolder(x.glob), p) || isWithin(j.globFolder(x.glob), real)) {
			j.applyPattern(Deny, x)
		}
	}
	for _, g := range slices.Concat([]string{j.rules.StateDir}, j.rules.Protected, j.rules.Plans) {
		if real != "/" && g != "" && (isWithin(cleanPath(g), p) || isWithin(cleanPath(g), real)) {
			j.deny(RuleProtected, "removing "+clip(name))
		}
	}
}

// isWholeTree reports whether a path is the work tree or all files in it.
func (j *checker) isWholeTree(p string, glob bool) bool {
	root := cleanPath(j.rules.Root)
	dir, last := path.Split(p)
	return p == root || strings.TrimSuffix(dir, "/") == root && (last == "**" || glob && strings.Trim(last, "*?") == "")
}

// isState reports whether a path is one of Pawl's own files. A loop's work tree may be in the same
// folder, and does not count.
func (j *checker) isState(p string) bool {
	r := j.rules
	if r.StateDir == "" || !isWithin(p, cleanPath(r.StateDir)) {
		return false
	}
	treeInStateDir := isWithin(cleanPath(r.Root), cleanPath(r.StateDir))
	return !treeInStateDir || !isWithin(p, cleanPath(r.Root))
}

// isWritable reports whether a path outside the root may be written.
func (j *checker) isWritable(p string) bool {
	if home := j.resolve("~"); isWithin(p, home) {
		for _, c := range Caches() {
			if isWithin(p, home+"/"+c.Dir) {
				return !slices.ContainsFunc(c.Excluded, func(dir string) bool { return isWithin(p, home+"/"+c.Dir+"/"+dir) })
			}
		}
	}
	if slices.ContainsFunc(j.rules.WritableFolders, func(dir string) bool { return dir != "" && isWithin(p, cleanPath(dir)) }) {
		return true
	}
	return slices.ContainsFunc(j.rules.SharedFolders, func(dir string) bool { return j.isFreeIn(cleanPath(dir), p) })
}

// globReachesFile is globReaches, but nothing is in a path that is known to be no folder.
func (j *checker) globReachesFile(glob, p string) bool {
	matches, enters := matchStart(glob, p)
	return matches || enters && (j.rules.Exists == nil || j.rules.Exists(p+"/."))
}

// isPlan reports whether a path is a plan, of which only the done marks may be edited.
func (j *checker) isPlan(p string, glob bool) bool {
	return slices.ContainsFunc(j.rules.Plans, func(plan string) bool {
		matches, _ := matchStart(p, cleanPath(plan)) // a plan is no folder
		return p == cleanPath(plan) || glob && matches
	})
}

// isProtectedFile reports whether a path is protected.
func (j *checker) isProtectedFile(p string, glob bool) bool {
	return slices.ContainsFunc(j.rules.Protected, func(g string) bool {
		return g != "" && (matchGlob(cleanPath(g), p) || isWithin(p, cleanPath(g)) || glob && j.globReachesFile(p, cleanPath(g)))
	})
}

// settingsPaths returns the settings of agents' clients: in the project, of the user, and of the
// machine.
func (j *checker) settingsPaths() []string {
	root, home := cleanPath(j.rules.Root), j.resolve("~")
	return []string{
		root + "/.claude/settings.json", root + "/.claude/settings.local.json", root + "/.claude/hooks", root + "/.mcp.json",
		root + "/.codex/config.toml", root + "/.codex/hooks.json", root + "/.gemini/settings.json", root + "/.cursor/hooks.json",
		root + "/.cursor/mcp.json", root + "/opencode.json",
		home + "/.claude/settings.json", home + "/.claude/settings.local.json", home + "/.claude/hooks", home + "/.claude/plugins",
		home + "/.claude.json", home + "/.codex/config.toml", home + "/.codex/hooks.json", home + "/.gemini/settings.json",
		home + "/.config/opencode", home + "/.config/pawl",
		"/etc/claude-code", "/Library/Application Support/ClaudeCode", "c:/Program Files/ClaudeCode", "c:/ProgramData/ClaudeCode",
	}
}

// isSettings reports whether a path is one of the settings. It ignores case, as some file systems
// do.
func (j *checker) isSettings(p string, glob bool) bool {
	if !strings.Contains(p, "/.") && !strings.Contains(p, "laude") && !strings.HasSuffix(p, ".json") && !glob {
		return false
	}
	low := strings.ToLower(p)
	for _, s := range j.settingsPaths() {
		at := strings.ToLower(s)
		if isWithin(low, at) || glob && globReaches(low, at) && (j.rules.Exists == nil || j.rules.Exists(s)) {
			return true
		}
	}
	return false
}

// resolve returns the clean absolute path of a name, "" if its folder is unknown.
func (j *checker) resolve(name string) string { return shell.Abs(j.dir, j.rules.Home, name) }

func cleanPath(p string) string { return shell.CleanPath(p) }

// isWithin reports whether a path is a folder or in it.
func isWithin(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, dir) && (strings.HasSuffix(dir, "/") || p[len(dir)] == '/')
}

// inGitDir reports whether a path is in a .git folder. It ignores case, as some file systems do.
func inGitDir(p string, glob bool) bool {
	for part := range strings.SplitSeq(p, "/") {
		if strings.EqualFold(part, ".git") || glob && matchName(part, ".git") {
			return true
		}
	}
	return false
}

// globReaches reports whether a glob may match a path or something in it. If the path is a glob
// too, only the part before its first wildcard counts.
func globReaches(glob, p string) bool {
	matches, enters := matchStart(glob, p)
	return matches || enters
}

// matchStart reports whether a glob may match a path, and whether it may match something in it. **
// matches any folders, or one name, as shells differ.
func matchStart(glob, p string) (matches, enters bool) {
	g, s := strings.Split(glob, "/"), strings.Split(p, "/")
	at := make([]bool, len(g)+1) // at[n]: the first n parts of the glob may match the path so far
	at[0] = true
	for i, part := range s {
		if strings.ContainsAny(part, "*?[") {
			return i > 0 && strings.Trim(s[len(s)-1], "*") == "" && slices.Contains(at[:len(g)], true), false
		}
		next := make([]bool, len(g)+1)
		for n, name := range g {
			if anyFolders := name == "**"; at[n] && (anyFolders || part == name || matchName(name, part)) {
				next[n+1], next[n] = true, next[n] || anyFolders
			}
		}
		for n, name := range g { // ** may match no folder
			next[n+1] = next[n+1] || next[n] && name == "**"
		}
		at = next
	}
	return at[len(g)], slices.Contains(at[:len(g)], true)
}

// matchName is path.Match, except that a wildcard matches no leading dot, as in a shell.
func matchName(glob, name string) bool {
	if strings.HasPrefix(name, ".") && !strings.HasPrefix(glob, ".") {
		return false
	}
	ok, err := path.Match(glob, name)
	return ok && err == nil
}

// matchGlob reports whether a glob matches a path. ** matches any folders; an invalid pattern
// matches nothing. The table keeps the time quadratic, not exponential.
func matchGlob(glob, p string) bool {
	g, s := strings.Split(glob, "/"), strings.Split(p, "/")
	can := make([]bool, len(s)+1) // can[i]: the glob so far matches s[:i]
	can[0] = true
	for _, part := range g {
		next := make([]bool, len(s)+1)
		for i := range next {
			switch {
			case part == "**":
				next[i] = can[i] || i > 0 && next[i-1]
			case i > 0 && can[i-1]:
				ok, err := path.Match(part, s[i-1])
				next[i] = ok && err == nil
			}
		}
		can = next
	}
	return can[len(s)]
}
