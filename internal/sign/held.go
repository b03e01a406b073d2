package sign

import (
	"slices"
	"strings"
)

// A table whose keys are in disguise (a sum, a hash, a length) still holds its answers:
// what tests expect, and nothing else.

// AddExpected says what tests expect.
func (t *Tests) AddExpected(values []string) {
	if t.expectedValues == nil {
		t.expectedValues = map[string]bool{}
	}
	for _, value := range values {
		t.expectedValues[value] = true
	}
}

// minExpectedValues is how many expected values make a table of answers.
const minExpectedValues = 3

// HardcodedAnswers are the stretches among the added lines of a file that hold values which tests
// expect, and of the same kind none that no test has.
func (t *Tests) HardcodedAnswers(c *Change) []Sign {
	if !IsProgram(c.File) || len(t.expectedValues) < minExpectedValues {
		return nil
	}
	v, file := c.view(), c.File
	var all []Sign
	var block []tableKey
	end := func() {
		if s, ok := t.hardcodedSign(file, block, string(c.Before)); ok {
			all = append(all, s)
		}
		block = nil
	}
	for n := range v.uncommented {
		if len(block) > 0 && n-block[len(block)-1].line > maxRowGap {
			end()
		}
		if !v.added[n] || importLine.MatchString(v.uncommented[n]) {
			continue
		}
		for _, m := range literal.FindAllStringIndex(v.uncommented[n], maxLiterals) {
			block = append(block, tableKey{line: n, from: m[0], to: m[1], text: literalValue(v.uncommented[n][m[0]:m[1]])})
		}
	}
	end()
	return all
}

// hardcodedSign is the sign of a stretch, false where it holds too little that tests expect, or
// more than they say.
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
