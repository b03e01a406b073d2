package work

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/pawl-dev/pawl/internal/regex"
)

// Globs are globs that were made ready for many paths. Most paths lack the words that a
// glob asks for, which is seen at a fraction of the cost of a match.
type Globs []glob

type glob struct {
	pattern       string
	requiredWords []string // a path that it names contains one of these; nil = any path may be named
}

// CompileGlobs makes globs ready.
func CompileGlobs(patterns []string) Globs {
	all := make(Globs, len(patterns))
	for i, p := range patterns {
		all[i] = glob{p, requiredWordsOf(p)}
	}
	return all
}

// Match reports whether one of the globs names a file, as Matches does.
func (g Globs) Match(file string) bool {
	return slices.ContainsFunc(g, func(g glob) bool {
		if g.requiredWords != nil && !slices.ContainsFunc(g.requiredWords, func(word string) bool { return strings.Contains(file, word) }) {
			return false
		}
		ok, err := doublestar.Match(g.pattern, file)
		return ok && err == nil
	})
}

// requiredWordsOf are the words of a glob of which each path that it names contains one: a word
// outside of braces, or the alternatives within some. It is the choice whose shortest word
// is longest. A glob with escapes or nested braces has none.
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
		if rest = rest[i:]; rest == "" || rest[0] == '[' { // what is before it will do
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

// ambiguousClass matches brackets within braces that may hold a brace or a comma themselves.
var ambiguousClass = regex.New(`\[[^\]]*$|\[[\^!]?\]|\[[^\]]*,`)

// shortestLength is the length of the shortest word, 0 where one is not a plain word.
func shortestLength(words []string) int {
	if len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return strings.ContainsAny(w, `*?[]{}\/`) }) {
		return 0
	}
	return len(slices.MinFunc(words, func(a, b string) int { return len(a) - len(b) }))
}
