package mutant

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// Branches returns the conditions of a file, each with a mutant that never holds. An
// input-independent one also gets a mutant that always holds. It omits error handling, logging,
// locks and cleanup: tests seldom check these.
func Branches(file string, before, after []byte) []Line {
	return branches(file, addedLines(file, before, after))
}

func branches(file string, added []addedLine) (conditions []Line) {
	shell, syntax := IsShell(file), syntaxOf(file)
	var around surroundings
	if len(added) > 0 {
		around = newSurroundings(file, added[0].after)
	}
	for _, l := range added {
		if !l.inChanged || seldomTested.MatchString(l.trimmed()) || l.asksForMemory() {
			continue
		}
		line := l.code
		if from, to := lastOperand(line); to > from {
			conditions = append(conditions, l.line(conditionOrder, Mutant{Other, "does not ask for its last condition", from, to, ""}))
		}
		if at := matchArm(syntax.arm, line); at > 0 {
			conditions = append(conditions, l.line(conditionOrder, Mutant{Other, "is never chosen", at, at, syntax.unchosen}))
		}
		from, to := condition(file, line)
		choice := to <= from
		if choice {
			from, to = ternaryCondition(file, line)
		}
		blind := !shell && to > from && l.function.inputIndependent(file, l.all, line[from:to])
		if !shell && !blind {
			conditions = append(conditions, around.operands(l, syntax)...)
		}
		if to <= from || choice && !blind {
			continue
		}
		b := l.line(conditionOrder, Mutant{Other, "never holds", from, to, fmt.Sprintf(syntax.never, l.text[from:to])})
		b.WholeCondition, b.InputIndependent = true, blind
		b.Shortcut = leavesEarly(l.all[l.at+to:]) && l.function.readsInput(line[from:to])
		if conditions = append(conditions, b); blind {
			b.Mutant.Does, b.Mutant.text = "always holds", fmt.Sprintf(syntax.always, l.text[from:to])
			conditions = append(conditions, b)
		}
	}
	return conditions
}

// leavesEarly reports whether a condition, with this code behind it, only returns a result or continues
// with a loop. A returned error is a refusal, which tests can see.
func leavesEarly(code string) bool {
	leaves := leaving.FindString(code)
	return leaves != "" && !returnedError.MatchString(leaves)
}

var (
	leaving       = regex.New(`^[\s){:;]*(?:then\s+)?(?:return\b[^\n]*|continue\b|break\b)`)
	returnedError = regex.New(`(?i)err|fail|throw`)
)

// seldomTested matches lines that tests seldom check.
var seldomTested = regex.New(`(?i)\berr(?:or)?\b.*(?:!=|==|!==) *(?:nil|null)|\bif \(?(?:err|error)\)?|__name__|\b\w*(?:log|print|puts|console|debug|warn|trace)\w*[.(!]|\$#|\b\w*(?:lock|close|flush|free|cancel|dispose|super)\w*\(`)

// asksForMemory reports whether a condition of C only asks if there was memory: no test can take it
// away.
func (l addedLine) asksForMemory() bool {
	m := nullCheck.FindStringSubmatch(l.code)
	if m == nil {
		return false
	}
	for _, a := range allocation.FindAllStringSubmatch(l.all[:l.at], -1) {
		if a[1] == m[1]+m[2]+m[3] {
			return true
		}
	}
	return false
}

var (
	nullCheck  = regex.New(`^\s*if \((?:!\s*([\w>.-]+)|([\w>.-]+) == (?:NULL|nullptr)|NULL == ([\w>.-]+))\)`)
	allocation = regex.New(`([\w>.-]+)\s*=\s*(?:\([^()]*\)\s*)?\w*(?:alloc|strdup|strndup)\w*\s*\(`)
)

// condition returns the range of a condition inside one line, or nothing.
func condition(file, line string) (from, to int) {
	m := syntaxOf(file).condition.FindStringSubmatchIndex(line)
	switch {
	case m == nil:
		return 0, 0
	case len(m) == 2:
		return m[1], source.Source{Text: line, Code: line}.Parens(m[1]-1) - 1
	}
	from, to = m[2], m[3]
	return from + strings.LastIndexByte(line[from:to], ';') + 1, to
}

// matchArm returns where a guard fits in an arm of a match; 0 without an arm, or for a default arm.
func matchArm(arm *regex.Regex, line string) int {
	if arm == nil {
		return 0
	}
	m := arm.FindStringSubmatchIndex(line)
	if m == nil || remaining.MatchString(line[m[2]:m[3]]) {
		return 0
	}
	return m[3]
}

var remaining = regex.New(`^(?:_|[a-z_]+)$|\bif\b|^\.|\|_?\w*\|`)

