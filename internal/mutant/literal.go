package mutant

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// changedValues are the numbers and comparisons in the lines that a change added, one of each a
// line: the largest number is one more, a comparison takes equality in or leaves it out.
func changedValues(file string, added []addedLine) (all []Line) {
	shell := isShell(file)
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
		for _, c := range comparisons {
			if m := c.written.FindStringSubmatchIndex(l.code); m != nil && l.inside && c.shell == shell {
				change(m[2], m[3], c.other)
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
		n, err := strconv.ParseUint(strings.ReplaceAll(code[m[2]:m[3]], "_", ""), 10, 63)
		if err == nil && (to == 0 || n > largest) {
			from, to, largest = m[2], m[3], n
		}
	}
	return from, to, strconv.FormatUint(largest+1, 10)
}

// number matches one, of which its group is what stands before the point.
var number = regex.New(`(?:^|[^\w.$])(\d[\d_]*)(?:\.\d+)?(?:[^\w.]|$)`)

// comparison is an operator, and the one that differs where both sides are equal.
type comparison struct {
	written *regex.Regex
	other   string
	shell   bool
}

var comparisons = [...]comparison{
	{regex.New(` (<=) `), "<", false},
	{regex.New(` (>=) `), ">", false},
	{regex.New(` (<) `), "<=", false},
	{regex.New(` (>) `), ">=", false},
	{regex.New(` (-le) `), "-lt", true},
	{regex.New(` (-ge) `), "-gt", true},
	{regex.New(` (-lt) `), "-le", true},
	{regex.New(` (-gt) `), "-ge", true},
}
