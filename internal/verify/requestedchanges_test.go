//go:build unix

package verify_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

// A change of an old test that the task asks for counts as approved, and what it asks for is read
// from what was done to the program.
func TestRequestedTestChangesAreApproved(t *testing.T) {
	t.Parallel()
	start := files{
		"app.py":      "def load(name):\n    return {'name': name}\n\n\ndef as_xml(name):\n    return '<' + name + '>'\n\n\ndef size(name):\n    return len(name)\n",
		"test_app.py": "import unittest\nimport app\n\n\nclass App(unittest.TestCase):\n    def test_load(self):\n        self.assertEqual(app.load('a')['name'], 'a')\n\n    def test_xml(self):\n        self.assertEqual(app.as_xml('a'), '<a>')\n\n    def test_size(self):\n        self.assertEqual(app.size('abc'), 3)\n",
	}
	recast := files{
		"app.py":      strings.Replace(start["app.py"], "def load(name):\n    return {'name': name}", "def load(name, folder):\n    return {'name': name, 'path': folder + '/' + name}", 1),
		"test_app.py": strings.Replace(start["test_app.py"], "load('a')['name']", "load('a', '/x')['name']", 1) + "\n    def test_path(self):\n        self.assertEqual(app.load('b', '/y')['path'], '/y/b')\n",
	}
	removed := files{
		"app.py":      strings.Replace(start["app.py"], "def as_xml(name):\n    return '<' + name + '>'\n\n\n", "def formats():\n    return ['json']\n\n\n", 1),
		"test_app.py": strings.Replace(start["test_app.py"], "    def test_xml(self):\n        self.assertEqual(app.as_xml('a'), '<a>')\n", "    def test_formats(self):\n        self.assertEqual(app.formats(), ['json'])\n", 1),
	}
	with := func(of files, file, old, now string) files {
		changed := maps.Clone(of)
		changed[file] = strings.Replace(of[file], old, now, 1)
		if changed[file] == of[file] {
			t.Fatalf("%s has no %q", file, old)
		}
		return changed
	}
	const takesFolder, dropsXML = "load takes the folder too, and gives the path", "Remove as_xml; formats() says which formats there are"
	for _, c := range []struct {
		name, asked string
		work        files
		asks        bool
	}{
		{"a parameter that the task names", takesFolder, recast, true},
		{"a function that goes", dropsXML, removed, true},
		{"nothing of it in the task", "clean up", recast, false},
		{"another test weakened beside it", takesFolder, with(with(recast, "test_app.py", "app.size('abc'), 3", "app.size('abc'), app.size('abc')"), "app.py", "len(name)", "0"), false},
		{"a test of what stays gone with it", dropsXML, with(removed, "test_app.py", "    def test_size(self):\n        self.assertEqual(app.size('abc'), 3)\n", ""), false},
		{"something else in the place of the program", takesFolder, with(with(recast, "test_app.py", "import app\n", "import fake as app\n"), "app.py", "len(name)", "0"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if strings.Contains(c.work["test_app.py"], "fake") {
				c.work["fake.py"] = strings.Replace(recast["app.py"], "len(name)", "3", 1)
			}
			b := newBench(t, start, nil)
			f := b.claim(gates("python3 -m unittest -q"), c.work, func(r *verify.Request) { r.Asked = c.asked })
			if c.asks != (f.Verdict.Evidence == gate.Proven && f.Observation.Inputs.Requested) || !c.asks && f.Verdict.Status == gate.Pass && f.Verdict.Evidence == gate.Proven {
				t.Errorf("explained %v: %+v", f.Observation.Inputs.Requested, f.Verdict)
			}
			for _, ch := range f.Changes {
				if ch.Asked != c.asks {
					t.Errorf("%+v", ch)
				}
			}
		})
	}
}

