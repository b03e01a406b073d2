package work

import (
	"slices"
	"strings"
)

// sameGoMod reports whether two versions of a go.mod replace none of the modules that the old
// version requires differently. Replacing a new module is work.
func sameGoMod(was, now []byte) bool {
	if !slices.Equal(directives(was, "toolchain", "exclude"), directives(now, "toolchain", "exclude")) {
		return false
	}
	before, after := directives(was, "replace"), directives(now, "replace")
	return !slices.ContainsFunc(slices.Concat(directives(was, "require"), before), func(d string) bool {
		module, _, _ := strings.Cut(d, " ")
		return !slices.Equal(directivesFor(module, before), directivesFor(module, after))
	})
}

// directivesFor returns the directives that begin with a module.
func directivesFor(module string, directives []string) []string {
	var out []string
	for _, d := range directives {
		if strings.HasPrefix(d, module+" ") {
			out = append(out, d)
		}
	}
	return out
}

// directives returns the arguments of these verbs in a go.mod or go.work, sorted. Each is
// on a line or in a block (https://go.dev/ref/mod#go-mod-file-grammar).
func directives(content []byte, verbs ...string) []string {
	var out []string
	block := ""
	for line := range strings.Lines(string(content)) {
		line, _, _ = strings.Cut(strings.ReplaceAll(line, "(", " ( "), "//")
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case words[0] == ")":
			block = ""
		case block != "":
			words = append([]string{block}, words...)
			fallthrough
		default:
			if len(words) > 1 && words[1] == "(" {
				block = words[0]
			} else if slices.Contains(verbs, words[0]) {
				out = append(out, strings.Join(words[1:], " "))
			}
		}
	}
	slices.Sort(out)
	return out
}
