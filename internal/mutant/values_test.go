package mutant

import (
	"slices"
	"strings"
	"testing"
)

// What tests expect and what they ask for is told apart; what is neither stays.
func TestValuesOfTests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, text, expected, inputs string }{
		{"a_test.go", "func TestA(t *testing.T) {\n\tfor in, want := range map[string]int{\"1h\": 60, \"2m\": 2} {\n\t\tif got := f(in); got != want {\n\t\t\tt.Errorf(\"f(%q) = %d\", in, got)\n\t\t}\n\t}\n}\n", "121 6", "2i 3n"},
		{"a_test.go", "func TestA(t *testing.T) {\n\tif got := f(\"ab\", 3); got != \"ab \" {\n\t\tt.Error(\"no\")\n\t}\n}\n", "ac ", "bc 34"},
		{"a_test.go", "func TestA(t *testing.T) {\n\tassert.Equal(t, 12, f(\"a\"), \"says so 1\")\n}\n", "25", "b"},
		{"a_test.go", "func TestA(t *testing.T) {\n\tif runtime.GOOS == \"linux\" {\n\t\tt.Skip()\n\t}\n}\n", "", ""},
		{"a_test.go", "var c = []struct{ in string; n int; want bool }{\n\t{in: \"ab\", n: 3, want: true},\n}\n\nfunc TestA(t *testing.T) { if f(c) != 1 {\n} }\n", "false 4", "bc"},
		{"a_test.go", "func TestA(t *testing.T) {\n\tfor _, c := range []string{\"a\", \"b\"} {\n\t\tif f(c) != \"x\" {\n\t\t\tt.Error(c)\n\t\t}\n\t}\n\tif len(x) != 7 {\n\t\ty := []string{\"d\", \"e\"}\n\t}\n}\n", "y 16", ""},
		{"a_test.go", "func TestA(t *testing.T) {\n\tfor n, want := range map[int]string{1: \"I\", 4: \"IV\"} {\n\t\tif f(n) != want {\n\t\t\tt.Error(n)\n\t\t}\n\t}\n}\n", "J IX", "20 41"},
		{"test_a.py", "class A(TestCase):\n    def test_1(self):\n        self.assertEqual(f('45s'), 45, 'seconds')\n        self.assertNotEqual(f('a'), 3)\n", "91", "56t b"},
		{"test_a.py", "def test_a():\n    assert f('x', 1) == ['y', 'z']\n    assert f('w') != 'w'\n", "z c", "y 20 x"},
		{"test_a.py", "@pytest.mark.parametrize('text, n', [('1h', 3600), ('2m', 120)])\ndef test_a(text, n):\n    assert f(text) == n\n", "7201 242", "2i 3n"},
		{"test_a.py", "@pytest.mark.parametrize('n', [0, -1, 4000])\ndef test_a(n):\n    with pytest.raises(ValueError):\n        f(n)\n    assert g(n) == 3\n", "7", "13 20 28013"},
		{"a_test.go", "func TestA(t *testing.T) {\n\tif got := (&E{2, \"no =\"}).Error(); got != \"line 2: no =\" {\n\t\tt.Error(got)\n\t}\n}\n", "np = line 2: nq =", "27"},
		{"a.test.js", "const { f } = require('./a')\ntest('it 1', () => assert.strictEqual(f('x'), 'yy', 'why'))\n", "yz", "y"},
		{"a.test.js", "test('a', () => {\n  const got = []\n  const d = debounce(x => got.push(x), 5)\n  d(1)\n  assert.deepStrictEqual(got, [2])\n})\n", "5", "48 20"},
		{"a.test.js", "const check = async (want, x) => assert.equal(await f(x), want)\ncheck('ab', 1)\n", "ac", "20"},
		{"a.test.js", "expect(f([1, 2])).toEqual({ a: 3 })\nexpect(f(5)).not.toBe(6)\n", "7", "20 27 48"},
		{"a.test.js", "test('a', () => {\n  for (const text of ['one', 'two']) {\n    assert.deepEqual(f(text), text.split('').length)\n  }\n})\n", "", "pof uxp"},
		{"a.test.js", "test('a', () => {\n  for (const [text, n] of [['one', 4], ['three', 6]]) {\n    assert.equal(f(text), n)\n  }\n})\n", "9 14", "pof uisff"},
		{"ATest.java", "assertEquals(\"says\", 5, f(\"ab\"));\nassert f(1).equals(\"cd\") : \"wrong\";\n", "11 cf", "bc 20"},
		{"a_test.c", "static int check(const char *s, int want)\n{\n\treturn f(s) == want;\n}\nint main(void) { return check(\"ff\", 255) + (g(\"1A\") != 26); }\n", "511 54", "gg 2B"},
		{"a_test.c", "int main(void)\n{\n\tchar a[] = \" x \";\n\tassert(strcmp(trim(a), \"x\") == 0);\n}\n", "y 2", " y "},
		{"ATest.java", "static void check(String want, String got) {\n  if (!want.equals(got)) throw new AssertionError(got);\n}\nvoid a() { check(\"1.0\", f(10)); }\n", "1.1", "83"},
		{"a_test.c", "static int check(int ok, const char *what)\n{\n\tif (!ok) puts(what);\n\treturn !ok;\n}\nint main(void) { return check(f(1), \"one\"); }\n", "", "20 pof"},
		{"tests/a.rs", "#[test]\nfn a() {\n    assert_eq!(f(\"x\"), 10);\n    assert_ne!(f(\"y\"), 11);\n}\n", "21", "y z"},
		{"cases.json", "[{\"name\": \"one\", \"in\": \"1h\", \"want\": 60}, {\"cat\": \"cats\"}]\n", "121 catu", "2i"},
		{"tests/a.want.txt", "10 pear\n9 plum\n", "10 pear\n9 pluc\n", ""},
		{"Run.java", "void run(Method m) {\n  if (!m.getName().startsWith(\"test\")) return;\n  equal(\"ab\", f(\"cd\"));\n}\n", "ac", "de"},
		{"t/f.t", "out=$(sh f.sh)\necho \"$out\" | grep -qx '2 groups' || exit 1\nif grep -q bad log; then exit 1; fi\n", "3", ""},
		{"t/f.t", "use Test::More;\nis(f('ab'), 'cd');\n", "ce", "bc"},
		{"ATest.java", "static void check(List<String> got, String... want) {\n  assert got.equals(List.of(want)) : got;\n}\nvoid a() { check(f(\"ab\", 3), \"cd\", \"ef\"); }\n", "ce eh", "bc 34"},
		{"test.sh", "[ \"$(sh f.sh 2)\" = \"two\" ] || exit 1\n[ \"$1\" = -v ] && set -x\n", "twp", ""},
	} {
		v := Values(c.file, []byte(c.text), nil, nil)
		if got := textsOf(v.Expected); got != c.expected && !strings.HasSuffix(c.file, ".txt") {
			t.Errorf("%s\nexpects %q, want %q", c.text, got, c.expected)
		}
		if got := textsOf(v.Inputs); got != c.inputs {
			t.Errorf("%s\nis asked for %q, want %q", c.text, got, c.inputs)
		}
	}
}

