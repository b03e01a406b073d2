package guard

import (
	"path"
	"slices"
	"strings"
)

// ShownFiles holds the files that an agent was shown in one context. Its method Has serves as
// Rules.KnowsContent. The zero value is a new context.
type ShownFiles struct {
	paths map[string]bool
	globs []string
}

// Add records the paths that an allowed call touched; see Verdict.Touched. It ignores case, as
// some file systems do.
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

// AddMentions records the files that a prompt mentions as @FILE, relative to root. Clients add the
// content of these files to the prompt.
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

// instructionFiles are files of instructions that clients show their agents unasked.
const instructionFiles = "claude.md claude.local.md agents.md gemini.md"

// isUnread reports whether the agent does not know the content of a file in the work tree.
func (j *checker) isUnread(p string) bool {
	p = j.followLinks(p)
	root := cleanPath(j.rules.Root)
	if j.rules.KnowsContent == nil || inList(instructionFiles, strings.ToLower(path.Base(p))) || isWithin(p, root+"/.claude") {
		return false
	}
	return !j.rules.KnowsContent(p)
}
