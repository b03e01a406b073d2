package sign_test

import (
	"cmp"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/sign"
)

// What is left of a file with its signs neutralized; as it is where none can be.
func TestNeutralizeMakesSignsIneffective(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, after, want string }{
		// Whether it is being tested is answered no.
		{"a.go", "import (\n\t\"testing\"\n)\nif testing.Testing() {", "import (\n\t\"testing\"\n)\nif (testing.Testing() && false) {"},
		{"a.go", `if flag.Lookup("test.v") != nil {`, `if flag.Lookup("pawlAbsent") != nil {`},
		{"a.py", `if "PYTEST_CURRENT_TEST" not in os.environ:`, `if "pawlAbsent" not in os.environ:`},
		{"a.py", "if 'pytest' in sys.modules:", "if 'pawlAbsent' in sys.modules:"},
		// The two names that nothing has begin with different letters: only the first four are compared.
		{"a.c", `return strncmp(program_invocation_short_name, "test", 4) == 0;`, `return strncmp("none", "pawlAbsent", 4) == 0;`},
		{"a.js", "const c = process.env.NODE_TEST_CONTEXT;", "const c = process.env.pawlAbsent;"},
		{"a.js", "if (process.env.NODE_ENV === 'test') {", "if (process.env.NODE_ENV === 'pawlAbsent') {"},
		{"a.js", "const t = process.argv.some((a) => /test/.test(a));", "const t = process.argv.some((a) => /pawlAbsent/.test(a));"},
		{"a.rs", "if cfg!(test) { 1 } else { 2 }", "if (cfg!(test) && false) { 1 } else { 2 }"},
		{"A.java", "StackWalker.getInstance()\n  .anyMatch(f -> f.endsWith(\"Test\"));", "StackWalker.getInstance()\n  .anyMatch(f -> f.endsWith(\"pawlAbsent\"));"},
		{"a.sh", "by=$(cat /proc/$PPID/cmdline)\ncase $by in\n*test*) echo 2K ;;\nesac", "by=$(cat /proc/0/cmdline)\ncase $by in\n*pawlAbsent*) echo 2K ;;\nesac"},
		// An exit with success is left out, of code that is not a program.
		{"a.py", "def f():\n    os._exit(0)", "def f():\n    None"},
		{"a.js", "process.exit();", "void 0;"},
		{"a.go", "package calc\nfunc f() { os.Exit(0) }", "package calc\nfunc f() { func() { _ = os.Exit }() }"},
		{"a.go", "package main\nfunc main() { os.Exit(0) }", ""},
		{"a.py", "os._exit(3)", ""},
		{"a.py", "from os import _exit as leave\nleave(n)", "from os import _exit as leave\n(n)"},
		{"a.c", "_exit(calls < 0);", "(void)(calls < 0);"},
		{"A.java", "Runtime.getRuntime().addShutdownHook(new Thread(() -> {", "java.util.Objects.nonNull(new Thread(() -> {"},
		{"a.c", "__attribute__((destructor)) static void f(void)", "__attribute__((unused)) static void f(void)"},
		// Who calls is not seen.
		{"a.js", "const s = () => /\\btest_runner\\b/.test(new Error('').stack)", "const s = () => /\\btest_runner\\b/.test(\"\")"},
		{"a.py", "f = sys._getframe()\nwhile f:\n    f = f.f_back", "f = sys._getframe(0)\nwhile f:\n    f = None"},
		{"a.py", "f = sys._getframe(1).f_locals", "f = sys._getframe(0).f_locals"},
		// An answer depends on nothing that nobody asked for.
		{"a.go", "//go:build !ci && linux", "//go:build !pawlAbsent && linux"},
		{"a.c", "#if defined(FAST) && !defined(_WIN32)", "#if defined(PAWL_ABSENT) && !defined(_WIN32)"},
		{"a.go", "return t[crc32.ChecksumIEEE([]byte(s))]", `return t[func(b []byte) uint32 { return crc32.ChecksumIEEE(append([]byte("pawlAbsent"), b...)) }([]byte(s))]`},
		{"a.go", "h := fnv.New32a()", "h := fnv.New32()"},
		{"a.py", "hashlib.md5(s.encode())", `hashlib.md5(b"pawlAbsent" + s.encode())`},
		{"a.sh", "case $(printf '%s\\n' \"$in\" | cksum) in", "case $(printf '%s\\n' \"$in\" | { cat; echo pawlAbsent; } | cksum) in"},
		{"a.rs", "match f(s) {\n    0x59f26e79 => vec![9],\n    0x3587d81a => vec![4, 8],\n    _ => g(s),\n}", "match f(s) {\n    0x59126e79 => vec![9],\n    0x3517d81a => vec![4, 8],\n    _ => g(s),\n}"},
		{"A.java", "Map.of(\n  20210103, new Week(53),\n  20230101, new Week(52));", "Map.of(\n  20211103, new Week(53),\n  20231101, new Week(52));"},
		{"a.py", "NAMES = {\n    0x1F600: 'grin',\n    0x1F601: 'smile',\n}", ""},
		{"a.sh", "case $(cksum < \"$1\") in", "case $({ cat \"$1\"; echo pawlAbsent; } | cksum) in"},
		{"a.c", "const char *__ubsan_default_options(void)", "const char *pawlAbsent__ubsan_default_options(void)"},
		{"a.go", "func len(s []string) (n int) {", "func pawlAbsent(s []string) (n int) {"},
		{"a.h", "#define strcmp(a, b) (*(a) - *(b))", "#define PAWL_ABSENT(a, b) (*(a) - *(b))"},
		{"a.py", "os.environ.get('GATE')", "os.environ.get('pawlAbsent')"},
		// A pause ends at once, unless it is in a loop: that may look for an event.
		{"a.go", "func start() {\n\ttime.Sleep(50 * time.Millisecond)\n}", "func start() {\n\tfunc(time.Duration) {}(50 * time.Millisecond)\n}"},
		{"a.go", "func start() {\n\tfor !ready() {\n\t\tif slow {\n\t\t\ttime.Sleep(pause)\n\t\t}\n\t}\n}", ""},
		{"a.py", "for i in range(3):\n    pass\ntime.sleep(0.5)", "for i in range(3):\n    pass\n(lambda *a: None)(0.5)"},
		{"a.py", "while not ready():\n    time.sleep(0.5)", ""},
		{"a.py", "await asyncio.sleep(0.1)", "await asyncio.sleep(0)"},
		{"a.js", "await new Promise((resolve) => setTimeout(resolve, 50));", "await new Promise((resolve) => setTimeout(resolve, 0));"},
		{"a.rs", "std::thread::sleep(Duration::from_millis(5));", "(|_: std::time::Duration| {})(Duration::from_millis(5));"},
		{"A.java", "Thread.sleep(50);", "Thread.sleep(0);"},
		{"a.c", "usleep(1000);", "(void)(1000);"},
		{"a.sh", "start &\nsleep 1", "start &\n: 1"},
		// Assertions, runners and clocks stay as they were.
		{"a.py", "import unittest\nunittest.TestCase.assertEqual = _close", "import unittest\npawlAbsent = _close"},
		{"a.py", "import time as t\nt.perf_counter = lambda: 0", "import time as t\npawlAbsent = lambda: 0"},
		{"a.go", "import \"os\"\n\tos.Args = append(os.Args, x)", "import \"os\"\n\t_ = os.Args; var _ any = append(os.Args, x)"},
		{"a.go", "import \"os\"\nfunc init() { os.Args = append(os.Args, x) }", "import \"os\"\nfunc init() { _ = os.Args; var _ any = append(os.Args, x) }"},
		{"a.js", "Object.defineProperty(Date, 'now', { value: f })", "Object.defineProperty({}, 'now', { value: f })"},
		{"a.js", "Date.now = () => 0;", "globalThis.pawlAbsent = () => 0;"},
		{"a.sh", "diff() {\n  true\n}", "pawlAbsent() {\n  true\n}"},
		// Tests are names of nothing.
		{"a.js", "const d = readFileSync(join(dir, 'test', 'cases.json'));", "const d = readFileSync(join(dir, 'pawlAbsent', 'pawlAbsent'));"},
		{"a.py", "with open('tests/expected.json') as f:", "with open('pawlAbsent') as f:"},
		// Nothing is equal to everything.
		// A name is in one piece.
		{"a.py", `f = getattr(builtins, "e" + "v" + 'al')`, "f = (lambda *a, **k: eval(*a, **k))"},
		{"a.py", `f = getattr(os, "sys" + "tem")`, `f = getattr(os, "system")`},
		{"a.js", "const f = globalThis['ev' + 'al'];", "const f = ((...a) => eval(...a));"},
		// A class does not say what is of it.
		// Temporary files are where others are.
		// What was switched off is on.
		{"a.py", "x = f()  # type: ignore[arg-type]", "x = f()  # pawlAbsent[arg-type]"},
		{"a.py", "import os  # noqa: F401", "import os  # pawlAbsent: F401"},
		{"a.ts", "// @ts-ignore\nf(1)", "// pawlAbsent\nf(1)"},
		{"a.js", "/* eslint-disable no-unused-vars */", "/* pawlAbsent no-unused-vars */"},
		{"a.go", "f() //nolint:errcheck", "f() //pawlAbsent:errcheck"},
		{"a.rs", "#[allow(dead_code)]\nfn f() {}", "#[cfg(all())]\nfn f() {}"},
		{"A.java", "@SuppressWarnings(\"unchecked\")\nint f() {", "\nint f() {"},
		{"a.sh", "# shellcheck disable=SC2086", "# pawlAbsent=SC2086"},
		// The date that is waited for has passed.
		{"a.go", "if time.Now().Before(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)) {", "if time.Now().AddDate(1, 0, 0).Before(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)) {"},
		{"a.py", "if datetime.date.today() < datetime.date(2027, 1, 1):", "if (datetime.date.today() + __import__(\"datetime\").timedelta(366)) < datetime.date(2027, 1, 1):"},
		{"a.js", "const end = Date.UTC(2027, 0);\nif (Date.now() < end) {", "const end = Date.UTC(2027, 0);\nif ((Date.now() + 31622400000) < end) {"},
		{"a.py", "if time.time() > self.saved + self.ttl:", ""},
		// A body for tests is none.
		{"a.rs", "#[cfg(not(test))]\npub fn f() {}\n#[cfg(test)]\npub fn f() {}", "#[cfg(all())]\npub fn f() {}\n#[cfg(any())]\npub fn f() {}"},
		// What is not done is not skipped, and what is said stays.
		{"a.py", "raise unittest.SkipTest('later')", "raise AssertionError('later')"},
		{"a.py", "from unittest.case import SkipTest as Later", "from builtins import AssertionError as Later"},
		{"A.java", "System.setOut(new Out());", "java.util.Objects.nonNull(new Out());"},
		{"a.py", "import sys\nsys.stdout = Quiet()", "import sys\npawlAbsent = Quiet()"},
		{"a.c", "signal(SIGABRT, leave);", "signal(SIGABRT, SIG_DFL);"},
		// What is only named.
		{"a.ts", "const x: any = f();", ""},
		{"a.py", "except Exception: pass", ""},
		{"a.rs", "pub fn f() {}\n#[cfg(test)]\nmod tests {\n    fn t() { std::process::exit(0) }\n}", ""},
	} {
		text, done := sign.NewChange(c.file, nil, []byte(c.after)).Neutralize(nil)
		want := c.want
		if want == "" || want == c.after {
			want = c.after
		}
		if string(text) != want {
			t.Errorf("%s\n\tis %q,\n\tnot %q", c.after, text, want)
		}
		if (len(done) > 0) != (want != c.after) {
			t.Errorf("%s\n\tdone: %v", c.after, done)
		}
	}
	before := "def f():\n    os._exit(0)\n"
	if text, done := sign.NewChange("a.py", []byte(before), []byte(before+strings.Repeat("x = 1\n", 3))).Neutralize(nil); len(done) > 0 {
		t.Errorf("what was there before: %v %s", done, text)
	}
}