// A test may go with what it tests, if an old test still stands that calls what the work changed, also where
// new ones are beside it.
func TestRequestedTestRemovalNeedsARemainingTest(t *testing.T) {
	t.Parallel()
	start := files{
		"app.py":      "def v1(rows):\n    return ','.join(rows)\n\n\ndef export(rows, version=2):\n    if version == 1:\n        return v1(rows)\n    return '|'.join(rows)\n",
		"test_v1.py":  "import unittest\nimport app\n\n\nclass V1(unittest.TestCase):\n    def test_v1(self):\n        self.assertEqual(app.export(['a', 'b'], 1), 'a,b')\n",
		"test_app.py": "import unittest\nimport app\n\n\nclass App(unittest.TestCase):\n    def test_export(self):\n        self.assertEqual(app.export(['a', 'b']), 'a|b')\n",
	}
	const raises = "\n    def test_version(self):\n        self.assertRaises(ValueError, app.export, [], 1)\n"
	work := files{"app.py": "def export(rows, version=2):\n    if version == 1:\n        raise ValueError(version)\n    return '|'.join(rows)\n", "test_v1.py": ""}
	for name, c := range map[string]struct {
		test string
		asks bool
	}{
		"beside a new test":     {start["test_app.py"] + raises, true},
		"beside a changed test": {strings.Replace(start["test_app.py"], "assertEqual(app.export(['a', 'b']), 'a|b')", "assertTrue(app.export(['a', 'b']))", 1) + raises, false},
		"in its place":          {strings.Replace(start["test_app.py"], "    def test_export(self):\n        self.assertEqual(app.export(['a', 'b']), 'a|b')\n", "", 1) + raises, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			work := maps.Clone(work)
			work["test_app.py"] = c.test
			b := newBench(t, start, nil)
			f := b.claim(gates("python3 -m unittest -q"), work, func(r *verify.Request) {
				r.Asked = "Drop the v1 format: delete v1 and its tests, export must raise a ValueError for version 1"
			})
			if proven := f.Verdict.Evidence == gate.Proven; proven != c.asks {
				t.Errorf("%+v", f.Verdict)
			}
		})
	}
}

// The old words of a text and the new ones may stand in a file that the program reads, and in no other text.
func TestRewordedTemplateIsRequested(t *testing.T) {
	t.Parallel()
	const asked = `mails end with "Kind regards" instead of "Best wishes"`
	const reads = "import pathlib\n\n\ndef text(name):\n    return 'Dear ' + name + ',\\n\\n' + (pathlib.Path(__file__).parent / '%s').read_text()\n"
	const test = "import unittest\nimport app\n\n\nclass App(unittest.TestCase):\n    def test_text(self):\n        self.assertEqual(app.text('Ann'), 'Dear Ann,\\n\\nBest wishes\\n')\n"
	newWords := func(text string) string { return strings.Replace(text, "Best wishes", "Kind regards", 1) }
	for file, asks := range map[string]bool{"templates/end.txt": true, "data/end.txt": true, "docs/end.txt": false} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			start := files{"app.py": strings.Replace(reads, "%s", file, 1), file: "Best wishes\n", "test_app.py": test}
			work := files{file: "Kind regards\n", "test_app.py": newWords(test)}
			if !asks {
				start["app.py"] = "def text(name):\n    return 'Dear ' + name + ',\\n\\nBest wishes\\n'\n"
				work["app.py"] = "def text(name):\n    return 'Dear ' + name + ',\\n\\n' + ' '.join(['Kind', 'regards\\n'])\n"
			}
			b := newBench(t, start, nil)
			f := b.claim(gates("python3 -m unittest -q"), work, func(r *verify.Request) { r.Asked = asked })
			if f.Observation.Inputs.Requested != asks || asks && f.Verdict.Evidence != gate.Proven {
				t.Errorf("explained %v: %+v", f.Observation.Inputs.Requested, f.Verdict)
			}
		})
	}
}

// A golden file that the task names has the new option as the program prints it, and is said to be changed as
// the task asks.
func TestGoldenFileMayShowTheNewOption(t *testing.T) {
	t.Parallel()
	const app = "HELP = 'usage: app [-h] file\\n'\n"
	const test = "import pathlib, unittest\nimport app\n\n\nclass App(unittest.TestCase):\n    def test_help(self):\n        self.assertEqual(app.HELP, (pathlib.Path(__file__).parent / 'golden/help.txt').read_text())\n"
	grow := strings.NewReplacer("[-h] file", "[-h] [--top N] file").Replace
	b := newBench(t, files{"app.py": app, "test_app.py": test, "golden/help.txt": "usage: app [-h] file\n"}, nil)
	f := b.claim(gates("python3 -m unittest -q"), files{"app.py": grow(app), "golden/help.txt": "usage: app [-h] [--top N] file\n"}, func(r *verify.Request) {
		r.Asked = "an option --top N; golden/help.txt changes with it"
	})
	if f.Verdict.NeedsChangedInputs || len(f.Changes) != 1 || !f.Changes[0].Asked {
		t.Errorf("%+v\n%+v", f.Verdict, f.Changes)
	}
}

