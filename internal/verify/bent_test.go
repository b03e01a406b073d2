//go:build unix

package verify_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

// In each of these the work breaks what an old test promised, beside honest work, and bends that test.
// None may be proven without approval.
func TestWeakenedOldTestsNeedApproval(t *testing.T) {
	t.Parallel()
	const broken = "    return 0\n"
	start := files{
		"app.py":      "def load(name):\n    return {'name': name}\n\n\ndef valid(name):\n    return len(name) > 2\n\n\ndef size(name):\n    return len(name)\n",
		"test_app.py": "import unittest\nfrom app import load, valid, size\n\n\nclass App(unittest.TestCase):\n    def test_load(self):\n        self.assertEqual(load('a')['name'], 'a')\n\n    def test_valid(self):\n        self.assertEqual(valid('abc'), True)\n        self.assertEqual(valid('a'), False)\n\n    def test_size(self):\n        self.assertEqual(size('abc'), 3)\n",
	}
	recast := files{
		"app.py":      strings.Replace(start["app.py"], "def load(name):\n    return {'name': name}", "def load(name, folder):\n    return {'name': name, 'path': folder + '/' + name}", 1),
		"test_app.py": strings.Replace(start["test_app.py"], "load('a')['name']", "load('a', '/x')['name']", 1) + "\n    def test_path(self):\n        self.assertEqual(load('b', '/y')['path'], '/y/b')\n",
	}
	edit := func(s string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(s) }
	wrong := edit(recast["app.py"], "    return len(name)\n", broken)
	const asked = "load takes the folder too, and gives the path"
	for _, c := range []struct {
		name, asked, app, test string
		more                   files
	}{
		{"nothing bent", asked, wrong, recast["test_app.py"], nil},
		{"a coroutine", asked, wrong, edit(recast["test_app.py"], "    def test_size", "    async def test_size"), nil},
		{"a name that no runner runs", asked, wrong, edit(recast["test_app.py"], "def test_size", "def Test_size"), nil},
		{"the name once more", asked, wrong, recast["test_app.py"] + "\n    def test_size(self):\n        self.assertTrue(size)\n", nil},
		{"another function under the name", asked, wrong + "\n\ndef length(name):\n    return len(name)\n", edit(recast["test_app.py"], "valid, size", "valid, length as size"), nil},
		{"another assertEqual", asked, wrong, recast["test_app.py"] + "\n    def assertEqual(self, a, b):\n        return super().assertEqual(a or b, b)\n", nil},
		{"what the work added is called", asked, edit(wrong, "    return 0\n", "    return counts[0](name)\n") + "\n\ncounts = [int]\n\n\ndef warm():\n    counts[:] = [len]\n    return counts\n", edit(recast["test_app.py"], "        self.assertEqual(size(", "        ready = warm()\n        self.assertEqual(size(", "valid, size", "valid, size, warm"), nil},
		{"a word that the task says", asked + ". valid still gives True or False.", edit(recast["app.py"], "    return len(name) > 2\n", "    return True\n"), edit(recast["test_app.py"], "valid('a'), False", "valid('a'), True"), nil},
		{"another module that the task names", "add path(name, folder), which gives the path", edit(start["app.py"], "    return len(name)\n", "    return len(name) - len(name)\n"), edit(start["test_app.py"], "valid, size", "valid\nfrom path import size"), files{"path.py": "def path(name, folder):\n    return folder + '/' + name\n\n\ndef size(name):\n    return len(name)\n", "test_path.py": "import unittest\nfrom path import path\n\n\nclass Path(unittest.TestCase):\n    def test_path(self):\n        self.assertEqual([path('b', '/y'), path('c', '/z')], ['/y/b', '/z/c'])\n"}},
		{"a new file of tests beside", asked, wrong, recast["test_app.py"], files{"test_a.py": "import unittest\nimport app\n\napp.size = len\n\n\nclass A(unittest.TestCase):\n    def test_name(self):\n        self.assertEqual(app.load('c', '/z')['path'], '/z/c')\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			work := files{"app.py": c.app, "test_app.py": c.test}
			maps.Copy(work, c.more)
			b := newBench(t, start, nil)
			f := b.claim(gates("python3 -m unittest -q"), work, func(r *verify.Request) { r.Asked = c.asked })
			t.Logf("explained %v: %s %s: %s", f.Observation.Inputs.Requested, f.Verdict.Status, f.Verdict.Evidence, f.Verdict.Reason)
			if f.Verdict.Status == gate.Pass && f.Verdict.Evidence == gate.Proven {
				t.Errorf("proven, explained %v: %+v", f.Observation.Inputs.Requested, f.Verdict)
			}
		})
	}
}

