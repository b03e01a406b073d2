package testdiff

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// statement is a line of a test, with those that go on with it.
type statement struct {
	at     int // where it begins
	text   string
	tokens []string // words, numbers and signs
	heads  bool     // it is what the head of a test goes on with
}

var (
	tokens    = regex.New(`[A-Za-z_]\w*|\d+|[^\s\w]`)
	importing = regex.New(`^\s*(?:import|from|use|using|#\s*include|require|require_relative|package|extern|mod)\b|=\s*(?:await\s+)?(?:require|import)\(`)
	closes    = regex.New(`^[\s(){}\[\];,]*$`)
	number    = regex.New(`^\d+$`)
)

// Words are the words and numbers of a text.
func Words(text string) map[string]bool {
	all := map[string]bool{}
	for _, token := range tokens.FindAllString(text, -1) {
		if isName(token) || number.MatchString(token) {
			all[token] = true
		}
	}
	return all
}

func isName(token string) bool { return identifier.MatchString(token) }

var identifier = regex.New(`^[A-Za-z_]`)

// statements are those of a stretch. Lines that only close something are left out.
func (t testText) statements(from, to int) (all []statement) {
	depth, at := 0, from
	add := func(end int) {
		if text := t.plain[at:end]; !closes.MatchString(text) {
			all = append(all, statement{at: at, text: text, tokens: tokens.FindAllString(text, -1)})
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

// ofTest are those of a test.
func (t testText) ofTest(sp span) []statement {
	all := t.statements(sp.head, sp.to)
	if len(all) > 0 {
		all[0].heads = true
	}
	return all
}

// stands returns a statement as it is now if it is another as the work may have changed it. A variable
// may get another name where it is declared, and has it from there on.
func (a *adaptation) stands(old, now statement) (string, bool) {
	if slices.Equal(old.tokens, now.tokens) {
		return old.text, true
	}
	before := a.save()
	was, is := declares.FindStringSubmatch(old.text), declares.FindStringSubmatch(now.text)
	if was != nil && is != nil && was[1] != is[1] && !a.Came[is[1]] {
		a.pair(was[1], is[1])
	}
	text, same := a.matched(old.tokens, now)
	if !same {
		a.goBack(before)
	}
	return text, same
}

// matched compares a statement with its tokens of before: what it calls takes more or less, what it names
// has another name, or the value that the task gives it.
func (a *adaptation) matched(old []string, now statement) (string, bool) {
	i, j := 0, 0
	is := now.tokens
	var unused []int // tokens for an error that nothing looks at
	quote := ""
	for i < len(old) && j < len(is) {
		n := a.renamed(old[i], is[j:], quote != "")
		switch {
		case n > 0:
			name := old[i]
			quote = quoted(quote, name)
			i, j = i+1, j+n
			if !a.Recast[name] || i == len(old) || j == len(is) || old[i] != "(" || is[j] != "(" {
				continue
			}
			had, has := bracketed(old[i:]), bracketed(is[j:])
			if !a.passes(had, has) && !a.drops(had, has, a.Fewer[name]) {
				return "", false
			}
			i, j = i+len(had), j+len(has)
		case is[j] == "await" || is[j] == "async" && now.mayBeAsync(j):
			j++
		case is[j] == "," && j+1 < len(is) && (is[j+1] == "err" || is[j+1] == "_") && (old[i] == ":" || old[i] == "="):
			if !slices.ContainsFunc(old, func(token string) bool { return a.Recast[token] }) {
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

// quoted is the quote that a token stands behind, where the one before it stood behind another, or none.
func quoted(quote, token string) string {
	switch {
	case quote == "" && quotes.MatchString(token):
		return token
	case quote == token:
		return ""
	}
	return quote
}

// mayBeAsync reports whether somebody awaits a function that begins at a token: the runner that calls it, or
// an assertion that looks at how it ends. What any other caller gets of it is true.
func (s statement) mayBeAsync(j int) bool {
	if s.heads && strings.Count(strings.Join(s.tokens[:j], " "), "(") == 0 || slices.Contains(s.tokens[:j], "rejects") {
		return true
	}
	return j == 2 && s.tokens[1] == "(" && loadsBefore.MatchString(s.tokens[0])
}

// cut is the text of a statement's first tokens, some of them blank.
func (s statement) cut(n int, blank []int) string {
	if n == 0 {
		return ""
	}
	at := tokens.FindAllStringIndex(s.text, n)
	text := s.text[:at[len(at)-1][1]]
	for _, i := range slices.Backward(blank) {
		text = text[:at[i][0]] + "_" + text[at[i][1]:]
	}
	return text
}

// renamed is how many tokens stand for an old one: itself, what the work named so, or the value
// that the task gives; 0 for any other. In quotes no name stands for another, only a value.
func (a *adaptation) renamed(old string, now []string, inQuotes bool) int {
	switch {
	case old == now[0], a.pairs[old] == now[0]:
		return 1
	case old == "throws" && now[0] == "rejects", old == "TestCase" && now[0] == "IsolatedAsyncioTestCase":
		return 1
	case inQuotes || !a.Gone[old]:
		if a.gives(old, now[0]) && a.pair(old, now[0]) {
			return 1
		}
		return 0
	case len(now) > 2 && now[1] == "." && a.Gone[old] && a.Came[now[2]] && a.mayStandFor(old, now[2], now[0]) && a.pair(old, now[0]+"."+now[2]):
		return 3 // in a package of its own
	case a.mayStandFor(old, now[0]) && a.pair(old, now[0]):
		return 1
	}
	return 0
}

// gives reports whether the task gives a value in the place of another, and the work put it there.
func (a *adaptation) gives(old, now string) bool {
	return a.says(old) && a.Swapped[[2]string{old, now}] && (a.says(now) || isName(old) && a.Came[now])
}

// mayStandFor reports whether a name stands for one that is gone, and the task says so: in its order if it has
// both, or by a part of one of them, or of the package that it is in.
func (a *adaptation) mayStandFor(old, now string, in ...string) bool {
	said := tokens.FindAllString(a.Task, -1)
	if at := slices.Index(said, old); at >= 0 {
		if next := slices.IndexFunc(said[at:], func(token string) bool { return a.Came[token] }); next >= 0 {
			return said[at+next] == now
		}
	}
	return (a.Came[now] || a.said[now] && isName(now)) && (sameName(old, now) || slices.ContainsFunc(append(in, old, now), a.mentions))
}

// mentions reports whether the task has a name, or a part of it.
func (a *adaptation) mentions(name string) bool {
	return a.said[name] || slices.ContainsFunc(partsOf(name), func(part string) bool { return a.parts[part] })
}

// partsOf are the words that a name consists of, but for short ones.
func partsOf(name string) []string {
	parts := strings.FieldsFunc(strings.ToLower(inner.ReplaceAllString(name, "${1}_$2")), func(r rune) bool { return r == '_' })
	return slices.DeleteFunc(parts, func(part string) bool { return len(part) < 3 || literal.MatchString(part) })
}

// inner matches where a word in a name ends.
var inner = regex.New(`([a-z0-9])([A-Z])`)

// sameName reports whether two names differ in how they are written alone.
func sameName(a, b string) bool {
	return strings.EqualFold(strings.ReplaceAll(a, "_", ""), strings.ReplaceAll(b, "_", ""))
}

// pair has one token stand for another, wherever it does not stand for itself. Two never become one, nor
// one what the old file had: then a test could ask for what it gives.
func (a *adaptation) pair(old, now string) bool {
	if is, paired := a.pairs[old]; paired {
		return is == now
	}
	if was, taken := a.images[now]; taken && was != old || a.known[now] {
		return false
	}
	a.pairs[old], a.images[now] = now, old
	return true
}

// says reports whether the task names a value.
func (a *adaptation) says(token string) bool {
	return a.said[token] && (len(token) > 2 || number.MatchString(token)) && !literal.MatchString(token)
}

// literal matches what is the same in every task.
var literal = regex.New(`(?i)^(?:true|false|none|nil|null|undefined)$`)

// bracketed is what begins with a bracket, to where that is closed.
func bracketed(tokens []string) []string {
	open := 0
	for i, token := range tokens {
		switch token {
		case "(", "[", "{":
			open++
		case ")", "]", "}":
			if open--; open == 0 {
				return tokens[:i+1]
			}
		}
	}
	return tokens
}

// passes reports whether a call still passes all that another one did. What it passes as well may
// not be worked out there, nor be a value that the old test has: that could be the answer.
func (a *adaptation) passes(was, is []string) bool {
	quote := ""
	var more []string
	for _, token := range is {
		quote = quoted(quote, token)
		n := 0
		if len(was) > 0 {
			n = a.renamed(was[0], []string{token}, quote != "")
		}
		switch {
		case n > 0:
			was = was[1:]
			continue
		case isName(token) && !a.known[token], number.MatchString(token) && !a.known[token], passing.MatchString(token), quote != "" && !isName(token) && !number.MatchString(token):
			more = append(more, token)
		default:
			return false
		}
	}
	return len(was) == 0 && a.isValue(strings.Join(more, " "))
}

// drops reports whether a call passes what another one did but for whole arguments, no more than a number.
func (a *adaptation) drops(was, is []string, most int) bool {
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

// arguments are those of a call, in brackets.
func arguments(call []string) (all [][]string) {
	depth := 0
	var argument []string
	for i, token := range call {
		switch token {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth--
		}
		if i > 0 && depth > 0 && (token != "," || depth > 1) {
			argument = append(argument, token)
		} else if len(argument) > 0 {
			all, argument = append(all, argument), nil
		}
	}
	return all
}

// isValue reports whether a text only gives a value: it assigns nothing else, leads nowhere, and has
// nothing of the program but what the task names.
func (a *adaptation) isValue(text string) bool {
	if steers.MatchString(text) || assigns.MatchString(text) || reachesInto.MatchString(text) {
		return false
	}
	for name := range Words(text) {
		if a.Declares(name) && !a.mentions(name) && !a.Recast[name] {
			return false
		}
	}
	return true
}

// passing are the signs of what is passed on.
var passing, quotes = regex.New("^[(){}\\[\\]:=,.&*\"'`]$"), regex.New("^[\"'`]$")

var (
	// steers can lead away from what is tested, or put something in its place.
	steers = regex.New(`\b(?:return|exit|_exit|quit|\w*[pP]atch\w*|\w*[mM]ock\w*|\w*[sS]tub\w*|\w*[sS]py\w*|setattr|vars|globals?|locals|__\w+__|reload|unsafe|eval|exec|lambda|func|function|panic|throw|raise|yield)\b|=>|;`)
	// assigns changes what was there.
	assigns  = regex.New(`[.\])]\s*\w*\s*=[^=]|:=.*:=`)
	declares = regex.New(`^\s*(?:(?:const|let|var|final|auto|my|static)\s+)?(?:\w+\s+)?(\w+)(?:\s*,\s*(\w+))?\s*:?=[^=]`)
)
