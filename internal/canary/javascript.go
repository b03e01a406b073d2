package canary

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// binding is one name that a file imports.
type binding struct {
	module, of, name string // of: what it is called there, "" = the module itself
	statement        string
}

var (
	jsImport  = regex.New(`(?m)^import\s+(?:type\s+)?(?:([^'";]*?)\s*from\s*)?['"]([^'"]+)['"];?`)
	jsRequire = regex.New(`(?m)^(?:const|let|var)\s+(\w+|\{[^}]*\})\s*=\s*require\(\s*['"]([^'"]+)['"]\s*\)((?:\.\w+)*);?`)
	jsLoad    = regex.New(`(?m)^require\(\s*['"]([^'"]+)['"]\s*\);?`)
	jsGlobal  = regex.New(`(?m)^\s*(?:test|it)\(`)
	jsOwn     = regex.New(`(?m)^\s*(?:async\s+)?(?:function\s+|const\s+|let\s+|var\s+)(?:test|it)\b`)
)

// jsRunners are the modules from which tests are imported; jsOthers are runners whose
// tests are not written as theirs are.
var (
	jsRunners = []string{"node:test", "test", "vitest", "@jest/globals", "mocha", "bun:test"}
	jsOthers  = []string{"ava", "tape", "tap", "uvu", "zora", "qunit", "lab", "@hapi/lab", "@playwright/test", "jasmine", "cypress"}
	jsAsserts = []string{"assert", "node:assert", "assert/strict", "node:assert/strict", "chai", "expect", "vitest", "@jest/globals", "bun:test"}
)

// javascript stands at the end of the file, written as its tests are.
func (f source) javascript() (Canary, bool) {
	bindings, loads := f.jsBindings()
	for _, b := range bindings {
		if slices.Contains(jsOthers, b.module) {
			return Canary{}, false
		}
	}
	if f.uses(".only(") || f.uses(".only.") {
		return Canary{}, false
	}
	runner := f.jsRunner(bindings)
	all := f.jsAssertions(bindings)
	if runner == "" {
		return f.jsScript(bindings, loads, all)
	}
	if len(all) == 0 {
		all = []assertion{{"an error", `throw new Error("ONE is not TWO");`}}
	}
	esm := jsImport.MatchString(f.text)
	tests := f.named("test_", all)
	var beside, alone strings.Builder
	for i, t := range tests {
		fmt.Fprintf(&beside, "\n%s(%q, () => {\n  %s\n});\n", runner, t.Name, all[i].as(t))
		fmt.Fprintf(&alone, "\n%s(%q, async () => {\n%s  %s\n});\n", runner, t.Name, jsLoads(loads, esm, "  "), all[i].as(t))
	}
	return Canary{
		Path: f.path, Beside: []byte(f.ended() + f.filled(beside.String())),
		Alone: []byte(jsHead(bindings) + f.filled(alone.String())), Tests: tests,
	}, true
}

// jsScript asserts at the end of a file that is run as a program. Where such a one ends
// its process itself, what stands at its end is not reached.
func (f source) jsScript(bindings []binding, loads []string, all []assertion) (Canary, bool) {
	if len(all) == 0 || f.uses("process.exit") {
		return Canary{}, false
	}
	all = all[:1] // the first that fails ends it
	tests := f.named("test_", all)
	esm := jsImport.MatchString(f.text) || path.Ext(f.path) == ".mjs"
	code := f.filled("\n" + all[0].as(tests[0]) + "\n")
	return Canary{Path: f.path, Beside: []byte(f.ended() + code), Alone: []byte(jsHead(bindings) + jsLoads(loads, esm, "") + code), Tests: tests}, true
}

// as is the code of an assertion in a test, which is named where it fails outside of one.
func (a assertion) as(t Test) string { return strings.ReplaceAll(a.code, "NAME", t.Name) }

