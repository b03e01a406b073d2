package canary

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// importedName is one name that a file imports.
type importedName struct {
	module, exported, name string // of: what it is called there, "" = the module itself
	statement              string
}

var (
	jsImport      = regex.New(`(?m)^import\s+(?:type\s+)?(?:([^'";]*?)\s*from\s*)?['"]([^'"]+)['"];?`)
	jsRequire     = regex.New(`(?m)^(?:const|let|var)\s+(\w+|\{[^}]*\})\s*=\s*require\(\s*['"]([^'"]+)['"]\s*\)((?:\.\w+)*);?`)
	jsBareRequire = regex.New(`(?m)^require\(\s*['"]([^'"]+)['"]\s*\);?`)
	jsGlobalTest  = regex.New(`(?m)^\s*(?:test|it)\(`)
	jsDefinesTest = regex.New(`(?m)^\s*(?:async\s+)?(?:function\s+|const\s+|let\s+|var\s+)(?:test|it)\b`)
)

// jsRunners are the modules from which tests are imported; jsUnsupportedRunners are runners whose
// tests are not written as theirs are.
var (
	jsRunners            = []string{"node:test", "test", "vitest", "@jest/globals", "mocha", "bun:test"}
	jsUnsupportedRunners = []string{"ava", "tape", "tap", "uvu", "zora", "qunit", "lab", "@hapi/lab", "@playwright/test", "jasmine", "cypress"}
	jsAssertModules      = []string{"assert", "node:assert", "assert/strict", "node:assert/strict", "chai", "expect", "vitest", "@jest/globals", "bun:test"}
)

// javascriptTests appends tests written with the test function that the file uses.
func (f testFile) javascriptTests() (Canary, bool) {
	bindings, loads := f.jsImports()
	for _, b := range bindings {
		if slices.Contains(jsUnsupportedRunners, b.module) {
			return Canary{}, false
		}
	}
	if f.contains(".only(") || f.contains(".only.") {
		return Canary{}, false
	}
	runner := f.jsTestFunction(bindings)
	all := f.jsAssertions(bindings)
	if runner == "" {
		return f.jsScript(bindings, loads, all)
	}
	if len(all) == 0 {
		all = []assertion{{"an error", `throw new Error("ONE is not TWO");`}}
	}
	esm := jsImport.MatchString(f.text)
	tests := f.testNames("test_", all)
	var withTests, standalone strings.Builder
	for i, t := range tests {
		fmt.Fprintf(&withTests, "\n%s(%q, () => {\n  %s\n});\n", runner, t.Name, all[i].codeFor(t))
		fmt.Fprintf(&standalone, "\n%s(%q, async () => {\n%s  %s\n});\n", runner, t.Name, jsLoadModules(loads, esm, "  "), all[i].codeFor(t))
	}
	return Canary{
		Path: f.path, WithTests: []byte(f.withFinalNewline() + f.fill(withTests.String())),
		Standalone: []byte(jsImportStatements(bindings) + f.fill(standalone.String())), Tests: tests,
	}, true
}

// jsScript appends an assertion to a test file that runs as a program. It returns false for
// a file that calls process.exit, since its end may not be reached.
func (f testFile) jsScript(bindings []importedName, loads []string, all []assertion) (Canary, bool) {
	if len(all) == 0 || f.contains("process.exit") {
		return Canary{}, false
	}
	all = all[:1] // the first that fails ends it
	tests := f.testNames("test_", all)
	esm := jsImport.MatchString(f.text) || path.Ext(f.path) == ".mjs"
	code := f.fill("\n" + all[0].codeFor(tests[0]) + "\n")
	return Canary{Path: f.path, WithTests: []byte(f.withFinalNewline() + code), Standalone: []byte(jsImportStatements(bindings) + jsLoadModules(loads, esm, "") + code), Tests: tests}, true
}

// codeFor returns the code of the assertion. Its message has the test's name, for assertions
// outside of a test.
func (a assertion) codeFor(t Test) string { return strings.ReplaceAll(a.code, "NAME", t.Name) }

// jsLoadModules returns code that loads modules and ignores missing ones.
func jsLoadModules(modules []string, esm bool, indent string) string {
	form := "%stry { require(%q); } catch {}\n"
	if esm {
		form = "%stry { await import(%q); } catch {}\n"
	}
	var load strings.Builder
	for _, m := range modules {
		fmt.Fprintf(&load, form, indent, m)
	}
	return load.String()
}

// jsImportStatements returns the statements that import the test runner and the assertions.
func jsImportStatements(bindings []importedName) string {
	var head []string
	for _, b := range bindings {
		if (slices.Contains(jsRunners, b.module) || slices.Contains(jsAssertModules, b.module)) && !slices.Contains(head, b.statement) {
			head = append(head, b.statement)
		}
	}
	if len(head) == 0 {
		return ""
	}
	return strings.Join(head, "\n") + "\n"
}