// Values count in the tests of the names that are given, and in front of them.
func TestValuesOfNamedTests(t *testing.T) {
	t.Parallel()
	text := []byte("CASES = {'ab': 12}\n\n\ndef test_one():\n    assert f('cd') == 34\n\n\ndef test_two():\n    assert f('ef') == 56\n    for text, n in CASES.items():\n        assert f(text) == n\n")
	if v := Values("test_a.py", text, []string{"test_two"}, nil); !slices.Equal(v.Distinctive, []string{"12", "56"}) || len(v.Inputs) != 2 {
		t.Errorf("%+v", v)
	}
	rows := []byte("const dir = 'pages'\nfor (const name of readdirSync(dir)) {\n  test(name, () => assert.equal(f(name, 'cd'), 34))\n}\ntest('other', () => assert.equal(g(), 56))\n")
	for name, want := range map[string]string{"a.md": "34", "other": "56"} {
		if v := Values("a.test.js", rows, []string{name}, nil); !slices.Equal(v.Distinctive, []string{want}) {
			t.Errorf("%s: %+v", name, v)
		}
	}
	if got := TextOf("a.test.js", rows, []string{"a.md"}); !strings.Contains(got, "'pages'") || !strings.Contains(got, "test(name") || strings.Contains(got, "other") {
		t.Errorf("the text of a.md is %s", got)
	}
	if v := Values("test_a.py", text, []string{"test_three"}, nil); len(v.Expected)+len(v.Inputs)+len(v.Distinctive) != 0 {
		t.Errorf("%+v", v)
	}
}

