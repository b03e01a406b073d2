package mutant

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// Statements are the statements that a change added to functions, each of which is left out in
// its mutant.
func Statements(file string, before, after []byte) []Line {
	return statements(file, addedLines(file, before, after))
}

// statements are the statements that a change added to functions, each of which is left out in
// its mutant; of those that are alike the first. What prints, frees or hands an error on is
// none: tests seldom ask for it.
func statements(file string, added []addedLine) (all []Line) {
	seen := map[string]bool{}
	for _, l := range added {
		if !l.inside || seen[l.plain()] || seldomLeftOut.MatchString(l.plain()) {
			continue
		}
		from, to, text := l.leftOut(file)
		if to <= from {
			continue
		}
		seen[l.plain()] = true
		order := statementOrder
		if effect.MatchString(l.plain()) {
			order = effectOrder
		}
		all = append(all, l.line(order, Mutant{Other, "is left out", from, to, text}))
	}
	return all
}

var (
	seldomLeftOut = regex.New(`(?i)\berr(?:or)?\b.*(?:!=|==|!==) *(?:nil|null)|__name__|^\w*(?:log|print|puts|console|debug|warn|trace|stderr|stdout|system\.out|super)\w*[.(!:]|\b\w*(?:close|flush|free|dispose|println|printf)\(`)
	// effect matches what others see of the work: it locks, removes, writes, checks.
	effect = regex.New(`(?i)lock|synchronized|delete|remove|unlink|\brm|\bdel\b|erase|clear|evict|write|save|sync|rename|replace|\bmv\b|commit|abort|cancel|check|verif|valid|encrypt|raise|throw`)
)

// leftOut is the stretch of a statement, from the beginning of its line, and what stands in its
// place; nothing where it cannot be left out. What stands in a block that holds a lock stays.
func (l addedLine) leftOut(file string) (from, to int, text string) {
	if IsShell(file) {
		return shellStatement(l.text)
	}
	for _, lock := range locks {
		if m := lock.held.FindStringSubmatchIndex(l.code); m != nil {
			return m[2], m[3], lock.without
		}
	}
	m := statementHead.FindStringSubmatchIndex(l.code)
	if m == nil || noStatement.MatchString(l.code) {
		return 0, 0, ""
	}
	from, to = m[2], statementEnd(l.all[l.at:])
	if to <= from || !ends(file, l.all[l.at+from:l.at+to]) {
		return 0, 0, ""
	}
	return from, to, leftOut(file, string(l.after[l.at+from:l.at+to]))
}

type lock struct {
	held    *regex.Regex
	without string
}

// locks are the ways to hold a lock that are no call.
var locks = [...]lock{
	{regex.New(`^\s*((?:async )?with [^:]*(?i:lock|mutex|semaphore)[^:]*):\s*$`), "if True"},
	{regex.New(`^\s*(synchronized ?\(.*\)) \{\s*$`), "if (true)"},
	{regex.New(`^\s*(?:(?:public|protected|private|static|final) )*(synchronized )[\w<]`), ""},
	{regex.New(`^\s*((?:const )?(?:std::)?(?:lock_guard|scoped_lock|unique_lock|shared_lock)\b.*;)\s*$`), ";"},
}

var (
	// statementHead matches how a statement begins that changes something or calls something.
	statementHead = regex.New(`^\s*((?:del|delete) [^=\n]+|(?:(?:await|defer|go|throw new|raise) )?[*&]?[\w$@]+(?:(?:\.|->|::|\?\.)[\w$#]+|\[[^\]\n]*\]|!)*\s*(?:(?:[-+*/|&^%]|<<|>>|\|\||\?\?|//|\*\*)?=[^=>]|\+\+|--|<- |\())`)
	noStatement   = regex.New(`^\s*(?:if|elif|else|for|while|switch|return|catch|function|func|match|assert|not|case|with)\b`)
)

// statementEnd is the end of the statement at the beginning of code: of the line in which all
// brackets are closed, unless the next one goes on with a dot; 0 for one that is long.
func statementEnd(code string) int {
	const most = 12
	at, depth, n := 0, 0, 0
	for line := range strings.Lines(code) {
		if n++; n > most {
			return 0
		}
		for _, c := range line {
			switch {
			case strings.ContainsRune("([{", c):
				depth++
			case strings.ContainsRune(")]}", c):
				depth--
			}
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

// ends reports whether a statement ends where it seems to, and is no head of a function.
func ends(file, statement string) bool {
	switch statement[len(statement)-1] {
	case ';':
		return true
	case '}':
		return strings.Contains(statement, "= ") && !strings.Contains(statement, "\n") && !needsSemicolon(file)
	case '+', '-':
		return len(statement) > 1 && statement[len(statement)-2] == statement[len(statement)-1] && !needsSemicolon(file)
	case '{', '(', '[', ',', '=', '*', '|', '&', ':', '\\':
		return false
	}
	return !needsSemicolon(file)
}

func needsSemicolon(file string) bool {
	return slices.Contains([]string{".rs", ".c", ".cc", ".cpp", ".cxx", ".java"}, path.Ext(file))
}

func leftOut(file, statement string) string {
	switch path.Ext(file) {
	case ".py":
		return "if False: " + statement
	case ".go", ".rs":
		return "if false { " + statement + " }"
	case ".c", ".cc", ".cpp", ".cxx":
		return "if (0) { " + statement + " }"
	}
	return "if (false) { " + statement + " }"
}
