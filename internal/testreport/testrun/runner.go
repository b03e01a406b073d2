package testrun

import (
	"path"
	"slices"
	"strings"
)

// runner is a program that runs tests.
type runner struct {
	name string   // of what its output looks like
	sub  []string // its subcommands that run tests; none = any arguments
	not  []string // arguments with which it runs none
}

// shows are options with which no runner runs a test.
var shows = []string{"--help", "-h", "--version"}

var runners = map[string]runner{
	"jest":          {name: "jest", not: []string{"--listTests", "--showConfig", "--init", "--clearCache", "init", "-v", "-V"}},
	"react-scripts": {name: "jest", sub: []string{"test"}},
	"vitest":        {name: "vitest", not: []string{"list", "init", "bench", "--clearCache", "-v", "-V"}},
	"mocha":         {name: "mocha", not: []string{"--dry-run", "--list-files", "--list-reporters", "--list-interfaces", "init"}},
	"_mocha":        {name: "mocha"},
	"ava":           {name: "ava", not: []string{"reset-cache"}},
	"jasmine":       {name: "jasmine", not: []string{"init", "examples", "version", "help", "-v", "enumerate"}},
	"tap":           {name: "tap", not: []string{"dump-config", "plugin", "build", "report", "list", "config", "versions"}},
	"tape":          {name: "tap"},
	"playwright":    {name: "playwright", sub: []string{"test"}, not: []string{"--list"}},
	"cypress":       {name: "cypress", sub: []string{"run"}},
	"ng":            {name: "karma", sub: []string{"test", "e2e"}},
	"karma":         {name: "karma", sub: []string{"start", "run"}},
	"deno":          {name: "deno", sub: []string{"test"}, not: []string{"--no-run"}},
	"bun":           {name: "bun", sub: []string{"test"}},
	"go":            {name: "go", sub: []string{"test"}, not: []string{"-c", "-n", "-h", "-help", "--help", "-list"}},
	"gotestsum":     {name: "go", not: []string{"tool"}},
	"ginkgo":        {name: "ginkgo", not: []string{"help", "version", "build", "bootstrap", "generate", "outline"}},
	"cargo":         {name: "cargo", sub: []string{"test", "t", "nextest"}, not: []string{"--no-run", "--list"}},
	"pytest":        {name: "pytest", not: []string{"--collect-only", "--co", "--fixtures", "--markers", "--setup-plan", "-V"}},
	"py.test":       {name: "pytest", not: []string{"--collect-only", "--co", "-V"}},
	"unittest":      {name: "unittest"},
	"nose2":         {name: "unittest"},
	"tox":           {not: []string{"-l", "list", "config", "devenv"}},
	"nox":           {not: []string{"-l", "--list"}},
	"rspec":         {name: "rspec", not: []string{"--dry-run", "--init", "-v"}},
	"rails":         {name: "minitest", sub: []string{"test", "test:system", "test:all"}},
	"rake":          {sub: []string{"test", "spec", "default"}},
	"bats":          {name: "bats", not: []string{"-c", "--count", "-v"}},
	"prove":         {name: "prove", not: []string{"--dry", "-D", "-V", "-H"}},
	"phpunit":       {name: "phpunit", not: []string{"--list-tests", "--list-groups", "--list-suites", "--generate-configuration", "--check-version"}},
	"pest":          {name: "phpunit", not: []string{"--list-tests", "--init"}},
	"ctest":         {name: "ctest", not: []string{"-N", "--show-only"}},
	"mvn":           {name: "maven", sub: []string{"test", "verify", "install", "package", "integration-test", "surefire:test", "failsafe:integration-test", "deploy"}, not: []string{"-DskipTests", "-Dmaven.test.skip=true", "-v", "--version"}},
	"gradle":        {name: "gradle", sub: []string{"test", "check", "build", "integrationTest", "connectedAndroidTest", "testDebugUnitTest"}, not: []string{"--dry-run", "-m", "-v", "--version"}},
	"dotnet":        {name: "dotnet", sub: []string{"test"}, not: []string{"--list-tests", "-t"}},
	"swift":         {name: "swift", sub: []string{"test"}, not: []string{"list"}},
	"mix":           {name: "mix", sub: []string{"test"}},
	"sbt":           {name: "sbt", sub: []string{"test", "testOnly", "testQuick"}},
	"zig":           {name: "zig", sub: []string{"test"}},
	"dart":          {name: "dart", sub: []string{"test"}},
	"flutter":       {name: "dart", sub: []string{"test", "drive"}},
	"stack":         {name: "haskell", sub: []string{"test"}},
	"cabal":         {name: "haskell", sub: []string{"test"}},
	"lein":          {name: "lein", sub: []string{"test"}},
	"crystal":       {name: "crystal", sub: []string{"spec"}},
	"busted":        {name: "busted"},
	"bazel":         {name: "bazel", sub: []string{"test", "coverage"}},
	"meson":         {name: "meson", sub: []string{"test"}, not: []string{"--list"}},
}

// also maps other names of the same program.
var also = map[string]string{
	"mvnw": "mvn", "gradlew": "gradle", "ctest3": "ctest", "phpunit.phar": "phpunit", "cargo-nextest": "cargo", "pytest-3": "pytest",
	"simple-phpunit": "phpunit", "paratest": "phpunit", "parallel_rspec": "rspec", "unittest2": "unittest", "turbo_tests": "rspec",
}

// IsRunner reports whether a program of that name runs tests.
func IsRunner(name string) bool {
	_, ok := lookup(name)
	return ok
}

