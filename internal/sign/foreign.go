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

// foreignNames are the names in a file that stand for what is not the program's own: each
// with what it is called elsewhere.
func foreignNames(file, code, said string) map[string]string {
	names := map[string]string{}
	put := func(name, full string) {
		if name = strings.TrimSpace(name); name != "_" && aName.MatchString(name) { // not * of Python, . of Go
			names[name] = full
		}
	}
	switch {
	case isAny(python, file):
		pythonImports(code, put)
	case isAny(script, file):
		for name := range strings.FieldsSeq(scriptGlobals) {
			if !regex.New(`\b(?:const|let|var|function|class)\s+` + name + `\b`).MatchString(code) {
				names[name] = name
			}
		}
		scriptImports(said, put)
	case isAny(golang, file):
		for _, m := range goImport.FindAllStringSubmatch(said, -1) {
			name := path.Base(m[2])
			if m[1] != "" {
				name = m[1]
			}
			own := regex.New(`\b` + regexp.QuoteMeta(name) + `\b\s*(?:,\s*\w+\s*)*:=|\bvar ` + regexp.QuoteMeta(name) + `\b|[(,]\s*` + regexp.QuoteMeta(name) + `\s+[*\[\w]`)
			if !own.MatchString(code) {
				put(name, path.Base(m[2]))
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
				if isModule(from) {
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
			if isModule(name) {
				put(alias, name)
			}
		}
	}
}

// isModule tells of a Python module that it is none of the program's own.
func isModule(name string) bool {
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

// assignsForeign tells of a line of code that it changes what is not the program's own:
// the name of that, as it is called elsewhere.
func (v *view) assignsForeign(n int) (string, bool) {
	line := v.code[n]
	for _, m := range assigned(line) {
		target := m[1]
		if v.script {
			target = ofGlobal.ReplaceAllString(target, "")
		}
		first, rest, dotted := strings.Cut(target, ".")
		full, foreign := v.names[first]
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

var ofGlobal = regex.New(`^(?:globalThis|global|window|self)\.`)

var aName = regex.New(`^[\w.$]*\w$`)

// fullNames are lines of code in which each name that stands for another is that. Lines
// that import stay.
func (v *view) fullNames() []string {
	var short []string
	for name, full := range v.names {
		if name != full {
			short = append(short, regexp.QuoteMeta(name))
		}
	}
	if len(short) == 0 {
		return v.code
	}
	slices.Sort(short)
	v.short = regex.New(`(^|[^\w.$"'])(` + strings.Join(short, "|") + `)\b`)
	lines := slices.Clone(v.code)
	for n, line := range lines {
		lines[n] = v.inFull(line)
	}
	return lines
}

// inFull is a line with the full names.
func (v *view) inFull(line string) string {
	if v.short == nil || importing.MatchString(line) {
		return line
	}
	var full strings.Builder
	at := 0
	for _, m := range v.short.FindAllStringSubmatchIndex(line, -1) {
		full.WriteString(line[at:m[4]] + v.names[line[m[4]:m[5]]])
		at = m[5]
	}
	return full.String() + line[at:]
}

var importing = regex.New(`^\s*(?:import|from)\b|\brequire\(`)

const foreign = "changes what others use, too"

// foreignRule finds what changes what is not the program's own.
func foreignRule(names, target, to string, more ...swap) rule {
	return rule{kind: Patch, does: foreign, names: names, foreign: true, asked: `(?i)polyfill|monkey.?patch|prototype`, swaps: append(more, swap{regex.New(target), to})}
}

// assigned are what a line may change.
func assigned(line string) (all [][]string) {
	for _, re := range assignments() {
		all = append(all, re.FindAllStringSubmatch(line, -1)...)
	}
	return all
}

// assignments are the forms in which something is changed; the first group is what.
var assignments = sync.OnceValue(func() []*regex.Regex {
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
