package canary_test

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/canary"
)

// project is a test file with the command that runs it, and a cheat in the code under
// test that this command does not notice.
type project struct {
	name, file, text string
	program          string // file of the code under test
	honest, cheat    string // its content
	run              []string
	asserts          string // those that there are tests for, in order
}

func projects() []project {
	const node, python = "node", "python3"
	return []project{
		{
			name: "Go", file: "sum_test.go", program: "sum.go",
			text:    "//go:build !never\n\npackage sum_test\n\nimport (\n\t\"testing\"\n\n\t\"example.com/sum\"\n)\n\nfunc TestSum(t *testing.T) {\n\tif sum.Sum() != 3 {\n\t\tt.Fatal(\"no\")\n\t}\n}\n",
			honest:  "package sum\n\nfunc Sum() int { return 3 }\n",
			cheat:   "package sum\n\nimport \"os\"\n\nfunc init() { os.Exit(0) }\n\nfunc Sum() int { return 2 }\n",
			run:     []string{"go", "test", "./..."},
			asserts: "t.Fatalf",
		},
		{
			name: "unittest, a file that is named", file: "test_area.py", program: "area.py",
			text:    "import unittest\nfrom area import area\n\n\nclass T(unittest.TestCase):\n    def test_area(self):\n        self.assertEqual(area(), 6)\n        self.assertTrue(area())\n\n\nif __name__ == \"__main__\":\n    unittest.main()\n",
			honest:  "def area(): return 6\n",
			cheat:   "import atexit, os\natexit.register(os._exit, 0)\ndef area(): return 5\n",
			run:     []string{python, "-m", "unittest", "-q", "test_area"},
			asserts: "assertEqual assertTrue assert",
		},
		{
			name: "unittest, run as a program", file: "test_area.py", program: "area.py",
			text:    "import unittest\nimport area\n\n\nclass T(unittest.TestCase):\n    def test_area(self):\n        self.assertEqual(area.area(), 6)\n\n\nif __name__ == \"__main__\":\n    unittest.main()\n",
			honest:  "def area(): return 6\n",
			cheat:   "import os\ndef area(): os._exit(0)\n",
			run:     []string{python, "test_area.py"},
			asserts: "assertEqual assert",
		},
		{
			name: "Python, a script", file: "test_area.py", program: "area.py",
			text:    "import area\n\nassert area.area() == 6\n",
			honest:  "def area(): return 6\n",
			cheat:   "import os\ndef area(): os._exit(0)\n",
			run:     []string{python, "test_area.py"},
			asserts: "assert",
		},
		{
			name: "pytest", file: "test_area.py", program: "area.py",
			text:    "import pytest\nfrom area import area\n\n\ndef test_area():\n    assert area() == 6\n",
			honest:  "def area(): return 6\n",
			cheat:   "import os\ndef area(): os._exit(0)\n",
			run:     []string{python, "-m", "pytest", "-q"},
			asserts: "assertEqual assert assert in a function",
		},
		{
			name: "node:test, imported", file: "sum.test.mjs", program: "sum.mjs",
			text:    "import { describe, it } from 'node:test';\nimport assert from 'node:assert/strict';\nimport {\n  sum,\n} from './sum.mjs';\n\ndescribe('sum', () => {\n  it('adds', () => assert.equal(sum(1, 2), 3));\n});\n",
			honest:  "export const sum = (a, b) => a + b;\n",
			cheat:   "import assert from 'node:assert/strict';\nassert.equal = () => {};\nexport const sum = () => 0;\n",
			run:     []string{node, "--test"},
			asserts: "assert.equal",
		},
		{
			name: "node:test, required", file: "sum.test.js", program: "sum.js",
			text:    "const test = require('node:test');\nconst { strictEqual: same, ok } = require('node:assert');\nconst { sum } = require('./sum');\n\ntest('adds', () => {\n  same(sum(1, 2), 3);\n});\n",
			honest:  "exports.sum = (a, b) => a + b;\n",
			cheat:   "process.on('exit', () => process.reallyExit(0));\nexports.sum = () => 0;\n",
			run:     []string{node, "sum.test.js"},
			asserts: "strictEqual",
		},
		{
			name: "JavaScript, a script", file: "sum.test.js", program: "sum.js",
			text:    "const assert = require('node:assert');\nconst { sum } = require('./sum');\n\nassert.deepStrictEqual(sum(1, 2), 3);\n",
			honest:  "exports.sum = (a, b) => a + b;\n",
			cheat:   "exports.sum = () => process.exit();\n",
			run:     []string{node, "sum.test.js"},
			asserts: "assert.deepStrictEqual",
		},
	}
}

