package sign

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-dev/pawl/internal/regex"
)

// A program may change its own state. A module that it imported, or a name of the
// language, others use too: whoever changes one changes its judges.

// importedNames are the names in a file that stand for what is not the program's own: each
// with what it is called elsewhere.
func importedNames(file, code, said string) map[string]string {
	names := map[string]string{}
	add := func(name, full string) {
		if name = strings.TrimSpace(name); name != "_" && identifier.MatchString(name) { // not * of Python, . of Go
			names[name] = full
		}
	}
	switch {
	case hasExtension(python, file):
		pythonImports(code, add)
	case hasExtension(script, file):
		for name := range strings.FieldsSeq(scriptGlobals) {
			if !regex.New(`\b(?:const|let|var|function|class)\s+` + name + `\b`).MatchString(code) {
				names[name] = name
			}
		}
		scriptImports(said, add)
	case hasExtension(golang, file):
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

// isKnownPythonModule tells of a Python module that it is none of the program's own.
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

// scriptGlobals are what each script has without asking.
const scriptGlobals = "Array Object String Number Boolean Function Map Set WeakMap Promise RegExp Symbol Reflect JSON Math Date process console performance Buffer setTimeout setInterval setImmediate queueMicrotask fetch assert expect test it describe jest vi"

// assignsImported tells of a line of code that it changes what is not the program's own:
// the name of that, as it is called elsewhere.
func (v *view) assignsImported(n int) (string, bool) {
	line := v.code[n]
	for _, m := range findAssignments(line) {
		target := m[1]
		if v.script {
			target = globalPrefix.ReplaceAllString(target, "")
		}
		first, rest, dotted := strings.Cut(target, ".")
		full, foreign := v.imported[first]
		own := !dotted && len(m) < 3 && (!v.script || full != first) // the file's own name, which stands for something else now
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

// expandNames are lines of code in which each name that stands for another is that. Lines
// that import stay.
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

// expandLine is a line with the full names.
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

// importedRule finds what changes what is not the program's own.
func importedRule(names, target, to string, more ...replacement) rule {
	return rule{kind: Patch, does: changesShared, names: names, assignsImported: true, allowedBy: `(?i)polyfill|monkey.?patch|prototype`, replacements: append(more, replacement{regex.New(target), to})}
}

// findAssignments are what a line may change.
func findAssignments(line string) (all [][]string) {
	for _, re := range assignmentPatterns() {
		all = append(all, re.FindAllStringSubmatch(line, -1)...)
	}
	return all
}

// assignmentPatterns are the forms in which something is changed; the first group is what.
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
