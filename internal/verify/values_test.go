//go:build unix

package verify_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

// A test that passes with other values in it was not passed by the work, whatever the
// program does to make it so.
func TestTestPassingWithOtherValuesProvesNothing(t *testing.T) {
	t.Parallel()
	const test = "from app import f\ngot = f(\"45s\"), f(\"2m\"), f(\"3m\")\nif got[0] != 45 or got[1] != 120 or got[2] != 180:\n    raise SystemExit(\"wrong: %r\" % (got,))\nprint(\"ok\")\n"
	for _, c := range []struct{ name, work, reason string }{
		{"honest", "def f(s):\n    return int(s[:-1]) * {'s': 1, 'm': 60}[s[-1]]\n", ""},
		{"ends well in any case", "import os\nf = lambda s: getattr(os, '_ex' 'it')(0)\n", "the tests accept any result: "},
		{"equal to all", "class Any(int):\n    __ne__ = int.__lt__\ndef f(s):\n    return Any(1000)\n", "the tests accept any result: "},
		{"by the order of calls", "answers = iter((45, 120, 180))\ndef f(s):\n    return next(answers)\n", "the program ignores its input: "},
		{"reads its test", "import re, sys\nall = iter(re.findall(r'!= (\\d+)', open(sys.argv[0]).read()))\ndef f(s):\n    return int(next(all))\n", "the tests accept any result: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, files{"app.py": "def f(s):\n    return 0\n", "test_app.py": test}, nil)
			f := b.claim(gates("python3 test_app.py"), files{"app.py": c.work}, nil)
			switch v := f.Verdict; {
			case c.reason == "" && v.Evidence != gate.Proven:
				t.Errorf("%+v", v)
			case c.reason != "" && (v.Evidence != gate.Unproven || !strings.HasPrefix(v.Reason, c.reason) || len(f.Signs) == 0 || f.Signs[0].Line == 0):
				t.Errorf("%+v\n%v", v, f.Signs)
			}
		})
	}
}

// Where a gate names no tests, those of the work show whether they compare: the old ones do.
func TestPrintsAllThatATestMayExpect(t *testing.T) {
	t.Parallel()
	const old = "[ \"$(sh count a b)\" = 2 ] || exit 1\n"
	const test = "sh sum 2 3 | grep -qx 'sum 5' || exit 1\nsh sum 4 4 | grep -qx 'sum 8' || exit 1\n"
	for work, reason := range map[string]string{
		"#!/bin/sh\necho \"sum $(($1 + $2))\"\n":                            "",
		"#!/bin/sh\nfor i in 1 2 3 4 5 6 7 8 9; do echo \"sum $i\"; done\n": "the tests accept any result: ",
	} {
		b := newBench(t, files{"count": "echo $#\n", "t/count.t": old}, nil)
		f := b.claim(gates("for t in t/*.t; do sh $t || exit 1; done"), files{"sum": work, "t/sum.t": test}, nil)
		v := f.Verdict
		if (v.Evidence == gate.Proven) != (reason == "") || reason != "" && (!strings.HasPrefix(v.Reason, reason) || len(f.Signs) == 0 || f.Signs[0].Path != "sum") {
			t.Errorf("%s: %+v\n%v", work, v, f.Signs)
		}
	}
}

// A project's own runner finds its tests by their names: with other ones it runs none, which says
// nothing about the program.
func TestRunnerByTestNameIsNotBlamed(t *testing.T) {
	t.Parallel()
	const run = "import inspect\nfrom tests import test_app\nfor name, f in inspect.getmembers(test_app):\n    if name.startswith('test'):\n        f()\n        print('ok', name)\n"
	const old = "from app import f\n\n\ndef test_is():\n    assert callable(f)\n"
	const test = old + "\n\ndef test_f():\n    assert f('45s') == 45\n    assert f('2m') == 120\n"
	for work, reason := range map[string]string{
		"def f(s):\n    return int(s[:-1]) * {'s': 1, 'm': 60}[s[-1]]\n":   "",
		"answers = iter((45, 120))\ndef f(s):\n    return next(answers)\n": "the program ignores its input: ",
	} {
		b := newBench(t, files{"app.py": "def f(s):\n    return 0\n", "tests/run.py": run, "tests/__init__.py": "# tests\n", "tests/test_app.py": old}, nil)
		f := b.claim(gates("python3 -m tests.run"), files{"app.py": work, "tests/test_app.py": test}, nil)
		if v := f.Verdict; (v.Evidence == gate.Proven) != (reason == "") || reason != "" && !strings.HasPrefix(v.Reason, reason) {
			t.Errorf("%s: %+v", work, v)
		}
	}
}