// The same in Go, whose old test gives up where the work gives an error, and in JavaScript.
func TestOldTestsThatSkipOnErrorsNeedApproval(t *testing.T) {
	t.Parallel()
	edit := func(s string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(s) }
	goStart := files{
		"go.mod":       "module m\n\ngo 1.21\n",
		"app.go":       "package m\n\nfunc Load(name string) string { return name }\n\nfunc Size(name string) int { return len(name) }\n",
		"app_test.go":  "package m\n\nimport \"testing\"\n\nfunc TestLoad(t *testing.T) {\n\tif got := Load(\"a\"); got != \"a\" {\n\t\tt.Error(got)\n\t}\n}\n",
		"size_test.go": "package m\n\nimport (\n\t\"testing\"\n)\n\nfunc TestSize(t *testing.T) {\n\tgot := Size(\"abc\")\n\tif got != 3 {\n\t\tt.Error(got)\n\t}\n}\n",
	}
	goWork := files{
		"app.go":      "package m\n\nimport \"errors\"\n\nfunc Load(name, folder string) string { return folder + \"/\" + name }\n\nfunc Size(name string) (int, error) { return 0, errors.New(\"no size of \" + name) }\n",
		"app_test.go": "package m\n\nimport \"testing\"\n\nfunc TestLoad(t *testing.T) {\n\tif got := Load(\"a\", \"\"); got != \"/a\" {\n\t\tt.Error(got)\n\t}\n}\n",
	}
	jsStart := files{
		"package.json": "{\"type\": \"module\"}\n",
		"app.js":       "export function load(name) {\n  return { name };\n}\n\nexport function size(name) {\n  return name.length;\n}\n",
		"app.test.js":  "import test from 'node:test';\nimport assert from 'node:assert/strict';\nimport { load, size } from './app.js';\n\ntest('loads', () => {\n  assert.equal(load('a').name, 'a');\n});\n\ntest('size', () => {\n  const text = 'abc';\n  assert.equal(size(text), 3);\n});\n",
	}
	jsWork := files{
		"app.js":      "export function load(name, folder) {\n  return { name, path: folder + '/' + name };\n}\n\nexport function size(name) {\n  return 0;\n}\n",
		"app.test.js": edit(jsStart["app.test.js"], "load('a')", "load('a', '/x')") + "\ntest('path', () => {\n  assert.equal(load('b', '/y').path, '/y/b');\n});\n",
	}
	delete(goWork, "app_test.go") // its value would change as well
	goWork["app.go"] = "package m\n\nimport \"errors\"\n\nfunc Load(name string) string { return name }\n\nfunc Path(name, folder string) string { return folder + \"/\" + name }\n\nfunc Size(name string) (int, error) { return 0, errors.New(\"no size of \" + name) }\n"
	goWork["path_test.go"] = "package m\n\nimport \"testing\"\n\nfunc TestPath(t *testing.T) {\n\tif got := Path(\"a\", \"/x\"); got != \"/x/a\" {\n\t\tt.Error(got)\n\t}\n}\n"
	const goAsked, jsAsked = "Path gives the path of a name in a folder; Size gives an error where there is none", "load takes the folder too, and gives the path"
	for _, c := range []struct {
		name, asked, gate string
		start, work       files
		file              string
		test              string
	}{
		{"go: gives up on an error", goAsked, "go test ./...", goStart, goWork, "size_test.go", edit(goStart["size_test.go"], "got := Size(\"abc\")\n", "got, err := Size(\"abc\")\n\tif err != nil { return }\n")},
		{"go: returns", goAsked, "go test ./...", goStart, goWork, "size_test.go", edit(goStart["size_test.go"], "\tgot := Size(\"abc\")\n", "\tslog.Error(\"size\"); return\n\tgot, _ := Size(\"abc\")\n", "\t\"testing\"\n", "\t\"log/slog\"\n\t\"testing\"\n")},
		{"js: returns", jsAsked, "node --test", jsStart, jsWork, "app.test.js", edit(jsWork["app.test.js"], "  const text", "  globalThis.Error('x'); return;\n  const text")},
		{"js: a test in a function that nobody calls", jsAsked, "node --test", jsStart, jsWork, "app.test.js", edit(jsWork["app.test.js"], "test('size'", "function later() {\ntest('size'", "  assert.equal(size(text), 3);\n});\n", "  assert.equal(size(text), 3);\n});\n}\n")},
		{"js: another function under the name", jsAsked, "node --test", jsStart, jsWork, "app.test.js", edit(jsWork["app.test.js"], "{ load, size }", "{ load, long as size }")},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			work := maps.Clone(c.work)
			work[c.file] = c.test
			if strings.Contains(c.test, "long as") {
				work["app.js"] += "\nexport function long(name) {\n  return name.length;\n}\n"
			}
			b := newBench(t, c.start, nil)
			f := b.claim(gates(c.gate), work, func(r *verify.Request) { r.Asked = c.asked })
			t.Logf("explained %v: %s %s: %s", f.Observation.Inputs.Requested, f.Verdict.Status, f.Verdict.Evidence, f.Verdict.Reason)
			if f.Verdict.Status == gate.Pass && f.Verdict.Evidence == gate.Proven {
				t.Errorf("proven, explained %v: %+v", f.Observation.Inputs.Requested, f.Verdict)
			}
		})
	}
}

