package testdiff

import (
	"maps"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// statement is a line of a test, with those that go on with it.
type statement struct {
	at     int // where it begins
	text   string
	tokens []string // words, numbers and signs
}

var (
	tokens    = regex.New(`[A-Za-z_]\w*|\d+|[^\s\w]`)
	importing = regex.New(`^\s*(?:import|from|use|using|#\s*include|require|require_relative|package|extern|mod)\b|=\s*(?:await\s+)?(?:require|import)\(`)
	closes    = regex.New(`^[\s(){}\[\];,]*$`)
	number    = regex.New(`^\d+$`)
)

// words are the words and numbers of a text.
func words(text string) map[string]bool {
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
			all = append(all, statement{at, text, tokens.FindAllString(text, -1)})
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

// matches reports whether a statement is another as the work may have changed it: what it calls
// takes more or less, what it names has another name, or the value that the task gives it. known
// are the tokens of the whole old test.
func (e explanation) matches(old, now []string, known map[string]bool) bool {
	i, j := 0, 0
	for i < len(old) && j < len(now) {
		n := e.renamed(old[i], now[j:])
		switch {
		case n > 0:
			recast := e.Recast[old[i]]
			i, j = i+1, j+n
			if !recast || i == len(old) || j == len(now) || old[i] != "(" || now[j] != "(" {
				continue
			}
			was, is := bracketed(old[i:]), bracketed(now[j:])
			if !e.passes(was, is, known) && !e.passes(is, was, nil) {
				return false
			}
			i, j = i+len(was), j+len(is)
		case now[j] == "await" || now[j] == "async":
			j++
		case now[j] == "," && j+1 < len(now) && (now[j+1] == "err" || now[j+1] == "_") && (old[i] == ":" || old[i] == "="):
			if !slices.ContainsFunc(old, func(token string) bool { return e.Recast[token] }) {
				return false
			}
			j += 2
		case now[j] == "," && endsTable(old[:i], old[i]):
			more := rows(now[j:])
			if overrides(more, old) {
				return false
			}
			j += len(more)
		default:
			return false
		}
	}
	return i == len(old) && closes.MatchString(strings.Join(now[j:], ""))
}

// endsTable reports whether a bracket closes a list of cases: one that is no argument of a call but of
// what runs a test for each, and that has no keys but a map's in Go. What a call is given is its input.
func endsTable(before []string, bracket string) bool {
	text := strings.Join(before, "")
	inCall := strings.Count(text, "(") > strings.Count(text, ")")
	return (bracket == "]" || bracket == "}" && (strings.Contains(text, "map[") || strings.Contains(text, "[]"))) &&
		(!inCall || strings.Contains(text, "parametrize(") || strings.Contains(text, ".each("))
}

// rows are what came behind the last value of a table: all before the bracket that closes it.
func rows(tokens []string) []string { return tokens[:closing(tokens, 1)] }

// overrides reports whether rows steer what is done with them, or have the key of one that was
// there: the last of a key may count.
func overrides(more, old []string) bool {
	keyed := slices.Contains(more, ":")
	return slices.ContainsFunc(more, func(token string) bool {
		return steers.MatchString(token) || keyed && (isName(token) || number.MatchString(token)) && slices.Contains(old, token)
	})
}

// stands reports whether a statement is another as the work may have changed it. A variable may get
// another name where it is declared, if nothing else has that, and has it from there on.
func (e explanation) stands(old, now statement, known map[string]bool) bool {
	was, is := declares.FindStringSubmatch(old.text), declares.FindStringSubmatch(now.text)
	from, to := "", ""
	if was != nil && is != nil && was[1] != is[1] && !known[is[1]] && !slices.Contains(slices.Collect(maps.Values(e.variables)), is[1]) {
		from, to = was[1], is[1]
	}
	tokens := slices.Clone(old.tokens)
	for i, token := range tokens {
		if name, renamed := e.variables[token]; renamed {
			tokens[i] = name
		} else if token == from && from != "" {
			tokens[i] = to
		}
	}
	if !e.matches(tokens, now.tokens, known) {
		return false
	}
	if from != "" {
		e.variables[from] = to
	}
	return true
}

// renamed is how many tokens stand for an old one: itself, what the work named so, or the value
// that the task gives; 0 for any other.
func (e explanation) renamed(old string, now []string) int {
	switch {
	case old == now[0], old == "throws" && now[0] == "rejects":
		return 1
	case !e.Gone[old] && !e.says(old):
		return 0
	case len(now) > 2 && now[1] == "." && e.Gone[old] && e.Came[now[2]]:
		return 3 // in a package of its own
	case e.Came[now[0]], e.says(now[0]), e.Gone[old] && e.said[now[0]]:
		return 1
	}
	return 0
}

// says reports whether the task names a value.
func (e explanation) says(token string) bool {
	return e.said[token] && (len(token) > 2 || number.MatchString(token))
}

// bracketed is what begins with a bracket, to where that is closed.
func bracketed(tokens []string) []string { return tokens[:min(closing(tokens, 0)+1, len(tokens))] }

// closing is where the last bracket is closed, of those that were open before and came; behind all
// tokens if it is not.
func closing(tokens []string, open int) int {
	for i, token := range tokens {
		switch token {
		case "(", "[", "{":
			open++
		case ")", "]", "}":
			if open--; open == 0 {
				return i
			}
		}
	}
	return len(tokens)
}

// passes reports whether a call still passes all that another one did. What it passes as well may
// not be worked out there, nor be a value that the old test has: that could be the answer.
func (e explanation) passes(was, is []string, known map[string]bool) bool {
	quote := ""
	for _, token := range is {
		switch {
		case quote == "" && quotes.MatchString(token):
			quote = token
		case quote == token:
			quote = ""
		}
		n := 0
		if len(was) > 0 {
			n = e.renamed(was[0], []string{token})
		}
		switch {
		case n > 0:
			was = was[1:]
		case isName(token) && !known[token], number.MatchString(token) && !known[token], passing.MatchString(token), quote != "" && !isName(token) && !number.MatchString(token):
		default:
			return false
		}
	}
	return len(was) == 0
}

// passing are the signs of what is passed on.
var passing, quotes = regex.New("^[(){}\\[\\]:=,.&*\"'`]$"), regex.New("^[\"'`]$")

var (
	// steers can keep a statement from being reached or from saying what it says.
	steers = regex.New(`\b(?:skip\w*|Skip\w*|todo|return|exit|_exit|quit|patch\w*|mock\w*|Mock\w*|monkeypatch|setattr|xfail|try|except|catch|rescue|if|unless|for|while|switch|else|del|break|continue|goto|panic|throw|raise|stub\w*|fake\w*|only|eval|exec)\b`)
	// failsOnError is what a test does where a call gives an error.
	failsOnError = regex.New(`^\s*(?:if err != nil \{|\w+\.(?:Fatal|Error)f?\(|\w+\.NoError\()`)
	declares     = regex.New(`^\s*(?:(?:const|let|var|final|auto|my|static)\s+)?(?:\w+\s+)?(\w+)(?:\s*,\s*(\w+))?\s*:?=[^=]`)
	helperHead   = regex.New(`^\s*(?:(?:pub|static|async|public|private|export)\s+)*(?:func|def|fn|function|void)\s+(\w+)`)
	loadsBefore  = regex.New(`(?i)^(?:init|main|TestMain|set_?up\w*|tear_?down\w*|before\w*|after\w*|pytest_\w*)$`)
)

// patches matches what puts something else in the place of a part of the program.
var patches = regex.New(`\b(?:setattr|\w*[pP]atch\w*|\w*[mM]ock\w*|\w*[sS]tub\w*|\w*[sS]py\w*|sinon|rewire|proxyquire|__dict__|globals|global|nonlocal|reload|unsafe)\b`)

// replaces reports whether a statement puts something else in the place of what is imported.
func (t testText) replaces(s statement) bool {
	if patches.MatchString(s.text) {
		return true
	}
	m := assigns.FindStringSubmatch(s.text)
	return m != nil && slices.ContainsFunc(t.uses, func(i statement) bool { return slices.Contains(i.tokens, m[1]) })
}

var assigns = regex.New(`^\s*(\w+)(?:\.\w+|\[[^\]]*\])*\s*=[^=]`)

// call is what a statement calls that does nothing else, with the bracket; "" where it is none.
func (s statement) call() string {
	if len(s.tokens) < 2 || !isName(s.tokens[0]) || s.tokens[1] != "(" {
		return ""
	}
	return s.tokens[0] + "("
}

// defines reports whether a file of tests has a function of a name.
func (t testText) defines(name string) bool {
	return slices.ContainsFunc(t.beside, func(s statement) bool {
		m := helperHead.FindStringSubmatch(s.text)
		return m != nil && m[1] == name
	})
}

// harmless reports whether a statement that came can change nothing of what the others say: it
// asserts, or gives a name to what had none.
func (t testText) harmless(s statement, known map[string]bool) bool {
	if failsOnError.MatchString(s.text) {
		return true
	}
	if steers.MatchString(s.text) {
		return false
	}
	if m := declares.FindStringSubmatch(s.text); m != nil {
		return !known[m[1]] && (m[2] == "" || !known[m[2]] || m[2] == "err")
	}
	if call := s.call(); call != "" && (known[call] || t.defines(strings.TrimSuffix(call, "("))) {
		return true // of what a test calls, too, or of a helper
	}
	return t.l.assert.MatchString(s.text) || strings.HasPrefix(strings.TrimSpace(s.text), "defer ")
}

// helper is the end of a function that came beside the tests, which nothing calls but what
// names it; 0 if a statement begins none.
func (t testText) helper(s statement, known map[string]bool) int {
	m := helperHead.FindStringSubmatch(s.text)
	if m == nil || known[m[1]] || loadsBefore.MatchString(m[1]) {
		return 0
	}
	if t.l.extent == indents {
		return t.s.Indented(s.at+source.Indent(s.text), "")
	}
	return t.s.Block(s.at)
}
