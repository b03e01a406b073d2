package canary

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// pythonAssertions are the assertion methods of unittest.
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
	pythonRun    = regex.New(`(?m)^(if __name__\b|unittest\.main|pytest\.main|sys\.exit|exit\(|quit\(|raise SystemExit)`)
	pythonImport = regex.New(`(?m)^(?:from\s+(\S+)\s+import\b|import\s+([^\n#(]+))`)
)

// pythonCanary inserts tests before the line in which the file runs its tests.
func (f testFile) pythonCanary() (Canary, bool) {
	if slices.ContainsFunc([]string{"load_tests", "TestSuite", "xfail", "expectedFailure", "__test__"}, f.contains) {
		return Canary{}, false
	}
	isScript := !pythonTest.MatchString(f.text)
	if isScript && (f.contains("exit(") || f.contains("SystemExit") || f.contains("unittest") || !f.contains("assert")) {
		return Canary{}, false
	}
	var code string
	var tests []Test
	if isScript {
		tests = f.testNames("test_", []assertion{{name: "assert"}})
		code = f.fill("\nassert int(\"ONE\") == int(\"TWO\"), \"" + tests[0].Name + "\"\n")
	} else {
		code, tests = f.pythonTests()
	}
	insertAt := len(f.withFinalNewline())
	if end := pythonRun.FindStringIndex(f.text); end != nil {
		if insertAt = end[0]; strings.Count(f.text[:insertAt], `"""`)%2+strings.Count(f.text[:insertAt], "'''")%2 > 0 {
			return Canary{}, false // the line is inside of a string
		}
	}
	runMain := ""
	if f.contains("unittest.main(") {
		runMain = "\n\nif __name__ == \"__main__\":\n    import unittest\n\n    unittest.main()\n"
	}
	text := f.withFinalNewline()
	return Canary{
		Path: f.path, WithTests: []byte(text[:insertAt] + code + text[insertAt:]),
		Standalone: []byte(f.pythonImports() + code + runMain), Tests: tests,
	}, true
}

// pythonTests returns test methods, which every runner finds, with the assertions of the
// file, and a test function if the file is written for pytest.
func (f testFile) pythonTests() (string, []Test) {
	var all []assertion
	for _, a := range pythonAssertions {
		if a.name == "assertEqual" || f.contains("self."+a.name+"(") {
			all = append(all, a)
		}
	}
	all = append(all, assertion{"assert", `assert int("ONE") == int("TWO")`})
	functions := !f.contains("unittest")
	if functions {
		all = append(all, assertion{"assert in a function", `assert int("ONE") == int("TWO")`})
	}
	tests := f.testNames("test_", all)
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
	return f.fill(code.String()) + "\n\n", tests
}

// pythonImports returns code that imports the modules of the file and ignores missing ones.
func (f testFile) pythonImports() string {
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
	return f.fill("import importlib\n\nfor TOKEN in (" + strings.Join(modules, ", ") +
		",):\n    try:\n        importlib.import_module(TOKEN, __package__)\n    except Exception:\n        pass\n")
}
