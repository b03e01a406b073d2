package testrun

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
)

// readPackageManager reads a call of a package manager, which runs a script of package.json or a
// program from node_modules.
func (r *reader) readPackageManager(name string, words []string, f flow) {
	dir, rest := "", words[1:]
	verb, args := "", []string{}
	for len(rest) > 0 && verb == "" {
		switch word := rest[0]; {
		case slices.Contains([]string{"--prefix", "-C", "--dir", "--cwd"}, word) && len(rest) > 1:
			dir, rest = rest[1], rest[2:]
		case strings.HasPrefix(word, "--prefix="), strings.HasPrefix(word, "--cwd="), strings.HasPrefix(word, "--dir="):
			_, dir, _ = strings.Cut(word, "=")
			rest = rest[1:]
		case slices.Contains([]string{"-w", "--workspace", "-F", "--filter"}, word) && len(rest) > 1:
			dir, rest = "\x00", rest[2:] // an unknown subfolder: its scripts are not read
		case strings.HasPrefix(word, "--workspace=") || strings.HasPrefix(word, "--filter=") || word == "-r" || word == "--recursive" || word == "workspaces":
			dir, rest = "\x00", rest[1:]
		case word == "workspace" && name == "yarn" && len(rest) > 1:
			dir, rest = "\x00", rest[2:]
		case strings.HasPrefix(word, "-"):
			rest = rest[1:]
		default:
			verb, args = word, rest[1:]
			rest = nil
		}
	}
	switch {
	case strings.HasPrefix(name, "run-") || name == "npm-run-all":
		for _, script := range append([]string{verb}, args...) {
			if script != "" && !strings.HasPrefix(script, "-") {
				r.readPackageScript(scriptRef{dir, script}, words, nil, f)
			}
		}
	case verb == "":
	case name == "bun" && verb == "test":
		r.readRunner("bun", append([]string{"bun", "test"}, args...), f)
	case name == "bun" && verb == "x":
		r.readCommand(args, f)
	case verb == "run" || verb == "run-script" || verb == "rum" || verb == "urn":
		args = dropOptions(args)
		if len(args) > 0 {
			r.readPackageScript(scriptRef{dir, args[0]}, words, args[1:], f)
		}
	case name == "npm" && slices.Contains([]string{"test", "t", "tst"}, verb):
		r.readPackageScript(scriptRef{dir, "test"}, words, args, f)
	case name == "npm", name == "bun":
	default: // yarn and pnpm run a script, or else a program, without `run`
		if _, ok := r.scriptOf(scriptRef{dir, verb}); ok || isTestName(verb) && !IsRunner(verb) {
			r.readPackageScript(scriptRef{dir, verb}, words, args, f)
			return
		}
		r.readCommand(append([]string{verb}, args...), f)
	}
}

func dropOptions(words []string) []string {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		words = words[1:]
	}
	return words
}

// scriptRef identifies a script of the package.json in a folder. "\x00" is an unknown subfolder.
type scriptRef struct{ dir, script string }

// readPackageScript reads a script of package.json. If it cannot be read, the name of the script
// decides.
func (r *reader) readPackageScript(at scriptRef, words, args []string, f flow) {
	text, ok := r.scriptOf(at)
	if !ok {
		r.add(Call{Words: words, IsTestRun: isTestName(at.script)}, f)
		return
	}
	if strings.Contains(text, "no test specified") {
		r.add(Call{Words: words, IsTestRun: true, HasNoTests: true}, f)
		return
	}
	for _, arg := range args {
		if arg != "" && arg != "--" && !strings.ContainsAny(arg, "'\n\x00") {
			text += " '" + arg + "'"
		}
	}
	known, from := len(r.calls), r.dir
	r.dir = path.Join(r.dir, at.dir)
	f.FromScript = true
	r.readScript(text, f)
	r.dir = from
	if len(r.calls) == known && isTestName(at.script) { // a test script with an unknown runner
		r.add(Call{Words: words, IsTestRun: true}, f)
	}
}

func (r *reader) scriptOf(at scriptRef) (string, bool) {
	if at.dir == "\x00" {
		return "", false
	}
	b, ok := r.readFile(at.dir, "package.json")
	if !ok {
		return "", false
	}
	text, ok := PackageScripts(b)[at.script]
	return text, ok
}

// PackageScripts returns the scripts of a package.json by name.
func PackageScripts(manifest []byte) map[string]string {
	var m struct {
		Scripts map[string]string `json:"scripts"`
	}
	if json.Unmarshal(manifest, &m) != nil {
		return nil
	}
	return m.Scripts
}