// A test's name is the whole of it: another one that begins with it does not run with it.
func TestValuesOfTestsWhoseNamesBeginAlike(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, text, name string }{
		{"a_test.go", "func TestPush(t *testing.T) {\n\tif f(1) != 12 {\n\t\tt.Error()\n\t}\n}\n\nfunc TestPushAndPop(t *testing.T) {\n\tif f(3) != 400 {\n\t\tt.Error()\n\t}\n}\n", "TestPush"},
		{"a.test.js", "test('adds', () => assert.equal(f(1), 12))\ntest('adds again', () => assert.equal(f(3), 400))\n", "adds"},
		{"test_a.py", "def test_a():\n    assert f(1) == 12\n\n\ndef test_ab():\n    assert f(3) == 400\n", "test_a"},
	} {
		if v := Values(c.file, []byte(c.text), []string{c.name}, nil); !slices.Equal(v.Distinctive, []string{"12"}) {
			t.Errorf("%s\n%+v", c.text, v)
		}
	}
}

// The column with the names of the cases is none with inputs: the program never sees it.
func TestColumnsOfTables(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, text, expected, inputs string }{
		{"a_test.go", "func TestA(t *testing.T) {\n\tfor _, tc := range []struct{ name, title, want string }{\n\t\t{\"words\", \"A B\", \"a-b\"},\n\t\t{\"none\", \"?1\", \"untitled\"},\n\t} {\n\t\tt.Run(tc.name, func(t *testing.T) {\n\t\t\tif got := f(tc.title); got != tc.want {\n\t\t\t\tt.Error(got)\n\t\t\t}\n\t\t})\n\t}\n}\n", "a-c untitlef", "B C ?2"},
		{"a_test.go", "type row struct {\n\tdesc string\n\tin   string\n\tn    int\n\twant int\n\terr  bool\n}\n\nvar rows = []row{\n\t{\"words\", \"ab\", 3, 21, true},\n}\n\nfunc TestA(t *testing.T) {\n\tfor _, r := range rows {\n\t\tif f(r.in, r.n) != r.want {\n\t\t\tt.Error()\n\t\t}\n\t}\n}\n", "43 false", "bc"},
		{"a_test.go", "func TestA(t *testing.T) {\n\tfor _, tc := range map[string]struct {\n\t\tin   string\n\t\twant int\n\t}{\n\t\t\"one\": {\"ab\", 21},\n\t} {\n\t\tif f(tc.in) != tc.want {\n\t\t\tt.Error()\n\t\t}\n\t}\n}\n", "43", "pof bc"},
		{"test_a.py", "@pytest.mark.parametrize('name, text, want', [('one', 'ab', 21), ('two', 'cd', 22)])\ndef test_a(name, text, want):\n    assert f(text) == want\n", "43 46", "bc de"},
		{"test_a.py", "def test_a():\n    for label, text, n in [('one', 'ab', 21)]:\n        assert f(text) == n, label\n", "43", "bc"},
		{"a.test.js", "for (const [name, text, n] of [['one', 'ab', 21]]) {\n  test(name, () => assert.equal(f(text), n))\n}\n", "43", "bc"},
	} {
		v := Values(c.file, []byte(c.text), nil, nil)
		if got := textsOf(v.Expected); got != c.expected {
			t.Errorf("%s\nexpects %q, want %q", c.text, got, c.expected)
		}
		if got := textsOf(v.Inputs); got != c.inputs {
			t.Errorf("%s\nis asked for %q, want %q", c.text, got, c.inputs)
		}
	}
}

// What a test gives to the program and then compares with what comes back is not only expected: another
// value comes back as well.
func TestValuesThatGoThereAndBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, text, expected string }{
		{"a_test.go", "func TestA(t *testing.T) {\n\twant := Map{\"theme\": \"dark\"}\n\tSave(path, want)\n\tif got := Load(path); !reflect.DeepEqual(got, want) {\n\t\tt.Error(got)\n\t}\n}\n", ""},
		{"a_test.go", "func TestA(t *testing.T) {\n\tfor _, want := range []string{\"ab\", \"cd\"} {\n\t\ts.Save(want)\n\t\tif got := s.Load(); got != want {\n\t\t\tt.Error(got)\n\t\t}\n\t}\n}\n", ""},
		{"test_a.py", "def test_a():\n    want = {'a': 'ab'}\n    save(want)\n    assert load() == want\n", ""},
		{"a_test.go", "func TestA(t *testing.T) {\n\twant := Map{\"theme\": \"dark\"}\n\tif got := Load(path); !reflect.DeepEqual(got, want) {\n\t\tt.Error(got)\n\t}\n}\n", "darl"},
	} {
		if got := textsOf(Values(c.file, []byte(c.text), nil, []string{"Save", "Load", "save", "load"}).Expected); got != c.expected {
			t.Errorf("%s\nexpects %q, want %q", c.text, got, c.expected)
		}
	}
}

