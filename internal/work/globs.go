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
	pattern string
	words   []string // a path that it names contains one of these; nil = any path may be named
}

// NewGlobs makes globs ready.
func NewGlobs(patterns []string) Globs {
	all := make(Globs, len(patterns))
	for i, p := range patterns {
		all[i] = glob{p, wordsOf(p)}
	}
	return all
}

// Match reports whether one of the globs names a file, as Matches does.
func (g Globs) Match(file string) bool {
	return slices.ContainsFunc(g, func(g glob) bool {
		if g.words != nil && !slices.ContainsFunc(g.words, func(word string) bool { return strings.Contains(file, word) }) {
			return false
		}
		ok, err := doublestar.Match(g.pattern, file)
		return ok && err == nil
	})
}

// wordsOf are the words of a glob of which each path that it names contains one: a word
// outside of braces, or the alternatives within some. It is the choice whose shortest word
// is longest. A glob with escapes or nested braces has none.
func wordsOf(pattern string) []string {
	var best []string
	take := func(words []string) {
		if shortest(words) > shortest(best) {
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
		take([]string{rest[:i]})
		if rest = rest[i:]; rest == "" || rest[0] == '[' { // what is before it will do
			break
		}
		if rest[0] != '{' {
			rest = rest[1:]
			continue
		}
		inner, after, closed := strings.Cut(rest[1:], "}")
		if !closed || strings.Contains(inner, "{") || oddClass.MatchString(inner) {
			return nil
		}
		take(strings.Split(inner, ","))
		rest = after
	}
	if shortest(best) == 0 {
		return nil
	}
	return best
}

// oddClass matches brackets within braces that may hold a brace or a comma themselves.
var oddClass = regex.New(`\[[^\]]*$|\[[\^!]?\]|\[[^\]]*,`)

// shortest is the length of the shortest word, 0 where one is not a plain word.
func shortest(words []string) int {
	if len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return strings.ContainsAny(w, `*?[]{}\/`) }) {
		return 0
	}
	return len(slices.MinFunc(words, func(a, b string) int { return len(a) - len(b) }))
}
