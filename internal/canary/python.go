package canary

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// pythonAssertions are what unittest compares with.
var pythonAssertions = []assertion{
	{"assertEqual", `self.assertEqual(int("ONE"), int("TWO"))`},
	{"assertEquals", `self.assertEquals(int("ONE"), int("TWO"))`},
	{"assertTrue", `self.assertTrue(int("ONE") == int("TWO"))`},
	{"assertFalse", `self.assertFalse(int("ONE") < int("TWO"))`},
	{"assertIs", `self.assertIs(int("ONE") == int("TWO"), True)`},
	{"assertIn", `self.assertIn(int("ONE"), [int("TWO")])`},
	{"assertListEqual", `self.assertListEqual([int("ONE")], [int("TWO")])`},
	{"assertDictEqual", `self.assertDictEqual({"a": int("ONE")}, {"a": int("TWO")})`},
	{"assertAlmostEqual", `self.assertAlmostEqual(int("ONE"), int("TWO"))`},
}

var (
	pythonTest   = regex.New(`(?m)^(async )?def test|^\s+(async )?def test`)
	pythonEnd    = regex.New(`(?m)^(if __name__\b|unittest\.main|pytest\.main|sys\.exit|exit\(|quit\(|raise SystemExit)`)
	pythonImport = regex.New(`(?m)^(?:from\s+(\S+)\s+import\b|import\s+([^\n#(]+))`)
)

// python stands in the file itself, before it runs its tests.
func (f source) python() (Canary, bool) {
	if slices.ContainsFunc([]string{"load_tests", "TestSuite", "xfail", "expectedFailure", "__test__"}, f.uses) {
		return Canary{}, false
	}
	script := !pythonTest.MatchString(f.text)
	if script && (f.uses("exit(") || f.uses("SystemExit") || f.uses("unittest") || !f.uses("assert")) {
		return Canary{}, false
	}
	var code string
	var tests []Test
	if script {
		tests = f.named("test_", []assertion{{name: "assert"}})
		code = f.filled("\nassert int(\"ONE\") == int(\"TWO\"), \"" + tests[0].Name + "\"\n")
	} else {
		code, tests = f.pythonTests()
	}
	at := len(f.ended())
	if end := pythonEnd.FindStringIndex(f.text); end != nil {
		if at = end[0]; strings.Count(f.text[:at], `"""`)%2+strings.Count(f.text[:at], "'''")%2 > 0 {
			return Canary{}, false // it stands in a string
		}
	}
	main := ""
	if f.uses("unittest.main(") {
		main = "\n\nif __name__ == \"__main__\":\n    import unittest\n\n    unittest.main()\n"
	}
	whole := f.ended()
	return Canary{
		Path: f.path, Beside: []byte(whole[:at] + code + whole[at:]),
		Alone: []byte(f.pythonLoads() + code + main), Tests: tests,
	}, true
}

// pythonTests are methods, which every runner finds, with the assertions of the file,
// and a function where the file is written for pytest.
func (f source) pythonTests() (string, []Test) {
	var all []assertion
	for _, a := range pythonAssertions {
		if a.name == "assertEqual" || f.uses("self."+a.name+"(") {
			all = append(all, a)
		}
	}
	all = append(all, assertion{"assert", `assert int("ONE") == int("TWO")`})
	functions := !f.uses("unittest")
	if functions {
		all = append(all, assertion{"assert in a function", `assert int("ONE") == int("TWO")`})
	}
	tests := f.named("test_", all)
	var code strings.Builder
	code.WriteString("\n\nimport unittest as TOKEN_unittest\n\n\nclass Token(TOKEN_unittest.TestCase):\n")
	for i, t := range tests {
		if functions && i == len(tests)-1 {
			fmt.Fprintf(&code, "\n\ndef %s():\n    %s\n", t.Name, all[i].code)
			continue
		}
		if i > 0 {
			code.WriteString("\n")
		}
		fmt.Fprintf(&code, "    def %s(self):\n        %s\n", t.Name, all[i].code)
	}
	return f.filled(code.String()) + "\n\n", tests
}

// pythonLoads imports what the file imports, as far as it is there.
func (f source) pythonLoads() string {
	var modules []string
	for _, m := range pythonImport.FindAllStringSubmatch(f.text, -1) {
		if m[1] != "" && m[1] != "__future__" {
			modules = append(modules, fmt.Sprintf("%q", m[1]))
		}
		for name := range strings.SplitSeq(m[2], ",") {
			if name, _, _ = strings.Cut(strings.TrimSpace(name), " "); name != "" {
				modules = append(modules, fmt.Sprintf("%q", name))
			}
		}
	}
	if len(modules) == 0 {
		return ""
	}
	return f.filled("import importlib\n\nfor TOKEN in (" + strings.Join(modules, ", ") +
		",):\n    try:\n        importlib.import_module(TOKEN, __package__)\n    except Exception:\n        pass\n")
}
