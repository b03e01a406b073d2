package guard

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/shell"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
)

// devices may be read and written from anywhere.
func device(name string) bool {
	switch name {
	case "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "/dev/zero", "NUL":
		return true
	}
	return strings.HasPrefix(name, "/dev/fd/") || strings.HasPrefix(name, "/dev/tcp/") || strings.HasPrefix(name, "/dev/udp/") || strings.HasPrefix(name, "/proc/self/fd/")
}

func (j *check) fileTool(c toolcall.Call) {
	if c.Path == "" {
		j.ask(c.Tool + " without a path")
		return
	}
	j.marks, j.edits = onlyMarks(c.Edits), true
	j.write(c.Path, false)
}

func (j *check) readTool(c toolcall.Call) {
	if c.Path != "" {
		j.read(c.Path, false)
	}
	if c.Glob != "" {
		j.read(c.Glob, true)
	}
	if c.Kind == toolcall.Search && c.Lines {
		j.showsBelow(word{Text: path.Clean(slashed(c.Path)), Static: true})
	}
}

// each judges the file that a word names. What can be told of a name in part is
// judged by that part.
func (j *check) each(w word, judge func(name string, glob bool)) {
	switch {
	case w.Text == "":
	case w.Static:
		judge(w.Text, w.Glob)
	case !strings.HasPrefix(w.Text, shell.Hole):
		judge(w.Text, w.Glob)
		j.unknown(w.Source)
	default: // somewhere: it may be here
		before := j.verdict
		_, rest, _ := strings.Cut(w.Text[len(shell.Hole):], "/")
		judge(path.Join(slashed(j.rules.Root), path.Clean("/"+rest)), w.Glob)
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
		j.unknown(w.Source)
	}
}

func (j *check) all(words []word, judge func(name string, glob bool)) {
	for _, w := range words {
		j.each(w, judge)
	}
}

// write judges the change of one file: where its links lead and, in the work
// tree, the link itself.
func (j *check) write(name string, glob bool) {
	p := j.resolve(name)
	if p == "" {
		j.unknown("writing " + name)
		j.somewhere(name)
	}
	if p == "" || device(name) {
		return
	}
	j.changeBoth("writing "+clip(name), p, j.followed(p), glob)
}

// changeBoth judges the change of what a path leads to. The root may itself be
// reached by a link: then it is the real path that tells what is outside of it.
func (j *check) changeBoth(what, p, real string, glob bool) {
	j.changeAt(what, real, glob)
	if real != p && within(p, slashed(j.rules.Root)) {
		j.changeAt(what, p, glob)
	}
}

// followed is where the links of a path lead, those too that the command itself
// makes.
func (j *check) followed(p string) string {
	for link, to := range j.links {
		if within(p, link) {
			p = to + strings.TrimPrefix(p, link)
			break
		}
	}
	if j.rules.Resolve == nil {
		return p
	}
	return slashed(j.rules.Resolve(p))
}

// changeAt judges the change of the file at an absolute path.
func (j *check) changeAt(what, p string, glob bool) {
	lifted := j.lifted
	defer func() { j.lifted = lifted }()
	j.touch(p)
	j.notes.file(p)
	j.paths("write", p)
	switch {
	case j.state(p):
		j.deny(RuleState, what)
	case j.isSettings(p, glob):
		j.deny(RuleSettings, what)
	case j.protected(p, glob):
		j.deny(RuleProtected, what)
	case !j.marks && j.marked(p, glob):
		j.deny(RuleProtected, what+" other than by an edit of its done marks")
	case inGitDir(p, glob) && !j.temporary(p):
		j.deny(RuleGitDir, what)
	case within(p, slashed(j.rules.Root)): // which may lie in a temporary folder itself
		switch {
		case !j.inScope(p):
			j.deny(RuleScope, what)
		case j.edits && j.unseen(p):
			j.deny(RuleUnread, what)
		}
	case !j.writable(p):
		j.deny(RuleOutside, what)
	}
}

// touch: of a call that touches more than anybody would name, all may be touched.
func (j *check) touch(p string) {
	const most = 1024
	switch n := len(j.verdict.Touched); {
	case n < most:
		j.verdict.Touched = append(j.verdict.Touched, p)
	case n == most:
		j.verdict.Touched = append(j.verdict.Touched, slashed(j.rules.Root)+everything)
	}
}

// paths applies the settings' own patterns to a path.
func (j *check) paths(verb, p string) {
	if x, ok := j.about(j.rules.Deny, verb, p); ok {
		j.custom(Deny, x)
	}
	if x, ok := j.about(j.rules.Ask, verb, p); ok {
		j.custom(Ask, x)
		j.lifted = true
	}
	if _, ok := j.about(j.rules.Allow, verb, p); ok {
		j.lifted = true
	}
}

// Scoped is what the scope alone says of a change of the file at an absolute path,
// whoever made it: who judges the work asks so about what a program has written.
func Scoped(p string, r Rules) Decision {
	j := &check{rules: r}
	j.paths("write", slashed(p))
	j.verdict = Verdict{Decision: Allow}
	if !j.inScope(slashed(p)) {
		j.deny(RuleScope, "")
	}
	return j.verdict.Decision
}

func (j *check) inScope(p string) bool {
	scope := j.rules.Scope
	return len(scope) == 0 || slices.ContainsFunc(scope, func(glob string) bool { return j.covers(glob, p) })
}