// jsImports returns the names that the file imports, and the modules of the program.
func (f testFile) jsImports() (all []importedName, loads []string) {
	add := func(names, module, member, statement string) {
		if !slices.Contains(jsRunners, module) && !slices.Contains(jsAssertModules, module) {
			loads = append(loads, module)
		}
		defaultNames, namedImports, _ := strings.Cut(names, "{")
		for name := range strings.SplitSeq(defaultNames, ",") {
			name = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(name), "* as "))
			if name != "" {
				all = append(all, importedName{module, strings.TrimPrefix(member, "."), name, statement})
			}
		}
		for name := range strings.SplitSeq(strings.TrimSuffix(strings.TrimSpace(namedImports), "}"), ",") {
			exported, local := strings.TrimSpace(name), ""
			for _, sep := range []string{" as ", ":"} {
				if from, to, ok := strings.Cut(exported, sep); ok {
					exported, local = strings.TrimSpace(from), strings.TrimSpace(to)
				}
			}
			if local == "" {
				local = exported
			}
			if exported != "" {
				all = append(all, importedName{module, exported, local, statement})
			}
		}
	}
	for _, m := range jsImport.FindAllStringSubmatch(f.text, -1) {
		add(m[1], m[2], "", m[0])
	}
	for _, m := range jsRequire.FindAllStringSubmatch(f.text, -1) {
		add(m[1], m[2], m[3], m[0])
	}
	for _, m := range jsBareRequire.FindAllStringSubmatch(f.text, -1) {
		add("", m[1], "", m[0])
	}
	return all, loads
}

// jsTestFunction returns the name of the function that defines a test, or "" if the file runs
// as a program.
func (f testFile) jsTestFunction(bindings []importedName) string {
	for _, b := range bindings {
		switch {
		case !slices.Contains(jsRunners, b.module):
			if b.name == "test" || b.name == "it" {
				return "" // a runner of their own
			}
		case b.exported == "test", b.exported == "it":
			return b.name
		case b.exported == "" && (b.module == "node:test" || b.module == "test"):
			return b.name
		}
	}
	if jsDefinesTest.MatchString(f.text) || !jsGlobalTest.MatchString(f.text) {
		return ""
	}
	if regex.New(`(?m)^\s*test\(`).MatchString(f.text) {
		return "test"
	}
	return "it"
}

// jsAssertions returns the assertions that the file uses.
func (f testFile) jsAssertions(bindings []importedName) []assertion {
	const one, two = `Number("ONE")`, `Number("TWO")`
	var all []assertion
	add := func(name, code string) {
		if !slices.ContainsFunc(all, func(a assertion) bool { return a.name == name }) {
			all = append(all, assertion{name, code})
		}
	}
	methods := func(name string) {
		for _, m := range []string{"strictEqual", "deepStrictEqual", "equal", "deepEqual"} {
			if f.contains(name + "." + m + "(") {
				add(name+"."+m, fmt.Sprintf("%s.%s(%s, %s, 'NAME');", name, m, one, two))
			}
		}
		if f.contains(name + ".ok(") {
			add(name+".ok", fmt.Sprintf("%s.ok(%s === %s, 'NAME');", name, one, two))
		}
		if regex.New(`(?m)(^|[^.\w])` + regexp.QuoteMeta(name) + `\(`).MatchString(f.text) {
			add(name, fmt.Sprintf("%s(%s === %s, 'NAME');", name, one, two))
		}
	}
	expects := func(name string) {
		for _, m := range []string{"toBe", "toEqual", "toStrictEqual", "to.equal", "to.eql", "to.deep.equal"} {
			if f.contains(")." + m + "(") {
				add(name+"()."+m, fmt.Sprintf("%s(%s).%s(%s);", name, one, m, two))
			}
		}
	}
	for _, b := range bindings {
		if !slices.Contains(jsAssertModules, b.module) {
			continue
		}
		switch {
		case b.exported == "expect", b.module == "expect":
			expects(b.name)
		case b.module == "chai" && b.exported == "":
			expects(b.name + ".expect")
		case slices.Contains([]string{"strictEqual", "deepStrictEqual", "equal", "deepEqual"}, b.exported):
			add(b.exported, fmt.Sprintf("%s(%s, %s, 'NAME');", b.name, one, two))
		case strings.Contains(b.module, "assert"), b.exported == "assert":
			methods(b.name)
		}
	}
	if len(all) == 0 && regex.New(`(^|[^.\w])expect\(`).MatchString(f.text) {
		expects("expect")
	}
	return all
}
