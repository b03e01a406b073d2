package work

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/pawl-dev/pawl/internal/regex"
)

// Globs are compiled globs, for matching many paths. Most paths do not contain the words
// that a glob requires, which is much faster to check than a match.
type Globs []glob

type glob struct {
	pattern       string
	requiredWords []string // each matching path contains one of these; nil = unknown
}

// CompileGlobs compiles globs.
func CompileGlobs(patterns []string) Globs {
	all := make(Globs, len(patterns))
	for i, p := range patterns {
		all[i] = glob{p, requiredWordsOf(p)}
	}
	return all
}

// Match reports whether one of the globs matches a file, as Matches does.
func (g Globs) Match(file string) bool {
	return slices.ContainsFunc(g, func(g glob) bool {
		if g.requiredWords != nil && !slices.ContainsFunc(g.requiredWords, func(word string) bool { return strings.Contains(file, word) }) {
			return false
		}
		ok, err := doublestar.Match(g.pattern, file)
		return ok && err == nil
	})
}

// requiredWordsOf returns words of which each path that the glob matches contains one: a word
// outside of braces, or all alternatives within braces. Of several choices it returns the
// one whose shortest word is longest. It returns nil for escapes and nested braces.
func requiredWordsOf(pattern string) []string {
	var best []string
	consider := func(words []string) {
		if shortestLength(words) > shortestLength(best) {
			best = words
		}
	}
	rest := pattern
	if strings.Contains(pattern, `\`) {
		return nil
	}
	for rest != "" {
		i := strings.IndexAny(rest, "*?/{[")
		if i < 0 {
			i = len(rest)
		}
		consider([]string{rest[:i]})
		if rest = rest[i:]; rest == "" || rest[0] == '[' { // what follows a class is not examined
			break
		}
		if rest[0] != '{' {
			rest = rest[1:]
			continue
		}
		inner, after, closed := strings.Cut(rest[1:], "}")
		if !closed || strings.Contains(inner, "{") || ambiguousClass.MatchString(inner) {
			return nil
		}
		consider(strings.Split(inner, ","))
		rest = after
	}
	if shortestLength(best) == 0 {
		return nil
	}
	return best
}

// ambiguousClass matches a class within braces that may contain a brace or a comma.
var ambiguousClass = regex.New(`\[[^\]]*$|\[[\^!]?\]|\[[^\]]*,`)

// shortestLength returns the length of the shortest word, or 0 if one contains special characters.
func shortestLength(words []string) int {
	if len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return strings.ContainsAny(w, `*?[]{}\/`) }) {
		return 0
	}
	return len(slices.MinFunc(words, func(a, b string) int { return len(a) - len(b) }))
}
