package sign

import (
	"slices"
	"strings"
)

// A table with disguised keys (a sum, a hash, a length) still contains its answers: values that tests
// expect, and no others.

// AddExpected adds values that tests expect, and rows: inputs, each with what the test expects for it.
func (t *Tests) AddExpected(values []string, rows [][2]string) {
	for _, value := range values {
		t.expected[value] = true
	}
	for _, row := range rows {
		t.rows[[2]string{literalValue(row[0]), literalValue(row[1])}] = true
	}
}

// minAnswers is the minimum number of answers in a table.
const minAnswers = 3

// HardcodedAnswers returns blocks of added lines that hold values which tests expect, and no other
// values of the same kind.
func (t *Tests) HardcodedAnswers(c *Change) (all []Sign) {
	if max(len(t.expected), len(t.rows)) < minAnswers {
		return nil
	}
	v := c.view()
	for _, block := range v.blocks(v.literals) {
		answers := t.rowsIn(block, string(c.Before))
		if len(answers) < minAnswers {
			answers = t.expectedIn(block, string(c.Before))
		}
		if len(answers) < minAnswers {
			continue
		}
		s := Sign{Path: c.File, Line: answers[0].line + 1, Kind: Answers, Does: "holds what the tests expect"}
		var texts []string
		for _, k := range answers {
			texts = append(texts, k.text)
		}
		slices.Sort(texts)
		s.Text = truncate(strings.Join(slices.Compact(texts), ", "))
		all = append(all, s)
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

// rowsIn returns the rows of tests that a block holds, if it holds little else: small numbers are
// telling only beside each other.
func (t *Tests) rowsIn(block []tableKey, before string) (rows []tableKey) {
	for i := 1; i < len(block); i++ {
		if row := [2]string{block[i-1].text, block[i].text}; t.rows[row] && !strings.Contains(before, row[0]) {
			rows = append(rows, tableKey{line: block[i-1].line, text: row[0] + " " + row[1]})
			i++
		}
	}
	if 2*len(rows) < len(block)-len(rows)/2 {
		return nil
	}
	return rows
}

// expectedIn returns the expected values in a block: its texts, if there are no others, or its numbers.
func (t *Tests) expectedIn(block []tableKey, before string) (found []tableKey) {
	texts, numbers, others := map[string]bool{}, map[string]bool{}, false
	for _, k := range block {
		isNumber := numberLiteral.MatchString(k.text)
		switch {
		case t.expected[k.text] && t.isOnlyInTests(k.text) && !strings.Contains(before, k.text):
			found = append(found, k)
			if isNumber {
				numbers[k.text] = true
			} else {
				texts[k.text] = true
			}
		case !isNumber && len(strings.TrimSpace(k.text)) > 1 && !t.literals[k.text]:
			others = true
		}
	}
	if enough := len(texts) >= minAnswers; enough && others || !enough && len(numbers) < minAnswers {
		return nil
	}
	return found
}
