package mutant

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// changedValues are the numbers and comparisons in the lines that a change added, one of each a
// line: the largest number is one more, a comparison takes equality in or leaves it out. Where
// nothing is compared, a truth value is the other one.
func changedValues(file string, added []addedLine) (all []Line) {
	shell := IsShell(file)
	for _, l := range added {
		if noLiterals.MatchString(l.code) || seldomLeftOut.MatchString(l.plain()) {
			continue
		}
		change := func(from, to int, text string) {
			all = append(all, l.line(valueOrder, Mutant{Other, fmt.Sprintf("has %s for %s", text, l.code[from:to]), from, to, text}))
		}
		if from, to, text := largestNumber(l.code); to > from && !shell {
			change(from, to, text)
		}
		for _, o := range opposites {
			if m := o.written.FindStringSubmatchIndex(l.code); m != nil && l.inside && o.shell == shell {
				change(m[2], m[3], o.other)
				break
			}
		}
	}
	return all
}

// noLiterals matches lines whose values are no part of what the program does, and loops, which
// would go beyond what there is.
var noLiterals = regex.New(`^\s*(?:import|from|use|package|#\s*(?:include|if|pragma|!)|for|while|@)`)

// largestNumber is the largest decimal number of a line, and the text of one more.
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

// inRange matches what stands before the end of a range of a regular expression: [0-9].
var inRange = regex.New(`\[[^\]]*\d-$`)

// number matches one, of which its group is what stands before the point.
var number = regex.New(`(?:^|[^\w.$])(\d[\d_]*)(?:\.\d+)?(?:[^\w.]|$)`)

// opposite is an operator with the one that differs where both sides are equal, or a truth value
// with the other.
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
