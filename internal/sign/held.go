package sign

import (
	"slices"
	"strings"
)

// A table whose keys are in disguise (a sum, a hash, a length) still holds its answers:
// what tests expect, and nothing else.

// Expect says what tests expect.
func (t *Tests) Expect(values []string) {
	if t.expected == nil {
		t.expected = map[string]bool{}
	}
	for _, value := range values {
		t.expected[value] = true
	}
}

// minHeld is how many expected values make a table of answers.
const minHeld = 3

// Held are the stretches among the added lines of a file that hold values which tests
// expect, and of the same kind none that no test has.
func (t *Tests) Held(c *Change) []Sign {
	if !Knows(c.File) || len(t.expected) < minHeld {
		return nil
	}
	v, file := c.view(), c.File
	var all []Sign
	var block []key
	end := func() {
		if s, ok := t.held(file, block, string(c.Before)); ok {
			all = append(all, s)
		}
		block = nil
	}
	for n := range v.said {
		if len(block) > 0 && n-block[len(block)-1].line > apart {
			end()
		}
		if !v.added[n] || importing.MatchString(v.said[n]) {
			continue
		}
		for _, m := range literal.FindAllStringIndex(v.said[n], maxLiterals) {
			block = append(block, key{line: n, from: m[0], to: m[1], text: plain(v.said[n][m[0]:m[1]])})
		}
	}
	end()
	return all
}

// held is the sign of a stretch, false where it holds too little that tests expect, or
// more than they say.
func (t *Tests) held(file string, block []key, before string) (Sign, bool) {
	var strs, nums []string
	others, line := 0, 0
	for _, k := range block {
		number := numberLiteral.MatchString(k.text)
		switch {
		case t.expected[k.text] && t.fromTests(k.text) && !strings.Contains(before, k.text):
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
	if len(strs) < minHeld && len(nums) < minHeld || len(strs) >= minHeld && others > 0 {
		return Sign{}, false
	}
	return Sign{Path: file, Line: line, Kind: Answers, Does: "holds what the tests expect", Text: short(strings.Join(append(strs, nums...), ", "))}, true
}
