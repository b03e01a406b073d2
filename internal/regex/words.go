package regex

import (
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// maxWords bounds the words of an expression, maxClass the runes of a class that is
// spelled out.
const (
	maxWords = 128
	maxClass = 4
)

// wordsOf are words of which each match of an expression contains at least one; nil
// where there are none, or too many.
func wordsOf(expression string) []string {
	re, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return nil // package regexp says so, at the first match
	}
	words := fragmentOf(re.Simplify()).words()
	if shortest(words) == 0 {
		return nil
	}
	return words
}

// fragment is what is known of the text that an expression matches.
type fragment struct {
	whole []string // it is one of these; nil = not known
	part  []string // it contains one of these; nil = not known
}

// words are those that the text has for sure.
func (f fragment) words() []string { return better(f.whole, f.part) }

func fragmentOf(re *syntax.Regexp) fragment {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 && !slices.Contains(re.Rune, utf8.RuneError) { // which matches what is no UTF-8, too
			return fragment{whole: []string{string(re.Rune)}}
		}
	case syntax.OpCharClass:
		return classOf(re.Rune)
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return fragment{whole: []string{""}}
	case syntax.OpCapture:
		return fragmentOf(re.Sub[0])
	case syntax.OpPlus:
		return fragment{part: fragmentOf(re.Sub[0]).words()}
	case syntax.OpQuest:
		if f := fragmentOf(re.Sub[0]); f.whole != nil {
			return fragment{whole: append(slices.Clone(f.whole), "")}
		}
	case syntax.OpConcat:
		return inTurn(re.Sub)
	case syntax.OpAlternate:
		return alternation(re.Sub)
	}
	return fragment{}
}

// classOf is a class of characters, given by the first and last of each range.
func classOf(ranges []rune) fragment {
	var all []string
	for i := 0; i < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if len(all) == maxClass || r == utf8.RuneError {
				return fragment{}
			}
			all = append(all, string(r))
		}
	}
	return fragment{whole: all}
}

// inTurn is one expression after the other.
func inTurn(subs []*syntax.Regexp) fragment {
	sofar, known := []string{""}, true // what the last ones match, and whether they are all
	var part []string
	for _, sub := range subs {
		f := fragmentOf(sub)
		if f.whole != nil && len(sofar)*len(f.whole) <= maxWords {
			sofar = crossed(sofar, f.whole)
			continue
		}
		known, part = false, better(part, better(sofar, f.part))
		if sofar = f.whole; sofar == nil {
			sofar = []string{""}
		}
	}
	if known {
		return fragment{whole: sofar}
	}
	return fragment{part: better(part, sofar)}
}

func crossed(begins, ends []string) (all []string) {
	for _, begin := range begins {
		for _, end := range ends {
			all = append(all, begin+end)
		}
	}
	return all
}

// alternation is any of some expressions.
func alternation(subs []*syntax.Regexp) fragment {
	f := fragment{whole: []string{}, part: []string{}}
	for _, sub := range subs {
		one := fragmentOf(sub)
		f.whole, f.part = union(f.whole, one.whole), union(f.part, one.words())
	}
	return f
}

// union is nil where one of two lists is not known, or both are too long.
func union(a, b []string) []string {
	if a == nil || b == nil || len(a)+len(b) > maxWords {
		return nil
	}
	return slices.Concat(a, b)
}

// better is the one of two lists of words that fewer texts have: the longer words, then
// the fewer.
func better(a, b []string) []string {
	x, y := shortest(a), shortest(b)
	if y > x || y == x && len(b) < len(a) {
		return b
	}
	return a
}

// shortest is the length of the shortest word; 0 where there is none.
func shortest(words []string) int {
	if len(words) == 0 {
		return 0
	}
	return len(slices.MinFunc(words, func(a, b string) int { return len(a) - len(b) }))
}