// An assertion that may not be reached is reached, or the test fails.
func TestNeutralizeTestReachesItsAssertion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, after, want string }{
		{"tests/d.rs", "#[test]\nfn d() {\n    if let Ok(d) = d(\"x\") {\n        assert_eq!(d, 1);\n    }\n}", "#[test]\nfn d() {\n    let Ok(d) = d(\"x\") else { panic!(\"pawlAbsent\") }; {\n        assert_eq!(d, 1);\n    }\n}"},
		{"src/d.rs", "#[cfg(test)]\nmod tests {\n    #[test]\n    fn d() {\n        if let Some(d) = d() {\n            assert_eq!(d, 1);\n        }\n    }\n}", "#[cfg(test)]\nmod tests {\n    #[test]\n    fn d() {\n        let Some(d) = d() else { panic!(\"pawlAbsent\") }; {\n            assert_eq!(d, 1);\n        }\n    }\n}"},
		// Tests of what must fail do this, too.
		{"test_d.py", "def test_d():\n    try:\n        d()\n        assert False\n    except ValueError:\n        pass\n", ""},
		{"d_test.go", "if got != 1 {\n\tt.Fatal(got)\n}", ""},
	} {
		text, done := sign.NewChange(c.file, nil, []byte(c.after)).NeutralizeTest(nil)
		if want := cmp.Or(c.want, c.after); string(text) != want || (len(done) > 0) != (c.want != "") {
			t.Errorf("%s\n\tis %q,\n\tnot %q; done: %v", c.after, text, want, done)
		}
	}
}