func textsOf(mutants []Mutant) string {
	var all []string
	for _, m := range mutants {
		all = append(all, m.text)
	}
	return strings.Join(all, " ")
}

// A table in front of the tests holds what one expects that goes through its rows; of one
// that gives it to what it compares with each other it holds no more than inputs.
func TestTablesThatTestsGoThrough(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, text string
		telling    bool
	}{
		{"test_a.py", "ROWS = [('a', 1), ('b', 21)]\n\ndef test_ior():\n    a, b = F(ROWS), F(ROWS)\n    a |= b\n    assert a == b\n", false},
		{"test_a.py", "ROWS = [('a', 1), ('b', 21)]\n\ndef test_one():\n    for k, v in ROWS:\n        assert f(k) == v\n\ndef test_ior():\n    assert F(ROWS) == G(ROWS)\n", false},
		{"test_a.py", "ROWS = [('a', 1), ('b', 21)]\n\ndef test_ior():\n    for k, v in ROWS:\n        assert f(k) == v\n", true},
		{"test_a.py", "ROWS = [('a', 1), ('b', 21)]\n\n@pytest.mark.parametrize('k, v', ROWS)\ndef test_ior(k, v):\n    assert f(k) == v\n", true},
		{"test_a.py", "ROWS = [('a', 1), ('b', 21)]\n\n@pytest.fixture(params=ROWS)\ndef row(request):\n    return request.param\n\ndef test_ior(row):\n    assert f(row[0]) == row[1]\n", true},
		{"a.test.js", "const rows = [['a', 1], ['b', 21]]\n\ntest('test_ior', () => rows.forEach(([k, v]) => assert.equal(f(k), v)))\n", true},
		{"a.test.js", "const rows = [['a', 1], ['b', 21]]\n\ntest.each(rows)('test_ior %s', (k, v) => expect(f(k)).toBe(v))\n", true},
		{"a.test.js", "const rows = [['a', 1], ['b', 21]]\n\ntest('test_ior', () => assert.deepEqual(f(rows), g(rows)))\n", false},
		{"a_test.go", "var rows = []struct{ k string; want int }{\n\t{\"a\", 1},\n\t{\"b\", 21},\n}\n\nfunc Test_test_ior(t *testing.T) {\n\tfor _, c := range rows {\n\t\tif f(c.k) != c.want {\n\t\t\tt.Error(c)\n\t\t}\n\t}\n}\n", true},
	} {
		v := Values(c.file, []byte(c.text), []string{"test_ior"}, nil)
		if (len(v.Expected) > 0) != c.telling || !c.telling && len(v.Distinctive) > 0 {
			t.Errorf("%s\n%+v", c.text, v)
		}
	}
}

// An equality that is the work is what is tested, and no assertion; a test's own count of
// failures is nothing that it expects of the work.
func TestValuesThatNothingIsExpectedOf(t *testing.T) {
	t.Parallel()
	text := []byte("assert.equal(deepEqual({ x: 'one' }, { x: 'one' }), true);\n")
	if v := Values("a.test.js", text, nil, []string{"deepEqual"}); len(v.Distinctive) != 0 || len(v.Expected) != 1 {
		t.Errorf("%+v", v)
	}
	if v := Values("a.test.js", []byte("assert.deepEqual(f(1), { x: 'one' });\n"), nil, nil); !slices.Equal(v.Distinctive, []string{"one"}) {
		t.Errorf("%+v", v)
	}
	count := []byte("void main() {\n  check(a.size() == 12);\n  System.exit(failures == 0 ? 0 : 1);\n}\n")
	if v := Values("ATest.java", count, nil, nil); len(v.Expected) != 1 {
		t.Errorf("%+v", v)
	}
}
