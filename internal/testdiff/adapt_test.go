package testdiff

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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

// An adapted test file has the changes that the task asks for, and no other that the agent made.
func TestAdaptMakesOnlyRequestedChanges(t *testing.T) {
	contexts := Work{Task: "Get takes a context and gives up when it is done", ChangedSignatures: map[string]bool{"Get": true}}
	swapped := func(pairs ...string) map[[2]string]bool {
		all := map[[2]string]bool{}
		for i := 0; i < len(pairs); i += 2 {
			all[[2]string{pairs[i], pairs[i+1]}] = true
		}
		return all
	}
	limit := swapped("5", "20")
	limits := Work{Task: "raise the limit from 5 to 20", Replacements: limit}
	removal := Work{Task: "Remove the XML format and its tests", RemovedNames: map[string]bool{"dump": true}}
	async := Work{Task: "load must be async", ChangedSignatures: map[string]bool{"load": true}}
	rename := Work{Task: "rename Get to Lookup", RemovedNames: map[string]bool{"Get": true}, AddedNames: map[string]bool{"Lookup": true}}
	even := Work{Task: "rename is_even to even and is_odd to odd", RemovedNames: map[string]bool{"is_even": true, "is_odd": true}, AddedNames: map[string]bool{"even": true, "odd": true}}
	lenient := Work{Task: contexts.Task, ChangedSignatures: contexts.ChangedSignatures, AddedNames: map[string]bool{"lenient": true}}
	withContext := edited(goOld, `import "testing"`, "import (\n\t\"context\"\n\t\"testing\"\n)", `Get("`, `Get(context.Background(), "`)
	goWant := edited(goOld, "package store\n", "package store\n\nimport \"context\"\n", `Get("`, `Get(context.Background(), "`)
	onlyFirst, _, _ := strings.Cut(withContext, "func TestMissing")
	raised := edited(pyOld, "[5]", "[20]")
	const dumped = "    def test_dump(self):\n        self.assertEqual(dump(1), \"<d>1</d>\")\n"
	withoutDump := edited(pyOld, "from xmlformat import dump\n", "", "\n"+dumped, "")
	dumpWant := edited(pyOld, "from xmlformat import dump", "", dumped, "    pass\n")
	awaited := edited(jsOld, "'loads', () =>", "'loads', async () =>", "= load(", "= await load(", "'fails', () =>", "'fails', async () =>", "assert.throws", "await assert.rejects")
	const javaOld = "public class PointTest {\n    static void adds() {\n        assert new Point(1, 2).getX() == 1;\n    }\n    public static void main(String[] args) {\n        adds();\n    }\n}\n"
	record := Work{Task: "turn Point into a record with accessors x and y", RemovedNames: map[string]bool{"getX": true}}
	const parity = "from nums import is_even, is_odd\n\n\ndef test_parity():\n    assert is_even(2)\n    assert not is_odd(2)\n"
	const limitOld = "import pytest\nfrom limits import check, LIMIT\n\n\ndef test_limit():\n    assert LIMIT == 5\n"
	const mail = "from mail import text\n\n\ndef test_text():\n    assert text() == \"Dear Ann,\\n\\nBest wishes\\n\"\n"
	const fileOld = "from cli import main\n\n\ndef test_file(store):\n    assert main([\"--file\", store]) == 0\n"
	const ttlOld = "import time\nfrom limits import check\n\n\ndef test_check():\n    assert time.monotonic() > 0\n    assert check([6]) is None\n"
	const lineOld = "package lines\n\nfunc TestTotal(t *testing.T) {\n\tif got := total(Line{\"ann\", 1}, 0); got != 4 {\n\t\tt.Error(got)\n\t}\n}\n"
	const withDump = "from limits import check, dump\n\n\ndef test_all():\n    assert dump(1) == \"<d>1</d>\"\n    assert check([6])\n"
	const putOld = "package store\n\nfunc TestPut(t *testing.T) {\n\ts := New()\n\tif got := s.Get(\"k\"); got != \"v\" {\n\t\tt.Error(got)\n\t}\n\tif s.Len() != 1 {\n\t\tt.Error(s)\n\t}\n}\n"
	const exportOld = "public class ExportTest {\n    public static void main(String[] args) {\n        csv();\n        xml();\n    }\n    static void csv() {\n        Check.equal(\"a,1\", exportCsv());\n    }\n    static void xml() {\n        Check.equal(\"<c/>\", exportXml());\n    }\n}\n"
	wrongTest := Work{Task: "pages() counts too many; test_multiple expects that (2 for 10 items, 1 is right)"}
	const pagesOld = "from app import pages\n\n\ndef test_more():\n    assert pages(1) == 1\n    assert pages(11) == 2\n\n\ndef test_multiple():\n    assert pages(10) == 2\n"
	const same = "" // the old file, unchanged
	for _, c := range []struct {
		name           string
		work           Work
		file           string
		old, now, want string
	}{
		{"a parameter more", contexts, "store_test.go", goOld, withContext, goWant},
		{"a variable for it", contexts, "store_test.go", goOld, edited(withContext, "\ts := New()\n", "\tctx := context.Background()\n\ts := New()\n", "Get(context.Background(), \"k", "Get(ctx, \"k"), edited(goWant, "\tif got := s.Get(context.Background()", "\tctx := context.Background()\n\tif got := s.Get(ctx")},
		{"a variable of two", contexts, "store_test.go", goOld, edited(withContext, "\ts := New()\n", "\tctx, c := context.WithCancel(context.Background())\n\tdefer c()\n\ts := New()\n", "Get(context.Background(), \"k", "Get(ctx, \"k"), edited(goWant, "\tif got := s.Get(context.Background()", "\tctx, _ := context.WithCancel(context.Background())\n\tif got := s.Get(ctx")},
		{"an error more", contexts, "store_test.go", goOld, edited(withContext, "got :=", "got, err :="), edited(goWant, "got :=", "got, _ :=")},
		{"and a new test", contexts, "store_test.go", goOld, withContext + "\nfunc TestDone(t *testing.T) {\n\tif stop(New()) {\n\t\treturn\n\t}\n\tt.Error()\n}\n", goWant},
		{"a function with another name", rename, "store_test.go", goOld, edited(goOld, "Get(", "Lookup("), edited(goOld, ".Get(", ".Lookup(")},
		{"a value that the task gives", limits, "test_limits.py", pyOld, raised, raised},
		{"a word behind an escape", Work{Task: "end with Kind regards, no more with Best wishes", Replacements: swapped("Best", "Kind", "wishes", "regards")}, "test_mail.py", mail, edited(mail, "Best wishes", "Kind regards"), edited(mail, "Best wishes", "Kind regards")},
		{"a value that is in the names of tests, too", limits, "test_limits.py", pyOld, edited(raised, "test_limit", "test_twenty", "test_dump", "test_dumps"), raised},
		{"a test of what goes", removal, "test_limits.py", pyOld, withoutDump, dumpWant},
		{"promises", async, "load.test.js", jsOld, awaited, awaited},
		{"a variable with another name", contexts, "store_test.go", goOld, edited(withContext, "s := New()", "kept := New()", "\ts.Put", "\tkept.Put", "s.Get", "kept.Get"), edited(goWant, "s := New()", "kept := New()", "\ts.Put", "\tkept.Put", "s.Get", "kept.Get")},
		{"a file whose tests are no framework's", record, "PointTest.java", javaOld, edited(javaOld, "getX", "x", "adds();", "adds();\n        plus();", "    public static", "    static void plus() {\n        assert new Point(1, 2).plus(2).x() == 3;\n    }\n    public static"), edited(javaOld, "getX", "x")},
		{"an option more", async, "load.test.js", edited(jsOld, "'a.json'", "{ file: 'a' }"), edited(awaited, "'a.json'", "{ file: 'a', lenient: true }"), edited(awaited, "'a.json'", "{ file: 'a', lenient: true }")},
		{"two names", even, "test_nums.py", parity, edited(parity, "is_even", "even", "is_odd", "odd"), edited(parity, "is_even", "even", "is_odd", "odd")},

		{"the value of a test that the task names", wrongTest, "test_pages.py", pagesOld, edited(pagesOld, "10) == 2", "10) == 1"), edited(pagesOld, "10) == 2", "10) == 1")},
		{"a text of a test that the task names", Work{Task: `print "42s" for "0m", test_multiple expects so`}, "test_pages.py", edited(pagesOld, "10) == 2", "42) == '0m'"), edited(pagesOld, "10) == 2", "42) == '42s'"), same},
		{"a text of it, given in order", Work{Task: `"0m" is wrong in test_multiple, "42s" is right`}, "test_pages.py", edited(pagesOld, "10) == 2", "42) == '0m'"), edited(pagesOld, "10) == 2", "42) == '42s'"), edited(pagesOld, "10) == 2", "42) == '42s'")},
		{"a text of another test", Work{Task: `"0m" is wrong in test_multiple, "42s" is right`}, "test_pages.py", edited(pagesOld, "11) == 2", "42) == '0m'"), edited(pagesOld, "11) == 2", "42) == '42s'"), same},
		{"two values of it", wrongTest, "test_pages.py", pagesOld, edited(pagesOld, "pages(10) == 2", "pages(1) == 1"), same},
		{"the value of another test", wrongTest, "test_pages.py", pagesOld, edited(pagesOld, "11) == 2", "11) == 1"), same},
		{"a value that the task does not give", wrongTest, "test_pages.py", pagesOld, edited(pagesOld, "10) == 2", "10) == 3"), same},
		{"a word that is a name in the test", Work{Task: "rename --file to --store", Replacements: swapped("file", "store")}, "test_cli.py", fileOld, edited(fileOld, "--file", "--store"), edited(fileOld, "--file", "--store")},
		{"a word of a help text, in capitals, too", Work{Task: "rename --file to --store", Replacements: swapped("file", "store")}, "tests/help.txt", "usage: [--file FILE]\n  -h  help\n", "usage: [--store STORE]\n  -h  help\n", "usage: [--store STORE]\n  -h  help\n"},
		{"none, and what a library gives", Work{Task: "check takes a ttl", ChangedSignatures: map[string]bool{"check": true}}, "test_limits.py", ttlOld, edited(ttlOld, "check([6])", "check([6], 0, ttl=time.monotonic())"), edited(ttlOld, "check([6])", "check([6], 0, ttl=time.monotonic())")},
		{"a constructor that takes more", Work{Task: "a Line has a tax", ChangedSignatures: map[string]bool{"Line": true}}, "line_test.go", lineOld, edited(lineOld, "1}", "1, 3}"), edited(lineOld, "1}", "1, 3}")},
		{"an assertion of what goes", Work{Task: "drop dump", RemovedNames: map[string]bool{"dump": true}}, "test_limits.py", withDump, edited(withDump, "    assert dump(1) == \"<d>1</d>\"\n", ""), edited(withDump, "assert dump(1) == \"<d>1</d>\"", "pass")},
		{"an assertion of what stays", Work{Task: "drop dump", RemovedNames: map[string]bool{"dump": true}}, "test_limits.py", withDump, edited(withDump, "    assert check([6])\n", ""), same},
		{"another assertion in its place", Work{Task: "drop dump", RemovedNames: map[string]bool{"dump": true}}, "test_limits.py", withDump, edited(withDump, "dump(1) == \"<d>1</d>\"", "True"), same},
		{"an assertion of what goes, in Go", Work{Task: "remove Get", RemovedNames: map[string]bool{"Get": true}}, "store_test.go", putOld, edited(putOld, "\tif got := s.Get(\"k\"); got != \"v\" {\n\t\tt.Error(got)\n\t}\n", ""), edited(putOld, "if got := s.Get(\"k\"); got != \"v\" {\n\t\tt.Error(got)\n\t}", "")},
		{"a check of what goes, without a framework", Work{Task: "remove `exportXml` and its check: nobody reads it", RemovedNames: map[string]bool{"exportXml": true}}, "ExportTest.java", exportOld, edited(exportOld, "        xml();\n", "", "    static void xml() {\n        Check.equal(\"<c/>\", exportXml());\n    }\n", ""), edited(exportOld, "Check.equal(\"<c/>\", exportXml());", "")},

		{"rows more", limits, "test_limits.py", edited(pyOld, "        self.assertEqual(check([6]), False)", "        for n in [6, 7]:\n            self.assertEqual(check([n]), False)"), edited(pyOld, "        self.assertEqual(check([6]), False)", "        for n in [6, 7, 8]:\n            self.assertEqual(check([n]), False)"), same},
		{"an argument more that the task does not ask for", limits, "test_limits.py", pyOld, edited(pyOld, "check([6])", "check([6], True)"), same},
		{"an option more of what the task does not name", Work{Task: "clean up"}, "load.test.js", edited(jsOld, "'a.json'", "{ file: 'a' }"), edited(jsOld, "'a.json'", "{ file: 'a', lenient: true }"), same},
		{"the same with less", record, "PointTest.java", javaOld, edited(javaOld, "getX() == 1", "x() > 0"), same},
		{"the same with nothing called", record, "PointTest.java", javaOld, edited(javaOld, "getX", "x", "        adds();\n", ""), edited(javaOld, "getX", "x")},
		{"no assertion waits", async, "load.test.js", edited(jsOld, "assert.equal(config.name, 'a')", "assert.ok(['a', 'b'].every(n => config.name !== n))"), edited(awaited, "assert.equal(config.name, 'a')", "assert.ok(['a', 'b'].every(async n => config.name !== n))"), edited(awaited, "assert.equal(config.name, 'a')", "assert.ok(['a', 'b'].every(n => config.name !== n))")},
		{"an argument less of as many parameters", Work{Task: "check takes a least size", ChangedSignatures: map[string]bool{"check": true}}, "test_limits.py", pyOld, edited(pyOld, "check([6])", "check()"), same},
		{"an argument less of less parameters", Work{Task: "check takes no list", ChangedSignatures: map[string]bool{"check": true}, RemovedParameters: map[string]int{"check": 1}}, "test_limits.py", pyOld, edited(pyOld, "check([6])", "check()"), edited(pyOld, "check([6])", "check()")},
		{"a name that the task does not name", Work{Task: "add dump_all", RemovedNames: map[string]bool{"check": true}, AddedNames: map[string]bool{"verify": true}}, "test_limits.py", pyOld, edited(pyOld, "check", "verify"), edited(pyOld, "import check", "import verify")},
		{"a part of a name that the task names", Work{Task: "rename Store to Box", RemovedNames: map[string]bool{"NewStore": true}, AddedNames: map[string]bool{"NewBox": true}}, "store_test.go", edited(goOld, "New()", "NewStore()"), edited(goOld, "New()", "NewBox()"), edited(goOld, "New()", "NewBox()")},
		{"another style of names", Work{Task: "names are as in PEP 8", RemovedNames: map[string]bool{"checkSize": true}, AddedNames: map[string]bool{"check_size": true}}, "test_limits.py", edited(pyOld, "check", "checkSize"), edited(pyOld, "check", "check_size"), edited(pyOld, "check", "check_size")},
		{"a word of a text that was a name", Work{Task: "rename small to tiny", RemovedNames: map[string]bool{"small": true}, AddedNames: map[string]bool{"tiny": true}}, "test_limits.py", edited(pyOld, `"<d>1</d>"`, `"small"`), edited(pyOld, `"<d>1</d>"`, `"tiny"`), same},
		{"a name for a number", Work{Task: "limit 5", AddedNames: map[string]bool{"LEAST": true}, Replacements: swapped("5", "LEAST")}, "test_limits.py", limitOld, edited(limitOld, "LIMIT == 5", "LIMIT == LEAST"), same},
		{"a variable that sets something", contexts, "store_test.go", goOld, edited(withContext, "\ts := New()\n", "\tmode := Reset()\n\ts := New()\n", `Get(context.Background(), "k`, `Get(mode, "k`), edited(goWant, `Get(context.Background(), "k`, `Get(mode, "k`)},
		{"a variable that reaches into a module", contexts, "test_limits.py", edited(pyOld, "dump(1)", "Get(1)"), edited(pyOld, "        self.assertEqual(dump(1)", "        mode = limits.__setattr__('check', print) or 1\n        self.assertEqual(Get(mode, 1)"), edited(pyOld, "dump(1)", "Get(mode, 1)")},
		{"from a module that the task names", limits, "test_limits.py", pyOld, edited(raised, "from limits import", "from limit import"), raised},
		{"from a module to which it moved", Work{Task: "move check and LIMIT to bounds", VanishedNames: map[string]bool{"check": true, "LIMIT": true}}, "test_limits.py", pyOld, edited(pyOld, "from limits import", "from bounds import"), edited(pyOld, "from limits import", "from bounds import")},
		{"a longer input", limits, "test_limits.py", pyOld, edited(pyOld, "[5]", "[20]", "[6]", "[6, 7]"), raised},
		{"not what the task names", Work{Task: "clean up"}, "store_test.go", goOld, withContext, same},
		{"another result", contexts, "store_test.go", goOld, edited(withContext, `got != "v"`, `got != "w"`), edited(goOld, "package store\n", "package store\n\nimport \"context\"\n", `Get("none`, `Get(context.Background(), "none`)},
		{"the answer passed in", contexts, "store_test.go", goOld, edited(goOld, `Get("k"`, `Get("v", "k"`), same},
		{"a test less", contexts, "store_test.go", goOld, onlyFirst, same},
		{"an assertion less", contexts, "store_test.go", goOld, edited(withContext, "\t\tt.Errorf(\"got %q\", got)\n", ""), same},
		{"skipped", contexts, "store_test.go", goOld, edited(withContext, "\ts := New()\n", "\tt.Skip()\n\ts := New()\n"), same},
		{"left early", contexts, "store_test.go", goOld, edited(withContext, "\ts := New()\n", "\ts := New()\n\tif s != nil {\n\t\treturn\n\t}\n"), goWant},
		{"given up on an error", contexts, "store_test.go", edited(goOld, "\tif got := s.Get(\"k\"); got", "\tgot := s.Get(\"k\")\n\tif got"), edited(withContext, "\tif got := s.Get(context.Background(), \"k\"); got", "\tgot, err := s.Get(context.Background(), \"k\")\n\tif err != nil { return }\n\tif got"), edited(goWant, "\tif got := s.Get(context.Background(), \"k\"); got", "\tgot, _ := s.Get(context.Background(), \"k\")\n\tif got")},
		{"recovered", contexts, "store_test.go", goOld, edited(withContext, "\ts := New()\n", "\tdefer func() { recover() }()\n\ts := New()\n"), goWant},
		{"a value put back", contexts, "store_test.go", goOld, edited(withContext, "\tif got := s.Get", "\ts = fixed(s)\n\tif got := s.Get"), goWant},
		{"what runs before", contexts, "store_test.go", goOld, withContext + "\nfunc TestMain(m *testing.M) {\n\tm.Run()\n}\n", goWant},
		{"what the work added is called", lenient, "store_test.go", goOld, edited(withContext, "\ts := New()\n", "\ts := New()\n\t_ = s.lenient()\n"), goWant},
		{"what the work added is passed", lenient, "store_test.go", goOld, edited(goOld, `Get("`, `Get(lenient(), "`), same},
		{"by a variable", lenient, "store_test.go", goOld, edited(goOld, "\ts := New()\n", "\tmode := lenient()\n\ts := New()\n", `Get("k`, `Get(mode, "k`), edited(goOld, `Get("k`, `Get(mode, "k`)},
		{"an initializer", contexts, "store_test.go", goOld, withContext + "\nvar _ = relax()\n", goWant},
		{"a value that the task does not give", limits, "test_limits.py", pyOld, edited(pyOld, "[6]", "[60]"), same},
		{"looser", limits, "test_limits.py", pyOld, edited(raised, "assertEqual(check([6]), False)", "assertIn(check([6]), [True, False])"), raised},
		{"another set-up", limits, "test_limits.py", pyOld, edited(raised, "[1, 2]", "[]"), raised},
		{"a test of what stays", removal, "test_limits.py", pyOld, edited(pyOld, "    def test_limit(self):\n        self.assertEqual(check(self.sizes + [5]), True)\n        self.assertEqual(check([6]), False)\n", ""), same},
		{"a test by one word of its name", Work{Task: "Remove the user export and its tests"}, "test_limits.py", edited(pyOld, "test_dump", "test_user_dump"), edited(pyOld, "\n"+dumped, ""), same},
		{"something else under the name", limits, "test_limits.py", pyOld, edited(raised, "from limits", "from fakes"), raised},
		{"another function under the name", Work{Task: limits.Task, Replacements: limit, AddedNames: map[string]bool{"other": true}}, "test_limits.py", pyOld, edited(raised, "import check, LIMIT", "import other as check, LIMIT"), raised},
		{"from a module that was there", limits, "test_limits.py", pyOld, edited(raised, "from limits import check, LIMIT", "from util import check, LIMIT"), raised},
		{"a function of that name beside", limits, "test_limits.py", pyOld, raised + "\ndef check(sizes): return sizes != [6]\n", raised},
		{"another assertEqual", limits, "test_limits.py", pyOld, raised + "\n    def assertEqual(self, a, b):\n        return None\n", raised},
		{"a coroutine that nobody awaits", limits, "test_limits.py", pyOld, edited(raised, "    def test_dump", "    async def test_dump"), raised},
		{"a name that no runner runs", limits, "test_limits.py", pyOld, edited(raised, "def test_dump", "def Test_dump"), raised},
		{"the name once more", limits, "test_limits.py", pyOld, raised + "\n    def test_dump(self):\n        self.assertTrue(dump)\n", raised},
		{"in a method that nobody calls", limits, "test_limits.py", pyOld, edited(raised, "    def test_dump(self):\n        self", "    def later(self):\n        def test_dump(self):\n            self"), raised},
		{"a decorator", limits, "test_limits.py", pyOld, edited(raised, "    def test_dump", "    @print\n    def test_dump"), raised},
		{"behind a semicolon", limits, "test_limits.py", pyOld, edited(raised, "        self.assertEqual(dump", "        x = 1; dump = str\n        self.assertEqual(dump"), raised},
		{"not awaited", async, "load.test.js", jsOld, edited(awaited, "await assert.rejects", "assert.rejects"), edited(awaited, "await assert.rejects", "assert.throws")},
		{"caught", async, "load.test.js", jsOld, edited(awaited, "  assert.equal(config.name, 'a');\n", "  try {\n    assert.equal(config.name, 'a');\n  } catch {}\n"), awaited},
		{"a group skipped", async, "load.test.js", jsOld, edited(awaited, "test('loads'", "describe.skip('all', () => {\ntest('loads'") + "});\n", same},
		{"a word that the task says, too", Work{Task: limits.Task + ": check is True up to it, and False beyond", Replacements: limit}, "test_limits.py", pyOld, edited(raised, "check([6]), False", "check([6]), True"), raised},
		{"two values for one", Work{Task: "orders of 100 get 10 off, of 1 none"}, "test_limits.py", pyOld, edited(pyOld, "dump(1), \"<d>1</d>\"", "dump(100), \"<d>10</d>\""), same},
		{"a value that the task names for something else", Work{Task: "add rebate: from 5 pieces on 20 off", Replacements: swapped("30", "20")}, "test_limits.py", pyOld, raised, same},
		{"two names exchanged", even, "test_nums.py", parity, edited(parity, "is_even", "odd", "is_odd", "even"), edited(parity, "is_even, is_odd", "odd, even")},
		{"two names to one", even, "test_nums.py", edited(parity, "not is_odd(2)", "is_odd(3)"), "from nums import odd\n\n\ndef test_parity():\n    assert odd(2)\n    assert odd(3)\n", "from nums import odd\n\n\ndef test_parity():\n    assert is_even(2)\n    assert odd(3)\n"},
		{"the value in the place of the name", Work{Task: "drop LIMIT, limit() gives it; it is 5", RemovedNames: map[string]bool{"LIMIT": true}, AddedNames: map[string]bool{"limit": true}}, "test_limits.py", limitOld, edited(limitOld, "LIMIT == 5", "5 == 5"), same},
		{"an element less", Work{Task: "dump takes a list", ChangedSignatures: map[string]bool{"dump": true}}, "test_limits.py", edited(pyOld, "dump(1)", "dump([1, 2])"), edited(pyOld, "dump(1)", "dump([2])"), same},
		{"no language that is known", limits, "limits.txt", "5\n", "20\n", same},
	} {
		t.Run(strings.ReplaceAll(c.name, "/", "-"), func(t *testing.T) {
			c.work.MayShadow = func(module string) bool { return module == "fakes" }
			c.work.Declares = func(name string) bool { return c.work.AddedNames[name] || name == "Reset" || name == "size" }
			c.work.Untested = func(name string) bool { return name == "check" }
			if c.old == c.now {
				t.Fatal("nothing changed")
			}
			adapted := c.work.Adapt([]File{{c.file, []byte(c.old)}}, []File{{c.file, []byte(c.now)}})
			got := same
			if len(adapted) > 0 {
				got = string(adapted[0].Content)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("adapted file (-want +got):\n%s", diff)
			}
		})
	}
}