func lookup(name string) (runner, bool) {
	if other, ok := also[name]; ok {
		name = other
	}
	r, ok := runners[name]
	return r, ok
}

// interpreters run a script whose name says little; node's --test is a runner.
var interpreters = []string{"node", "python", "python3", "ruby", "perl", "php", "tsx", "ts-node", "deno", "pypy3", "bun", "lua", "pwsh", "java"}

// others are programs that may run tests as one of their tasks: their output
// decides.
var others = []string{
	"just", "task", "mage", "nx", "turbo", "lerna", "moon", "rake", "tox", "nox", "docker", "docker-compose", "podman", "kubectl", "ninja",
	"concurrently", "ng", "invoke", "scons", "waf", "earthly", "dagger", "act", "composer", "sbt", "ant", "lage", "wireit",
}

// runner reads the words of a program that is not a wrapper.
func (r *reader) runner(name string, words []string, f flow) {
	if strings.HasPrefix(name, "python") || strings.HasPrefix(name, "pypy") {
		name = "python"
	}
	if known, ok := lookup(name); ok {
		if known.shows(words[1:]) {
			return
		}
		if known.runs(name, words[1:]) {
			r.add(Call{Runner: known.name, Words: words, Sure: true}, f)
			return
		}
	}
	switch {
	case slices.Contains(interpreters, name):
		r.interpreter(name, words, f)
	case slices.Contains(others, name):
		r.add(Call{Words: words, Sure: slices.ContainsFunc(words[1:], testName) && name != "docker" && name != "kubectl"}, f)
	case strings.Contains(words[0], "/") && !strings.HasPrefix(words[0], "/usr/") && !strings.HasPrefix(words[0], "/bin/"):
		r.interpreted(words, words, f)
	}
}

// shows reports whether the arguments ask for something other than a run: an
// option anywhere, a subcommand as the first word.
func (k runner) shows(args []string) bool {
	first := true
	for _, arg := range args {
		option := strings.HasPrefix(arg, "-")
		name, _, _ := strings.Cut(arg, "=")
		if slices.Contains(shows, arg) || slices.Contains(k.not, name) && (option || first) {
			return true
		}
		first = first && option
	}
	return false
}

// runs reports whether the subcommand is one that runs tests. Options may stand
// before it, toolchains (`+nightly`) too.
func (k runner) runs(name string, args []string) bool {
	if len(k.sub) == 0 {
		return true
	}
	all := name == "mvn" || name == "gradle" || name == "mvnw" || name == "gradlew" || name == "rake" || name == "sbt"
	for _, arg := range args {
		task := arg[strings.LastIndexByte(arg, ':')+1:]
		if slices.Contains(k.sub, arg) || all && slices.Contains(k.sub, task) {
			return true
		}
		if !all && !strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "+") {
			return false
		}
	}
	return false
}

// valuedByInterpreter are options that take the next word.
var valuedByInterpreter = []string{"-r", "--require", "--import", "--loader", "-I", "-W", "-X", "--test-reporter", "--test-name-pattern", "-C", "--env-file", "-cp", "-classpath", "--class-path"}

func (r *reader) interpreter(name string, words []string, f flow) {
	rest := words[1:]
	for len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
		switch word := rest[0]; {
		case name == "node" && word == "--test":
			r.add(Call{Runner: "node", Words: words, Sure: true}, f)
			return
		case name == "python" && word == "-m" && len(rest) > 1:
			r.command(rest[1:], f)
			return
		case slices.Contains([]string{"-c", "-e", "-p", "--eval", "--print", "-h", "--help", "-v", "--version", "-V"}, word):
			return
		case slices.Contains(valuedByInterpreter, word) && len(rest) > 1:
			rest = rest[2:]
		default:
			rest = rest[1:]
		}
	}
	if len(rest) == 0 || rest[0] == "" {
		return
	}
	switch base := strings.TrimSuffix(path.Base(rest[0]), path.Ext(rest[0])); {
	case name == "node" && slices.Contains(rest, "--test"), name == "tsx" && slices.Contains(words, "--test"):
		r.add(Call{Runner: "node", Words: words, Sure: true}, f)
	case name == "java":
		r.java(rest, words, f)
	case IsRunner(base) && (strings.Contains(rest[0], "node_modules/") || strings.Contains(rest[0], "bin/")),
		name == "php" && strings.Contains(rest[0], "phpunit"), base == "_mocha":
		if strings.Contains(base, "phpunit") {
			base = "phpunit"
		}
		r.runner(base, append([]string{base}, rest[1:]...), f)
	case (base == "manage" || base == "setup") && len(rest) > 1 && rest[1] == "test":
		r.add(Call{Runner: "unittest", Words: words, Sure: true}, f)
	case name == "php" && base == "artisan" && len(rest) > 1 && rest[1] == "test":
		r.add(Call{Runner: "phpunit", Words: words, Sure: true}, f)
	default:
		r.interpreted(rest, words, f)
	}
}

// java reads the console runners of JUnit.
func (r *reader) java(rest, words []string, f flow) {
	for _, word := range words {
		if word == "org.junit.runner.JUnitCore" || word == "org.junit.platform.console.ConsoleLauncher" || strings.Contains(path.Base(word), "junit-platform-console") || word == "org.testng.TestNG" {
			r.add(Call{Runner: "junit", Words: words, Sure: true}, f)
			return
		}
	}
	r.add(Call{Words: words, Sure: testName(rest[0])}, f)
}