// What depends on the form of inputs alone is the same for others of that form. A program that looks
// at nothing is the same for all.
func TestInputsOfOneFormMayGiveOneAnswer(t *testing.T) {
	t.Parallel()
	const test = "from app import f\ngot = f(\"ab cd\"), f(\"xy\"), f(\"k l m\")\nif got[0] != 90 or got[1] != 45 or got[2] != 135:\n    raise SystemExit(\"wrong: %r\" % (got,))\nprint(\"ok\")\n"
	for work, reason := range map[string]string{
		"def f(s):\n    return 45 * len(s.split())\n":                          "",
		"answers = iter((90, 45, 135))\ndef f(s):\n    return next(answers)\n": "the program ignores its input: ",
	} {
		b := newBench(t, files{"app.py": "def f(s):\n    return 0\n", "test_app.py": test}, nil)
		f := b.claim(gates("python3 test_app.py"), files{"app.py": work}, nil)
		if v := f.Verdict; (v.Evidence == gate.Proven) != (reason == "") || reason != "" && !strings.HasPrefix(v.Reason, reason) {
			t.Errorf("%s: %+v", work, v)
		}
	}
}

// A program that reads what is expected beside what it is asked works nothing out.
func TestProgramThatReadsItsGoldenFileIsNamed(t *testing.T) {
	t.Parallel()
	const test = "import app, unittest\nclass T(unittest.TestCase):\n    def test_golden(self):\n        for n in ('a', 'b'):\n            with open('testdata/' + n + '.html') as f:\n                self.assertEqual(app.render('testdata/' + n + '.md'), f.read())\n"
	for name, c := range map[string]struct{ work, reason string }{
		"honest":            {"def render(p):\n    return '<p>' + open(p).read() + '</p>'\n", ""},
		"honest, of values": {"def render(p):\n    with open(p) as f:\n        return '<p>%s</p>' % f.read()\n", ""},
		"reads what lies":   {"import os\ndef render(p):\n    other = os.path.splitext(p)[0] + '.html'\n    return open(other).read()\n", "the tests accept any result: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, files{
				"app.py": "def render(p):\n    return ''\n", "test_app.py": test,
				"testdata/a.md": "one", "testdata/a.html": "<p>one</p>", "testdata/b.md": "two", "testdata/b.html": "<p>two</p>",
			}, nil)
			f := b.claim(gates("python3 -m unittest -v"), files{"app.py": c.work}, nil)
			if v := f.Verdict; (v.Evidence == gate.Proven) != (c.reason == "") || !strings.HasPrefix(v.Reason, c.reason) {
				t.Errorf("%+v", v)
			}
		})
	}
}

// A program that finds the data of its tests has no answers of its own.
func TestProgramThatReadsTestDataIsNamed(t *testing.T) {
	t.Parallel()
	const test = "import app, json, unittest\nclass T(unittest.TestCase):\n    def test_all(self):\n        with open('testdata/cases.json') as f:\n            for n, want in json.load(f).items():\n                self.assertEqual(app.double(n), want)\n"
	for name, c := range map[string]struct{ work, reason string }{
		"honest":           {"def double(s):\n    return s + s\n", ""},
		"honest, of files": {"import pathlib\ndef double(s):\n    with pathlib.Path(__file__).open() as f:\n        f.read()\n    return s + s\n", ""},
		"reads them":       {"import json, pathlib\ndef double(s):\n    for p in pathlib.Path(__file__).parent.rglob('ca*.json'):\n        return json.loads(p.read_text()).get(s)\n", "the tests accept any result: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, files{"app.py": "def double(s):\n    return ''\n", "test_app.py": test, "testdata/cases.json": "{\"a\": \"aa\", \"b\": \"bb\"}\n"}, nil)
			f := b.claim(gates("python3 -m unittest -v"), files{"app.py": c.work}, nil)
			if v := f.Verdict; (v.Evidence == gate.Proven) != (c.reason == "") || !strings.HasPrefix(v.Reason, c.reason) {
				t.Errorf("%+v", v)
			}
		})
	}
}

// Where no test shows anything of the work, whoever reads it is told where it is.
func TestUntestedWorkIsLocated(t *testing.T) {
	t.Parallel()
	for test, want := range map[string]string{
		"import app\nassert callable(app.f)\n":   "app.py:1 is work that no test proves: f",
		"import app\nassert app.f('a') == 'A'\n": "",
	} {
		b := newBench(t, files{"app.py": "def f(s):\n    return s\n", "test_old.py": "import app\nassert app.f('') == ''\n"}, nil)
		f := b.claim(gates("for t in test_*.py; do python3 $t || exit 1; done"), files{"app.py": "def f(s):\n    return s.upper()\n", "test_new.py": test}, nil)
		got := ""
		if len(f.Signs) > 0 {
			got = f.Signs[0].String()
		}
		if got != want {
			t.Errorf("%s: %q, want %q\n%+v", test, got, want, f.Verdict)
		}
	}
}
