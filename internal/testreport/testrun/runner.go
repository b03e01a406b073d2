package testrun

import (
	"path"
	"slices"
	"strings"
)

// runner is a program that runs tests.
type runner struct {
	name        string   // name of its output format
	subcommands []string // subcommands that run tests; nil = it runs tests with any arguments
	noRunArgs   []string // arguments with which it runs no tests
}

// helpFlags lists options with which no runner runs tests.
var helpFlags = []string{"--help", "-h", "--version"}

var runners = map[string]runner{
	"jest":          {name: "jest", noRunArgs: []string{"--listTests", "--showConfig", "--init", "--clearCache", "init", "-v", "-V"}},
	"react-scripts": {name: "jest", subcommands: []string{"test"}},
	"vitest":        {name: "vitest", noRunArgs: []string{"list", "init", "bench", "--clearCache", "-v", "-V"}},
	"mocha":         {name: "mocha", noRunArgs: []string{"--dry-run", "--list-files", "--list-reporters", "--list-interfaces", "init"}},
	"_mocha":        {name: "mocha"},
	"ava":           {name: "ava", noRunArgs: []string{"reset-cache"}},
	"jasmine":       {name: "jasmine", noRunArgs: []string{"init", "examples", "version", "help", "-v", "enumerate"}},
	"tap":           {name: "tap", noRunArgs: []string{"dump-config", "plugin", "build", "report", "list", "config", "versions"}},
	"tape":          {name: "tap"},
	"playwright":    {name: "playwright", subcommands: []string{"test"}, noRunArgs: []string{"--list"}},
	"cypress":       {name: "cypress", subcommands: []string{"run"}},
	"ng":            {name: "karma", subcommands: []string{"test", "e2e"}},
	"karma":         {name: "karma", subcommands: []string{"start", "run"}},
	"deno":          {name: "deno", subcommands: []string{"test"}, noRunArgs: []string{"--no-run"}},
	"bun":           {name: "bun", subcommands: []string{"test"}},
	"go":            {name: "go", subcommands: []string{"test"}, noRunArgs: []string{"-c", "-n", "-h", "-help", "--help", "-list"}},
	"gotestsum":     {name: "go", noRunArgs: []string{"tool"}},
	"ginkgo":        {name: "ginkgo", noRunArgs: []string{"help", "version", "build", "bootstrap", "generate", "outline"}},
	"cargo":         {name: "cargo", subcommands: []string{"test", "t", "nextest"}, noRunArgs: []string{"--no-run", "--list"}},
	"pytest":        {name: "pytest", noRunArgs: []string{"--collect-only", "--co", "--fixtures", "--markers", "--setup-plan", "-V"}},
	"py.test":       {name: "pytest", noRunArgs: []string{"--collect-only", "--co", "-V"}},
	"unittest":      {name: "unittest"},
	"nose2":         {name: "unittest"},
	"tox":           {noRunArgs: []string{"-l", "list", "config", "devenv"}},
	"nox":           {noRunArgs: []string{"-l", "--list"}},
	"rspec":         {name: "rspec", noRunArgs: []string{"--dry-run", "--init", "-v"}},
	"rails":         {name: "minitest", subcommands: []string{"test", "test:system", "test:all"}},
	"rake":          {subcommands: []string{"test", "spec", "default"}},
	"bats":          {name: "bats", noRunArgs: []string{"-c", "--count", "-v"}},
	"prove":         {name: "prove", noRunArgs: []string{"--dry", "-D", "-V", "-H"}},
	"phpunit":       {name: "phpunit", noRunArgs: []string{"--list-tests", "--list-groups", "--list-suites", "--generate-configuration", "--check-version"}},
	"pest":          {name: "phpunit", noRunArgs: []string{"--list-tests", "--init"}},
	"ctest":         {name: "ctest", noRunArgs: []string{"-N", "--show-only"}},
	"mvn":           {name: "maven", subcommands: []string{"test", "verify", "install", "package", "integration-test", "surefire:test", "failsafe:integration-test", "deploy"}, noRunArgs: []string{"-DskipTests", "-Dmaven.test.skip=true", "-v", "--version"}},
	"gradle":        {name: "gradle", subcommands: []string{"test", "check", "build", "integrationTest", "connectedAndroidTest", "testDebugUnitTest"}, noRunArgs: []string{"--dry-run", "-m", "-v", "--version"}},
	"dotnet":        {name: "dotnet", subcommands: []string{"test"}, noRunArgs: []string{"--list-tests", "-t"}},
	"swift":         {name: "swift", subcommands: []string{"test"}, noRunArgs: []string{"list"}},
	"mix":           {name: "mix", subcommands: []string{"test"}},
	"sbt":           {name: "sbt", subcommands: []string{"test", "testOnly", "testQuick"}},
	"zig":           {name: "zig", subcommands: []string{"test"}},
	"dart":          {name: "dart", subcommands: []string{"test"}},
	"flutter":       {name: "dart", subcommands: []string{"test", "drive"}},
	"stack":         {name: "haskell", subcommands: []string{"test"}},
	"cabal":         {name: "haskell", subcommands: []string{"test"}},
	"lein":          {name: "lein", subcommands: []string{"test"}},
	"crystal":       {name: "crystal", subcommands: []string{"spec"}},
	"busted":        {name: "busted"},
	"bazel":         {name: "bazel", subcommands: []string{"test", "coverage"}},
	"meson":         {name: "meson", subcommands: []string{"test"}, noRunArgs: []string{"--list"}},
}

