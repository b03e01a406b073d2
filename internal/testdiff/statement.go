package testdiff

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// statement is a line of a test with its continuation lines.
type statement struct {
	at     int // where it begins
	text   string
	tokens []string // words, numbers and punctuation
	inHead bool     // it continues the head of a test
}

var (
	importing = regex.New(`^\s*(?:import|from|use|using|#\s*include|require|require_relative|package|extern|mod)\b|=\s*(?:await\s+)?(?:require|import)\(`)
	closes    = regex.New(`^[\s(){}\[\];,]*$`)
)

// statements returns the statements of a range, without lines that only close brackets.
func (t testText) statements(from, to int) (all []statement) {
	depth, at := 0, from
	add := func(end int) {
		if text := t.plain[at:end]; !closes.MatchString(text) {
			all = append(all, statement{at: at, text: text, tokens: tokensOf(text)})
		}
		at = end
	}
	for i := from; i < to; i++ {
		switch t.s.Code[i] {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case '\n':
			if depth <= 0 {
				add(i)
				depth = 0
			}
		}
	}
	add(to)
	return all
}

// ofTest returns the statements of a test.
func (t testText) ofTest(sp span) []statement {
	all := t.statements(sp.head, sp.to)
	if len(all) > 0 {
		all[0].inHead = true
	}
	return all
}

// adaptStatement returns a statement's current text if the work may have changed it so. A variable
// may be renamed from its declaration on.
func (a *adaptation) adaptStatement(old, now statement) (string, bool) {
	if slices.Equal(old.tokens, now.tokens) {
		return old.text, true
	}
	before := a.pairing.copy()
	was, is := declares.FindStringSubmatch(old.text), declares.FindStringSubmatch(now.text)
	if was != nil && is != nil && was[1] != is[1] && !a.AddedNames[is[1]] {
		a.pair(was[1], is[1])
	}
	text, same := a.matchTokens(old.tokens, now)
	if !same {
		a.pairing = before
	}
	return text, same
}

// matchTokens compares a statement with its old tokens. Calls may have more or fewer arguments,
// names may be renamed, values may be those in the task.
func (a *adaptation) matchTokens(old []string, now statement) (string, bool) {
	i, j := 0, 0
	is := now.tokens
	var unused []int // tokens for an error that nothing looks at
	quote := ""
	for i < len(old) && j < len(is) {
		if was, now := a.correctsText(old[i:], is[j:]); quote != "" && was > 0 {
			for _, token := range old[i : i+was] {
				quote = quoted(quote, token)
			}
			i, j = i+was, j+now
			continue
		}
		become := is[j:]
		if i+1 < len(old) && old[i+1] == "." {
			become = is[j : j+1] // it is what has a part, not a part of a package
		}
		n := a.matchToken(old[i], become, quote != "")
		switch {
		case n > 0:
			name := old[i]
			quote = quoted(quote, name)
			i, j = i+1, j+n
			if !a.ChangedSignatures[name] || i == len(old) || j == len(is) || old[i] != is[j] || old[i] != "(" && old[i] != "{" {
				continue
			}
			had, has := bracketed(old[i:]), bracketed(is[j:])
			if !a.passesSame(had, has) && !a.dropsArguments(had, has, a.RemovedParameters[name]) {
				return "", false
			}
			i, j = i+len(had), j+len(has)
		case is[j] == "await" || is[j] == "async" && now.mayBeAsync(j):
			j++
		case is[j] == "," && j+1 < len(is) && (is[j+1] == "err" || is[j+1] == "_") && (old[i] == ":" || old[i] == "="):
			if !slices.ContainsFunc(old, func(token string) bool { return a.ChangedSignatures[token] }) {
				return "", false
			}
			unused = append(unused, j+1)
			j += 2
		default:
			return "", false
		}
	}
	rejects := slices.Contains(is[:j], "rejects") && !slices.Contains(old, "rejects")
	if i < len(old) || !closes.MatchString(strings.Join(is[j:], "")) || rejects && !slices.Contains(is[:j], "await") {
		return "", false
	}
	return now.cut(j, unused), true
}

// mayBeAsync reports whether a function beginning at a token is awaited: by the runner or an
// assertion. For any other caller a promise is always true.
func (s statement) mayBeAsync(j int) bool {
	if s.inHead && strings.Count(strings.Join(s.tokens[:j], " "), "(") == 0 || slices.Contains(s.tokens[:j], "rejects") {
		return true
	}
	return j == 2 && s.tokens[1] == "(" && setupFunction.MatchString(s.tokens[0])
}

