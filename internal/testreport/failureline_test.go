package testreport_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/testreport"
)

// The line that names the failure, in outputs that no report format covers.
func TestFailureLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ output, want string }{
		"a failed assert below make": {
			"cc -o t t.c\n./t\nt: t.c:7: main: Assertion `add(1, 2) == 3' failed.\nAborted (core dumped)\nmake: *** [Makefile:2: test] Error 134\n",
			"t: t.c:7: main: Assertion `add(1, 2) == 3' failed.",
		},
		"a failed assert on a Mac": {"Assertion failed: (add(1, 2) == 3), function main, file t.c, line 7.\nmake: *** [test] Abort trap: 6\n", "Assertion failed: (add(1, 2) == 3), function main, file t.c, line 7."},
		"the first of a compiler's errors": {
			"t.c: In function 'main':\nt.c:4:5: error: unknown type name 'foo'\n    4 | foo x;\n      | ^~~\nt.c:9:1: error: expected ';'\nmake[1]: *** [Makefile:4: t.o] Error 1\nmake[1]: Leaving directory '/w'\nmake: *** [Makefile:2: all] Error 2\n",
			"t.c:4:5: error: unknown type name 'foo'",
		},
		"the linker":               {"/usr/bin/ld: t.o: in function `main':\nt.c:(.text+0x1e): undefined reference to `add'\ncollect2: error: ld returned 1 exit status\nmake: *** [Makefile:2: t] Error 1\n", "t.c:(.text+0x1e): undefined reference to `add'"},
		"a script's own words":     {"ok 1 - start\nnot ok 2 - adds\nnot ok 3 - subtracts\n1..3\n", "not ok 2 - adds"},
		"FAIL":                     {"PASS: a\nFAIL: adds: want 3, got 4\nFAIL: subtracts\n2 of 3 failed\nmake: *** [test] Error 1\n", "FAIL: adds: want 3, got 4"},
		"what a passing test logs": {"error: bad input (wanted)\nPASS: rejects\nFAIL: adds\nmake: *** [test] Error 1\n", "FAIL: adds"},
		"a traceback":              {"Traceback (most recent call last):\n  File \"t.py\", line 3, in <module>\n    f(1)\nValueError: no such word: 1\nmake: *** [test] Error 1\n", "ValueError: no such word: 1"},
		"a sanitizer":              {"==12==ERROR: AddressSanitizer: heap-use-after-free on address 0x6\n    #0 0x4 in main t.c:4\nSUMMARY: AddressSanitizer: heap-use-after-free t.c:4 in main\nmake: *** [test] Error 1\n", "==12==ERROR: AddressSanitizer: heap-use-after-free on address 0x6"},
		"a missing program":        {"make: mychk: No such file or directory\nmake: *** [Makefile:2: test] Error 127\n", "make: mychk: No such file or directory"},
		"only make":                {"make: *** No rule to make target 'test'.  Stop.\n", "make: *** No rule to make target 'test'.  Stop."},
		"make's silent recipe":     {"make: *** [Makefile:2: test] Error 1\n", "make: *** [Makefile:2: test] Error 1"},
		"nothing names it":         {"checking\nsum is 4\n", "sum is 4"},
		"failure is no word here":  {"the failed list is empty\nerrors: 0\nsum is 4\n", "sum is 4"},
		"nothing":                  {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := testreport.FailureLine(c.output); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}