// aliases maps other names of a program to its name in runners.
var aliases = map[string]string{
	"mvnw": "mvn", "gradlew": "gradle", "ctest3": "ctest", "phpunit.phar": "phpunit", "cargo-nextest": "cargo", "pytest-3": "pytest",
	"simple-phpunit": "phpunit", "paratest": "phpunit", "parallel_rspec": "rspec", "unittest2": "unittest", "turbo_tests": "rspec",
}

// IsRunner reports whether a program with this name runs tests.
func IsRunner(name string) bool {
	_, ok := lookupRunner(name)
	return ok
}

func lookupRunner(name string) (runner, bool) {
	if other, ok := aliases[name]; ok {
		name = other
	}
	r, ok := runners[name]
	return r, ok
}

// interpreters lists programs that run any script; node --test is a runner.
var interpreters = []string{"node", "python", "python3", "ruby", "perl", "php", "tsx", "ts-node", "deno", "pypy3", "bun", "lua", "pwsh", "java"}

// taskRunners lists programs that may run tests as one of their tasks; their output decides.
var taskRunners = []string{
	"just", "task", "mage", "nx", "turbo", "lerna", "moon", "rake", "tox", "nox", "docker", "docker-compose", "podman", "kubectl", "ninja",
	"concurrently", "ng", "invoke", "scons", "waf", "earthly", "dagger", "act", "composer", "sbt", "ant", "lage", "wireit",
}

// readRunner reads a program that is neither a wrapper nor a shell.
func (r *reader) readRunner(name string, words []string, f flow) {
	if strings.HasPrefix(name, "python") || strings.HasPrefix(name, "pypy") {
		name = "python"
	}
	if known, ok := lookupRunner(name); ok {
		if known.runsNone(words[1:]) {
			return
		}
		if known.runsTests(name, words[1:]) {
			r.add(Call{Runner: known.name, Words: words, IsTestRun: true}, f)
			return
		}
	}
	switch {
	case slices.Contains(interpreters, name):
		r.readInterpreter(name, words, f)
	case slices.Contains(taskRunners, name):
		r.add(Call{Words: words, IsTestRun: slices.ContainsFunc(words[1:], isTestName) && name != "docker" && name != "kubectl"}, f)
	case strings.Contains(words[0], "/") && !strings.HasPrefix(words[0], "/usr/") && !strings.HasPrefix(words[0], "/bin/"):
		r.addScriptFile(words, words, f)
	}
}

// runsNone reports whether the arguments request something other than a test run. Options count
// anywhere, a subcommand only as the first word.
func (r runner) runsNone(args []string) bool {
	first := true
	for _, arg := range args {
		option := strings.HasPrefix(arg, "-")
		name, _, _ := strings.Cut(arg, "=")
		if slices.Contains(helpFlags, arg) || slices.Contains(r.noRunArgs, name) && (option || first) {
			return true
		}
		first = first && option
	}
	return false
}

// runsTests reports whether the subcommand runs tests. Options and toolchains (`+nightly`) may
// precede it.
func (r runner) runsTests(name string, args []string) bool {
	if len(r.subcommands) == 0 {
		return true
	}
	takesTasks := name == "mvn" || name == "gradle" || name == "mvnw" || name == "gradlew" || name == "rake" || name == "sbt"
	for _, arg := range args {
		task := arg[strings.LastIndexByte(arg, ':')+1:]
		if slices.Contains(r.subcommands, arg) || takesTasks && slices.Contains(r.subcommands, task) {
			return true
		}
		if !takesTasks && !strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "+") {
			return false
		}
	}
	return false
}

