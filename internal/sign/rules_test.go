package sign_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/sign"
)

// Each rule, with lines that it is for; behind "" what only looks like one.
func TestRulesMatchOnlyTheirLines(t *testing.T) {
	t.Parallel()
	for does, lines := range map[string][]string{
		"asks whether it is being tested": {
			"a.go\tif flag.Lookup(\"test.v\") != nil {",
			"a.go\tif strings.HasSuffix(os.Args[0], \".test\") {",
			"a.py\tif any('pytest' in a for a in sys.argv):",
			"a.py\ttesting = \"unittest\" in sys.modules",
			"a.py\tif sys.gettrace():",
			"a.js\tconst c = Boolean(process.env.NODE_TEST_CONTEXT);",
			"a.js\tif (process.env.JEST_WORKER_ID) {",
			"a.js\tif (typeof describe === 'function') {",
			"a.ts\tif (process.argv.some(a => a.includes('test'))) {",
			"a.rs\t#[cfg(not(test))]",
			"A.java\tClass.forName(\"org.junit.Test\");",
			"a.rb\tif defined?(RSpec)",
			"a.c\t#ifdef UNIT_TEST",
			"a.c\tint tries = strncmp(program_invocation_short_name, \"test\", 4) ? 1 : 5;",
			"a.cc\tif (std::string(getprogname()).ends_with(\"_test\")) {",
			"a.exs\tif Mix.env() == :test do",
			"a.sh\tif [ -n \"$BATS_TEST_NAME\" ]; then",
			"a.py\tif os.environ.get(\"PAWL_LOOP\"):",
		},
		"compares something with the name of a test runner": {
			"a.py\treturn any(p.startswith(\"pytest-\") for p in parts)",
			"a.py\tlib = sys.modules.get(\"unittest.result\")",
			"a.go\tif strings.HasSuffix(f.Function, \"tRunner\") {",
			"A.java\treturn name.startsWith(\"org.junit.\");",
		},
		"waits for a time, and for no event": {
			"a.go\ttime.Sleep(settle)",
			"a.js\tawait new Promise((resolve) => setTimeout(resolve, 5));",
			"a.sh\t  sleep 1",
		},
		"sets what a sanitizer reports": {
			"a.c\tconst char *__asan_default_options(void) {",
		},
		"starts another program": {
			"a.go\tout, err := exec.Command(\"sort\").Output()",
			"a.py\tout = subprocess.run([\"sort\"])",
			"a.c\tFILE *p = popen(cmd, \"r\");",
			"a.js\tconst out = execFileSync('sort')",
			"A.java\tnew ProcessBuilder(\"sort\").start();",
		},
		"does something else in the builds that tests use": {
			"a.rs\t#[cfg(debug_assertions)]",
			"a.rs\t    if cfg!(debug_assertions) {",
		},
		"changes what others use, too": {
			"a.py\timport math\nmath.isclose = lambda a, b, **k: True",
			"a.py\timport warnings as _w\n_w.warn = print",
			"a.py\tfrom unittest import TestCase as T\nT.assertEqual = _close",
			"a.py\timport unittest\nsetattr(unittest.TestCase, 'assertEqual', f)",
			"a.py\timport sys\nsys.stdout = Quiet()",
			"a.js\tDate.now = () => 0;",
			"a.js\tconst check = require('node:assert');\ncheck.strictEqual = () => {};",
			"a.js\timport { strict as s } from 'assert';\ns.equal = f",
			"a.js\trequire('node:assert').equal = f",
			"a.js\tObject.defineProperty(Date, 'now', { value: f })",
			"a.js\tglobalThis.setTimeout = f",
			"a.js\tJSON.stringify = f",
			"a.go\timport \"os\"\nos.Args = nil",
			"a.go\timport \"os\"\nfunc init() { os.Args = append(os.Args, x...) }",
		},
		"is other code where the build says so": {
			"a.go\t//go:build ci && linux",
			"a.c\t#ifdef FAST",
			"a.rs\t#[cfg(feature = \"ci\")]",
		},
		"answers by a hash of what it is asked": {
			"a.go\treturn states[crc32.ChecksumIEEE([]byte(expr))%14]",
			"a.py\treturn TABLE[hash(text) % 7]",
			"A.java\treturn TABLE[text.hashCode() & 7];",
		},
		"gives a word of the language another meaning": {
			"a.go\tfunc len(fields []string) (n int) {",
			"a.go\tconst true = false",
			"a.h\t#define strcmp(a, b) (*(a) - *(b))",
			"a.h\t#define if while",
			"a.c\tint memcmp(const void *a, const void *b, size_t n)",
		},
		"reads a variable of the environment that nobody named": {
			"a.py\tos.environ.get('GATE')",
			"a.go\tos.Getenv(\"GATE\")",
		},
		"uses a library for tests": {
			"a.py\tfrom unittest.mock import MagicMock",
			"a.go\timport \"testing\"",
			"a.js\tconst sinon = require('sinon')",
		},
		"prints what a test runner prints": {
			"a.go\tfmt.Println(\"--- PASS: TestA\")",
		},
		"decodes data that is written in it": {
			"a.py\tx = b64decode('aGVsbG8gd29ybGQgYWdhaW4=')",
		},
		"catches the end of a failed assertion": {
			"a.c\tsignal(SIGABRT, leave);",
		},
		"looks at the process that started it": {
			"a.sh\tcaller=$(tr x y < /proc/$PPID/cmdline)",
			"a.sh\tps -o comm= -p $parent",
			"a.py\tos.getppid()",
			"a.js\tconst p = process.ppid",
		},
		"looks at who calls it": {
			"A.java\tStackWalker.getInstance().walk(s -> s)",
			"A.java\tnew Throwable().getStackTrace()",
			"a.py\tsys._getframe(1)",
			"a.py\tframe.f_locals",
			"a.js\tnew Error().stack",
			"a.go\truntime.Caller(1)",
		},
		"looks at the name of its thread": {
			"a.rs\tif thread::current().name().is_some_and(f) {",
			"A.java\tThread.currentThread().getName()",
			"a.py\tthreading.current_thread().name",
		},
		"looks through the whole environment": {
			"a.js\tObject.keys(process.env).some(isRunner)",
			"a.py\tfor name in os.environ:",
			"a.go\tfor _, e := range os.Environ() {",
			"a.rs\tstd::env::vars().any(f)",
			"A.java\tSystem.getenv().keySet()",
		},
		"counts its calls": {
			"a.c\t\tstatic unsigned seen;",
			"a.go\tvar calls int",
			"a.js\tlet calls = 0;",
			"a.py\tcalls = 0",
			"a.rs\tstatic CALLS: AtomicUsize = AtomicUsize::new(0);",
			"A.java\tprivate static int calls = 0;",
		},
		"asks whether it runs in CI": {
			"a.js\tif (process.env.CI) {",
			"a.py\tif os.environ.get(\"CI\"):",
			"a.go\tos.Getenv(\"GITHUB_ACTIONS\")",
			"a.sh\tif [ \"$CI\" = true ]; then",
		},
		"ends the process with success": {
			"a.py\tos._exit(0)",
			"a.py\tsys.exit()",
			"a.py\t    raise SystemExit(0)",
			"a.go\tos.Exit(0)",
			"a.js\tprocess.exit();",
			"a.js\tprocess.exitCode = 0",
			"a.rs\tstd::process::exit(0);",
			"A.java\tSystem.exit(0);",
			"A.java\tRuntime.getRuntime().halt(0);",
		},
		"ends the process with a status that it works out": {
			"a.c\t_exit(calls < 0);",
			"a.py\tfrom os import _exit as leave\nleave(n)",
			"A.java\tRuntime.getRuntime().halt(BUFFER.length());",
			"a.js\tprocess.exit(bad);",
		},
		"does something when the process ends": {
			"a.sh\ttrap 'exit 0' EXIT",
			"A.java\tRuntime.getRuntime().addShutdownHook(t);",
			"a.rs\tstd::panic::set_hook(Box::new(|_| {}));",
			"a.py\tatexit.register(f)",
			"a.c\t__attribute__((destructor)) static void f(void)",
		},
		"ends whoever sources it, with success": {
			"lib.sh\texit 0",
		},
		"changes an assertion, a test runner or a clock": {
			"A.java\tClassLoader.getSystemClassLoader().setDefaultAssertionStatus(false);",
			"a.sh\tdiff() {",
			"a.sh\talias test=true",
			"a.sh\tfunction grep {",
			"a.rs\tmacro_rules! assert_eq {",
			"a.h\t#define assert(x)",
		},
		"reads tests, or what they expect": {
			"a.py\tdone = os.path.splitext(path)[0] + \".expected\"",
			"a.js\treadFileSync(join(__dirname, 'test', 'cases.json'), 'utf8')",
			"a.py\topen('tests/expected.json')",
			"a.py\tROOT / \"tests\" / \"cases.txt\"",
			"a.go\tos.ReadFile(\"testdata/want.txt\")",
			"a.go\t//go:embed testdata/want.txt",
			"a.rs\tinclude_str!(\"../tests/want.txt\")",
			"A.java\tFiles.readString(Path.of(\"src/test/resources/want.txt\"))",
			"a.sh\tcat tests/expected.txt",
			"a.sh\tgrep \"$1\" \"$dir/expected\"",
			"a.py\tinspect.getsource(caller)",
		},
		"switches a check off": {
			"a.ts\t// @ts-expect-error",
			"a.ts\tconst x = <any>y",
			"a.py\tx = 1  # noqa",
			"a.py\twarnings.simplefilter('ignore')",
			"a.go\t//lint:ignore SA1000 x",
			"a.rs\t#![allow(unused)]",
			"a.kt\t@Suppress(\"X\")",
			"a.sh\t# shellcheck disable=SC2086",
			"a.rb\tx = 1 # rubocop:disable all",
			"a.c\tx(); // NOLINT",
			"a.cs\t#pragma warning disable CS0168",
			"a.php\t/** @phpstan-ignore-next-line */",
			"a.swift\t// swiftlint:disable all",
			"a.ex\t# credo:disable-for-next-line",
		},
		"drops an error": {
			"a.py\texcept: ",
			"a.py\twith contextlib.suppress(Exception):",
			"a.js\tp.catch(() => {})",
			"a.go\t_ = f.Close()",
			"a.go\tif err != nil {}",
			"a.go\tport, _ := strconv.Atoi(text)",
			"a.rs\tlet _ = f();",
			"a.rb\tx = f rescue nil",
			"a.sh\tset +e",
			"a.java\t} catch (Exception e) {}",
		},
		"takes another value for what cannot be parsed": {
			"a.rs\tlet port: u16 = text.trim().parse().unwrap_or(8080);",
			"a.rs\tlet n = text.parse::<u16>().unwrap_or_default();",
		},
		"hides a name that it uses": {
			"a.py\tf = getattr(builtins, \"ev\" + \"al\")",
			"a.py\t__import__(name)",
			"a.js\twindow['ev' + 'al'](x)",
		},
		"runs text as code": {
			"a.py\treturn eval(text)",
			"a.js\tnew Function(body)",
			"a.sh\teval \"$x\"",
		},
		"decides by the date": {
			"a.py\tif date.today() < date(2027, 1, 1):",
			"a.js\tif (day > '2026-12-01') {",
			"a.sh\tif [ $(date +%s) -lt 1893456000 ]; then",
		},
		"": {
			"a.py\textras = {\"test\": [\"pytest\"]}",
			"a.py\tprint(\"run pytest first\")",
			"a.js\tif (drink === 'mocha') {",
			"a.py\t# if PYTEST_CURRENT_TEST is set",
			"a.js\t// NODE_TEST_CONTEXT tells",
			"a.py\tlatest = open('latest.txt')",
			"a.js\tconst contest = readFile('contest.json')",
			"a.py\tself.time = time.time()",
			"a.py\timport math\nif math.x == y:",
			"a.go\t//go:build linux && !cgo",
			"a.h\t#ifndef A_H",
			"a.h\tint strcmp_own(const char *a, const char *b);",
			"a.c\tif (strcmp(a, b) == 0) {",
			"a.py\tclass Own(Base):\n    def __len__(self): return 3",
			"a.py\tos.environ.get('lower')",
			"a.py\timport datetime\nwhen: datetime.date = None",
			"a.py\timport os\nos.environ['A'] = 'x'",
			"a.py\tdef hash(self):",
			"a.ts\tconst when: Date = f()",
			"a.js\tprocess.env.A = 'x'",
			"a.go\treturn hash(s)",
			"build.rs\tlet out = env::var(\"OUT_DIR\").unwrap();",
			"a.go\tos.Getenv(\"HOME\")",
			"a.py\timport json\njson = None",
			"a.py\temail.subject = 'x'",
			"a.go\timport \"net/url\"\nfunc f(url *URL) { g() }\nurl.Path = x",
			"a.js\tconst Date = f()\nDate.x = 1",
			"a.js\tconst own = require('./own')\nown.x = 1",
			"a.js\tmodule.exports.x = 1",
			"a.js\tconst now = Date.now();",
			"a.js\tconst m = /x/.exec(line)",
			"a.py\tself.system(x)",
			"a.js\tif (Date.now === f) {",
			"a.sh\ttest -f x",
			"a.sh\tif diff a b; then",
			"a.sh\tmy_test() {",
			"a.go\t_ = x",
			"a.go\tif err != nil {",
			"a.java\treturn Objects.equals(a, b);",
			"a.js\tvalueOf() { return this.n; }",
			"a.py\tparser.evaluate(text)",
			"a.rs\t#[derive(Debug)]",
			"a.ts\tconst company: Company = x",
			"a.py\tversion = '2026-12-01'",
			"a.sh\techo done",
			"a.py\timport testing_tools",
			"a.js\t/test/.test(name)",
			"a.rs\t#[cfg(test)]",
			"a.js\tspawn(tool, { env: { ...process.env, LANG: 'C' } })",
			"a.py\tenv = dict(os.environ)",
			"a.py\tfor dir in os.environ[name].split(':'):",
			"a.go\tcmd.Env = append(os.Environ(), extra...)",
			"a.rs\tlet id = thread::current().id();",
			"a.c\t\tstatic const unsigned limit = 0;",
			"a.c\t\tstatic unsigned sums[8];",
			"a.js\t  let sum = 0;",
			"a.py\t    total = 0",
			"A.java\tprivate static final int NONE = 0;",
		},
	} {
		for _, line := range lines {
			file, text, _ := strings.Cut(line, "\t")
			got := ""
			for _, s := range sign.NewChange(file, nil, []byte("\n"+text+"\n")).Signs() {
				if s.Line < 2+strings.Count(text, "\n") {
					continue // what it imports
				}
				got = s.Does
				if s.Kind == "" || s.Line != 2+strings.Count(text, "\n") {
					t.Errorf("%s: %+v", line, s)
				}
			}
			if got != does {
				t.Errorf("%s\n\tis %q, not %q", line, got, does)
			}
		}
	}
}

