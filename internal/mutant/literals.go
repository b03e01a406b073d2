package mutant

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// Literal is a value in an added line, with mutants that give it another one.
type Literal struct {
	Line
	Value     string
	Variable  string // that a function begins with the value; "" = none
	Constant  string // outside of functions, that has the value; "" = none
	StaysZero bool   // the variable is zero all the time
	Mutants   []Mutant
}

// Literals returns the numbers of a file's added lines, and what variables of functions begin with.
func Literals(file string, before, after []byte) (all []Literal) {
	for _, l := range addedLines(file, before, after) {
		if noLiterals.MatchString(l.code) || seldomLeftOut.MatchString(l.trimmed()) {
			continue
		}
		add := func(variable string, from, to int, others ...string) {
			v := Literal{Line: l.line(valueOrder, Mutant{}), Value: plainNumber(l.text[from:to]), Variable: variable}
			for _, other := range others {
				v.Mutants = append(v.Mutants, l.line(valueOrder, Mutant{Other, fmt.Sprintf("has %s for %s", cmp.Or(other, "nothing"), v.Value), from, to, other}).Mutant)
			}
			if m := namedConstant.FindStringSubmatch(l.code[:from]); m != nil && l.function.name == "" {
				v.Constant = m[1] + m[2]
			}
			all = append(all, v)
		}
		if IsShell(file) {
			if m := shellVariable.FindStringSubmatchIndex(l.text); m != nil {
				add(l.text[m[2]:m[3]], m[4], m[5], "")
			}
			continue
		}
		first := firstValue.FindStringSubmatchIndex(l.code)
		for _, m := range number.FindAllStringSubmatchIndex(l.code, -1) {
			if n, err := strconv.ParseInt(plainNumber(l.code[m[2]:m[3]]), 10, 63); err == nil {
				variable := ""
				if first != nil && l.inChanged && first[4] == m[2] {
					variable = l.code[first[2]:first[3]]
				}
				others := []string{fmt.Sprint(n + 1)}
				if n > 0 {
					others = append(others, fmt.Sprint(n-1))
				}
				add(variable, m[2], m[3], others...)
				all[len(all)-1].StaysZero = n == 0 && variable != "" && staysAsItBegins(l.function.code, variable)
			}
		}
		if first != nil && l.inChanged {
			if other := negations[l.code[first[4]:first[5]]]; other != "" {
				add(l.code[first[2]:first[3]], first[4], first[5], other)
			}
		}
	}
	return all
}

// staysAsItBegins reports whether a function reads a variable and sets it nowhere but at its first place.
func staysAsItBegins(code, variable string) bool {
	name := regexp.QuoteMeta(variable)
	places := regex.New(`\b`+name+`\b`).FindAllStringIndex(code, 2)
	sets := regex.New(`&(?:mut )?` + name + `\b|(?:\+\+|--)` + name + `\b|\b` + name + `\b\s*(?:,[^=\n]*)?(?:(?:[-+*/%|&^]|<<|>>|\|\||:)?=[^=]|\+\+|--)|\b(?:nonlocal|global|for)\b[^\n]*\b` + name + `\b`)
	return len(places) > 1 && !sets.MatchString(code[places[0][1]:])
}

func plainNumber(text string) string { return strings.ReplaceAll(text, "_", "") }

var (
	firstValue    = regex.New(`^\s*(?:(?:let|var|const|mut|final|auto|int|long|bool|boolean)\s+)*([A-Za-z_]\w+)\s*(?::\s*\w+\s*)?:?=\s*(\d+|true|false|True|False)\s*;?\s*$`)
	namedConstant = regex.New(`^\s*(?:(?:export|pub|public|private|protected|static|final|const|constexpr|let|var|val|readonly)\s+)*(?:(?:unsigned\s+)?(?:int|long|double|float|size_t|uint\w*)\s+)?([A-Za-z_]\w*)\b[^=]*?:?=[^=]|^\s*#\s*define\s+(\w+)`)
	shellVariable = regex.New(`^\s*(?:local\s+)?([A-Za-z_]\w+)=([^\s"'$;()]+)\s*$`)
)

// negations map truth values to the other one.
var negations = map[string]string{"true": "false", "false": "true", "True": "False", "False": "True"}

// valueMutants returns one mutant of a number and one of a comparison per added line: the largest
// number one more, equality included or excluded. Without a comparison, a truth value flips.
func valueMutants(file string, added []addedLine) (all []Line) {
	shell := IsShell(file)
	for _, l := range added {
		if noLiterals.MatchString(l.code) || seldomLeftOut.MatchString(l.trimmed()) {
			continue
		}
		change := func(from, to int, text string) {
			all = append(all, l.line(valueOrder, Mutant{Other, fmt.Sprintf("has %s for %s", text, l.code[from:to]), from, to, text}))
		}
		if from, to, text := largestNumber(l.code); to > from && !shell {
			change(from, to, text)
		}
		for _, o := range opposites {
			if m := o.written.FindStringSubmatchIndex(l.code); m != nil && l.inChanged && o.shell == shell {
				change(m[2], m[3], o.other)
				break
			}
		}
	}
	return all
}

// noLiterals matches lines whose values do not affect the program, and loops, which could exceed
// their data.
var noLiterals = regex.New(`^\s*(?:import|from|use|package|#\s*(?:include|if|pragma|!)|for|while|@)`)

// largestNumber returns the range of the largest decimal number in a line, and one more.
func largestNumber(code string) (from, to int, text string) {
	largest := uint64(0)
	for _, m := range number.FindAllStringSubmatchIndex(code, -1) {
		if inRange.MatchString(code[:m[2]]) {
			continue
		}
		n, err := strconv.ParseUint(strings.ReplaceAll(code[m[2]:m[3]], "_", ""), 10, 63)
		if err == nil && (to == 0 || n > largest) {
			from, to, largest = m[2], m[3], n
		}
	}
	return from, to, strconv.FormatUint(largest+1, 10)
}

// inRange matches what precedes the end of a regular expression's range: [0-9].
var inRange = regex.New(`\[[^\]]*\d-$`)

// number matches a number; its group is the part before the point.
var number = regex.New(`(?:^|[^\w.$])(\d[\d_]*)(?:\.\d+)?(?:[^\w.]|$)`)

// opposite is an operator and the one that differs for equal operands, or two truth values.
type opposite struct {
	written *regex.Regex
	other   string
	shell   bool
}

var opposites = [...]opposite{
	{regex.New(` (<=) `), "<", false},
	{regex.New(` (>=) `), ">", false},
	{regex.New(` (<) `), "<=", false},
	{regex.New(` (>) `), ">=", false},
	{regex.New(` (-le) `), "-lt", true},
	{regex.New(` (-ge) `), "-gt", true},
	{regex.New(` (-lt) `), "-le", true},
	{regex.New(` (-gt) `), "-ge", true},
	{regex.New(`\b(true)\b`), "false", false},
	{regex.New(`\b(false)\b`), "true", false},
	{regex.New(`\b(True)\b`), "False", false},
	{regex.New(`\b(False)\b`), "True", false},
}
