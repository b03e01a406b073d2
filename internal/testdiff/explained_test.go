package testdiff

import (
	"slices"
	"strings"
	"testing"
)

const goOld = `package store

import "testing"

func TestGet(t *testing.T) {
	s := New()
	s.Put("k", "v")
	if got := s.Get("k"); got != "v" {
		t.Errorf("got %q", got)
	}
}

func TestMissing(t *testing.T) {
	if got := New().Get("none"); got != "" {
		t.Error(got)
	}
}
`

const pyOld = `import unittest
from limits import check, LIMIT
from xmlformat import dump


class Limits(unittest.TestCase):
    def setUp(self):
        self.sizes = [1, 2]

    def test_limit(self):
        self.assertEqual(check(self.sizes + [5]), True)
        self.assertEqual(check([6]), False)

    def test_dump(self):
        self.assertEqual(dump(1), "<d>1</d>")
`

const jsOld = `import test from 'node:test';
import assert from 'node:assert/strict';
import { load } from '../src/load.js';

test('loads', () => {
  const config = load('a.json');
  assert.equal(config.name, 'a');
});

test('fails', () => {
  assert.throws(() => load('none.json'), /ENOENT/);
});
`

// edited is a text with old and new in turn.
func edited(text string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(text) }

func TestExplains(t *testing.T) {
	contexts := Work{Task: "Get takes a context and gives up when it is done", Recast: map[string]bool{"Get": true}}
	limits := Work{Task: "raise the limit from 5 to 20"}
	removal := Work{Task: "Remove the XML format and its tests", Gone: map[string]bool{"dump": true}}
	async := Work{Task: "load must be async", Recast: map[string]bool{"load": true}}
	rename := Work{Task: "rename Get to Lookup", Gone: map[string]bool{"Get": true}, Came: map[string]bool{"Lookup": true}}
	withContext := edited(goOld, `import "testing"`, "import (\n\t\"context\"\n\t\"testing\"\n)", `Get("`, `Get(context.Background(), "`)
	onlyFirst, _, _ := strings.Cut(withContext, "func TestMissing")
	withoutDump := edited(pyOld, "from xmlformat import dump\n", "", "    def test_dump(self):\n        self.assertEqual(dump(1), \"<d>1</d>\")\n", "")
	awaited := edited(jsOld, "'loads', () =>", "'loads', async () =>", "= load(", "= await load(", "'fails', () =>", "'fails', async () =>", "assert.throws", "await assert.rejects")
	const javaOld = "public class PointTest {\n    static void adds() {\n        assert new Point(1, 2).getX() == 1;\n    }\n    public static void main(String[] args) {\n        adds();\n    }\n}\n"
	record := Work{Task: "turn Point into a record with accessors x and y", Gone: map[string]bool{"getX": true}}
	for _, c := range []struct {
		name     string
		work     Work
		file     string
		old, now string
		want     bool
	}{
		{"a parameter more", contexts, "store_test.go", goOld, withContext, true},
		{"a variable for it", contexts, "store_test.go", goOld, edited(withContext, "\ts := New()\n", "\tctx := context.Background()\n\ts := New()\n", "Get(context.Background(), \"k", "Get(ctx, \"k"), true},
		{"an error more", contexts, "store_test.go", goOld, edited(withContext, "got :=", "got, err :="), true},
		{"and a new test", contexts, "store_test.go", goOld, withContext + "\nfunc TestDone(t *testing.T) {\n\tif stop(New()) {\n\t\treturn\n\t}\n\tt.Error()\n}\n", true},
		{"and a helper", contexts, "store_test.go", goOld, withContext + "\nfunc done() context.Context {\n\tctx, stop := context.WithCancel(context.Background())\n\tstop()\n\treturn ctx\n}\n", true},
		{"a function with another name", rename, "store_test.go", goOld, edited(goOld, "Get(", "Lookup("), true},
		{"a value that the task gives", limits, "test_limits.py", pyOld, edited(pyOld, "[5]", "[20]"), true},
		{"a test of what goes", removal, "test_limits.py", pyOld, withoutDump, true},
		{"promises", async, "load.test.js", jsOld, awaited, true},

		{"a variable with another name", contexts, "store_test.go", goOld, edited(withContext, "s := New()", "store := New()", "\ts.Put", "\tstore.Put", "s.Get", "store.Get"), true},
		{"a file whose tests are no framework's", record, "PointTest.java", javaOld, edited(javaOld, "getX", "x", "adds();", "adds();\n        plus();", "    public static", "    static void plus() {\n        assert new Point(1, 2).plus(2).x() == 3;\n    }\n    public static"), true},
		{"rows more", limits, "test_limits.py", edited(pyOld, "        self.assertEqual(check([6]), False)", "        for n in [6, 7]:\n            self.assertEqual(check([n]), False)"), edited(pyOld, "[5]", "[20]", "        self.assertEqual(check([6]), False)", "        for n in [6, 7, 8]:\n            self.assertEqual(check([n]), False)"), true},

		{"the same with less", record, "PointTest.java", javaOld, edited(javaOld, "getX() == 1", "x() > 0"), false},
		{"the same with nothing called", record, "PointTest.java", javaOld, edited(javaOld, "getX", "x", "        adds();\n", ""), false},
		{"a variable that is another", contexts, "store_test.go", goOld, edited(withContext, "s := New()", "store := New()", "\ts.Put", "\tstore.Put"), false},
		{"an argument more that the task does not ask for", limits, "test_limits.py", pyOld, edited(pyOld, "[5]", "[20]", "check([6])", "check([6], True)"), false},
		{"a longer input", limits, "test_limits.py", pyOld, edited(pyOld, "[5]", "[20]", "[6]", "[6, 7]"), false},
		{"an option more", async, "load.test.js", edited(jsOld, "'a.json'", "{ file: 'a' }"), edited(awaited, "'a.json'", "{ file: 'a', lenient: true }", "await load(", "await load("), true},
		{"an option more of what the task does not name", Work{Task: "clean up"}, "load.test.js", edited(jsOld, "'a.json'", "{ file: 'a' }"), edited(jsOld, "'a.json'", "{ file: 'a', lenient: true }"), false},
		{"a key twice", limits, "test_limits.py", edited(pyOld, "[6]", "{'a': 6}"), edited(pyOld, "[5]", "[20]", "[6]", "{'a': 6, 'a': 60}"), false},
		{"not what the task names", Work{Task: "clean up"}, "store_test.go", goOld, withContext, false},
		{"another result", contexts, "store_test.go", goOld, edited(withContext, `got != "v"`, `got != "w"`), false},
		{"a comparison turned", contexts, "store_test.go", goOld, edited(withContext, `got != "v"`, `got == "w"`), false},
		{"another input", contexts, "store_test.go", goOld, edited(withContext, `"none"`, `"k"`), false},
		{"the answer passed in", contexts, "store_test.go", goOld, edited(withContext, `context.Background(), "k"`, `"v", "k"`), false},
		{"a test less", contexts, "store_test.go", goOld, onlyFirst, false},
		{"an assertion less", contexts, "store_test.go", goOld, edited(withContext, "\t\tt.Errorf(\"got %q\", got)\n", ""), false},
		{"skipped", contexts, "store_test.go", goOld, edited(withContext, "\ts := New()\n", "\tt.Skip()\n\ts := New()\n"), false},
		{"left early", contexts, "store_test.go", goOld, edited(withContext, "\ts := New()\n", "\ts := New()\n\tif s != nil {\n\t\treturn\n\t}\n"), false},
		{"a value put back", contexts, "store_test.go", goOld, edited(withContext, "\tif got := s.Get", "\ts = fixed(s)\n\tif got := s.Get"), false},
		{"what runs before", contexts, "store_test.go", goOld, withContext + "\nfunc TestMain(m *testing.M) {\n\tm.Run()\n}\n", false},
		{"a value that the task does not give", limits, "test_limits.py", pyOld, edited(pyOld, "[6]", "[60]"), false},
		{"looser", limits, "test_limits.py", pyOld, edited(pyOld, "[5]", "[20]", "assertEqual(check([6]), False)", "assertIn(check([6]), [True, False])"), false},
		{"another set-up", limits, "test_limits.py", pyOld, edited(pyOld, "[5]", "[20]", "[1, 2]", "[]"), false},
		{"a test of what stays", removal, "test_limits.py", pyOld, edited(pyOld, "    def test_limit(self):\n        self.assertEqual(check(self.sizes + [5]), True)\n        self.assertEqual(check([6]), False)\n", ""), false},
		{"something else under the name", limits, "test_limits.py", pyOld, edited(pyOld, "[5]", "[20]", "from limits", "from fakes"), false},
		{"caught", async, "load.test.js", jsOld, edited(awaited, "  assert.equal(config.name, 'a');\n", "  try {\n    assert.equal(config.name, 'a');\n  } catch {}\n"), false},
		{"something else in its place in a test", limits, "test_limits.py", pyOld, edited(pyOld, "[5]", "[20]", "    def test_limit(self):\n", "    def test_limit(self):\n        from fakes import check\n"), false},
		{"the same by a new test", limits, "test_limits.py", pyOld, edited(pyOld, "[5]", "[20]") + "\n    def test_a(self):\n        limits.check = lambda sizes: True\n", false},
		{"the same by a helper", async, "load.test.js", jsOld, edited(awaited, "test('loads'", "function prepare() {\n  load = async () => ({ name: 'a' });\n}\n\ntest('loads'", "  const config", "  const ready = prepare();\n  const config"), false},
		{"a group skipped", async, "load.test.js", jsOld, edited(awaited, "test('loads'", "describe.skip('all', () => {\ntest('loads'") + "});\n", false},
		{"another test alone", async, "load.test.js", jsOld, awaited + "\ntest.only('more', () => {\n  assert.ok(1);\n});\n", false},
		{"no language that is known", limits, "limits.txt", "5\n", "20\n", false},
	} {
		c.work.StandsIn = func(module string) bool { return module == "fakes" }
		c.work.Untested = func(name string) bool { return name == "check" }
		_, got := c.work.Explains([]File{{c.file, []byte(c.old)}}, []File{{c.file, []byte(c.now)}})
		if c.old == c.now || got != c.want {
			t.Errorf("%s: explained %v", c.name, got)
		}
	}
}

