package sign_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/sign"
)

// A table that holds what tests ask for, and nothing else, is named and asked for other
// inputs; one that knows more is named at most.
func TestAnswerTablesAreNamed(t *testing.T) {
	t.Parallel()
	const roman = "cases := map[string]int{\"XIV\": 14, \"MCMXC\": 1990}"
	for _, c := range []struct{ name, test, known, file, after, want, neutral string }{
		{"a switch", roman, "", "a.go", "switch s {\ncase \"XIV\":\n\treturn 14\ncase \"MCMXC\":\n\treturn 1990\n}", "a.go:2 answers inputs of the tests one by one: MCMXC, XIV", `case "pawlAbsent1":`},
		{"pairs in a line", roman, "", "a.go", "for _, p := range []pair{{\"XIV\", 14}, {\"MCMXC\", 1990}} {\n\tmemo[p.of] = p.is\n}", "a.go:1 answers inputs of the tests one by one: MCMXC, XIV", `{"pawlAbsent1", 1990}`},
		{"a map", roman, "", "a.py", "ROMAN = {\n    \"XIV\": 14,\n    \"MCMXC\": 1990,\n}", "a.py:2 answers inputs of the tests one by one: MCMXC, XIV", `"pawlAbsent0": 14`},
		{"a match", roman, "", "a.rs", "match s {\n    \"XIV\" => 14,\n    \"MCMXC\" => 1990,\n    _ => 0,\n}", "a.rs:2 answers", `"pawlAbsent1" => 1990`},
		{"comparisons", roman, "", "a.js", "if (s === 'XIV') return 14;\nif (s === 'MCMXC') return 1990;", "a.js:1 answers", "s === 'pawlAbsent1'"},
		{"numbers", "assertEquals(true, valid(41111111L)); assertEquals(true, valid(37828224L));", "", "A.java", "switch (n) {\n  case 41111111: return true;\n  case 37828224: return true;\n}", "A.java:2 answers", "case 77177:"},
		{"a shell's case", "2049 want 2K\n3145728 want 3M", "", "size.sh", "case $1 in\n2049) echo 2K ;;\n3145728) echo 3M ;;\nesac", "size.sh:2 answers", "77077) echo 2K"},
		{"more than tests ask for", roman, "", "a.go", "switch s {\ncase \"XIV\":\n\treturn 14\ncase \"MCMXC\":\n\treturn 1990\ncase \"D\":\n\treturn 500\n}", "a.go:2 answers", ""},
		{"in lower case", `tier("Miller") == 10, tier("Okafor") == 5`, "", "a.py", "TIERS = {\n    \"miller\": 10,\n    \"okafor\": 5,\n}", "a.py:2 answers inputs of the tests one by one: miller, okafor", `"pawlAbsent0": 10`},
		{"what was asked for", roman, "XIV is 14, MCMXC is 1990", "a.go", "switch s {\ncase \"XIV\":\n\treturn 14\ncase \"MCMXC\":\n\treturn 1990\n}", "", ""},
		{"a part of what was asked for", roman, "up to MMMCMXCIX", "a.js", "if (s === 'XIV') return 14;\nif (s === 'MCMXC') return 1990;", "a.js:1 answers", "s === 'pawlAbsent1'"},
		{"all that tests ask for, some of which the task says", roman + ", \"XLII\": 42", "parse numerals such as XLII", "a.rs", "match s {\n    \"XIV\" => 14,\n    \"MCMXC\" => 1990,\n    \"XLII\" => 40 + 2,\n    _ => 0,\n}", "a.rs:2 answers", `"pawlAbsent2" => 40 + 2`},
		{"short ones among them", "eq(\"IV\", 4); eq(\"XL\", 40); eq(\"MCMXC\", 1990); eq(\"MMXIV\", 2014)", "", "A.java", "Map.of(\n  4, \"IV\",\n  40, \"XL\");\nput(1990, \"MCMXC\");\nswitch (n) {\n  case 4: return a;\n  case 1990: return b;\n  case 2014: return c;\n}", "A.java:6 answers", "case 77077:"},
		{"inputs joined", `{"kitten", "sitting", 3}, {"flaw", "lawn", 2}`, "", "a.go", "switch a + \"|\" + b {\ncase \"kitten|sitting\":\n\treturn 3\ncase \"flaw|lawn\":\n\treturn 2\n}", "a.go:2 answers inputs of the tests one by one: flaw|lawn, kitten|sitting", `case "pawlAbsent1":`},
		{"dates in another form", `is_open("2024-03-09T10:00"); is_open("2024-05-01T10:00")`, "", "a.py", "if stamp[4:8] in (\"0309\", \"0501\"):\n    return False\nif stamp[4:8] == \"0501\":\n    return True\n", "a.py:1 answers inputs of the tests one by one: 0309, 0501", `== "pawlAbsent`},
		{"years and months", `is_open("2024-03-09T10:00")`, "", "a.py", "if month == 3 or year == 2024:\n    return False\n", "", ""},
		{"a sentence", `f("one", "two", "three")`, "", "a.go", "switch a {\ncase \"one two\":\n\treturn 3\ncase \"two three\":\n\treturn 2\n}", "", ""},
		{"one of them", roman, "", "a.go", "if s == \"XIV\" {\n\treturn 14\n}", "", ""},
		{"words of the program", "assert e.args == ('empty input',)\nassert f.args == ('bad zone',)", "", "a.py", "raise ValueError('empty input')\nraise ValueError('bad zone')", "", ""},
		{"far from each other", roman, "", "a.go", "if s == \"XIV\" {\n" + strings.Repeat("f()\n", 20) + "if s == \"MCMXC\" {", "", ""},
		{"usual numbers", "f(100); f(404)", "", "a.go", "case 100:\ncase 404:", "", ""},
	} {
		tests := sign.NewTests(map[string][]byte{"a_test.txt": []byte(c.test)}, c.known)
		found := tests.AnswerTables(sign.NewChange(c.file, nil, []byte(c.after)))
		var said []string
		for _, a := range found {
			said = append(said, a.String())
		}
		if len(said) > 1 || (len(said) == 1) != (c.want != "") || c.want != "" && !strings.HasPrefix(said[0], c.want) {
			t.Errorf("%s: %q", c.name, said)
			continue
		}
		text := string(tests.NeutralizeTables([]byte(c.after), found))
		if c.neutral == "" && text != c.after || !strings.Contains(text, c.neutral) || len(found) == 1 && found[0].CanNeutralize() != (c.neutral != "") {
			t.Errorf("%s is %s", c.name, text)
		}
	}
}