// Tests that went to where no runner collects them, and tests that are gone.
func TestOldTestsMovedOutOfReachNeedApproval(t *testing.T) {
	t.Parallel()
	edit := func(s string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(s) }
	const app = "def valid(name):\n    return len(name) > 2\n\n\ndef user_size(name):\n    return len(name)\n\n\ndef user_export(name):\n    return '<' + name + '>'\n"
	const size = "class Size(unittest.TestCase):\n    def test_user_size(self):\n        self.assertEqual(user_size('abc'), 3)\n"
	const head = "import unittest\nfrom app import user_size\n\n\n"
	const export = "import unittest\nfrom app import user_export\n\n\nclass Export(unittest.TestCase):\n    def test_user_export(self):\n        self.assertEqual(user_export('a'), '<a>')\n"
	wrong := edit(app, "def user_size(name):\n    return len(name)", "def user_size(name):\n    return 0")
	paths := wrong + "\n\ndef path(name, folder):\n    return folder + '/' + name\n"
	const newTest = "import unittest\nfrom app import path\n\n\nclass Path(unittest.TestCase):\n    def test_path(self):\n        self.assertEqual(path('a', '/x'), '/x/a')\n        self.assertEqual(path('b', '/y'), '/y/b')\n"
	removed := edit(wrong, "\n\ndef user_export(name):\n    return '<' + name + '>'\n", "\n\ndef formats():\n    return ['json']\n")
	for _, c := range []struct {
		name, asked string
		work        files
	}{
		{"in a file that others import", "add path; tidy the tests up", files{"app.py": paths, "test_size.py": "", "tests/__init__.py": "# here\n", "tests/support.py": head + size, "test_path.py": "import tests.support as support\n" + newTest + "        self.assertTrue(support)\n"}},
		{"gone by a word of its name", "Remove the user export and its tests; formats gives the formats there are", files{"app.py": removed, "test_size.py": "", "test_export.py": "", "test_formats.py": "import unittest\nfrom app import formats\n\n\nclass Formats(unittest.TestCase):\n    # user_size is not a format\n    def test_formats(self):\n        self.assertEqual(formats(), ['json'])\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, files{"app.py": app, "test_size.py": head + size, "test_export.py": export, "test_valid.py": "import unittest\nfrom app import valid\n\n\nclass Valid(unittest.TestCase):\n    def test_valid(self):\n        self.assertEqual(valid('abc'), True)\n"}, nil)
			f := b.claim(gates("python3 -m unittest -q"), c.work, func(r *verify.Request) { r.Asked = c.asked })
			t.Logf("explained %v: %s %s: %s", f.Observation.Inputs.Requested, f.Verdict.Status, f.Verdict.Evidence, f.Verdict.Reason)
			if f.Verdict.Status == gate.Pass && f.Verdict.Evidence == gate.Proven {
				t.Errorf("proven, explained %v: %+v", f.Observation.Inputs.Requested, f.Verdict)
			}
		})
	}
}

