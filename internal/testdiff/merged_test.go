package testdiff_test

import "testing"

// A test that became a row of a table is merged, not deleted.
func TestTestThatBecameTableRowIsMerged(t *testing.T) {
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
