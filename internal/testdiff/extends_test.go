package testdiff

import "testing"

// A file that has more than it had guards what it guarded; any other change may be one that makes it guard less.
func TestExtendsAcceptsOnlyAdditions(t *testing.T) {
	goMore := goOld + "\ntype box struct{ n int }\n\nfunc put(t *testing.T, s *Store) {\n\tt.Helper()\n\ts.Put(\"a\", \"b\")\n}\n\nfunc TestPut(t *testing.T) {\n\ts := New()\n\tput(t, s)\n\tif s.Get(\"a\") != \"b\" {\n\t\tt.Error(\"a\")\n\t}\n}\n"
	pyMore := edited(pyOld, "from limits import check, LIMIT\n", "from limits import check, LIMIT\nfrom limits import least\n") + "\n    def test_least(self):\n        self.assertEqual(least(), 1)\n\n\nclass More(unittest.TestCase):\n    def test_more(self):\n        self.assertEqual(check([3]), True)\n"
	jsMore := jsOld + "\nconst path = 'b.json';\n\ntest('more', () => {\n  assert.equal(load(path).name, 'b');\n});\n"
	for _, c := range []struct {
		name, file, old, now string
		want                 bool
	}{
		{"a comment", "test_a.py", pyOld, "# here\n" + pyOld, true},
		{"new tests in Go", "a_test.go", goOld, goMore, true},
		{"new tests in Python", "test_a.py", pyOld, pyMore, true},
		{"new tests in JavaScript", "a.test.js", jsOld, jsMore, true},
		{"a function after the last one", "test_a.py", "import a\n\n\ndef test_one():\n    assert a.one() == 1\n", "import a\n\n\ndef test_one():\n    assert a.one() == 1\n\n\ndef test_two():\n    assert a.two() == 2\n", true},
		{"a name more in an import", "test_a.py", "from a import one\n\n\ndef test_one():\n    assert one() == 1\n", "from a import (\n    one,\n    two,\n)\n\n\ndef test_one():\n    assert one() == 1\n\n\ndef test_two():\n    assert two() == 2\n", true},
		{"a name more in braces", "a.test.js", jsOld, edited(jsOld, "{ load", "{ store, load") + "\ntest('more', () => {\n  assert.equal(store('b').name, 'b');\n});\n", true},
		{"a name from elsewhere", "test_a.py", "from a import one\n\n\ndef test_one():\n    assert one() == 1\n", "from b import one, two\n\n\ndef test_one():\n    assert one() == 1\n", false},
		{"a name under an old one", "test_a.py", "from a import one\n\n\ndef test_one():\n    assert one() == 1\n", "from a import one, two as one\n\n\ndef test_one():\n    assert one() == 1\n", false},
		{"a return in a helper", "a_test.go", goMore, edited(goMore, "\ts.Put(\"a\", \"b\")\n", "\tif s != nil {\n\t\treturn\n\t}\n\ts.Put(\"a\", \"b\")\n"), false},
		{"a call in a helper", "a_test.go", goMore, edited(goMore, "\tt.Helper()\n", "\tt.Helper()\n\tdone := stop(t)\n"), false},
		{"a function beside a helper", "a_test.go", goMore, goMore + "\nfunc get(s *Store) string {\n\tvalue := s.Get(\"a\")\n\tif value == \"\" {\n\t\treturn \"none\"\n\t}\n\treturn value\n}\n", true},
		{"a new file", "a_test.go", "", goOld, false},
		{"a test less", "test_a.py", pyMore, pyOld, false},
		{"a return", "a_test.go", goOld, edited(goOld, "\ts := New()\n", "\ts := New()\n\tif s != nil {\n\t\treturn\n\t}\n"), false},
		{"skipped", "a.test.js", jsOld, edited(jsOld, "test('loads'", "test.skip('loads'"), false},
		{"the name once more", "test_a.py", pyOld, pyOld + "\n    def test_dump(self):\n        self.assertTrue(dump)\n", false},
		{"a function of that name", "test_a.py", pyOld, pyOld + "\ndef check(sizes): return sizes != [6]\n", false},
		{"a variable of that name", "a.test.js", jsOld, jsOld + "\nvar load = () => 1;\n", false},
		{"another assertEqual", "test_a.py", pyOld, pyOld + "\n    def assertEqual(self, a, b):\n        return None\n", false},
		{"what runs before each", "test_a.py", edited(pyOld, "setUp", "prepare"), edited(pyOld, "setUp", "prepare") + "\n    def setUp(self):\n        self.skipTest('')\n", false},
		{"what runs before all", "a.test.js", jsOld, jsOld + "\nbeforeEach(() => stop());\n", false},
		{"another set-up", "test_a.py", pyOld, edited(pyOld, "[1, 2]", "[]"), false},
		{"something else under the name", "test_a.py", pyOld, edited(pyOld, "from xmlformat import dump\n", "from xmlformat import dump\nfrom fakes import check\n"), false},
		{"an import more", "a_test.go", goMore, edited(goMore, "import \"testing\"\n", "import (\n\t\"testing\"\n\t\"time\"\n)\n"), true},
	} {
		if got := Extends(File{c.file, []byte(c.old)}, File{c.file, []byte(c.now)}); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