// lastOperand returns the range of the last operand of a condition, with its operator.
func lastOperand(line string) (from, to int) {
	m := operandLine.FindStringSubmatchIndex(line)
	if m == nil || strings.Count(line[m[2]:m[3]], "(") != strings.Count(line[m[2]:m[3]], ")") {
		return 0, 0
	}
	return m[2], m[3]
}

var operandLine = regex.New(`^\s*(?:return\b|(?:const|let|var)?\s*\w+\s*:?=[^=]|\w+ && ).*?\S(\s+(?:&&|and)\s[^&|]+?);?\s*$`)

// ternaryCondition is where the condition of an expression stands that has one of two values.
func ternaryCondition(file, line string) (from, to int) {
	if path.Ext(file) == ".py" {
		if m := chosenBehind.FindStringSubmatchIndex(line); m != nil {
			return m[2], m[3]
		}
		return 0, 0
	}
	to, depth := strings.Index(line, " ? "), 0
	for from = to; from > 0; from-- {
		depth -= source.Depth(line[from-1])
		if before := line[:from]; depth < 0 || depth == 0 && beginsChoice.MatchString(before) {
			break
		}
	}
	if to < 0 || !strings.Contains(line[to:], " : ") {
		return 0, 0
	}
	return from, to
}

var (
	chosenBehind = regex.New(`\S if (.+?) else `)
	beginsChoice = regex.New(`(?:\breturn |[^=!<>]= |=> |, |; ?|\? |: )$`)
)

// A condition that ignores the function's input and the program's state asks where the program runs.
// Tests run in one place, so they see only one of its sides.

// inputIndependent reports whether a condition ignores the function's input. It says no for methods
// in languages where members look like variables.
func (f function) inputIndependent(file, code, condition string) bool {
	if source.HasExtension("*.java "+clang, file) && strings.ContainsAny(f.name, ".:") {
		return false
	}
	if platformCheck.MatchString(condition) || f.readsInput(condition) {
		return false
	}
	asks := false
	for _, at := range identifiers.FindAllStringIndex(condition, -1) {
		name, before, after := condition[at[0]:at[1]], condition[:at[0]], condition[at[1]:]
		switch {
		case ofLanguage.MatchString(name), isMember.MatchString(before):
			continue
		case !strings.HasPrefix(after, "(") && isStored(code, name):
			return false
		}
		asks = true
	}
	return asks
}

// readsInput reports whether a condition reads a parameter, a variable or the object of the function.
func (f function) readsInput(condition string) bool {
	head, _, _ := strings.Cut(f.text, "\n")
	given := append(identifiers.FindAllString(head+" "+f.params, -1), "self", "this")
	for _, m := range boundVariables.FindAllStringSubmatch(f.code, -1) {
		given = append(given, identifiers.FindAllString(m[0], -1)...)
	}
	return slices.ContainsFunc(identifiers.FindAllStringIndex(condition, -1), func(at []int) bool {
		name, before := condition[at[0]:at[1]], condition[:at[0]]
		return !ofLanguage.MatchString(name) && !isMember.MatchString(before) && slices.Contains(given, name)
	})
}

// isStored reports whether a function of the file sets a variable or changes its content.
func isStored(code, name string) bool {
	return regex.New(`(?m)^[ \t]+(?:.*\W)?` + name + `(?:\.(?:push|set|add|append|store|insert|update|clear|put)\w*\(|(?:\[[^\]]*\]|\.\w+)?\s*(?:[-+*/|&^]?=[^=>]|\+\+|--))`).MatchString(code)
}

var (
	// boundVariables matches assignments to variables of a function.
	boundVariables = regex.New(`(?m)[\w$, \t*&\[\]{}:<>]*(?:[-+*/|&^]|<<|>>)?=[^=>]|\b(?:for|with|as|catch|except|let|case|def|fn|func|function|range)\b[^;{:=]*|[\w$]+(?:, *[\w$]+)*\)?\s*=>|\|[\w, &]+\||\blambda\b[^:]*`)
	// platformCheck matches conditions about the operating system, which a test may not have, and
	// about command arguments.
	platformCheck = regex.New(`(?i)GOOS|GOARCH|platform|os\.name|_WIN32|windows|darwin|linux|geteuid|getuid|is_?root|is_?a?tty|\bargs?\b|\bargv\b|\bargc\b|stdin|\bopt\w*\b|terminal|\bdebug\b|verbose|quiet|version|color|__name__|\btrue\b|\bfalse\b`)
	isMember      = regex.New(`(?:\.|->|::)$`) // what stands before a member
	ofLanguage    = regex.New(`^(?:not|and|or|in|is|if|else|None|null|nullptr|NULL|nil|undefined|typeof|instanceof|len|std|\d.*)$`)
)