// New test files that may change what old tests do keep no change of an old test from counting as requested,
// unless this task changed one that an earlier task added.
func TestRequestedChangeHoldsBesideNewTests(t *testing.T) {
	t.Parallel()
	const app = "LIMIT = 5\n\n\ndef fits(n):\n    return n <= LIMIT\n\n\ndef half(n):\n    return n // 2\n"
	const old = "import unittest\nimport app\n\n\nclass Old(unittest.TestCase):\n    def test_limit(self):\n        self.assertEqual(app.LIMIT, 5)\n"
	const added = "import sys\nimport unittest\n\nsys.path.insert(0, '.')\nimport app\n\n\nclass Half(unittest.TestCase):\n    def test_half(self):\n        self.assertEqual(app.half(9), 4)\n"
	raised := files{"app.py": strings.Replace(app, "5", "20", 1), "test_old.py": strings.Replace(old, "5", "20", 1)}
	for _, c := range []struct {
		name, file, text string
		asks             bool
	}{
		{"one of an earlier task", "test_half.py", added, true},
		{"one of an earlier task, loosened", "test_half.py", strings.Replace(added, "app.half(9), 4", "app.half(9) > 0, True", 1), false},
		{"one of this task", "test_fits.py", strings.NewReplacer("Half", "Fits", "app.half(9), 4", "app.fits(20), True").Replace(added), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, files{"app.py": app, "test_old.py": old}, nil)
			protected := b.tree()
			b.write(files{"test_half.py": added})
			work := maps.Clone(raised)
			work[c.file] = c.text
			f := b.claim(gates("python3 -m unittest -q"), work, func(r *verify.Request) {
				r.Asked, r.ProtectedTree = "raise the limit from 5 to 20", protected
			})
			if f.Observation.Inputs.Requested != c.asks || f.Verdict.NeedsChangedInputs == c.asks {
				t.Errorf("explained %v: %+v", f.Observation.Inputs.Requested, f.Verdict)
			}
		})
	}
}

// What judges the tasks that follow is all that an old test said, as the task asks for it, and no new file that
// changes what old tests do, whatever the agent added to them where nothing was wrong.
func TestProtectedTestsAfterARequestedChange(t *testing.T) {
	t.Parallel()
	start := files{
		"app.py":       "def load(name):\n    return {'name': name}\n\n\ndef size(name):\n    return len(name)\n",
		"test_load.py": "import unittest\nimport app\n\n\nclass Load(unittest.TestCase):\n    def test_load(self):\n        got = app.load('a')\n        self.assertEqual(got['name'], 'a')\n",
		"test_size.py": "import unittest\nimport app\n\n\nclass Size(unittest.TestCase):\n    def test_size(self):\n        n = app.size('abc')\n        self.assertEqual(n, 3)\n",
	}
	edit := func(s string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(s) }
	const path = "\n    def test_path(self):\n        self.assertEqual([app.load('b', '/y')['path'], app.load('c', '/z')['path']], ['/y/b', '/z/c'])\n"
	takes := edit(start["app.py"], "def load(name):\n    return {'name': name}", "def load(name, folder):\n    return {'name': name, 'path': folder + '/' + name}")
	may := edit(takes, "folder)", "folder='')")
	recast := edit(start["test_load.py"], "load('a')", "load('a', '/x')")
	for _, c := range []struct {
		name string
		work files
		want files
	}{
		{"a new test", files{"app.py": may, "test_load.py": start["test_load.py"] + path}, nil},
		{"as the task asks", files{"app.py": takes, "test_load.py": recast + path}, nil},
		{"it gives up", files{"app.py": may, "test_load.py": start["test_load.py"] + path, "test_size.py": edit(start["test_size.py"], "        self", "        if n == 5:\n            return\n        self")}, files{"test_size.py": start["test_size.py"]}},
		{"it gives up beside what the task asks", files{"app.py": takes, "test_load.py": edit(recast, "        self", "        if 'n' in got:\n            return\n        self") + path}, files{"test_load.py": recast}},
		{"another file is bent beside what the task asks", files{"app.py": takes, "test_load.py": recast + path, "test_size.py": edit(start["test_size.py"], "        self", "        if n == 5:\n            return\n        self")}, files{"test_size.py": start["test_size.py"]}},
		{"a new file sets what is tested", files{"app.py": may, "test_a.py": "import unittest\nimport app\n\napp.size = len\n\n\nclass A(unittest.TestCase):" + path}, files{"test_a.py": ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, start, nil)
			f := b.claim(gates("python3 -m unittest -q"), c.work, func(r *verify.Request) { r.Asked = "load takes the folder too, and gives the path" })
			if f.Verdict.Status != gate.Pass || f.Verdict.Evidence != gate.Proven || f.Verdict.NeedsChangedInputs {
				t.Errorf("%+v", f.Verdict)
			}
			var got files
			for file, text := range f.ProtectedTexts {
				if got == nil {
					got = files{}
				}
				got[file] = string(text)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("texts for later claims (-want +got):\n%s", diff)
			}
		})
	}
}

