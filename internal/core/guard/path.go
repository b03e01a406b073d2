package guard

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/shell"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
)

// devices may be read and written from anywhere.
func isDevice(name string) bool {
	switch name {
	case "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "/dev/zero", "NUL":
		return true
	}
	return strings.HasPrefix(name, "/dev/fd/") || strings.HasPrefix(name, "/dev/tcp/") || strings.HasPrefix(name, "/dev/udp/") || strings.HasPrefix(name, "/proc/self/fd/")
}

func (j *checker) checkFileTool(c toolcall.Call) {
	if c.Path == "" {
		j.ask(c.Tool + " without a path")
		return
	}
	j.onlyMarks, j.isFileTool = changesOnlyMarks(c.Edits), true
	j.checkWrite(c.Path, false)
}

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

// each judges the file that a word names. What can be told of a name in part is
// judged by that part.
func (j *checker) checkFile(w word, checkPath func(name string, glob bool)) {
	switch {
	case w.Text == "":
	case w.Static:
		checkPath(w.Text, w.Glob)
	case !strings.HasPrefix(w.Text, shell.Hole):
		checkPath(w.Text, w.Glob)
		j.noteUnknown(w.Source)
	default: // somewhere: it may be here
		before := j.verdict
		_, rest, _ := strings.Cut(w.Text[len(shell.Hole):], "/")
		checkPath(path.Join(cleanPath(j.rules.Root), path.Clean("/"+rest)), w.Glob)
		switch id := j.verdict.Rule; {
		case before.Decision != Allow || rest == "":
			j.verdict = before
		case id == RuleSecret: // by its name alone
		case id == RuleState || id == RuleSettings || id == RuleGitDir || id == RuleProtected:
			j.verdict = before
			j.ask("a path that is put together at run time, " + clip(w.Source))
		default:
			j.verdict = before
		}
		j.noteUnknown(w.Source)
	}
}

func (j *checker) checkFiles(words []word, checkPath func(name string, glob bool)) {
	for _, w := range words {
		j.checkFile(w, checkPath)
	}
}

// write judges the change of one file: where its links lead and, in the work
// tree, the link itself.
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

// changeBoth judges the change of what a path leads to. The root may itself be
// reached by a link: then it is the real path that tells what is outside of it.
func (j *checker) checkChange(what, p, real string, glob bool) {
	j.checkChangeAt(what, real, glob)
	if real != p && isWithin(p, cleanPath(j.rules.Root)) {
		j.checkChangeAt(what, p, glob)
	}
}

// followed is where the links of a path lead, those too that the command itself
// makes.
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

// changeAt judges the change of the file at an absolute path.
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
	case isWithin(p, cleanPath(j.rules.Root)): // which may lie in a temporary folder itself
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

// touch: of a call that touches more than anybody would name, all may be touched.
func (j *checker) touchPath(p string) {
	const most = 1024
	switch n := len(j.verdict.Touched); {
	case n < most:
		j.verdict.Touched = append(j.verdict.Touched, p)
	case n == most:
		j.verdict.Touched = append(j.verdict.Touched, cleanPath(j.rules.Root)+allBelow)
	}
}

// paths applies the settings' own patterns to a path.
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

// Scoped is what the scope alone says of a change of the file at an absolute path,
// whoever made it: who judges the work asks so about what a program has written.
func CheckScope(p string, r Rules) Decision {
	j := &checker{rules: r}
	j.applyPathPatterns("write", cleanPath(p))
	j.verdict = Verdict{Decision: Allow}
	if !j.inScope(cleanPath(p)) {
		j.deny(RuleScope, "")
	}
	return j.verdict.Decision
}

func (j *checker) inScope(p string) bool {
	scope := j.rules.Scope
	return len(scope) == 0 || slices.ContainsFunc(scope, func(glob string) bool { return j.globCovers(glob, p) })
}

// remove judges what takes a whole path away: a folder goes with all that it
// holds, and of a link only the link goes.
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

// takesAll tells the work tree itself, and all that is in it.
func (j *checker) isWholeTree(p string, glob bool) bool {
	root := cleanPath(j.rules.Root)
	dir, last := path.Split(p)
	return p == root || strings.TrimSuffix(dir, "/") == root && (last == "**" || glob && strings.Trim(last, "*?") == "")
}

// state tells Pawl's own files. A loop's own work tree may lie among them.
func (j *checker) isState(p string) bool {
	r := j.rules
	if r.StateDir == "" || !isWithin(p, cleanPath(r.StateDir)) {
		return false
	}
	ours := isWithin(cleanPath(r.Root), cleanPath(r.StateDir))
	return !ours || !isWithin(p, cleanPath(r.Root))
}

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

// marked tells a plan, whose marks alone may be edited.
func (j *checker) isPlan(p string, glob bool) bool {
	return slices.ContainsFunc(j.rules.Plans, func(plan string) bool {
		return p == cleanPath(plan) || glob && globReaches(p, cleanPath(plan))
	})
}

func (j *checker) isProtectedFile(p string, glob bool) bool {
	return slices.ContainsFunc(j.rules.Protected, func(g string) bool {
		return g != "" && (matchGlob(cleanPath(g), p) || isWithin(p, cleanPath(g)) || glob && globReaches(p, cleanPath(g)))
	})
}

// settings are the files by which the clients of agents are told what they may
// do: in the project, the user's, and the machine's.
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

// isSettings: case is folded, for there are file systems that do.
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

// resolve makes a name absolute and clean; "" if its folder is not known.
func (j *checker) resolve(name string) string { return shell.Abs(j.dir, j.rules.Home, name) }

func cleanPath(p string) string { return shell.Slashed(p) }

func isWithin(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, dir) && (strings.HasSuffix(dir, "/") || p[len(dir)] == '/')
}

// inGitDir: case is folded here too.
func inGitDir(p string, glob bool) bool {
	for part := range strings.SplitSeq(p, "/") {
		if strings.EqualFold(part, ".git") || glob && matchName(part, ".git") {
			return true
		}
	}
	return false
}

// reaches reports whether the names that a glob stands for may be a path, or lie
// in it. Of a path that is a glob itself, what stands before its own stars
// counts.
func globReaches(glob, p string) bool {
	g, s := strings.Split(glob, "/"), strings.Split(p, "/")
	for i, part := range s {
		if strings.ContainsAny(part, "*?[") {
			return i > 0 && i < len(g) && strings.Trim(s[len(s)-1], "*") == ""
		}
		if i >= len(g) || part != g[i] && !matchName(g[i], part) {
			return false
		}
	}
	return true
}

// shellMatch is path.Match, but that no star matches a dot in front.
func matchName(glob, name string) bool {
	if strings.HasPrefix(name, ".") && !strings.HasPrefix(glob, ".") {
		return false
	}
	ok, err := path.Match(glob, name)
	return ok && err == nil
}

// match compares a path with a glob in which ** stands for any folders. Bad
// patterns match nothing. The table makes it quadratic at worst, not
// exponential.
func matchGlob(glob, p string) bool {
	g, s := strings.Split(glob, "/"), strings.Split(p, "/")
	can := make([]bool, len(s)+1) // can[i]: the pattern so far matches s[:i]
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
