package guard

import (
	"path"
	"strings"
)

// devices may be written from anywhere.
var devices = map[string]bool{
	"/dev/null": true, "/dev/stdout": true, "/dev/stderr": true, "/dev/tty": true, "/dev/zero": true, "NUL": true,
}

func (j *judge) fileTool(c Call) {
	for _, key := range []string{"file_path", "notebook_path"} {
		if p, ok := c.Input[key].(string); ok && p != "" {
			j.write(p)
			if at := j.resolve(p); at != "" && j.rules.Seen != nil && !j.rules.Seen(at) {
				j.deny(RuleUnread, c.Tool+" of "+clip(p))
			}
			return
		}
	}
	j.ask(c.Tool + " without a path")
}

// write judges the change of one file, by name. Both its name and where its
// links lead are judged.
func (j *judge) write(name string) {
	p := j.resolve(name)
	if p == "" {
		j.unknown("writing " + name)
		return
	}
	if devices[name] || strings.HasPrefix(name, "/dev/fd/") || strings.HasPrefix(name, "/proc/self/fd/") {
		return
	}
	j.change(name, p)
	if real := j.followed(p); real != p {
		j.change(name, real)
	}
}

func (j *judge) followed(p string) string {
	if j.rules.Resolve == nil {
		return p
	}
	return slashed(j.rules.Resolve(p))
}

// change judges the change of the file at an absolute path.
func (j *judge) change(name, p string) {
	r := j.rules
	what := "writing " + clip(name)
	if x, ok := j.about(r.Deny, "write", p); ok {
		j.custom(Deny, x)
	}
	if x, ok := j.about(r.Ask, "write", p); ok {
		j.custom(Ask, x)
	}
	lifted := j.lifted
	defer func() { j.lifted = lifted }()
	if _, ok := j.about(r.Allow, "write", p); ok {
		j.lifted = true
	}
	switch {
	case j.state(p):
		j.deny(RuleState, what)
	case j.protected(p):
		j.deny(RuleProtected, what)
	case inGitDir(p):
		j.deny(RuleGitDir, what)
	case j.writable(p):
	case !within(p, slashed(r.Root)):
		j.deny(RuleOutside, what)
	case !j.inScope(p):
		j.deny(RuleScope, what)
	}
}

func (j *judge) inScope(p string) bool {
	if len(j.rules.Scope) == 0 {
		return true
	}
	for _, glob := range j.rules.Scope {
		if j.covers(glob, p) {
			return true
		}
	}
	return false
}

// remove judges what takes a whole path away: a folder goes with all that it
// holds.
func (j *judge) remove(name string) {
	p := j.resolve(name)
	root := slashed(j.rules.Root)
	if p != "" && (p == root || p == root+"/*" || p == root+"/.") {
		j.deny(RuleDestructive, "removing the whole work tree")
		return
	}
	j.write(name)
	for _, guarded := range append([]string{j.rules.StateDir}, j.rules.Protected...) {
		if p != "" && guarded != "" && within(slashed(guarded), p) {
			j.deny(RuleProtected, "removing "+clip(name))
		}
	}
}

// state tells Pawl's own files. A loop's own work tree may lie among them.
func (j *judge) state(p string) bool {
	r := j.rules
	if r.StateDir == "" || !within(p, slashed(r.StateDir)) {
		return false
	}
	ours := within(slashed(r.Root), slashed(r.StateDir))
	return !ours || !within(p, slashed(r.Root))
}

func (j *judge) writable(p string) bool {
	for _, dir := range j.rules.AllowWriteOutside {
		if dir != "" && within(p, slashed(dir)) {
			return true
		}
	}
	return false
}

func (j *judge) protected(p string) bool {
	for _, glob := range j.rules.Protected {
		if glob != "" && (match(slashed(glob), p) || within(p, slashed(glob))) {
			return true
		}
	}
	return false
}

// resolve makes a name absolute and clean; "" if its folder is not known. A
// home that is not known is a place outside of everything.
func (j *judge) resolve(name string) string {
	if name == "~" || strings.HasPrefix(name, "~") {
		user, rest, _ := strings.Cut(name, "/")
		home := "/~/" + user
		if user == "~" && j.rules.Home != "" {
			home = slashed(j.rules.Home)
		}
		return path.Join(home, rest)
	}
	p := strings.ReplaceAll(name, `\`, "/")
	if strings.HasPrefix(p, "/") || drive(p) {
		return slashed(name)
	}
	if j.cwd == "" {
		return ""
	}
	return slashed(j.cwd + "/" + p)
}

// slashed cleans an absolute path. A drive's letter is folded, as Windows does.
func slashed(p string) string {
	if drive(p) || strings.HasPrefix(p, `\\`) {
		p = strings.ReplaceAll(p, `\`, "/")
	}
	if drive(p) {
		p = strings.ToLower(p[:1]) + p[1:]
	}
	return path.Clean(p)
}

func drive(p string) bool {
	return len(p) >= 2 && p[1] == ':' && (p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z')
}

func within(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}

// inGitDir: case is folded, for there are file systems that do.
func inGitDir(p string) bool {
	for part := range strings.SplitSeq(p, "/") {
		if strings.EqualFold(part, ".git") {
			return true
		}
	}
	return false
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