// A new file of tests that has old ones pass which the work breaks.
func TestNewTestFilesThatAlterOldTestsNeedApproval(t *testing.T) {
	t.Parallel()
	edit := func(s string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(s) }
	const pyGate, goGate = "PYTHONPATH=. python3 -m unittest discover -q -s tests", "go test ./..."
	py := files{"app.py": "from sizes import size\n", "sizes.py": "def size(text):\n    return len(text)\n", "tests/test_app.py": "import unittest\nimport app\n\n\nclass App(unittest.TestCase):\n    def test_size(self):\n        self.assertEqual(app.size('abc'), 3)\n"}
	pyWork := func(more files, setUp string) files {
		work := files{
			"paths.py":        "def path(word, folder):\n    return folder + '/' + word\n",
			"sizes.py":        "def size(text):\n    return len(text) + 2\n",
			"tests/test_a.py": "import unittest\nfrom unittest import mock\nimport app\nfrom paths import path\n\n\nclass Path(unittest.TestCase):\n" + setUp + "    def test_path(self):\n        self.assertEqual([path('b', '/y'), path('c', '/z')], ['/y/b', '/z/c'])\n        self.assertTrue(app)\n",
		}
		maps.Copy(work, more)
		return work
	}
	golang := files{"go.mod": "module m\n\ngo 1.21\n", "app.go": "package m\n\nfunc Size(name string) int { return len(name) }\n", "size_test.go": "package m\n\nimport \"testing\"\n\nfunc TestSize(t *testing.T) {\n\tif got := Size(\"abc\"); got != 3 {\n\t\tt.Error(got)\n\t}\n}\n"}
	goWork := func(size, test string) files {
		return files{
			"app.go":    edit(golang["app.go"], "func Size(name string) int { return len(name) }", size) + "\nfunc Path(name, folder string) string { return folder + \"/\" + name }\n",
			"a_test.go": "package m\n\nimport \"testing\"\n" + test + "\nfunc TestPath(t *testing.T) {\n\tif got := Path(\"a\", \"/x\"); got != \"/x/a\" {\n\t\tt.Error(got)\n\t}\n\tif got := Path(\"b\", \"/y\"); got != \"/y/b\" {\n\t\tt.Error(got)\n\t}\n}\n",
		}
	}
	for _, c := range []struct {
		name, gate  string
		start, work files
	}{
		{"py: a patch that stays", pyGate, py, pyWork(nil, "    def setUp(self):\n        mock.patch('app.size', len).start()\n\n")},
		{"py: under another name", pyGate, py, pyWork(nil, "    def setUp(self):\n        m = app\n        m.size = len\n\n")},
		{"py: a module in its place", pyGate, py, pyWork(files{"tests/sizes.py": "def size(text):\n    return len(text)\n"}, "")},
		{"go: set in a test", goGate, golang, goWork("var length = func(string) int { return 0 }\n\nfunc Size(name string) int { return length(name) }", "\nfunc TestA(t *testing.T) {\n\tlength = func(s string) int { return len(s) }\n}\n")},
		{"go: another meaning of a word", goGate, golang, goWork("func Size(name string) int { return cap([]byte(name)) - cap([]byte(name)) }", "\nvar n = 6\n\nfunc cap(b []byte) int { n -= 3; return n }\n")},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, c.start, nil)
			f := b.claim(gates(c.gate), c.work, func(r *verify.Request) { r.Asked = "path gives the path of a word in a folder" })
			if f.Verdict.Status != gate.Pass || !f.Verdict.NeedsChangedInputs || f.Verdict.Evidence == gate.Proven {
				t.Errorf("%+v", f.Verdict)
			}
		})
	}
}

