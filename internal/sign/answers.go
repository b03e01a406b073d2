package sign

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// A program can contain the answers to its tests: a table of their inputs. Tables have honest uses, so a table is a sign only if its keys occur in tests
// and not in the task or in documents.

// Tests holds the content of test files, for the signs that compare with it.
type Tests struct {
	literals    map[string]bool    // strings and numbers
	dates       string             // digits of those that are dates, joined by spaces
	expected    map[string]bool    // values that tests expect, see AddExpected
	rows        map[[2]string]bool // inputs with what tests expect for them
	knownText   string             // task and documents, in lower case
	requestText string             // task, documents and tests
}

// maxLiterals bounds the literals that are read from one test file.
const maxLiterals = 5000

// NewTests reads test files, given by name. known is the text of the task and of documents: a
// program may take values from there.
func NewTests(files map[string][]byte, known string) *Tests {
	t := &Tests{literals: map[string]bool{}, expected: map[string]bool{}, rows: map[[2]string]bool{}, knownText: strings.ToLower(known), requestText: known}
	for name, content := range files {
		text := string(content)
		t.requestText += "\n" + text
		words := literal.FindAllString(text, maxLiterals)
		if !IsProgram(name) || source.HasExtension(shell, name) {
			words = append(words, strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n,;\"'|=", r) })...)
		}
		for _, word := range words[:min(len(words), maxLiterals)] {
			value := literalValue(word)
			t.literals[value], t.literals[strings.ToLower(value)] = true, true // a program may look it up in lower case
			if isDate.MatchString(value) {
				t.dates += " " + nonDigits.ReplaceAllString(value, "")
			}
		}
	}
	return t
}

var (
	literal       = regex.New(literals)
	numberLiteral = regex.New(`^` + number + `$`)
	numberSuffix  = regex.New(`(?:[uU]?[lL]|[fFn]|[iuf](?:8|16|32|64|size))$`)
	isDate        = regex.New(`^\d{4}-\d\d-\d\d`)
	partOfDate    = regex.New(`^\d{4,}$`)
	nonDigits     = regex.New(`\D`)
)

const (
	number   = `-?(?:0[xX][0-9a-fA-F_]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d{1,2})?)(?:[uU]?[lL]|[fFn]|_?[iuf](?:8|16|32|64|size))?`
	text     = `"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|` + "`[^`\n]*`"
	literals = text + `|\b` + number + `\b`
)