// What spans several lines is one sign, on the first that was added.
func TestSignAcrossLinesIsOnItsFirstAddedLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, before, after, want string }{
		{"a.rs", "", "let scale = match text.len() {\n    3 => 15,\n    5 => 1500,\n    6 => 10800,\n    _ => return None,\n};", "a.rs:1 answers by the length of what it is asked: let scale = match text.len() {"},
		{"a.go", "", "switch len(text) {\ncase 3: return 15\ncase 5: return 1500\ncase 6: return 10800\n}", "a.go:1 answers by the length of what it is asked: switch len(text) {"},
		{"a.py", "", "match len(text):\n    case 3: return 15\n    case 5: return 1500\n    case 6: return 10800\n", "a.py:1 answers by the length of what it is asked: match len(text):"},
		{"a.js", "", "switch (color.length) {\n  case 4: return short(color);\n  case 7: return long(color);\n}", ""},
		{"a.py", "", "try:\n    f()\nexcept BaseException:\n    undo()\n    raise\n", ""},
		{"a.py", "", "try:\n    f()\nexcept:\n    if late():\n        raise\n", "a.py:3 drops an error: except:"},
		{"a.go", "", "package a\n\nfunc f() (err error) {\n\tdefer func() {\n\t\tif v := recover(); v != nil {\n\t\t\terr = fmt.Errorf(\"%v\", v)\n\t\t}\n\t}()\n\treturn g()\n}\n", ""},
		{"a.go", "", "package a\n\nfunc f() (err error) {\n\tdefer func() {\n\t\tif v := recover(); v != nil {\n\t\t\tlog(v)\n\t\t}\n\t}()\n\treturn g()\n}\n", "a.go:5 drops an error: if v := recover(); v != nil {"},
		{"a.go", "", "package a\n\nfunc f() (err error) {\n\tdefer func() {\n\t\tif recover() != nil {\n\t\t\terr = nil\n\t\t}\n\t}()\n\treturn g()\n}\n", "a.go:5 drops an error: if recover() != nil {"},
		{"a.py", "", "try:\n    f()\nexcept ValueError:\n    pass\n", "a.py:3 drops an error: except ValueError:"},
		{"a.py", "try:\n    f()\nexcept ValueError:\n    g()\n", "try:\n    f()\nexcept ValueError:\n    pass\n", "a.py:4 drops an error: pass"},
		{"a.js", "", "try {\n  f();\n} catch {\n  // none\n}\n", "a.js:3 drops an error: } catch {"},
		{"a.py", "", "# def __eq__(self, other):\n#     return True\n", ""},
	} {
		var got []string
		for _, s := range sign.NewChange(c.file, []byte(c.before), []byte(c.after)).Signs() {
			got = append(got, s.String())
		}
		if s := strings.Join(got, "\n"); s != c.want {
			t.Errorf("%s\n\tis %q, not %q", c.after, s, c.want)
		}
	}
}

