package mutant

import (
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// Statements returns the statements added to functions, each with a mutant that omits it.
func Statements(file string, before, after []byte) []Line {
	return statements(file, addedLines(file, before, after))
}

// statements returns these without duplicates, and without those that print, free or return an
// error: tests seldom check them.
func statements(file string, added []addedLine) (all []Line) {
	seen := map[string]bool{}
	for _, l := range added {
		if !l.inChanged || seen[l.trimmed()] || seldomLeftOut.MatchString(l.trimmed()) {
			continue
		}
		from, to, text := l.removable(file)
		if to <= from {
			continue
		}
		seen[l.trimmed()] = true
		order := statementOrder
		if visibleEffect.MatchString(l.trimmed()) {
			order = effectOrder
		}
		all = append(all, l.line(order, Mutant{Other, "is left out", from, to, text}))
	}
	return all
}

var (
	seldomLeftOut = regex.New(`(?i)\berr(?:or)?\b.*(?:!=|==|!==) *(?:nil|null)|__name__|^\w*(?:log|print|puts|console|debug|warn|trace|stderr|stdout|system\.out|super)\w*[.(!:]|\b\w*(?:close|flush|free|dispose|println|printf)\(`)
	// visibleEffect matches what others see of the work: it locks, removes, writes, checks.
	visibleEffect = regex.New(`(?i)lock|synchronized|delete|remove|unlink|\brm|\bdel\b|erase|clear|evict|write|save|sync|rename|replace|\bmv\b|commit|abort|cancel|check|verif|valid|encrypt|raise|throw`)
)

// removable returns the range of a statement from the line's beginning, and its replacement;
// nothing if it must stay. Blocks that hold a lock stay.
func (l addedLine) removable(file string) (from, to int, text string) {
	if IsShell(file) {
		return shellStatement(l.text)
	}
	for _, lock := range locks {
		if m := lock.held.FindStringSubmatchIndex(l.code); m != nil {
			return m[2], m[3], lock.without
		}
	}
	m := statementHead.FindStringSubmatchIndex(l.code)
	if m == nil {
		m = rebinding.FindStringSubmatchIndex(l.code)
	}
	if m == nil || noStatement.MatchString(l.code) || len(m) > 4 && !Names(l.code[m[1]:], l.code[m[4]:m[5]]) {
		return 0, 0, ""
	}
	from, to = m[2], statementEnd(l.all[l.at:])
	syntax := syntaxOf(file)
	if to <= from || !syntax.isComplete(l.all[l.at+from:l.at+to]) {
		return 0, 0, ""
	}
	return from, to, fmt.Sprintf(syntax.without, l.after[l.at+from:l.at+to])
}

type lock struct {
	held    *regex.Regex
	without string
}

// locks are the ways to hold a lock without a call.
var locks = [...]lock{
	{regex.New(`^\s*((?:async )?with [^:]*(?i:lock|mutex|semaphore)[^:]*):\s*$`), "if True"},
	{regex.New(`^\s*(synchronized ?\(.*\)) \{\s*$`), "if (true)"},
	{regex.New(`^\s*(?:(?:public|protected|private|static|final) )*(synchronized )[\w<]`), ""},
	{regex.New(`^\s*((?:const )?(?:std::)?(?:lock_guard|scoped_lock|unique_lock|shared_lock)\b.*;)\s*$`), ";"},
}

var (
	// statementHead matches how a statement begins that changes something or calls something.
	statementHead = regex.New(`^\s*((?:del|delete) [^=\n]+|(?:(?:await|defer|go|throw new|raise) )?[*&]?[\w$@]+(?:(?:\.|->|::|\?\.)[\w$#]+|\[[^\]\n]*\]|!)*\s*(?:(?:[-+*/|&^%]|<<|>>|\|\||\?\?|//|\*\*)?=[^=>]|\+\+|--|<- |\())`)
	rebinding     = regex.New(`^\s*(let (?:mut )?(\w+)(?:: [^=\n]+)? = )`) // of a name by itself
	noStatement   = regex.New(`^\s*(?:if|elif|else|for|while|switch|return|catch|function|func|match|assert|not|case|with)\b`)
)

// statementEnd returns the end of the first statement: the line that closes all brackets, unless a
// dot continues it. It returns 0 if too long.
func statementEnd(code string) int {
	const most = 12
	at, depth, n := 0, 0, 0
	for line := range strings.Lines(code) {
		if n++; n > most {
			return 0
		}
		for i := range len(line) {
			depth += source.Depth(line[i])
		}
		if at += len(line); depth <= 0 && !strings.HasPrefix(strings.TrimSpace(code[at:]), ".") {
			break
		}
	}
	if depth != 0 {
		return 0
	}
	return len(strings.TrimRight(code[:at], " \t\r\n"))
}

// isComplete reports whether a statement ends where it seems to, and is no function head.
func (s syntax) isComplete(statement string) bool {
	switch statement[len(statement)-1] {
	case ';':
		return true
	case '}':
		return strings.Contains(statement, "= ") && !strings.Contains(statement, "\n") && !s.semicolons
	case '+', '-':
		return len(statement) > 1 && statement[len(statement)-2] == statement[len(statement)-1] && !s.semicolons
	case '{', '(', '[', ',', '=', '*', '|', '&', ':', '\\':
		return false
	}
	return !s.semicolons
}
