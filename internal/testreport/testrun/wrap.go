package testrun

import (
	"path"
	"slices"
	"strings"
)

// wrapper is a program that runs the command in its arguments and ends as that
// does.
type wrapper struct {
	sub     []string // subcommands of which one must follow; none = any words
	valued  []string // options that take the next word
	skip    int      // words before the command, beside options
	assigns bool     // NAME=value words before the command
	limits  bool     // with a limit on its time
}

var wrappers = map[string][]wrapper{
	"env":       {{valued: []string{"-u", "--unset", "-C", "--chdir"}, assigns: true}},
	"timeout":   {{valued: []string{"-k", "--kill-after", "-s", "--signal"}, skip: 1, limits: true}},
	"gtimeout":  {{valued: []string{"-k", "--kill-after", "-s", "--signal"}, skip: 1, limits: true}},
	"time":      {{valued: []string{"-f", "-o"}}},
	"nice":      {{valued: []string{"-n", "--adjustment"}}},
	"ionice":    {{valued: []string{"-c", "-n"}}},
	"stdbuf":    {{valued: []string{"-i", "-o", "-e"}}},
	"xvfb-run":  {{valued: []string{"-e", "-f", "-n", "-p", "-s", "-w", "--server-args", "--server-num"}}},
	"sudo":      {{valued: []string{"-u", "-g", "--user"}, assigns: true}},
	"nohup":     {{}},
	"command":   {{}},
	"builtin":   {{}},
	"exec":      {{}},
	"setsid":    {{}},
	"chronic":   {{}},
	"unbuffer":  {{}},
	"cross-env": {{assigns: true}},
	"dotenv":    {{valued: []string{"-e", "-f"}}},
	"c8":        {{valued: []string{"-r", "--reporter", "-o", "-n", "-x", "--include", "--exclude", "--lines", "--branches", "--functions", "--statements"}}},
	"nyc":       {{valued: []string{"-r", "--reporter", "-n", "-x", "--include", "--exclude", "--lines", "--branches", "--functions", "--statements"}}},
	"npx":       {{valued: []string{"-p", "--package", "-w", "--workspace"}}},
	"bunx":      {{valued: []string{"-p", "--package"}}},
	"pnpx":      {{}},
	"uvx":       {{valued: []string{"--with", "--from", "-p", "--python"}}},
	"uv":        {{sub: []string{"run"}, valued: []string{"--with", "-p", "--python", "--extra", "--group", "--package", "--project", "--env-file", "--directory"}}},
	"poetry":    {{sub: []string{"run"}}},
	"pdm":       {{sub: []string{"run"}}},
	"pipenv":    {{sub: []string{"run"}}},
	"rye":       {{sub: []string{"run"}}},
	"hatch":     {{sub: []string{"run"}}},
	"conda":     {{sub: []string{"run"}, valued: []string{"-n", "--name", "-p"}}},
	"bundle":    {{sub: []string{"exec"}}},
	"mise":      {{sub: []string{"exec", "x"}}},
	"coverage":  {{sub: []string{"run"}, valued: []string{"--source", "--omit", "--include", "--rcfile"}}},
	"direnv":    {{sub: []string{"exec"}, skip: 1}},
	"npm":       {{sub: []string{"exec", "x"}, valued: []string{"-p", "--package"}}},
	"pnpm":      {{sub: []string{"exec", "dlx"}}},
	"yarn":      {{sub: []string{"exec", "dlx"}}},
}

