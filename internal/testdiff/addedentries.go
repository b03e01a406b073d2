package testdiff

import (
	"slices"

	"github.com/pawl-dev/pawl/internal/source"
)

// A test may list all that a program has: its formats, commands, routes. If the task adds one, the list has
// it too. What it had, it keeps.

// otherEntry returns how many old tokens are an entry that the task asks to remove, or how many new ones
// from at on are an entry that it adds.
func (a *adaptation) otherEntry(old, is []string, at int) (was, now int) {
	if was = a.removedEntry(old, is[at:]); was > 0 {
		return was, 0
	}
	return 0, a.addedEntry(old, is, at)
}

// addedEntry returns how many new tokens from at on are a text that was added to a list of texts; old are the
// old tokens there; 0 for none. The task names it, and the program has it and did not before.
func (a *adaptation) addedEntry(old, is []string, at int) int {
	if !inList(is[:at]) {
		return 0
	}
	from := at
	last := is[at] == "," && at > 0 && quotes.MatchString(is[at-1]) && source.Depth(old[0][0]) < 0
	if last {
		from++
	}
	n := a.newText(is[from:])
	if n == 0 || from+n >= len(is) {
		return 0
	}
	next := is[from+n]
	switch first := source.Depth(old[0][0]) < 0 && at > 1 && is[at-1] == "," && quotes.MatchString(is[at-2]); {
	case last && source.Depth(next[0]) < 0:
		return 1 + n
	case last && next == "," && from+n+1 < len(is) && source.Depth(is[from+n+1][0]) < 0:
		return 2 + n
	case !last && next == "," && (first || quotes.MatchString(old[0]) && !slices.Equal(old[:min(n, len(old))], is[from:from+n])):
		return n + 1
	}
	return 0
}

// newText returns how many tokens are a text in quotes that the task names and that only the work has.
func (a *adaptation) newText(is []string) int {
	if len(is) == 0 || !quotes.MatchString(is[0]) {
		return 0
	}
	end := slices.Index(is[1:], is[0])
	if end < 1 {
		return 0
	}
	isNew := false
	for _, token := range is[1 : end+1] {
		switch {
		case !isName(token) && !number.MatchString(token):
		case !a.namesValue(token):
			return 0
		default:
			isNew = isNew || isName(token) && a.NewWords[token] && !a.known[token]
		}
	}
	if !isNew {
		return 0
	}
	return end + 2
}

// inList reports whether the innermost bracket that tokens leave open is not a call's.
func inList(tokens []string) bool {
	var open []string
	quote := ""
	for _, token := range tokens {
		if quote = quoted(quote, token); quote != "" {
			continue
		}
		switch depth := source.Depth(token[0]); {
		case depth > 0:
			open = append(open, token)
		case depth < 0 && len(open) > 0:
			open = open[:len(open)-1]
		}
	}
	return len(open) > 0 && open[len(open)-1] != "("
}