// remove judges what takes a whole path away: a folder goes with all that it
// holds, and of a link only the link goes.
func (j *check) remove(name string, glob bool) {
	p := j.resolve(name)
	if p == "" {
		j.unknown("removing " + name)
		return
	}
	real := path.Join(j.followed(path.Dir(p)), path.Base(p))
	if j.takesAll(p, glob) || j.takesAll(real, glob) {
		j.deny(RuleDestructive, "removing the whole work tree")
		return
	}
	j.changeBoth("removing "+clip(name), p, real, glob)
	j.notes.gone(p, real)
	if p == slashed(j.rules.Root)+"/.claude" || p == j.resolve("~/.claude") {
		j.deny(RuleSettings, "removing "+clip(name))
	}
	for _, x := range j.rules.Deny {
		if x.glob != "" && x.verb != "read" && (within(j.fixed(x.glob), p) || within(j.fixed(x.glob), real)) {
			j.custom(Deny, x)
		}
	}
	for _, g := range slices.Concat([]string{j.rules.StateDir}, j.rules.Protected, j.rules.Marked) {
		if real != "/" && g != "" && (within(slashed(g), p) || within(slashed(g), real)) {
			j.deny(RuleProtected, "removing "+clip(name))
		}
	}
}

// takesAll tells the work tree itself, and all that is in it.
func (j *check) takesAll(p string, glob bool) bool {
	root := slashed(j.rules.Root)
	dir, last := path.Split(p)
	return p == root || strings.TrimSuffix(dir, "/") == root && (last == "**" || glob && strings.Trim(last, "*?") == "")
}

// state tells Pawl's own files. A loop's own work tree may lie among them.
func (j *check) state(p string) bool {
	r := j.rules
	if r.StateDir == "" || !within(p, slashed(r.StateDir)) {
		return false
	}
	ours := within(slashed(r.Root), slashed(r.StateDir))
	return !ours || !within(p, slashed(r.Root))
}

func (j *check) writable(p string) bool {
	if home := j.resolve("~"); within(p, home) {
		for _, c := range Caches() {
			if within(p, home+"/"+c.Dir) {
				return !slices.ContainsFunc(c.Closed, func(dir string) bool { return within(p, home+"/"+c.Dir+"/"+dir) })
			}
		}
	}
	if slices.ContainsFunc(j.rules.AllowWriteOutside, func(dir string) bool { return dir != "" && within(p, slashed(dir)) }) {
		return true
	}
	return slices.ContainsFunc(j.rules.Shared, func(dir string) bool { return j.newIn(slashed(dir), p) })
}

// marked tells a plan, whose marks alone may be edited.
func (j *check) marked(p string, glob bool) bool {
	return slices.ContainsFunc(j.rules.Marked, func(plan string) bool {
		return p == slashed(plan) || glob && reaches(p, slashed(plan))
	})
}

func (j *check) protected(p string, glob bool) bool {
	return slices.ContainsFunc(j.rules.Protected, func(g string) bool {
		return g != "" && (match(slashed(g), p) || within(p, slashed(g)) || glob && reaches(p, slashed(g)))
	})
}

// settings are the files by which the clients of agents are told what they may
// do: in the project, the user's, and the machine's.
func (j *check) settings() []string {
	root, home := slashed(j.rules.Root), j.resolve("~")
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
func (j *check) isSettings(p string, glob bool) bool {
	if !strings.Contains(p, "/.") && !strings.Contains(p, "laude") && !strings.HasSuffix(p, ".json") && !glob {
		return false
	}
	low := strings.ToLower(p)
	for _, s := range j.settings() {
		at := strings.ToLower(s)
		if within(low, at) || glob && reaches(low, at) && (j.rules.There == nil || j.rules.There(s)) {
			return true
		}
	}
	return false
}

// resolve makes a name absolute and clean; "" if its folder is not known.
func (j *check) resolve(name string) string { return shell.Abs(j.dir, j.rules.Home, name) }

func slashed(p string) string { return shell.Slashed(p) }

func within(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, dir) && (strings.HasSuffix(dir, "/") || p[len(dir)] == '/')
}

// inGitDir: case is folded here too.
func inGitDir(p string, glob bool) bool {
	for part := range strings.SplitSeq(p, "/") {
		if strings.EqualFold(part, ".git") || glob && shellMatch(part, ".git") {
			return true
		}
	}
	return false
}

// reaches reports whether the names that a glob stands for may be a path, or lie
// in it. Of a path that is a glob itself, what stands before its own stars
// counts.
func reaches(glob, p string) bool {
	g, s := strings.Split(glob, "/"), strings.Split(p, "/")
	for i, part := range s {
		if strings.ContainsAny(part, "*?[") {
			return i > 0 && i < len(g) && strings.Trim(s[len(s)-1], "*") == ""
		}
		if i >= len(g) || part != g[i] && !shellMatch(g[i], part) {
			return false
		}
	}
	return true
}

// shellMatch is path.Match, but that no star matches a dot in front.
func shellMatch(glob, name string) bool {
	if strings.HasPrefix(name, ".") && !strings.HasPrefix(glob, ".") {
		return false
	}
	ok, err := path.Match(glob, name)
	return ok && err == nil
}

// match compares a path with a glob in which ** stands for any folders. Bad
// patterns match nothing. The table makes it quadratic at worst, not
// exponential.
func match(glob, p string) bool {
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
