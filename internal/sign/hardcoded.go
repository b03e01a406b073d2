package sign

import (
	"slices"
	"strings"
)

// A table with disguised keys (a sum, a hash, a length) still contains its answers: values
// that tests expect, and no others.

// AddExpected adds values that tests expect.
func (t *Tests) AddExpected(values []string) {
	if t.expectedValues == nil {
		t.expectedValues = map[string]bool{}
	}
	for _, value := range values {
		t.expectedValues[value] = true
	}
}

// minExpectedValues is the minimum number of expected values in a table of answers.
const minExpectedValues = 3

// HardcodedAnswers returns blocks of added lines that contain values which tests expect, and no
// other values of the same kind.
func (t *Tests) HardcodedAnswers(c *Change) (all []Sign) {
	if len(t.expectedValues) < minExpectedValues {
		return nil
	}
	v := c.view()
	for _, block := range v.blocks(v.literals) {
		if s, ok := t.hardcodedSign(c.File, block, string(c.Before)); ok {
			all = append(all, s)
		}
	}
	return all
}

// literals returns the literals of a line that is no import.
func (v *view) literals(n int) (all []tableKey) {
	line := v.uncommented[n]
	if importLine.MatchString(line) {
		return nil
	}
	for _, m := range literal.FindAllStringIndex(line, maxLiterals) {
		all = append(all, tableKey{line: n, from: m[0], to: m[1], text: literalValue(line[m[0]:m[1]])})
	}
	return all
}

// hardcodedSign returns the sign of a block, or false if it has too few expected values or also
// other ones.
func (t *Tests) hardcodedSign(file string, block []tableKey, before string) (Sign, bool) {
	var strs, nums []string
	others, line := 0, 0
	for _, k := range block {
		number := numberLiteral.MatchString(k.text)
		switch {
		case t.expectedValues[k.text] && t.isOnlyInTests(k.text) && !strings.Contains(before, k.text):
			if len(strs)+len(nums) == 0 {
				line = k.line + 1
			}
			if number {
				nums = append(nums, k.text)
			} else {
				strs = append(strs, k.text)
			}
		case !number && len(strings.TrimSpace(k.text)) > 1 && !t.literals[k.text]:
			others++
		}
	}
	for _, list := range []*[]string{&strs, &nums} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	if len(strs) < minExpectedValues && len(nums) < minExpectedValues || len(strs) >= minExpectedValues && others > 0 {
		return Sign{}, false
	}
	return Sign{Path: file, Line: line, Kind: Answers, Does: "holds what the tests expect", Text: truncate(strings.Join(append(strs, nums...), ", "))}, true
}