// literalValue returns a literal without its quotes, and a number in decimal.
func literalValue(word string) string {
	if len(word) > 1 && strings.ContainsRune("\"'`", rune(word[0])) {
		return word[1 : len(word)-1]
	}
	if !numberLiteral.MatchString(word) {
		return word
	}
	word = strings.ReplaceAll(word, "_", "")
	if !strings.HasPrefix(word, "0x") {
		word = numberSuffix.ReplaceAllString(word, "")
	}
	if n, err := strconv.ParseUint(word, 0, 64); err == nil {
		return strconv.FormatUint(n, 10)
	}
	if f, err := strconv.ParseFloat(word, 64); err == nil && strings.ContainsAny(word, "eE") {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return word
}

// IsRequested reports whether the task, a document or a test asks for what a sign names.
func (t *Tests) IsRequested(s Sign) bool {
	if s.AllowedBy == "" {
		return false
	}
	text := t.requestText
	if s.OnlyTaskAllows {
		text = t.knownText
	}
	re, err := regexp.Compile(s.AllowedBy)
	return err == nil && re.MatchString(text)
}

// isOnlyInTests reports whether a literal is specific, occurs in tests, and does not occur in
// the task or in documents.
func (t *Tests) isOnlyInTests(lit string) bool {
	if !t.contains(lit) || slices.Contains(strings.Fields(commonNumbers), lit) {
		return false
	}
	if numberLiteral.MatchString(lit) && len(lit) < 3 || len([]rune(lit)) < 2 {
		return false
	}
	return !source.HasWord(t.knownText, strings.ToLower(lit))
}

// contains reports whether tests contain a literal, each of the words that it joins ("kitten|sitting"), or a
// date of which it is a part ("0309").
func (t *Tests) contains(lit string) bool {
	if t.literals[lit] || t.literals[strings.ToLower(lit)] || partOfDate.MatchString(lit) && strings.Contains(t.dates, lit) {
		return true
	}
	words := strings.FieldsFunc(lit, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return len(words) > 1 && !strings.Contains(lit, " ") && !slices.ContainsFunc(words, func(w string) bool { return len(w) < 2 || !t.literals[w] })
}

// commonNumbers are too common to show that a program has them from tests.
const commonNumbers = "100 1000 10000 100000 1000000 128 256 512 1024 2048 4096 255 365 366 360 180 3600 86400 1900 1970 2000 0.5 0.1 200 404 500"

// AnswerTable is a table with answers to tests.
type AnswerTable struct {
	Sign
	keys []tableKey
}

// tableKey is a literal by which a table is looked up.
type tableKey struct {
	line, from, to int // bytes in the line
	text           string
}

// maxRowGap is the maximum distance in lines between two rows of a table.
const maxRowGap = 4

// AnswerTables returns the tables in the added lines of a file that contain inputs of tests, as
// plain text or as hashes.
func (t *Tests) AnswerTables(c *Change) (all []AnswerTable) {
	v := c.view()
	for _, table := range v.blocks(func(n int) []tableKey { return t.lineKeys(v, n) }) {
		if a, ok := t.tableSign(c.File, table, string(c.Before)); ok {
			all = append(all, a)
		}
	}
	return all
}

// blocks returns the literals that keys finds in the added lines, those of close lines together.
func (v *view) blocks(keys func(line int) []tableKey) (all [][]tableKey) {
	for n, added := range v.added {
		if !added {
			continue
		}
		for _, k := range keys(n) {
			if last := len(all) - 1; last >= 0 && n-all[last][len(all[last])-1].line <= maxRowGap {
				all[last] = append(all[last], k)
			} else {
				all = append(all, []tableKey{k})
			}
		}
	}
	return all
}

// tableSign returns the sign of a table, or false if it has too few inputs of tests. The table can
// be neutralized only if tests contain all of its keys, and most keys occur nowhere else: else
// it may do more than tests check.
func (t *Tests) tableSign(file string, table []tableKey, before string) (AnswerTable, bool) {
	var found []string
	for _, k := range table {
		if t.isOnlyInTests(k.text) && !strings.Contains(before, k.text) {
			found = append(found, k.text)
		}
	}
	slices.Sort(found)
	found = slices.Compact(found)
	if len(found) < 2 {
		return AnswerTable{}, false
	}
	const does = "answers inputs of the tests one by one"
	a := AnswerTable{Sign: Sign{Path: file, Line: table[0].line + 1, Kind: Answers, Does: does, Text: truncate(strings.Join(found, ", "))}}
	keys := map[string]bool{}
	for _, k := range table {
		keys[k.text] = true
	}
	if 2*len(found) > len(keys) && !slices.ContainsFunc(table, func(k tableKey) bool { return !t.contains(k.text) }) {
		a.keys = table
	}
	return a, true
}

// lineKeys returns the literals in a line that are compared with, or used as keys.
func (t *Tests) lineKeys(v *view, n int) (keys []tableKey) {
	line := v.uncommented[n]
	if len(line) > maxLine {
		return nil
	}
	for _, re := range keyPatterns() {
		for _, m := range re.FindAllStringSubmatchIndex(line, -1) {
			for i := 2; i < len(m); i += 2 {
				if m[i] >= 0 {
					keys = append(keys, tableKey{line: n, from: m[i], to: m[i+1], text: literalValue(line[m[i]:m[i+1]])})
				}
			}
		}
	}
	slices.SortStableFunc(keys, func(a, b tableKey) int { return a.from - b.from })
	return slices.CompactFunc(keys, func(a, b tableKey) bool { return a.from == b.from })
}

// keyPatterns match a literal used as a case, as a key, or in a comparison.
var keyPatterns = sync.OnceValue(func() []*regex.Regex {
	one := `(` + text + `|` + number + `)`
	var all []*regex.Regex
	for _, form := range []string{
		`\b(?:case|when)\s+ONE`, `(?:\bcase\b.*),\s*ONE`, `ONE\s*(?:=>|->)`, `TEXT\s*:\s*(?:\[|\{|\(|-?\w|"|')`, `(?:^|[^\[\d.])NUMBER\s*:\s*(?:\[|\{|\(|-?\w|"|')`, `[=!]==?\s*ONE`, `ONE\s*[=!]==?`,
		`(?:\.equals|\.put|\bMap\.entry|\bentry)\(\s*ONE`, `\[ONE\]\s*=[^=]`, `(?:^|\bin)\s*[\[{(]\s*ONE\s*,`, `\{\s*ONE\s*,`, `^\s*\(?([^\s()"'$]{2,})\)`,
	} {
		all = append(all, regex.New(strings.NewReplacer("ONE", one, "TEXT", `(`+text+`)`, "NUMBER", `(`+number+`)`).Replace(form)))
	}
	return all
})

// NeutralizeTables returns the file with other keys in these tables. It does not add or remove
// lines.
func (t *Tests) NeutralizeTables(after []byte, tables []AnswerTable) []byte {
	lines := strings.Split(string(after), "\n")
	for _, a := range tables {
		for i, k := range slices.Backward(a.keys) {
			line := lines[k.line]
			if k.to > len(line) {
				continue
			}
			lines[k.line] = line[:k.from] + unusedLiteral(line[k.from:k.to], i) + line[k.to:]
		}
	}
	return []byte(strings.Join(lines, "\n"))
}

// CanNeutralize reports whether NeutralizeTables can change the table: tests contain all of its
// keys.
func (a AnswerTable) CanNeutralize() bool { return len(a.keys) > 0 }

// unusedLiteral returns a literal of the same kind that occurs nowhere.
func unusedLiteral(lit string, i int) string {
	switch {
	case strings.ContainsRune("\"'`", rune(lit[0])):
		return lit[:1] + fmt.Sprint(absent, i) + lit[len(lit)-1:]
	case numberLiteral.MatchString(lit) && strings.Contains(lit, "."):
		return fmt.Sprintf("77%d77.25", i)
	case numberLiteral.MatchString(lit):
		return fmt.Sprintf("77%d77", i)
	}
	return fmt.Sprint(absent, i)
}