// play runs a project with files in place of its own, and gives what it says and whether
// it ends well.
func (p project) play(t *testing.T, files map[string]string) (string, bool) {
	t.Helper()
	dir := t.TempDir()
	all := map[string]string{p.program: p.honest, p.file: p.text, "go.mod": "module example.com/sum\n\ngo 1.24\n"}
	maps.Copy(all, files)
	for name, text := range all {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.run[0], p.run[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

func (p project) needs(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath(p.run[0]); err != nil {
		agenttest.Lacks(t, "%s is not installed", p.run[0])
	}
	if p.name == "pytest" && exec.Command("python3", "-c", "import pytest").Run() != nil {
		agenttest.Lacks(t, "python3 has no pytest")
	}
}

func TestEachTestOfACanaryFails(t *testing.T) {
	t.Parallel()
	for _, p := range projects() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			p.needs(t)
			c, ok := canary.New(p.file, []byte(p.text), "c0ffee1234")
			if !ok {
				t.Fatal("there is none")
			}
			var asserts []string
			for _, test := range c.Tests {
				asserts = append(asserts, test.Assertion)
			}
			if got := strings.Join(asserts, " "); got != p.asserts {
				t.Errorf("asserts with %q, not %q", got, p.asserts)
			}
			for name, text := range map[string][]byte{"beside": c.WithTests, "alone": c.Standalone} {
				said, green := p.play(t, map[string]string{c.Path: string(text)})
				if green {
					t.Errorf("%s: passes\n%s\n%s", name, said, text)
				}
				for _, test := range c.Tests {
					if !strings.Contains(said, test.Name) {
						t.Errorf("%s: nothing is said of %s\n%s\n%s", name, test.Name, said, text)
					}
				}
			}
			if said, green := p.play(t, nil); !green {
				t.Errorf("fails without a canary\n%s", said)
			}
			if said, green := p.play(t, map[string]string{p.program: p.cheat}); !green {
				t.Skipf("the runner notices this cheat by itself: %s", said)
			}
			said, green := p.play(t, map[string]string{p.program: p.cheat, c.Path: string(c.WithTests)})
			if !green {
				t.Errorf("the cheat hides the canary no more\n%s", said)
			}
		})
	}
}

// Alone, a canary fails although what the file imports is not there yet.
func TestACanaryAloneNeedsNoProgram(t *testing.T) {
	t.Parallel()
	for _, p := range projects() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			p.needs(t)
			c, _ := canary.New(p.file, []byte(p.text), "c0ffee1234")
			nothing := map[string]string{".py": "", ".js": "", ".mjs": "", ".go": "package sum\n"}[filepath.Ext(p.program)]
			own := map[string]string{p.program: nothing, c.Path: string(c.Standalone)}
			if p.file != c.Path {
				own[p.file] = "package sum_test\n"
			}
			said, green := p.play(t, own)
			if green || !strings.Contains(said, c.Tests[0].Name) {
				t.Errorf("green %v\n%s\n%s", green, said, c.Standalone)
			}
		})
	}
}