// What was moved is not the work's own: tests need not notice when it does nothing.
func TestMovedFunctionsAreNotNew(t *testing.T) {
	t.Parallel()
	const clock = "class Clock:\n    def now(self):\n        return 7\n\n    def zone(self):\n        return 'UTC' if self.now() else ''\n"
	start := files{"clock.py": clock, "app.py": "from clock import Clock\n\n\ndef stamp():\n    return Clock().zone()[:0] + str(Clock().now())\n", "test_app.py": "import app\nassert app.stamp() == '7'\n"}
	work := files{
		"clock.py": "", "app.py": strings.Replace(start["app.py"], "from clock import Clock", "from times.clock import Clock", 1),
		"times/clock.py": clock + "\n\ndef later(n):\n    return Clock().now() + n\n", "test_later.py": "from times.clock import later\nassert later(2) == 9\n",
	}
	b := newBench(t, start, nil)
	f := b.claim(gates("for t in test_*.py; do python3 $t || exit 1; done"), work, func(r *verify.Request) { r.Asked = "move the clock to times, with a function for later" })
	if f.Verdict.Evidence != gate.Proven {
		t.Errorf("%+v", f.Verdict)
	}
	for _, piece := range f.Observation.Mutation.Points {
		if strings.Contains(piece, "zone") || strings.Contains(piece, "now") {
			t.Errorf("%s is no piece of the work", piece)
		}
	}
}

// A case that a task adds to data which a test names is a new test.
func TestNewCaseInTestDataIsANewTest(t *testing.T) {
	t.Parallel()
	agenttest.Needs(t, "python3")
	b := newBench(t, files{
		"shop.py":            "def total(cart):\n    return sum(cart['prices'])\n",
		"contract/cart.json": `[{"cart": {"prices": [1, 2]}, "total": 3}]` + "\n",
		"test_shop.py": "import json, unittest\nfrom shop import total\n\n\nclass T(unittest.TestCase):\n    def test_total(self):\n" +
			"        for case in json.load(open('contract/cart.json')):\n            self.assertEqual(total(case['cart']), case['total'])\n",
	}, nil)
	f := b.claim(gates("python3 -m unittest -q"), files{
		"shop.py":            "def total(cart):\n    return sum(cart['prices']) * (100 - cart.get('discount', 0)) // 100\n",
		"contract/cart.json": `[{"cart": {"prices": [1, 2]}, "total": 3}, {"cart": {"prices": [200], "discount": 10}, "total": 180}]` + "\n",
	}, func(r *verify.Request) { r.Asked = "a discount in percent; contract/cart.json gets a case with one" })
	if v := f.Verdict; v.Status != gate.Pass || v.Evidence != gate.Proven {
		t.Errorf("%s %s: %s", v.Status, v.Evidence, v.Reason)
	}
}