// readMake reads the recipes of a Makefile's targets. If they cannot be read, the names of the targets
// decide.
func (r *reader) readMake(words []string, f flow) {
	dir, file := "", ""
	var targets []string
	for i := 1; i < len(words); i++ {
		switch word := words[i]; {
		case (word == "-C" || word == "-f") && i+1 < len(words):
			i++
			if word == "-C" {
				dir = words[i]
			} else {
				file = words[i]
			}
		case (word == "-o" || word == "-I" || word == "-W") && i+1 < len(words):
			i++
		case word == "" || strings.HasPrefix(word, "-") || strings.Contains(word, "="):
		case strings.Trim(word, "0123456789") == "": // the number in `-j 4`
		default:
			targets = append(targets, word)
		}
	}
	rules, ok := r.findMakefile(dir, file)
	if len(targets) == 0 {
		targets = []string{rules.first}
	}
	known, from := len(r.calls), r.dir
	if ok {
		r.dir = path.Join(r.dir, dir)
		for _, target := range targets {
			r.readTarget(rules, target, f, map[string]bool{})
		}
		r.dir = from
	}
	if len(r.calls) == known {
		sure := slices.ContainsFunc(targets, func(t string) bool { return isTestName(t) || t == "check" })
		r.add(Call{Words: words, IsTestRun: sure}, f)
	}
}

func (r *reader) readTarget(rules makefile, name string, f flow, seen map[string]bool) {
	if seen[name] || len(seen) > maxCalls {
		return
	}
	seen[name] = true
	rule := rules.rules[name]
	for _, need := range rule.needs {
		r.readTarget(rules, need, f, seen)
	}
	for i, line := range rule.recipe {
		g := f
		g.FromScript = true
		g.FollowsOther = f.FollowsOther || i > 0
		text, ignored := strings.TrimLeft(line, "@+ \t"), false
		if strings.HasPrefix(text, "-") {
			text, ignored = strings.TrimLeft(text, "-@+ \t"), true
		}
		if ignored {
			g = g.withMask("- of make")
		}
		dir := r.dir
		r.readScript(text, g)
		r.dir = dir // make starts a new shell for each line
	}
}

// makefile holds the explicit rules of a Makefile.
type makefile struct {
	first string
	rules map[string]makeRule
}

type makeRule struct {
	needs  []string
	recipe []string
}

func (r *reader) findMakefile(dir, file string) (makefile, bool) {
	m := makefile{rules: map[string]makeRule{}}
	names := []string{"GNUmakefile", "makefile", "Makefile"}
	if file != "" {
		names = []string{file}
	}
	for _, name := range names {
		if b, ok := r.readFile(dir, name); ok {
			m.parse(string(b))
			return m, true
		}
	}
	return m, false
}

func (m *makefile) parse(text string) {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\\\n", " ")
	vars := map[string]string{}
	var open []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if recipe, ok := strings.CutPrefix(line, "\t"); ok {
			for _, target := range open {
				rule := m.rules[target]
				rule.recipe = append(rule.recipe, expandVariables(recipe, vars))
				m.rules[target] = rule
			}
			continue
		}
		if name, value, ok := assignment(line); ok {
			vars[name] = expandVariables(value, vars)
			continue
		}
		targets, needs, ok := strings.Cut(line, ":")
		if !ok || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ".") || strings.Contains(targets, "%") {
			continue
		}
		open = strings.Fields(targets)
		needs, recipe, inline := strings.Cut(strings.TrimPrefix(needs, ":"), ";")
		for _, target := range open {
			rule := m.rules[target]
			rule.needs = append(rule.needs, strings.Fields(needs)...)
			if inline {
				rule.recipe = append(rule.recipe, expandVariables(recipe, vars))
			}
			m.rules[target] = rule
			if m.first == "" {
				m.first = target
			}
		}
	}
}

// assignment reads `NAME = value`, also with := and ?=.
func assignment(line string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(line, "=")
	name = strings.TrimRight(name, ":?+ \t")
	if !ok || name == "" || strings.ContainsAny(name, " \t:#$") {
		return "", "", false
	}
	return name, strings.TrimSpace(value), true
}

// expandVariables replaces plain variables in a recipe by their values; `$$` is the shell's $.
func expandVariables(text string, vars map[string]string) string {
	if !strings.Contains(text, "$") {
		return text
	}
	for name, value := range vars {
		if len(value) > 200 || strings.Contains(value, "$") {
			continue
		}
		text = strings.ReplaceAll(strings.ReplaceAll(text, "$("+name+")", value), "${"+name+"}", value)
		if len(text) > maxScript {
			return ""
		}
	}
	return strings.NewReplacer("$(MAKE)", "make", "$$", "$").Replace(text)
}