// jsLoads loads modules, as far as they are there.
func jsLoads(modules []string, esm bool, indent string) string {
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

// jsHead are the statements that import the runner and the assertions.
func jsHead(bindings []binding) string {
	var head []string
	for _, b := range bindings {
		if (slices.Contains(jsRunners, b.module) || slices.Contains(jsAsserts, b.module)) && !slices.Contains(head, b.statement) {
			head = append(head, b.statement)
		}
	}
	if len(head) == 0 {
		return ""
	}
	return strings.Join(head, "\n") + "\n"
}

// jsBindings are the names that the file imports, and the modules that are the program's.
func (f source) jsBindings() (all []binding, loads []string) {
	add := func(names, module, member, statement string) {
		if !slices.Contains(jsRunners, module) && !slices.Contains(jsAsserts, module) {
			loads = append(loads, module)
		}
		whole, braces, _ := strings.Cut(names, "{")
		for name := range strings.SplitSeq(whole, ",") {
			name = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(name), "* as "))
			if name != "" {
				all = append(all, binding{module, strings.TrimPrefix(member, "."), name, statement})
			}
		}
		for name := range strings.SplitSeq(strings.TrimSuffix(strings.TrimSpace(braces), "}"), ",") {
			of, as := strings.TrimSpace(name), ""
			for _, sep := range []string{" as ", ":"} {
				if was, is, ok := strings.Cut(of, sep); ok {
					of, as = strings.TrimSpace(was), strings.TrimSpace(is)
				}
			}
			if as == "" {
				as = of
			}
			if of != "" {
				all = append(all, binding{module, of, as, statement})
			}
		}
	}
	for _, m := range jsImport.FindAllStringSubmatch(f.text, -1) {
		add(m[1], m[2], "", m[0])
	}
	for _, m := range jsRequire.FindAllStringSubmatch(f.text, -1) {
		add(m[1], m[2], m[3], m[0])
	}
	for _, m := range jsLoad.FindAllStringSubmatch(f.text, -1) {
		add("", m[1], "", m[0])
	}
	return all, loads
}

// jsRunner is what a test is called with, "" in a file that is run as a program.
func (f source) jsRunner(bindings []binding) string {
	for _, b := range bindings {
		switch {
		case !slices.Contains(jsRunners, b.module):
			if b.name == "test" || b.name == "it" {
				return "" // a runner of their own
			}
		case b.of == "test", b.of == "it":
			return b.name
		case b.of == "" && (b.module == "node:test" || b.module == "test"):
			return b.name
		}
	}
	if jsOwn.MatchString(f.text) || !jsGlobal.MatchString(f.text) {
		return ""
	}
	if regex.New(`(?m)^\s*test\(`).MatchString(f.text) {
		return "test"
	}
	return "it"
}

// jsAssertions are those that the file uses.
func (f source) jsAssertions(bindings []binding) []assertion {
	const one, two = `Number("ONE")`, `Number("TWO")`
	var all []assertion
	add := func(name, code string) {
		if !slices.ContainsFunc(all, func(a assertion) bool { return a.name == name }) {
			all = append(all, assertion{name, code})
		}
	}
	methods := func(name string) {
		for _, m := range []string{"strictEqual", "deepStrictEqual", "equal", "deepEqual"} {
			if f.uses(name + "." + m + "(") {
				add(name+"."+m, fmt.Sprintf("%s.%s(%s, %s, 'NAME');", name, m, one, two))
			}
		}
		if f.uses(name + ".ok(") {
			add(name+".ok", fmt.Sprintf("%s.ok(%s === %s, 'NAME');", name, one, two))
		}
		if regex.New(`(?m)(^|[^.\w])` + regexp.QuoteMeta(name) + `\(`).MatchString(f.text) {
			add(name, fmt.Sprintf("%s(%s === %s, 'NAME');", name, one, two))
		}
	}
	expects := func(name string) {
		for _, m := range []string{"toBe", "toEqual", "toStrictEqual", "to.equal", "to.eql", "to.deep.equal"} {
			if f.uses(")." + m + "(") {
				add(name+"()."+m, fmt.Sprintf("%s(%s).%s(%s);", name, one, m, two))
			}
		}
	}
	for _, b := range bindings {
		if !slices.Contains(jsAsserts, b.module) {
			continue
		}
		switch {
		case b.of == "expect", b.module == "expect":
			expects(b.name)
		case b.module == "chai" && b.of == "":
			expects(b.name + ".expect")
		case slices.Contains([]string{"strictEqual", "deepStrictEqual", "equal", "deepEqual"}, b.of):
			add(b.of, fmt.Sprintf("%s(%s, %s, 'NAME');", b.name, one, two))
		case strings.Contains(b.module, "assert"), b.of == "assert":
			methods(b.name)
		}
	}
	if len(all) == 0 && regex.New(`(^|[^.\w])expect\(`).MatchString(f.text) {
		expects("expect")
	}
	return all
}