// interpreterValueOptions lists options whose value is the next word.
var interpreterValueOptions = []string{"-r", "--require", "--import", "--loader", "-I", "-W", "-X", "--test-reporter", "--test-name-pattern", "-C", "--env-file", "-cp", "-classpath", "--class-path"}

// readInterpreter reads a program that runs a script or a module.
func (r *reader) readInterpreter(name string, words []string, f flow) {
	rest := words[1:]
	for len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
		switch word := rest[0]; {
		case name == "node" && word == "--test":
			r.add(Call{Runner: "node", Words: words, IsTestRun: true}, f)
			return
		case name == "python" && word == "-m" && len(rest) > 1:
			r.readCommand(rest[1:], f)
			return
		case slices.Contains([]string{"-c", "-e", "-p", "--eval", "--print", "-h", "--help", "-v", "--version", "-V"}, word):
			return
		case slices.Contains(interpreterValueOptions, word) && len(rest) > 1:
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
		r.add(Call{Runner: "node", Words: words, IsTestRun: true}, f)
	case name == "java":
		r.readJava(rest, words, f)
	case IsRunner(base) && (strings.Contains(rest[0], "node_modules/") || strings.Contains(rest[0], "bin/")),
		name == "php" && strings.Contains(rest[0], "phpunit"), base == "_mocha":
		if strings.Contains(base, "phpunit") {
			base = "phpunit"
		}
		r.readRunner(base, append([]string{base}, rest[1:]...), f)
	case (base == "manage" || base == "setup") && len(rest) > 1 && rest[1] == "test":
		r.add(Call{Runner: "unittest", Words: words, IsTestRun: true}, f)
	case name == "php" && base == "artisan" && len(rest) > 1 && rest[1] == "test":
		r.add(Call{Runner: "phpunit", Words: words, IsTestRun: true}, f)
	default:
		r.addScriptFile(rest, words, f)
	}
}

// readJava recognizes the console runners of JUnit and TestNG.
func (r *reader) readJava(rest, words []string, f flow) {
	for _, word := range words {
		if word == "org.junit.runner.JUnitCore" || word == "org.junit.platform.console.ConsoleLauncher" || strings.Contains(path.Base(word), "junit-platform-console") || word == "org.testng.TestNG" {
			r.add(Call{Runner: "junit", Words: words, IsTestRun: true}, f)
			return
		}
	}
	r.add(Call{Words: words, IsTestRun: isTestName(rest[0])}, f)
}

// fileRunners lists the runners whose operands are test files. Operands of others (go, zig, cargo)
// are sources.
var fileRunners = []string{
	"ava", "bats", "bun", "busted", "cypress", "deno", "jasmine", "jest", "minitest", "mocha", "node", "phpunit", "playwright", "prove",
	"pytest", "rspec", "tap", "unittest", "vitest",
}

// flagsWithoutValue lists options of these runners without a value.
var flagsWithoutValue = []string{"--test", "--run", "--ci", "--runInBand", "--verbose", "--silent", "--watch=false", "-i", "-q", "-s", "-v", "-vv", "-x", "--"}

// sourceOptions lists words that make a runner's operands sources, for which it finds the tests.
var sourceOptions = []string{"--findRelatedTests", "related", "--doctest-modules"}

// TestFiles returns the test files that are operands of a test run, relative to the folder of the
// command and with slashes. They need not exist.
func (c Call) TestFiles() []string {
	if !c.IsTestRun || !slices.Contains(fileRunners, c.Runner) || slices.ContainsFunc(c.Words, func(w string) bool { return slices.Contains(sourceOptions, w) }) {
		return nil
	}
	var files []string
	for i, word := range c.Words {
		last := c.Words[max(i-1, 0)]
		if i == 0 || strings.HasPrefix(word, "-") || strings.HasPrefix(last, "-") && !slices.Contains(flagsWithoutValue, last) {
			continue
		}
		word, _, _ = strings.Cut(word, "::") // without the names of pytest's tests
		if path.Ext(word) != "" && !strings.ContainsAny(word, "*?[{\\") {
			files = append(files, path.Join(c.Dir, word))
		}
	}
	return files
}
