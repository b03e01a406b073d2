package guard

import (
	"path"
	"slices"
	"strings"
)

// Known is what an agent has been shown of files in one context: what Rules.Seen
// asks. The zero value is that of a fresh context.
type ShownFiles struct {
	paths map[string]bool
	globs []string
}

// Add notes what an allowed call touches, see Verdict.Touched. Small and capital
// letters count as the same, for there are file systems that think so.
func (k *ShownFiles) Add(touched ...string) {
	if k.paths == nil {
		k.paths = map[string]bool{}
	}
	for _, p := range touched {
		p = strings.ToLower(cleanPath(p))
		if !k.paths[p] && strings.ContainsAny(p, "*?[") {
			k.globs = append(k.globs, p)
		}
		k.paths[p] = true
	}
}

// Told notes the files that a prompt mentions as @FILE, relative to root: clients
// add what they hold.
func (k *ShownFiles) AddMentions(prompt, root string) {
	for f := range strings.FieldsSeq(prompt) {
		if name, ok := strings.CutPrefix(strings.TrimLeft(f, "(\"'`"), "@"); ok {
			k.Add(path.Join(cleanPath(root), strings.TrimRight(name, ".,;:!?)\"'`")))
		}
	}
}

// Has reports whether the file at an absolute path was shown.
func (k *ShownFiles) Has(file string) bool {
	file = strings.ToLower(cleanPath(file))
	return k.paths[file] || slices.ContainsFunc(k.globs, func(glob string) bool {
		dir, below := strings.CutSuffix(glob, allBelow)
		return below && isWithin(file, dir) || matchGlob(glob, file)
	})
}

// memos are files of instructions that clients show their agents by themselves.
const instructionFiles = "claude.md claude.local.md agents.md gemini.md"

// unseen tells a file of the work tree that the agent would change without knowing
// what it holds.
func (j *checker) isUnread(p string) bool {
	p = j.followLinks(p)
	root := cleanPath(j.rules.Root)
	if j.rules.KnowsContent == nil || inList(instructionFiles, strings.ToLower(path.Base(p))) || isWithin(p, root+"/.claude") {
		return false
	}
	return !j.rules.KnowsContent(p)
}
