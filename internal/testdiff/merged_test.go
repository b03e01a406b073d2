package testdiff_test

import (
	"strings"
	"testing"
)

// A test that became a row of a table is merged, not deleted.
func TestTestMovedToATableRowIsMerged(t *testing.T) {
	t.Parallel()
	check(t, "a_test.go", `package a

func TestJSON(t *testing.T) {
	var b strings.Builder
	if err := Write(&b, "json", []Row{{"id": "7"}}); err != nil || b.String() != "id 7" {
		t.Errorf("%q, %v", b.String(), err)
	}
}
`, []pair{
		{"to a row", "func TestJSON(t *testing.T) {\n\tvar b strings.Builder\n\tif err := Write(&b, \"json\", []Row{{\"id\": \"7\"}}); err != nil || b.String() != \"id 7\" {\n\t\tt.Errorf(\"%q, %v\", b.String(), err)\n\t}\n}\n", `func TestWrite(t *testing.T) {
	for _, tt := range []struct{ name, format string; rows []Row; want string }{
		{"csv", "csv", nil, ""},
		{"json of one row", "json", []Row{{"id": "7"}}, "id 7"},
	} {
		var b strings.Builder
		if err := Write(&b, tt.format, tt.rows); err != nil || b.String() != tt.want {
			t.Errorf("got %q, %v, want %q", b.String(), err, tt.want)
		}
	}
}
`, "3 merged TestJSON"},
		{"to a row with another value", "func TestJSON(t *testing.T) {\n\tvar b strings.Builder\n\tif err := Write(&b, \"json\", []Row{{\"id\": \"7\"}}); err != nil || b.String() != \"id 7\" {\n\t\tt.Errorf(\"%q, %v\", b.String(), err)\n\t}\n}\n", `func TestWrite(t *testing.T) {
	for _, tt := range []struct{ name, format string; rows []Row; want string }{
		{"json of one row", "json", []Row{{"id": "7"}}, "id"}, // not "id 7"
	} {
		if got := write(tt.format, tt.rows); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
`, "3 deleted TestJSON"},
	})
	const sizes = "def test_mega():\n    assert parse(\"3MB\") == 3_000_000\n\n\ndef test_none():\n    with pytest.raises(ValueError):\n        parse(\"MB\")\n\n\ndef test_apples():\n    with pytest.raises(ValueError):\n        parse(\"3 apples\")\n"
	const rows = "@pytest.mark.parametrize(\"text, size\", [(\"1 B\", 1), (\"3MB\", 3_000_000)])\ndef test_sizes(text, size):\n    assert parse(text) == size\n\n\n" +
		"@pytest.mark.parametrize(\"text\", [\"MB\", \"3 apples\"])\ndef test_errors(text):\n    with pytest.raises(ValueError):\n        parse(text)\n"
	check(t, "test_sizes.py", sizes, []pair{
		{"to cases", sizes, rows, "1 merged test_mega, 7 renamed test_none → test_errors, 10 merged test_apples"},
		{"to a case that is marked", sizes, strings.Replace(rows, `"3 apples"]`, `pytest.param("3 apples", marks=pytest.mark.xfail)]`, 1), "1 merged test_mega, 7 renamed test_none → test_errors, 10 deleted test_apples"},
		{"to cases without one", sizes, strings.Replace(rows, `, "3 apples"`, "", 1), "1 merged test_mega, 7 renamed test_none → test_errors, 10 deleted test_apples"},
		{"to cases of another assertion", sizes, strings.Replace(rows, "        parse(text)", "        fail(text)", 1), "1 merged test_mega, 7 renamed test_none → test_errors, 10 deleted test_apples"},
		{"to a comment", sizes, strings.Replace(rows, `"MB", "3 apples"`, `"MB",  # "3 apples"`+"\n    ", 1), "1 merged test_mega, 8 renamed test_none → test_errors, 10 deleted test_apples"},
		{"to a case of a skipped test", sizes, strings.Replace(rows, "def test_errors", "@pytest.mark.skip\ndef test_errors", 1), "1 merged test_mega, 8 renamed test_none → test_errors, 8 skipped test_errors, 10 deleted test_apples"},
	})
	const add = "def test_add():\n    assert add(1, 2) == 3\n"
	check(t, "test_calc.py", add, []pair{
		{"to a test of the renamed function", add, "def test_plus():\n    assert plus(1, 2) == 3\n", "1 renamed test_add → test_plus"},
		{"to a skipped test", add, "@pytest.mark.skip\ndef test_plus():\n    assert plus(1, 2) == 3\n", "1 merged test_add"},
	})
	check(t, "sizes.test.js", "test('kilo', () => {\n  assert.equal(parse('1k'), 1000);\n});\n\nfor (const [text, size] of [['1M', 1000000]]) {\n  test(`size ${text}`, () => assert.equal(parse(text), size));\n}\n", []pair{
		{"to another value", "parse('1k')", "parse('2k')", "1 changed kilo"},
	})
	const empty = "func TestEmpty(t *testing.T) {\n\tif _, err := Parse(\"B\"); err == nil {\n\t\tt.Error(\"no error\")\n\t}\n}\n"
	const table = "func TestErrors(t *testing.T) {\n\tfor _, in := range []string{\"3 x\", \"B\"} {\n\t\tif _, err := Parse(in); err == nil {\n\t\t\tt.Errorf(\"%q: no error\", in)\n\t\t}\n\t}\n}\n"
	check(t, "sizes_test.go", "package sizes\n\n"+empty, []pair{
		{"to a table", empty, table, "3 merged TestEmpty"},
		{"to a table that logs", empty, strings.Replace(table, "t.Errorf", "t.Logf", 1), "3 deleted TestEmpty"},
		{"to a table of another condition", empty, strings.Replace(table, "err == nil", "err != nil && false", 1), "3 deleted TestEmpty"},
	})
	check(t, "ranges.test.js", `import { test } from 'node:test';

test('one range', () => {
  assert.deepEqual(mergeRanges([[1, 3]]), [[1, 3]]);
});
`, []pair{
		{"to a row", "test('one range', () => {\n  assert.deepEqual(mergeRanges([[1, 3]]), [[1, 3]]);\n});\n", `const table = [
  ['none', [], []],
  ['one range', [[1, 3]], [[1, 3]]],
];
for (const [name, ranges, want] of table) {
  test(name, () => assert.deepEqual(mergeRanges(ranges), want));
}
`, "3 merged one range"},
	})
}