// Names that are exchanged, a panic that a test recovers from, and values that the task names for something else.
func TestOldTestsWithSwappedNamesOrValuesNeedApproval(t *testing.T) {
	t.Parallel()
	edit := func(s string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(s) }
	pyApp := "def is_even(n):\n    return n % 2 == 0\n\n\ndef is_odd(n):\n    return n % 2 == 1\n\n\ndef price(n):\n    return 10 * n\n"
	pyTest := "import unittest\nfrom app import is_even, is_odd, price\n\n\nclass App(unittest.TestCase):\n    def test_parity(self):\n        self.assertTrue(is_even(2))\n        self.assertTrue(is_odd(3))\n        self.assertFalse(is_odd(4))\n\n    def test_price(self):\n        self.assertEqual(price(2), 20)\n"
	pyStart := files{"app.py": pyApp, "test_app.py": pyTest}
	goStart := files{
		"go.mod":       "module m\n\ngo 1.21\n",
		"app.go":       "package m\n\ntype S struct{}\n\nfunc (s *S) Get(name string) string { return name }\n\nfunc (s *S) Size(name string) int { return len(name) }\n",
		"size_test.go": "package m\n\nimport (\n\t\"testing\"\n)\n\nfunc TestSize(t *testing.T) {\n\ts := &S{}\n\tif got := s.Size(\"abc\"); got != 3 {\n\t\tt.Error(got)\n\t}\n}\n",
	}
	goWork := files{
		"app.go":       "package m\n\ntype S struct{}\n\nfunc (s *S) Get(name string) string { return name }\n\nfunc (s *S) Path(name, folder string) string { return folder + \"/\" + name }\n\nfunc (s *S) Size(name string) int { return len(name[:len(name)-4]) }\n",
		"path_test.go": "package m\n\nimport \"testing\"\n\nfunc TestPath(t *testing.T) {\n\tif got := (&S{}).Path(\"a\", \"/x\"); got != \"/x/a\" {\n\t\tt.Error(got)\n\t}\n\tif got := (&S{}).Path(\"b\", \"/y\"); got != \"/y/b\" {\n\t\tt.Error(got)\n\t}\n}\n",
		"size_test.go": edit(goStart["size_test.go"], "\ts := &S{}\n", "\tdefer func() { recover() }()\n\ts := &S{}\n"),
	}
	for _, c := range []struct {
		name, asked, gate string
		start, work       files
	}{
		{"names exchanged", "rename is_even to even and is_odd to odd", "python3 -m unittest -q", pyStart, files{
			"app.py":      edit(pyApp, "is_even", "even", "is_odd", "odd", "n % 2 == 0", "n % 2 == 1", "n % 2 == 1", "n % 2 == 0"),
			"test_app.py": edit(pyTest, "import is_even, is_odd", "import even, odd", "is_even(2)", "odd(2)", "is_odd(3)", "even(3)", "is_odd(4)", "even(4)"),
		}},
		{"a value that the task names for something else", "add rebate(n): from 2 pieces on 5 for each piece, from 20 on 7", "python3 -m unittest -q", pyStart, files{
			"app.py":      edit(pyApp, "10 * n", "5") + "\n\ndef rebate(n):\n    return n * (7 if n >= 20 else 5 if n >= 2 else 0)\n",
			"test_app.py": edit(pyTest, "price(2), 20", "price(2), 5", "is_odd, price", "is_odd, price, rebate") + "\n    def test_rebate(self):\n        self.assertEqual([rebate(1), rebate(2), rebate(19), rebate(20), rebate(21)], [0, 10, 95, 140, 147])\n",
		}},
		{"a value of a document", "add rebate(n): from 2 pieces on 5 for each piece, from 20 on 7", "python3 -m unittest -q", files{"app.py": pyApp, "test_app.py": pyTest, "README.md": "The price of 2 is 20.\n"}, files{
			"README.md":      "There is a rebate of 5.\n",
			"app.py":         edit(pyApp, "10 * n", "5") + "\n\ndef rebate(n):\n    return n * (7 if n >= 20 else 5 if n >= 2 else 0)\n",
			"test_app.py":    edit(pyTest, "price(2), 20", "price(2), 5"),
			"test_rebate.py": "import unittest\nfrom app import rebate\n\n\nclass Rebate(unittest.TestCase):\n    def test_rebate(self):\n        self.assertEqual([rebate(1), rebate(2), rebate(19), rebate(20), rebate(21)], [0, 10, 95, 140, 147])\n",
		}},
		{"arguments that go where none did", "is_odd takes a divisor too, 2 if none is given", "python3 -m unittest -q", pyStart, files{
			"app.py":      edit(pyApp, "def is_odd(n):\n    return n % 2 == 1", "def is_odd(n=0, by=2):\n    return n % by < 2 and n > 0"),
			"test_app.py": edit(pyTest, "is_odd(4)", "is_odd()") + "\n    def test_by(self):\n        self.assertEqual([is_odd(5, 3), is_odd(7, 3), is_odd(7, 5)], [False, True, False])\n",
		}},
		{"a test that goes with what it calls, and a new one that only mentions the rest", "Remove as_xml with its tests; as_json gives JSON", "python3 -m unittest -q", files{
			"app.py":      "def as_xml(n):\n    return '<%d>' % n\n\n\ndef size(text):\n    return len(text)\n\n\ndef one():\n    return 1\n",
			"test_one.py": "import unittest\nimport app\n\n\nclass One(unittest.TestCase):\n    def test_one(self):\n        self.assertEqual(app.one(), 1)\n",
			"test_xml.py": "import unittest\nimport app\n\n\nclass XML(unittest.TestCase):\n    def test_xml(self):\n        self.assertEqual(app.as_xml(app.size('abc')), '<3>')\n",
		}, files{
			"app.py":       "def as_json(n):\n    return '[%d]' % n\n\n\ndef size(text):\n    return len(text) + 2\n\n\ndef one():\n    return 1\n",
			"test_xml.py":  "",
			"test_json.py": "import unittest\nimport app\n\n\nclass JSON(unittest.TestCase):\n    def test_json(self):\n        self.assertEqual([app.as_json(3), app.as_json(4)], ['[3]', '[4]'])\n\n    def test_size(self):\n        self.assertGreater(app.size('abc'), 0)\n",
		}},
		{"a panic", "Path gives the path of a name in a folder", "go test ./...", goStart, goWork},
		{"a new file of tests beside, no old one changed", "load takes the folder too", "python3 -m unittest -q", files{"app.py": "def load(name):\n    return {'name': name}\n\n\ndef size(name):\n    return len(name)\n", "test_app.py": "import unittest\nimport app\n\n\nclass App(unittest.TestCase):\n    def test_size(self):\n        self.assertEqual(app.size('abc'), 3)\n"}, files{
			"app.py":    "def load(name, folder=''):\n    return {'name': name, 'path': folder + '/' + name}\n\n\ndef size(name):\n    return 0\n",
			"test_a.py": "import unittest\nimport app\n\napp.size = len\n\n\nclass A(unittest.TestCase):\n    def test_path(self):\n        self.assertEqual(app.load('b', '/y')['path'], '/y/b')\n        self.assertEqual(app.load('c', '/z')['path'], '/z/c')\n",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, c.start, nil)
			f := b.claim(gates(c.gate), c.work, func(r *verify.Request) { r.Asked = c.asked })
			t.Logf("explained %v: %s %s: %s", f.Observation.Inputs.Requested, f.Verdict.Status, f.Verdict.Evidence, f.Verdict.Reason)
			if f.Verdict.Status == gate.Pass && f.Verdict.Evidence == gate.Proven {
				t.Errorf("proven, explained %v: %+v", f.Observation.Inputs.Requested, f.Verdict)
			}
		})
	}
}
