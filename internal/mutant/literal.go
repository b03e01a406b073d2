package mutant

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

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