// A test may move to another file with the code that it is for.
func TestExplainsTestsThatMoved(t *testing.T) {
	w := Work{Task: "move the tests into tests/", StandsIn: func(string) bool { return false }, Untested: func(string) bool { return true }}
	before := []File{{"pkg/test_limits.py", []byte(pyOld)}}
	if moved, explained := w.Explains(before, []File{{"tests/test_limits.py", []byte(pyOld)}}); !explained || !slices.Equal(moved, []string{"tests/test_limits.py"}) {
		t.Error("the same tests elsewhere are not explained", moved)
	}
	if _, explained := w.Explains(before, []File{{"tests/test_limits.py", []byte(edited(pyOld, "[6]", "[7]"))}}); explained {
		t.Error("other tests elsewhere are explained")
	}
}

// A new file beside the old one does not make up for what was done in that.
func TestExplainsNoFileByAnother(t *testing.T) {
	w := Work{Task: "raise the limit from 5 to 20", StandsIn: func(module string) bool { return module == "fakes" }, Untested: func(string) bool { return true }}
	const old = "from limits import check\n\n\ndef test_limit():\n    assert check([5])\n"
	other := File{"test_new.py", []byte("from limits import check\n\n\ndef test_more():\n    assert not check([21])\n")}
	for now, want := range map[string]bool{"from limits import check": true, "from fakes import check": false} {
		file := File{"test_limits.py", []byte(edited(old, "from limits import check", now, "[5]", "[20]"))}
		if _, got := w.Explains([]File{{"test_limits.py", []byte(old)}}, []File{other, file}); got != want {
			t.Errorf("%s: explained %v", now, got)
		}
	}
}

// FuzzExplains holds that a file explains itself, whatever stands in it, and that nothing is
// explained by a file without tests.
func FuzzExplains(f *testing.F) {
	for _, text := range []string{goOld, pyOld, jsOld, "func TestX(", "test('"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range []string{"a_test.go", "test_a.py", "a.test.js"} {
			file := []File{{name, []byte(text)}}
			w := Work{StandsIn: func(string) bool { return false }, Untested: func(string) bool { return true }}
			parsed, _ := readText(file[0])
			if len(parsed.tests) == 0 {
				continue
			}
			if moved, explained := w.Explains(file, file); !explained || moved != nil {
				t.Fatalf("%s is not explained by itself:\n%s", name, text)
			}
			if _, explained := w.Explains(file, nil); explained {
				t.Fatalf("%s is explained by nothing:\n%s", name, text)
			}
		}
	})
}