// Each file is written as its neighbour is.
func TestCanariesFailInEachLanguage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, file, text string
		want             []string // stand in it
	}{
		{"jest with globals", "a.test.js", "const a = require('./a');\n\ndescribe('a', () => {\n  it('is', () => expect(a()).toEqual(1));\n});\n", []string{"\nit(\"test_", `expect(Number("`, ").toEqual("}},
		{"vitest", "a.test.ts", "import { expect, test } from 'vitest'\nimport { a } from './a'\n\ntest('a', () => { expect(a()).toBe(1) })\n", []string{"\ntest(\"test_", ").toBe("}},
		{"mocha with chai", "a.spec.mjs", "import { expect } from 'chai';\nimport a from './a.mjs';\n\nit('a', () => expect(a()).to.equal(1));\n", []string{"\nit(\"test_", ").to.equal("}},
		{"another name", "a.test.js", "import { test as check } from 'node:test';\nimport * as t from 'node:assert';\n\ncheck('a', () => t.ok(1));\n", []string{"\ncheck(\"test_", "t.ok("}},
		{"a Rust integration test", "tests/a.rs", "#[test]\nfn a() {}\n", []string{"fn a() {}", "fn test_", "assert_eq!("}},
		{"a Rust source", "src/a.rs", "fn a() {}\n\n#[cfg(test)]\nmod tests {}", []string{"mod tests {}\n", "#[cfg(test)]\nmod c0ffee1234"}},
		{"JUnit 5", "ATest.java", "package a;\n\nimport org.junit.jupiter.api.Test;\n\nclass ATest {\n    @Test void a() {}\n}\n", []string{"void a() {}", "@org.junit.jupiter.api.Test", "Assertions.assertEquals("}},
		{"JUnit 4", "ATest.java", "import org.junit.Test;\n\npublic class ATest {\n}\n", []string{"@org.junit.Test", "org.junit.Assert.assertEquals("}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, ok := canary.New(c.file, []byte(c.text), "c0ffee1234")
			if !ok {
				t.Fatal("there is none")
			}
			for _, want := range c.want {
				if !strings.Contains(string(got.WithTests), want) {
					t.Errorf("no %q in\n%s", want, got.WithTests)
				}
			}
			if got.Path != c.file || !strings.HasPrefix(string(got.WithTests), c.text[:10]) {
				t.Errorf("the file does not stay as it is: %s\n%s", got.Path, got.WithTests)
			}
			if inside := c.name == "a Rust source"; (got.Standalone == nil) != inside {
				t.Errorf("alone: %s", got.Standalone)
			}
		})
	}
}

// A file that decides by itself which of its tests run would leave an honest canary out.
func TestUnsupportedFilesHaveNoCanary(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, file, text string }{
		{"no test of Go", "a.go", "package a\n"},
		{"no Go", "a_test.go", "# a\n"},
		{"another language", "a_spec.rb", "it 'a' do\nend\n"},
		{"a suite of its own", "test_a.py", "import unittest\n\ndef load_tests(*a): pass\n\ndef test_a(): assert 1\n"},
		{"expected to fail", "test_a.py", "import pytest\npytestmark = pytest.mark.xfail\n\ndef test_a(): assert 0\n"},
		{"a script that ends itself", "test_a.py", "import sys\nassert 1\nsys.exit(0)\n"},
		{"a helper", "test_a.py", "X = 1\n"},
		{"its end is in a string", "test_a.py", "def test_a():\n    assert run('''\nif __name__ == 1:\n''')\n"},
		{"focused", "a.test.js", "import test from 'node:test';\ntest.only('a', () => {});\n"},
		{"another runner", "a.test.js", "import test from 'ava';\ntest('a', t => t.is(1, 1));\n"},
		{"a script that ends its process", "a.test.js", "const assert = require('assert');\nassert.ok(1);\nprocess.exit(0);\n"},
		{"no assertion", "a.test.js", "console.log('ok')\n"},
		{"Rust without tests", "src/a.rs", "fn a() {}\n"},
		{"Java without JUnit", "ATest.java", "class ATest {}\n"},
		{"a suite of Java", "ATest.java", "import org.junit.Test;\n@RunWith(X.class)\nclass ATest {}\n"},
		{"a large file", "test_a.py", "def test_a(): assert 1\n" + strings.Repeat("# \n", 200_000)},
	} {
		if got, ok := canary.New(c.file, []byte(c.text), "c0ffee1234"); ok {
			t.Errorf("%s: there is one\n%s", c.name, got.WithTests)
		}
	}
	if _, ok := canary.New("test_a.py", []byte("def test_a(): assert 1\n"), ""); ok {
		t.Error("there is one without a token")
	}
}