// cut returns the text of the first tokens, with some blank.
func (s statement) cut(n int, blank []int) string {
	if n == 0 {
		return ""
	}
	at := tokenIndexes(s.text)[:n]
	text := s.text[:at[len(at)-1][1]]
	for _, i := range slices.Backward(blank) {
		text = text[:at[i][0]] + "_" + text[at[i][1]:]
	}
	return text
}

// matchToken returns how many new tokens replace an old one, 0 for none: the same, the new name, or
// the task's value. In quotes, only values are replaced.
func (a *adaptation) matchToken(old string, now []string, inQuotes bool) int {
	switch {
	case old == now[0], a.pairs[old] == now[0]:
		return 1
	case old == "throws" && now[0] == "rejects", old == "TestCase" && now[0] == "IsolatedAsyncioTestCase":
		return 1
	case inQuotes || !a.RemovedNames[old]:
		if a.replacesValue(old, now[0]) && a.pairIn(old, now[0], inQuotes) || a.corrects(old, now[0]) {
			return 1
		}
		return 0
	case len(now) > 2 && now[1] == "." && a.RemovedNames[old] && a.AddedNames[now[2]] && a.mayStandFor(old, now[2], now[0]) && a.pair(old, now[0]+"."+now[2]):
		return 3 // in a package of its own
	case a.mayStandFor(old, now[0]) && a.pair(old, now[0]):
		return 1
	}
	return 0
}

// replacesValue reports whether the task gives another value, and the work put it there. A help text
// has the name of an option in capitals, too.
func (a *adaptation) replacesValue(old, now string) bool {
	if a.namesValue(old) && a.Replacements[[2]string{old, now}] && (a.namesValue(now) || isName(old) && a.AddedNames[now]) {
		return true
	}
	lower := strings.ToLower(old)
	return lower != old && strings.ToUpper(old) == old && strings.ToUpper(now) == now && a.replacesValue(lower, strings.ToLower(now))
}

// mayStandFor reports whether a name may replace a removed one. The task mentions both in order, or
// a part of one of them or of its package.
func (a *adaptation) mayStandFor(old, now string, in ...string) bool {
	if next := a.nextNamed(old); len(next) > 0 {
		return slices.Contains(next, now)
	}
	return (a.AddedNames[now] || a.taskWords[now] && isName(now)) && (sameName(old, now) || slices.ContainsFunc(append(in, old, now), a.mentions))
}

// nextNamed returns the new names that the task gives behind a removed one: of removed names in a row, each
// has the one at its place in a row of as many new ones. Of a row with another length it may have any: the
// package or module may be in it too.
func (a *adaptation) nextNamed(old string) []string {
	said := slices.DeleteFunc(tokens.FindAllString(a.Task, -1), func(token string) bool { return !a.AddedNames[token] && !a.RemovedNames[token] })
	at := slices.Index(said, old)
	if at < 0 {
		return nil
	}
	row := func(from int, names map[string]bool) int {
		n := 0
		for from+n < len(said) && names[said[from+n]] {
			n++
		}
		return n
	}
	first := at
	for first > 0 && a.RemovedNames[said[first-1]] {
		first--
	}
	removed := row(first, a.RemovedNames)
	added := row(first+removed, a.AddedNames)
	if added == removed {
		return said[at+removed : at+removed+1]
	}
	return said[first+removed : first+removed+added]
}

// mentions reports whether the task contains a name, or a part of it.
func (a *adaptation) mentions(name string) bool {
	return a.taskWords[name] || slices.ContainsFunc(partsOf(name), func(part string) bool { return a.taskWordParts[part] })
}

// partsOf returns the words in a name, without short ones.
func partsOf(name string) []string {
	parts := strings.FieldsFunc(strings.ToLower(wordBoundary.ReplaceAllString(name, "${1}_$2")), func(r rune) bool { return r == '_' })
	return slices.DeleteFunc(parts, func(part string) bool { return len(part) < 3 || literal.MatchString(part) })
}

// wordBoundary matches the end of a word in a camel-case name.
var wordBoundary = regex.New(`([a-z0-9])([A-Z])`)

// sameName reports whether two names differ only in spelling.
func sameName(a, b string) bool {
	return strings.EqualFold(strings.ReplaceAll(a, "_", ""), strings.ReplaceAll(b, "_", ""))
}

// pair makes one token replace another everywhere. Two never become one, nor one that the old file
// has: then a test could expect whatever it gets.
func (a *adaptation) pair(old, now string) bool { return a.pairIn(old, now, false) }

