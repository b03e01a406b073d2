package guard

import (
	"path"
	"slices"
	"strings"
)

// Known is what an agent has been shown of files in one context: what Rules.Seen
// asks. The zero value is that of a fresh context.
type Known struct {
	paths map[string]bool
	globs []string
}

// Add notes what an allowed call touches, see Verdict.Touched. Small and capital
// letters count as the same, for there are file systems that think so.
func (k *Known) Add(touched ...string) {
	if k.paths == nil {
		k.paths = map[string]bool{}
	}
	for _, p := range touched {
		p = strings.ToLower(slashed(p))
		if !k.paths[p] && strings.ContainsAny(p, "*?[") {
			k.globs = append(k.globs, p)
		}
		k.paths[p] = true
	}
}

// Told notes the files that a prompt mentions as @FILE, relative to root: clients
// add what they hold.
func (k *Known) Told(prompt, root string) {
	for f := range strings.FieldsSeq(prompt) {
		if name, ok := strings.CutPrefix(strings.TrimLeft(f, "(\"'`"), "@"); ok {
			k.Add(path.Join(slashed(root), strings.TrimRight(name, ".,;:!?)\"'`")))
		}
	}
}

// Has reports whether the file at an absolute path was shown.
func (k *Known) Has(file string) bool {
	file = strings.ToLower(slashed(file))
	return k.paths[file] || slices.ContainsFunc(k.globs, func(glob string) bool {
		dir, below := strings.CutSuffix(glob, everything)
		return below && within(file, dir) || match(glob, file)
	})
}

// memos are files of instructions that clients show their agents by themselves.
const memos = "claude.md claude.local.md agents.md gemini.md"

// unseen tells a file of the work tree that the agent would change without knowing
// what it holds.
func (j *check) unseen(p string) bool {
	p = j.followed(p)
	root := slashed(j.rules.Root)
	if j.rules.Seen == nil || listed(memos, strings.ToLower(path.Base(p))) || within(p, root+"/.claude") {
		return false
	}
	return !j.rules.Seen(p)
}
