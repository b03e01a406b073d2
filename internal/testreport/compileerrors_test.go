package testreport_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/testreport"
)

const (
	gccError = "tests/undo_test.cpp: In function 'int main()':\n" +
		"tests/undo_test.cpp:43:19: error: 'class TextBuffer' has no member named 'undo'\n" +
		"   43 |     assert(!plain.undo());\n      |                   ^~~~\n"
	makeError = "make: *** [Makefile:11: out/undo_test] Error 1\n"
)

// A compile error that stopped a run is distinguished from failed tests, even if a test prints the
// text of a compile error.
func TestBuildFailuresAreRecognized(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, command, output string
		want                  bool
	}{
		{"gcc in make", "make -s test", gccError + makeError, true},
		{"gcc, a header is missing", "make test", "a.c:1:10: fatal error: ring.h: No such file or directory\n    1 | #include \"ring.h\"\ncompilation terminated.\n" + makeError, true},
		{"clang", "./check", "a.c:3:5: error: use of undeclared identifier 'x'\n    x = 1;\n    ^\n1 error generated.\n", true},
		{"linker", "make test", "/usr/bin/ld: /tmp/ccX.o: in function `main':\na.c:(.text+0x5): undefined reference to `undo'\ncollect2: error: ld returned 1 exit status\n" + makeError, true},
		{"javac", "sh run.sh", "src/Ring.java:12: error: cannot find symbol\n    ring.push(1);\n        ^\n  symbol:   method push(int)\n1 error\n", true},
		{"maven", "mvn -q test", "[ERROR] COMPILATION ERROR : \n[ERROR] /r/src/Ring.java:[12,9] cannot find symbol\n", true},
		{"gradle", "gradle test", "> Task :compileTestJava FAILED\n* What went wrong:\n> Compilation failed; see the compiler error output for details.\nBUILD FAILED in 1s\n", true},
		{"cargo", "cargo test", "error[E0425]: cannot find function `undo` in this scope\n --> src/lib.rs:3:5\nerror: could not compile `ring` (lib test) due to 1 previous error\n", true},
		{"cargo with long output", "cargo test -q", "error[E0004]: non-exhaustive patterns\n --> src/lib.rs:3:5\n" + strings.Repeat("  |\n", 40) + "error: could not compile `ring` (lib test) due to 1 previous error\n", true},
		{"rustc", "sh run.sh", "error[E0425]: cannot find value `x` in this scope\n --> a.rs:3:5\nerror: aborting due to 1 previous error\n", true},
		{"tsc", "tsc && node --test", "src/a.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.\n", true},
		{"go in make", "make test", "# m/p\np/a.go:3:5: undefined: x\nFAIL\tm/p [build failed]\nFAIL\n", true},
		{"node", "node t.js", "/r/t.js:3\nlet let = 1;\n    ^^^\n\nSyntaxError: let is disallowed as a lexically bound name\n    at wrapSafe (node:internal/modules/cjs/loader:1378:20)\n", true},
		{"Python", "python3 t.py", "  File \"/r/t.py\", line 1\n    def f(:\n          ^\nSyntaxError: invalid syntax\n", true},
		{"bash", "./run.sh", "./run.sh: line 3: syntax error near unexpected token `fi'\n", true},
		{"dash", "./run.sh", "./run.sh: 3: Syntax error: \"fi\" unexpected\n", true},

		{"an assertion fails", "make test", "t: tests/a.c:9: main: Assertion `add(1, 2) == 3' failed.\n" + makeError, false},
		{"an assertion fails besides a compile error", "make -k test", gccError + "t: tests/a.c:9: main: Assertion `add(1, 2) == 3' failed.\n", false},
		{"a crash besides a compile error", "make -k test", gccError + "make: *** [Makefile:4: test] Segmentation fault (core dumped)\n", false},
		{"a test is counted as failed", "cargo test", "error: could not compile `inner`\ntest result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n", false},
		{"a test prints a compile error without context", "make test", "a.c:3:5: error: unexpected token\n" + makeError, false},
		{"a test prints a compile error of Java without context", "make test", "got: Ring.java:12: error: cannot find symbol\n" + makeError, false},
		{"a failed test mentions a build", "make test", "FAIL: want \"could not compile\", got \"error: could not compile\"\n" + makeError, false},
		{"Python catches a syntax error", "python3 t.py", "t.py: SyntaxError: invalid syntax\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			run := testreport.Run{Command: c.command, ExitCode: 1, Output: []byte(c.output)}
			if got := testreport.Read(run); got.BuildFailed != c.want || c.want && got.FirstError == "" {
				t.Errorf("%+v", got)
			}
			run.ExitCode = 0
			if got := testreport.Read(run); got.BuildFailed {
				t.Errorf("exit 0: %+v", got)
			}
		})
	}
}