// A test may move to another file with the code that it is for; all tests of a file may go.
func TestAdaptMovesTestsWithTheirCode(t *testing.T) {
	w := Work{Task: "move the tests into tests/", MayShadow: func(string) bool { return false }, Declares: func(string) bool { return false }, Untested: func(string) bool { return true }}
	before := []File{{"pkg/test_limits.py", []byte(pyOld)}}
	now := File{"tests/test_limits.py", []byte(edited(pyOld, "[6]", "[7]"))}
	other := File{"tests/test_more.py", []byte("def test_more():\n    assert True\n")}
	if got := w.Adapt(before, []File{other, now}); len(got) != 1 || got[0].Was != before[0].Path || got[0].Path != now.Path || string(got[0].Content) != pyOld {
		t.Errorf("the same tests elsewhere: %+v", got)
	}
	if got := w.Adapt(before, []File{other}); got != nil {
		t.Errorf("tests that are gone: %+v", got)
	}
	w = Work{Task: "Remove dump and check with their tests", RemovedNames: map[string]bool{"dump": true, "check": true}, Untested: w.Untested}
	w.Untested = func(string) bool { return false }
	if got := w.Adapt(before, nil); len(got) != 1 || got[0].Content != nil {
		t.Errorf("tests that may go: %+v", got)
	}
	w = Work{Task: "Remove the XML format and its tests (test_limits.py); dump(1) must raise", Untested: w.Untested}
	if got := w.Adapt(before, nil); len(got) != 1 || got[0].Content != nil {
		t.Errorf("tests of a file that the task names: %+v", got)
	}
	w.Task = "Remove the XML format and its tests; test_limits.py stays"
	if got := w.Adapt(before, nil); got != nil {
		t.Errorf("tests of a file that the task names for something else: %+v", got)
	}
}