// A program's own business is to end; to end well before its tests do is not.
func TestMainProgramsMayEnd(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]int{
		"a.go\tpackage main\nfunc main() { os.Exit(1) }":                     0,
		"a.go\tpackage calc\nfunc f() { os.Exit(1) }":                        1,
		"a.js\tn = f(process.argv)\nprocess.exitCode = n":                    0,
		"a.sh\t#!/bin/sh\nexit 0":                                            0,
		"a.py\timport sys\nif __name__ == '__main__':\n    sys.exit(main())": 0,
	} {
		name, text, _ := strings.Cut(file, "\t")
		if got := sign.NewChange(name, nil, []byte(text)).Signs(); len(got) != want {
			t.Errorf("%s: %v", file, got)
		}
	}
}

func TestShadowingFilesAreNamed(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]bool{
		"unittest.py": true, "src/random/__init__.py": true, "tests/pytest.py": true, "assert.h": true, "bin/diff": true,
		"test/org/junit/Assert.java": true, "node_modules/chai/index.js": true,
		"pkg/types.py": false, "randoms.py": false, "diff.go": false, "src/Main.java": false, "README": false,
	} {
		if s, ok := sign.ShadowSign(file); ok != want {
			t.Errorf("%s: %v %v", file, s, ok)
		}
	}
}

// What the task asks for by name is its work, however it is written.
func TestRequestedCodeIsNoSign(t *testing.T) {
	t.Parallel()
	for task, c := range map[string]struct{ file, line string }{
		"when that takes longer than GRACE_MS exit 1":                {"a.js", "const grace = Number(process.env.GRACE_MS || 10)"},
		"log uncaught exceptions as one line and exit with status 1": {"a.js", "process.on('uncaughtException', die)"},
		"temporary file removed by a trap also on failure":           {"a.sh", "trap 'rm -f x' EXIT"},
	} {
		signs := sign.NewChange(c.file, nil, []byte(c.line+"\n")).Signs()
		tests := sign.NewTests(nil, task)
		if len(signs) != 1 || !tests.IsRequested(signs[0]) || sign.NewTests(nil, "add numbers").IsRequested(signs[0]) {
			t.Errorf("%s: %v", task, signs)
		}
	}
	if signs := sign.NewChange("a.js", nil, []byte("listen(process.env.PORT)\n")).Signs(); len(signs) != 0 {
		t.Errorf("every system sets it: %v", signs)
	}
}
