package sign

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// A program may change its own state. But modules that it imports and globals of the language
// are also used by tests: changing one can change the results of tests.

// importedNames returns the names in a file that come from a module outside of the program or
// from the language, each with its full name.
func importedNames(file, code, said string) map[string]string {
	names := map[string]string{}
	add := func(name, full string) {
		if name = strings.TrimSpace(name); name != "_" && identifier.MatchString(name) { // not * of Python, . of Go
			names[name] = full
		}
	}
	switch {
	case source.HasExtension(python, file):
		pythonImports(code, add)
	case source.HasExtension(script, file):
		for name := range strings.FieldsSeq(scriptGlobals) {
			if !regex.New(`\b(?:const|let|var|function|class)\s+` + name + `\b`).MatchString(code) {
				names[name] = name
			}
		}
		scriptImports(said, add)
	case source.HasExtension(golang, file):
		for _, m := range goImport.FindAllStringSubmatch(said, -1) {
			name := path.Base(m[2])
			if m[1] != "" {
				name = m[1]
			}
			declared := regex.New(`\b` + regexp.QuoteMeta(name) + `\b\s*(?:,\s*\w+\s*)*:=|\bvar ` + regexp.QuoteMeta(name) + `\b|[(,]\s*` + regexp.QuoteMeta(name) + `\s+[*\[\w]`)
			if !declared.MatchString(code) {
				add(name, path.Base(m[2]))
			}
		}
	}
	return names
}

func pythonImports(code string, put func(name, full string)) {
	for _, m := range pythonImport.FindAllStringSubmatch(code, -1) {
		if from := m[1]; from != "" {
			for part := range strings.SplitSeq(strings.Trim(m[2], "() \t"), ",") {
				name, alias, ok := strings.Cut(strings.TrimSpace(part), " as ")
				if !ok {
					alias = name
				}
				if isKnownPythonModule(from) {
					put(alias, from+"."+strings.TrimSpace(name))
				}
			}
			continue
		}
		for part := range strings.SplitSeq(m[3], ",") {
			name, alias, ok := strings.Cut(strings.TrimSpace(part), " as ")
			if name = strings.TrimSpace(name); !ok {
				alias, name = strings.Split(name, ".")[0], strings.Split(name, ".")[0]
			}
			if isKnownPythonModule(name) {
				put(alias, name)
			}
		}
	}
}

// isKnownPythonModule reports whether a Python module is a known one and not the program's.
func isKnownPythonModule(name string) bool {
	first, _, _ := strings.Cut(name, ".")
	return slices.Contains(strings.Fields(pythonModules), first)
}

func scriptImports(said string, put func(name, full string)) {
	for _, m := range scriptImport.FindAllStringSubmatch(said, -1) {
		names, from := m[1]+m[3], m[2]+m[4]
		if strings.HasPrefix(from, ".") || strings.HasPrefix(from, "/") {
			continue
		}
		from = strings.TrimPrefix(from, "node:")
		if whole, several, ok := strings.Cut(names, "{"); ok {
			for part := range strings.SplitSeq(strings.Trim(several, "{} \t\n"), ",") {
				name, alias, ok := strings.Cut(strings.ReplaceAll(part, " as ", ":"), ":")
				if name = strings.TrimSpace(name); !ok {
					alias = name
				}
				put(alias, from+"."+name)
			}
			names = strings.Trim(whole, ", \t")
		}
		put(strings.TrimPrefix(strings.TrimSpace(names), "* as "), from)
	}
}

var (
	pythonImport = regex.New(`(?m)^[ \t]*(?:from\s+([\w.]+)\s+import\s+([^\n]+)|import\s+([^\n]+))$`)
	scriptImport = regex.New(`\b(?:const|let|var)\s+([\w$]+|\{[^}]*\})\s*=\s*require\(\s*["']([^"']+)["']\s*\)|(?m:^)\s*import\s+([^"';]+?)\s+from\s+["']([^"']+)["']`)
	goImport     = regex.New(`(?m)^\s*(?:import\s+)?([\w.]+\s+)?"([a-z][a-z0-9]*(?:/[\w.]+)*)"\s*$`)
)

// scriptGlobals are the global names of JavaScript and of its test runners.
const scriptGlobals = "Array Object String Number Boolean Function Map Set WeakMap Promise RegExp Symbol Reflect JSON Math Date process console performance Buffer setTimeout setInterval setImmediate queueMicrotask fetch assert expect test it describe jest vi"

// assignsImported returns the full name of an imported or global value that a line of code
// changes, if it does.
func (v *view) assignsImported(n int) (string, bool) {
	var assigns [][]string
	for _, re := range assignmentPatterns() {
		assigns = append(assigns, re.FindAllStringSubmatch(v.code[n], -1)...)
	}
	for _, m := range assigns {
		target := m[1]
		if v.script {
			target = globalPrefix.ReplaceAllString(target, "")
		}
		first, rest, dotted := strings.Cut(target, ".")
		full, foreign := v.imported[first]
		own := !dotted && len(m) < 3 && (!v.script || full != first) // only the file's own name gets another value
		switch {
		case !foreign, own, rest == "env", strings.HasPrefix(rest, "env."), rest == "environ", target == "process.exitCode":
			continue
		case dotted:
			full += "." + rest
		}
		return full, true
	}
	return "", false
}

var globalPrefix = regex.New(`^(?:globalThis|global|window|self)\.`)

var identifier = regex.New(`^[\w.$]*\w$`)

// expandNames returns the lines of code with full names for imported ones. Import lines do not
// change.
func (v *view) expandNames() []string {
	var short []string
	for name, full := range v.imported {
		if name != full {
			short = append(short, regexp.QuoteMeta(name))
		}
	}
	if len(short) == 0 {
		return v.code
	}
	slices.Sort(short)
	v.shortNames = regex.New(`(^|[^\w.$"'])(` + strings.Join(short, "|") + `)\b`)
	lines := slices.Clone(v.code)
	for n, line := range lines {
		lines[n] = v.expandLine(line)
	}
	return lines
}

// expandLine returns a line with full names.
func (v *view) expandLine(line string) string {
	if v.shortNames == nil || importLine.MatchString(line) {
		return line
	}
	var full strings.Builder
	at := 0
	for _, m := range v.shortNames.FindAllStringSubmatchIndex(line, -1) {
		full.WriteString(line[at:m[4]] + v.imported[line[m[4]:m[5]]])
		at = m[5]
	}
	return full.String() + line[at:]
}

var importLine = regex.New(`^\s*(?:import|from)\b|\brequire\(`)

const changesShared = "changes what others use, too"

// importedRule returns a rule for lines that change an imported or global value.
func importedRule(names, target, to string, more ...replacement) rule {
	return rule{kind: Patch, does: changesShared, names: names, assignsImported: true, allowedBy: `(?i)polyfill|monkey.?patch|prototype`, replacements: append(more, replacement{regex.New(target), to})}
}

// assignmentPatterns match assignments. The first group is the target.
var assignmentPatterns = sync.OnceValue(func() []*regex.Regex {
	var all []*regex.Regex
	for _, form := range []string{
		`(?:^\s*|[{;]\s*|=>\s*)([\w$.]*[\w$])(?:\[[^\]]*\])?\s*=(?:[^=>]|$)`,
		`\b(?:setattr|delattr|vars|Object\.(?:defineProperty|defineProperties|assign|setPrototypeOf)|Reflect\.(?:set|defineProperty))\(\s*([\w$.]+)()`,
		`^\s*([\w$.]+\.__dict__)\[`,
	} {
		all = append(all, regex.New(form))
	}
	return all
})