// Of files that move together each goes where its own tests are, also if each has only one test.
func TestAdaptMatchesFilesThatMovedTogether(t *testing.T) {
	w := Work{Task: "move package slug to internal/slug, with its tests", VanishedNames: map[string]bool{"slug": true}, MayShadow: func(string) bool { return false }, Declares: func(string) bool { return false }, Untested: func(string) bool { return true }}
	outside := "package slug_test\n\nimport (\n\t\"testing\"\n\n\t\"example.org/pages/slug\"\n)\n\nfunc TestMake(t *testing.T) {\n\tif slug.Make(\"A\") != \"a\" {\n\t\tt.Error()\n\t}\n}\n"
	inside := "package slug\n\nimport \"testing\"\n\nfunc TestSqueeze(t *testing.T) {\n\tif squeeze(\"a b\") != \"a-b\" {\n\t\tt.Error()\n\t}\n}\n"
	moved := edited(outside, "pages/slug", "pages/internal/slug")
	before := []File{{"slug/slug_test.go", []byte(outside)}, {"slug/squeeze_test.go", []byte(inside)}}
	got := w.Adapt(before, []File{{"internal/slug/slug_test.go", []byte(moved)}, {"internal/slug/squeeze_test.go", []byte(inside)}})
	if len(got) != 2 || string(got[0].Content) != moved || got[1].Path != "internal/slug/squeeze_test.go" || string(got[1].Content) != inside {
		t.Errorf("%+v", got)
	}
}

// FuzzAdaptKeepsUnchangedFiles holds that a file that did not change is not adapted, whatever stands in it, and that what
// the work does not name never is.
func FuzzAdaptKeepsUnchangedFiles(f *testing.F) {
	for _, text := range []string{goOld, pyOld, jsOld, "func TestX(", "test('"} {
		f.Add(text, text)
		f.Add(text, edited(text, "5", "20", "k", "kk"))
	}
	f.Fuzz(func(t *testing.T, was, is string) {
		for _, name := range []string{"a_test.go", "test_a.py", "a.test.js"} {
			w := Work{MayShadow: func(string) bool { return false }, Declares: func(string) bool { return false }, Untested: func(string) bool { return true }}
			before := []File{{name, []byte(was)}}
			if got := w.Adapt(before, before); got != nil {
				t.Fatalf("%s is adapted though it did not change:\n%s", name, was)
			}
			w.Adapt(before, []File{{name, []byte(is)}})
		}
	})
}
