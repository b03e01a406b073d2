package testdiff_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/testdiff"
)

type pair struct {
	name     string
	from, to string // in the file, which is replaced once; "" to = it is cut
	want     string // "3 skipped TestA", one for each change, with ", " between
}

func check(t *testing.T, file, before string, pairs []pair) {
	t.Helper()
	for _, p := range pairs {
		t.Run(file+"/"+p.name, func(t *testing.T) {
			t.Parallel()
			after := before
			if p.from != "" {
				if strings.Count(before, p.from) != 1 {
					t.Fatalf("%q is not once in it", p.from)
				}
				after = strings.Replace(before, p.from, p.to, 1)
			}
			var got []string
			for _, c := range testdiff.Compare("pkg/"+file, []byte(before), []byte(after)) {
				got = append(got, fmt.Sprintf("%d %s %s", c.Line, c.Kind, c.Name))
			}
			if diff := cmp.Diff(p.want, strings.Join(got, ", ")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestGoTestChangesAreFound(t *testing.T) {
	t.Parallel()
	check(t, "sum_test.go", `package sum

import "testing"

// TestAdd adds.
func TestAdd(t *testing.T) {
	for _, c := range []struct{ a, b, want int }{
		{1, 2, 3},
		{2, 2, 4},
	} {
		if got := Add(c.a, c.b); got != c.want {
			t.Errorf("%d", got)
		}
	}
}

func TestSub(t *testing.T) {
	s := newSum(t)
	if s.Sub(3, 1) != 2 {
		t.Fatal("3-1")
	}
}

func newSum(t *testing.T) *Sum { return &Sum{} }
`, []pair{
		{"nothing", "", "", ""},
		{"a new test", "func newSum", "func TestMul(t *testing.T) { t.Skip() }\n\nfunc newSum", ""},
		{"a new row", "{2, 2, 4},", "{2, 2, 4},\n\t\t{5, 5, 10},", ""},
		{"another name for a helper", "s := newSum(t)", "s := makeSum(t)", ""},
		{"another name for a variable", "got := Add(c.a, c.b); got != c.want", "sum := Add(c.a, c.b); sum != c.want", "6 changed TestAdd"},
		{"white space", "if s.Sub(3, 1) != 2 {", "\n\tif s.Sub(3,1)   !=   2 {", ""},
		{"a comment", "// TestAdd adds.", "// TestAdd does not t.Skip.", ""},
		{"a message", `"3-1"`, `"3-1 is 2"`, ""},
		{"an expected value", "{2, 2, 4}", "{2, 2, 5}", "6 changed TestAdd"},
		{"a condition", "!= 2", "== 0", "17 changed TestSub"},
		{"skipped", "s := newSum(t)", "t.Skip(\"later\")\n\ts := newSum(t)", "17 skipped TestSub"},
		{"it returns at once", "s := newSum(t)", "return\n\ts := newSum(t)", "17 emptied TestSub"},
		{"nothing is asserted", "	if s.Sub(3, 1) != 2 {\n\t\tt.Fatal(\"3-1\")\n\t}\n", "\t_ = s\n", "17 emptied TestSub"},
		{"renamed", "TestSub", "TestSubtract", "17 renamed TestSub → TestSubtract"},
		{"renamed so that it does not run", "TestSub", "testSub", "17 deleted TestSub"},
		{"built for nobody", "package sum\n", "//go:build ignore\n\npackage sum\n", "1 skipped the file"},
		{"deleted", "func TestSub(t *testing.T) {\n\ts := newSum(t)\n\tif s.Sub(3, 1) != 2 {\n\t\tt.Fatal(\"3-1\")\n\t}\n}\n", "", "17 deleted TestSub"},
	})
}

func TestJavaScriptTestChangesAreFound(t *testing.T) {
	t.Parallel()
	const before = `import { sum } from './sum'

describe('sum', () => {
  // it.only('is no test')
  it('adds', () => {
    expect(sum(1, 2)).toBe(3)
    expect(sum('it.skip("x")')).toThrow()
  })

  test.each([[1, 1, 2]])('adds %i and %i', (a, b, c) => {
    expect(sum(a, b)).toBe(c);
  })
})

test("says so", async () => {
  const out = await say();
  assert.equal(out, "so");
});
`
	pairs := []pair{
		{"nothing", "", "", ""},
		{"a new test", "test(\"says so\"", "it.skip('later', () => {})\n\ntest(\"says so\"", ""},
		{"an assertion more", "expect(sum(1, 2)).toBe(3)", "expect(sum(1, 2)).toBe(3)\n    expect(sum(0, 0)).toBe(0)", ""},
		{"white space and quotes", "expect(sum(1, 2)).toBe(3)", "expect(\n      sum(1, 2),\n    )\n      .toBe(3);", "5 changed sum > adds"},
		{"other quotes", `assert.equal(out, "so");`, `assert.equal(out, 'so')`, ""},
		{"another helper", "await say()", "await speak()", ""},
		{"skipped", "it('adds'", "it.skip('adds'", "5 skipped sum > adds"},
		{"skipped by x", "it('adds'", "xit('adds'", "5 skipped sum > adds"},
		{"all skipped", "describe('sum'", "describe.skip('sum'", "3 skipped sum"},
		{"todo", "it('adds', () => {\n    expect(sum(1, 2)).toBe(3)\n    expect(sum('it.skip(\"x\")')).toThrow()\n  })", "it.todo('adds')", "5 skipped sum > adds, 5 emptied sum > adds"},
		{"focused", "it('adds'", "it.only('adds'", "5 focused sum > adds"},
		{"focused by f", "it('adds'", "fit('adds'", "5 focused sum > adds"},
		{"a new one is focused", "test(\"says so\"", "it.only('new', () => { expect(1).toBe(1) })\n\ntest(\"says so\"", "15 focused new"},
		{"an option", `test("says so", async`, `test("says so", { skip: true }, async`, "15 skipped says so"},
		{"an expected value", "toBe(3)", "toBe(expect.anything())", "5 changed sum > adds"},
		{"of a table", "toBe(c);", "toBeDefined();", "10 changed sum > adds %i and %i"},
		{"emptied", `  assert.equal(out, "so");`, "", "15 emptied says so"},
		{"it returns at once", "const out = await say();", "return;\n  const out = await say();", "15 emptied says so"},
		{"renamed", `"says so"`, `"says it"`, "15 renamed says so → says it"},
		{"deleted", "test(\"says so\", async () => {\n  const out = await say();\n  assert.equal(out, \"so\");\n});\n", "", "15 deleted says so"},
		{"commented out", "test(\"says so\", async () => {\n  const out = await say();\n  assert.equal(out, \"so\");\n});\n", "/* test(\"says so\", async () => {\n  assert.equal(out, \"so\");\n}); */\n", "15 deleted says so"},
	}
	// An assertion that is laid out on several lines is the same but for its last comma.
	pairs[3].from, pairs[3].to, pairs[3].want = "expect(sum(1, 2)).toBe(3)", "expect(\n      sum(1, 2)\n    )\n      .toBe(3);", ""
	check(t, "sum.test.ts", before, pairs)
	check(t, "sum.spec.js", before, pairs[:3])
}

func TestPythonTestChangesAreFound(t *testing.T) {
	t.Parallel()
	check(t, "test_sum.py", `"""Tests.

def test_nothing(): pass
"""
import pytest, unittest


def helper():
    return 1


def test_add():
    assert add(1, 2) == 3
    assert add(2, 2) == 4  # four


@pytest.mark.parametrize("a", [1, 2])
def test_sub(a):
    with pytest.raises(ValueError):
        sub(a)


class TestMore(unittest.TestCase):
    def test_more(self):
        self.assertEqual(more(), "x")
`, []pair{
		{"nothing", "", "", ""},
		{"a new test", "class TestMore", "def test_new():\n    assert True\n\n\nclass TestMore", ""},
		{"a helper", "def helper():", "def helped():", ""},
		{"a comment", "# four", "# 4", ""},
		{"other quotes", `more(), "x")`, `more(), 'x')`, ""},
		{"skipped", "def test_add", "@pytest.mark.skip(reason=\"x\")\ndef test_add", "13 skipped test_add"},
		{"expected to fail", "@pytest.mark.parametrize", "@pytest.mark.xfail\n@pytest.mark.parametrize", "19 skipped test_sub"},
		{"skipped inside", "    assert add(1, 2) == 3\n", "    pytest.skip(\"x\")\n    assert add(1, 2) == 3\n", "12 skipped test_add"},
		{"a class is skipped", "class TestMore", "@unittest.skip(\"x\")\nclass TestMore", "24 skipped TestMore"},
		{"the file is skipped", "\n\ndef helper", "pytestmark = pytest.mark.skip\n\ndef helper", "6 skipped the file"},
		{"an assertion", "== 4  # four", "in (3, 4)", "12 changed test_add"},
		{"one less", "    assert add(2, 2) == 4  # four\n", "", "12 changed test_add"},
		{"emptied", "self.assertEqual(more(), \"x\")", "pass", "24 emptied TestMore > test_more"},
		{"not collected", "def test_add", "def check_add", "12 deleted test_add"},
		{"renamed", "def test_add", "def test_addition", "12 renamed test_add → test_addition"},
	})
	check(t, "test_lines.py", `import pytest


@pytest.mark.parametrize(
    "a, want",
    [
        (1, 2),
        (2, 4),
    ],
)
def test_twice(
    a,
    want,
):
    assert twice(a) == want


def test_more():
    assert more()
`, []pair{
		{"an assertion", "assert twice(a) == want", "assert twice(a)", "11 changed test_twice"},
		{"emptied", "assert twice(a) == want", "pass", "11 emptied test_twice"},
		{"skipped", "@pytest.mark.parametrize", "@pytest.mark.skip\n@pytest.mark.parametrize", "12 skipped test_twice"},
	})
}

func TestRustTestChangesAreFound(t *testing.T) {
	t.Parallel()
	check(t, "sum.rs", `fn add(a: i32) -> char { 'a' }

#[cfg(test)]
mod tests {
    #[test]
    fn adds() {
        assert_eq!(add(1), 'a');
    }

    #[tokio::test]
    async fn waits() { assert!(wait().await.is_ok()); }
}
`, []pair{
		{"nothing", "", "", ""},
		{"the product", "'a' }", "'b' }", ""},
		{"a new test", "    #[tokio", "    #[test]\n    #[ignore]\n    fn later() {}\n\n    #[tokio", ""},
		{"ignored", "#[test]", "#[test]\n    #[ignore = \"slow\"]", "7 skipped adds"},
		{"no test any more", "    #[test]\n", "", "6 deleted adds"},
		{"an assertion", "'a');", "'b');", "6 changed adds"},
		{"emptied", "assert!(wait().await.is_ok());", "wait().await;", "11 emptied waits"},
	})
}

func TestJavaAndKotlinTestChangesAreFound(t *testing.T) {
	t.Parallel()
	check(t, "SumTest.java", `class SumTest {
    @Test
    void adds() {
        assertEquals(3, sum(1, 2));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    public void all(int n) {
        assertThat(n).isPositive();
    }

    private void helper() {}
}
`, []pair{
		{"nothing", "", "", ""},
		{"a helper", "helper()", "help()", ""},
		{"disabled", "@Test", "@Disabled(\"x\")\n    @Test", "4 skipped SumTest > adds"},
		{"the class is disabled", "class SumTest", "@Disabled\nclass SumTest", "2 skipped SumTest"},
		{"no test any more", "    @Test\n", "", "3 deleted SumTest > adds"},
		{"a value", "assertEquals(3,", "assertEquals(4,", "3 changed SumTest > adds"},
	})
	check(t, "SumTest.kt", "class SumTest {\n    @Test\n    fun `adds`() {\n        assertEquals(3, sum(1, 2))\n    }\n}\n", []pair{
		{"ignored", "@Test", "@Ignore @Test", "3 skipped SumTest > adds"},
		{"emptied", "assertEquals(3, sum(1, 2))", "sum(1, 2)", "3 emptied SumTest > adds"},
	})
	check(t, "SumTests.cs", "public class SumTests {\n    [Fact]\n    public void Adds() {\n        Assert.Equal(3, Sum(1, 2));\n    }\n}\n", []pair{
		{"skipped", "[Fact]", "[Fact(Skip = \"x\")]", "3 skipped Adds"},
		{"a value", "Equal(3", "NotEqual(0", "3 changed Adds"},
	})
}

func TestShellScriptTestChangesAreFound(t *testing.T) {
	t.Parallel()
	check(t, "sum_spec.rb", `RSpec.describe "sum" do
  # fit "no test"
  it "adds" do
    expect(sum(1, 2)).to eq(3)
  end

  context "with nothing" do
    it "is nil" do
      expect(sum).to be_nil
    end
  end
end
`, []pair{
		{"nothing", "", "", ""},
		{"a new test", "  context", "  it \"subtracts\" do\n    expect(1).to eq(1)\n  end\n\n  context", ""},
		{"skipped", `it "adds"`, `xit "adds"`, "3 skipped sum > adds"},
		{"skipped inside", "    expect(sum(1, 2))", "    skip \"x\"\n    expect(sum(1, 2))", "3 skipped sum > adds"},
		{"focused", `context "with`, `fcontext "with`, "7 focused sum > with nothing"},
		{"focused by a tag", `it "adds" do`, `it "adds", :focus do`, "3 focused sum > adds"},
		{"changed", "eq(3)", "be_a(Integer)", "3 changed sum > adds"},
	})
	check(t, "SumTest.php", "<?php\nclass SumTest extends TestCase {\n    public function testAdds(): void {\n        $this->assertSame(3, sum(1, 2));\n    }\n}\n", []pair{
		{"skipped", "$this->assertSame", "$this->markTestSkipped('x'); $this->assertSame", "3 skipped testAdds"},
		{"emptied", "$this->assertSame(3, sum(1, 2));", "sum(1, 2);", "3 emptied testAdds"},
	})
	check(t, "sum.bats", "@test \"adds\" {\n  run sum 1 2\n  [ \"$output\" = 3 ]\n}\n", []pair{
		{"skipped", "  run sum", "  skip \"x\"\n  run sum", "1 skipped adds"},
		{"changed", "= 3 ]", "!= 4 ]", "1 changed adds"},
		{"deleted", "@test \"adds\" {\n  run sum 1 2\n  [ \"$output\" = 3 ]\n}\n", "", "1 deleted adds"},
	})
	check(t, "sum.t", "use Test::More;\nis(sum(1, 2), 3, 'adds');\nsubtest 'more' => sub {\n  ok(1);\n};\ndone_testing;\n", []pair{
		{"nothing", "", "", ""},
		{"skipped", "use Test::More;", "use Test::More skip_all => 'x';", "1 skipped the file"},
		{"changed", "3, 'adds'", "4, 'adds'", "1 changed the file"},
		{"emptied", "is(sum(1, 2), 3, 'adds');\n", "", "1 emptied the file"},
	})
	check(t, "sum_test.exs", "defmodule SumTest do\n  test \"adds\" do\n    assert sum(1, 2) == 3\n  end\nend\n", []pair{
		{"skipped", "  test \"adds\"", "  @tag :skip\n  test \"adds\"", "3 skipped adds"},
		{"changed", "== 3", "> 0", "2 changed adds"},
	})
}

func TestCompiledTestChangesAreFound(t *testing.T) {
	t.Parallel()
	check(t, "sum_test.cc", "TEST(Sum, Adds) {\n  EXPECT_EQ(sum(1, 2), 3);\n}\n", []pair{
		{"nothing", "", "", ""},
		{"disabled", "Adds", "DISABLED_Adds", "1 skipped Sum, Adds"},
		{"skipped", "  EXPECT_EQ", "  GTEST_SKIP();\n  EXPECT_EQ", "1 skipped Sum, Adds"},
		{"weaker", "EXPECT_EQ(sum(1, 2), 3)", "EXPECT_GE(sum(1, 2), 0)", "1 changed Sum, Adds"},
	})
	check(t, "SumTests.swift", "class SumTests: XCTestCase {\n  func testAdds() throws {\n    XCTAssertEqual(sum(1, 2), 3)\n  }\n}\n", []pair{
		{"skipped", "    XCTAssertEqual", "    throw XCTSkip(\"x\")\n    XCTAssertEqual", "2 skipped testAdds"},
	})
	check(t, "sum_test.dart", "void main() {\n  group('sum', () {\n    test('adds', () {\n      expect(sum(1, 2), 3);\n    });\n  });\n}\n", []pair{
		{"skipped", "    });\n  });", "    }, skip: 'x');\n  });", "3 skipped sum > adds"},
		{"changed", "sum(1, 2), 3", "sum(1, 2), isNotNull", "3 changed sum > adds"},
	})
}

func TestTestsOfADeletedFileAreDeleted(t *testing.T) {
	t.Parallel()
	old := []byte("def test_add():\n    assert add(1, 2) == 3\n")
	got := testdiff.Compare("tests/test_sum.py", old, nil)
	want := []testdiff.Change{{Kind: testdiff.Deleted, Line: 1, Name: "test_add"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := testdiff.Compare("tests/test_sum.py", nil, old); got != nil {
		t.Errorf("a new file: %v", got)
	}
	if got := testdiff.Compare("tests/data.json", old, nil); got != nil {
		t.Errorf("no language: %v", got)
	}
	fresh := []testdiff.File{{"other.py", []byte("import os\nprint(os.name)\n")}, {"tests/sum_checks.py", append([]byte("import x\n"), old...)}}
	if got := testdiff.FindMoved(testdiff.File{Path: "tests/test_sum.py", Content: old}, fresh); got != "tests/sum_checks.py" {
		t.Errorf("it went to %q", got)
	}
	if got := testdiff.FindMoved(testdiff.File{Path: "tests/test_sum.py", Content: old}, fresh[:1]); got != "" {
		t.Errorf("it went to %q", got)
	}
}

// Whatever the bytes are, equal files have no change, and lines are lines.
func FuzzCompareEqualFilesHaveNoChange(f *testing.F) {
	f.Add("a_test.go", "package a\n\nfunc TestA(t *testing.T) {}\n", "")
	f.Add("a.test.js", "it('a', () => { expect(`${x}`) })", "it.only('a")
	f.Add("test_a.py", "def test_a():\n\tassert 1", "\"\"\"")
	f.Add("a_spec.rb", "it \"a\" do\nend", "it 'b' do")
	f.Fuzz(func(t *testing.T, file, before, after string) {
		if got := testdiff.Compare(file, []byte(before), []byte(before)); len(got) > 0 {
			t.Errorf("equal, and yet %v", got)
		}
		lines := 1 + max(strings.Count(before, "\n"), strings.Count(after, "\n"))
		for _, c := range testdiff.Compare(file, []byte(before), []byte(after)) {
			if c.Line < 1 || c.Line > lines || c.Name == "" {
				t.Errorf("%+v in %d lines", c, lines)
			}
		}
	})
}

func TestAddedTestsAreListed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, before, after string
		want                []string
	}{
		{"test_a.py", "def test_a():\n    assert 1\n", "def test_a():\n    assert 1\n\n\nclass TestB:\n    def test_b(self):\n        assert 2\n", []string{"TestB > test_b"}},
		{"test_a.py", "", "import pytest\n\n\n@pytest.mark.skip\ndef test_a():\n    assert 1\n", nil},
		{"a.test.js", "", "describe('sums', () => {\n  it('adds', () => { expect(1).toBe(1); });\n});\n", []string{"sums > adds"}},
		{"test_a.py", "class OddTests:\n    def test_b(self):\n        assert 1\n", "class EvenTests:\n    def test_b(self):\n        assert 2\n\n\nclass OddTests:\n    def test_b(self):\n        assert 1\n", []string{"EvenTests > test_b"}},
		{"a_test.go", "package a\n\nfunc TestA(t *testing.T) { t.Error() }\n", "package a\n\nfunc TestA(t *testing.T) { t.Error(1) }\n", nil},
		{"tests/a.rs", "", "#[test]\nfn adds() {\n    assert_eq!(1, 1);\n}\n", []string{"adds"}},
		{"a.txt", "", "def test_a():\n", nil},
	} {
		if diff := cmp.Diff(c.want, testdiff.Added(c.file, []byte(c.before), []byte(c.after))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.file, diff)
		}
	}
}