// pairIn is pair for a token in quotes: there a name that the old file has in its code is free.
func (a *adaptation) pairIn(old, now string, inQuotes bool) bool {
	if is, paired := a.pairs[old]; paired {
		return is == now
	}
	if was, taken := a.images[now]; taken && was != old || a.known[now] && !(inQuotes && a.onlyCode[now]) {
		return false
	}
	a.pairs[old], a.images[now] = now, old
	return true
}

// namesValue reports whether the task contains a value.
func (a *adaptation) namesValue(token string) bool {
	return a.taskWords[token] && (len(token) > 2 || number.MatchString(token)) && !literal.MatchString(token)
}

// literal matches constants that any task may use.
var literal = regex.New(`(?i)^(?:true|false|none|nil|null|undefined)$`)

// bracketed returns the tokens from an opening bracket to its end.
func bracketed(tokens []string) []string {
	depth := 0
	for i, token := range tokens {
		if depth += source.Depth(token[0]); depth == 0 && source.Depth(token[0]) < 0 {
			return tokens[:i+1]
		}
	}
	return tokens
}

// passesSame reports whether a call keeps all old arguments. New ones must be no calculation, and
// no value of the old test: that could be the answer.
func (a *adaptation) passesSame(was, is []string) bool {
	quote := ""
	var more []string
	reached := false // the token is a library's
	for i, token := range is {
		quote = quoted(quote, token)
		reached = i > 1 && is[i-1] == "." && (reached || a.isLibrary(is[i-2]))
		n := 0
		if len(was) > 0 {
			n = a.matchToken(was[0], []string{token}, quote != "")
		}
		switch {
		case n > 0:
			was = was[1:]
			continue
		case isName(token) && (!a.known[token] || reached || a.isLibrary(token)), number.MatchString(token) && !a.known[token], isZero.MatchString(token), passThrough.MatchString(token), quote != "" && !isName(token) && !number.MatchString(token):
			more = append(more, token)
		default:
			return false
		}
	}
	return len(was) == 0 && a.isValue(strings.Join(more, " "))
}

// isLibrary reports whether the old file imports a name from elsewhere than the program.
func (a *adaptation) isLibrary(name string) bool {
	return a.imported[name] && !a.Declares(name) && !a.MayShadow(name)
}

// dropsArguments reports whether a call only lacks whole arguments, at most most.
func (a *adaptation) dropsArguments(was, is []string, most int) bool {
	had, has := arguments(was), arguments(is)
	if len(had)-len(has) > most {
		return false
	}
	for _, argument := range had {
		if len(has) > 0 && slices.Equal(argument, has[0]) {
			has = has[1:]
		}
	}
	return len(has) == 0
}

// arguments returns the arguments of a bracketed call.
func arguments(call []string) (all [][]string) {
	depth := 0
	var argument []string
	for i, token := range call {
		if depth += source.Depth(token[0]); i > 0 && depth > 0 && (token != "," || depth > 1) {
			argument = append(argument, token)
		} else if len(argument) > 0 {
			all, argument = append(all, argument), nil
		}
	}
	return all
}

// isValue reports whether a text is only a value: no assignment, no redirection, nothing of the
// program but what the task mentions.
func (a *adaptation) isValue(text string) bool {
	if steersAway.MatchString(text) || assigns.MatchString(text) || reachesInto.MatchString(text) {
		return false
	}
	for name := range Words(text) {
		if a.Declares(name) && !a.mentions(name) && !a.ChangedSignatures[name] {
			return false
		}
	}
	return true
}

// isZero matches the values that stand for none: no test's answer.
var isZero = regex.New(`^(?:0|nil|null|None|undefined|false|False)$`)

// passThrough matches punctuation that only passes values on.
var passThrough = regex.New("^[(){}\\[\\]:=,.&*\"'`]$")

var (
	// steersAway can lead away from what is tested, or put something in its place.
	steersAway = regex.New(`\b(?:return|exit|_exit|quit|\w*[pP]atch\w*|\w*[mM]ock\w*|\w*[sS]tub\w*|\w*[sS]py\w*|setattr|vars|globals?|locals|__\w+__|reload|unsafe|eval|exec|lambda|func|function|panic|throw|raise|yield)\b|=>|;`)
	// assigns changes what was there.
	assigns  = regex.New(`[.\])]\s*\w*\s*=[^=]|:=.*:=`)
	declares = regex.New(`^\s*(?:(?:const|let|var|final|auto|my|static)\s+)?(?:\w+\s+)?(\w+)(?:\s*,\s*(\w+))?\s*:?=[^=]`)
)