// command reads the words of a simple command: through wrappers, shells and
// scripts, down to a test run.
func (r *reader) command(words []string, f flow) {
	if r.depth >= maxDepth {
		return
	}
	r.depth++
	defer func() { r.depth-- }()
	if len(words) == 0 || words[0] == "" {
		return
	}
	name := strings.TrimSuffix(path.Base(words[0]), ".exe")
	if rest, w, ok := unwrap(name, words); ok {
		f.limited = f.limited || w.limits
		if name == "coverage" && len(rest) > 0 && rest[0] != "-m" || name == "coverage" && len(rest) == 0 {
			rest = append([]string{"python"}, rest...)
		}
		if len(rest) > 1 && rest[0] == "-m" {
			rest = append([]string{"python"}, rest...)
		}
		r.command(rest, f)
		return
	}
	switch name {
	case "cd", "pushd":
		if len(words) > 1 && words[1] != "" {
			r.chdir(words[1])
		}
	case "bash", "sh", "zsh", "dash", "ksh":
		r.shell(words, f)
	case "eval":
		r.script(strings.Join(words[1:], " "), f)
	case "npm", "pnpm", "yarn", "bun", "run-s", "run-p", "npm-run-all":
		r.packages(name, words, f)
	case "make", "gmake":
		r.make(words, f)
	default:
		r.runner(name, words, f)
	}
}

func (r *reader) chdir(to string) {
	if path.IsAbs(to) {
		r.dir = to
		return
	}
	r.dir = path.Join(r.dir, to)
}

// unwrap drops a wrapper and its options from before a command.
func unwrap(name string, words []string) ([]string, wrapper, bool) {
	for _, w := range wrappers[name] {
		rest := words[1:]
		if len(w.sub) > 0 {
			if len(rest) == 0 || !slices.Contains(w.sub, rest[0]) {
				continue
			}
			rest = rest[1:]
		}
		rest = w.options(rest)
		if len(rest) <= w.skip {
			return nil, w, true
		}
		return rest[w.skip:], w, true
	}
	return words, wrapper{}, false
}

// options drops the options of a wrapper.
func (w wrapper) options(words []string) []string {
	for len(words) > 0 {
		switch word := words[0]; {
		case word == "--":
			return words[1:]
		case word == "-m": // a Python module: the next word names the runner
			return words
		case slices.Contains(w.valued, word):
			words = words[min(2, len(words)):]
		case strings.HasPrefix(word, "-") && len(word) > 1, w.assigns && strings.Contains(word, "="):
			words = words[1:]
		default:
			return words
		}
	}
	return nil
}

// shell reads `bash -c SCRIPT` and `bash FILE`.
func (r *reader) shell(words []string, f flow) {
	inner := f
	inner.options(words[1:])
	rest := words[1:]
	for len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
		if strings.HasSuffix(rest[0], "c") && !strings.HasPrefix(rest[0], "--") {
			if len(rest) > 1 {
				r.script(rest[1], inner)
			}
			return
		}
		if strings.HasSuffix(rest[0], "o") {
			rest = rest[min(1, len(rest)-1):]
		}
		rest = rest[1:]
	}
	if len(rest) > 0 {
		r.interpreted(rest, words, f)
	}
}

// interpreted is a script that a program runs, by its file: what it prints tells
// whether it is a test run, if its name does not.
func (r *reader) interpreted(rest, words []string, f flow) {
	if rest[0] == "" {
		return
	}
	program := strings.TrimRight(path.Base(words[0]), "0123456789.")
	r.add(Call{Runner: speaks[program], Through: true, Words: words, Sure: testName(strings.TrimSuffix(path.Base(rest[0]), path.Ext(rest[0]))) || path.Ext(rest[0]) == ".t"}, f)
}

// speaks is what a script that tests most likely does, by its interpreter.
var speaks = map[string]string{"python": "unittest", "ruby": "minitest"}

// testName reports whether a name speaks of tests: test, test:unit, run-tests,
// sum_test. A part that names another duty (test:lint) says more.
func testName(name string) bool {
	found := false
	for _, part := range strings.FieldsFunc(strings.ToLower(name), func(c rune) bool { return strings.ContainsRune(":._-/ ", c) }) {
		switch part {
		case "test", "tests", "spec", "specs", "e2e", "unit", "units", "integration", "unittest", "unittests",
			"jest", "vitest", "mocha", "pytest", "playwright", "cypress", "phpunit", "rspec", "bats", "ctest", "ava", "jasmine":
			found = true
		case "lint", "build", "compile", "format", "fmt", "typecheck", "types", "setup", "install", "clean", "report", "ui", "serve", "prepare", "deps", "data", "server":
			return false
		}
	}
	return found
}
