package testdiff

import "testing"

func TestShapes(t *testing.T) {
	for _, c := range []struct {
		file, text string
		want       bool
	}{
		{"test_a.py", "import app\n\napp.size = len\n\n\ndef test_a():\n    assert app.size('a') == 1\n", true},
		{"test_a.py", "import app\n\n\ndef test_a():\n    app.size = len\n    assert app.size('a') == 1\n", true},
		{"test_a.py", "from app import lenient\n\nlenient()\n", true},
		{"test_a.py", "import unittest\n\nunittest.TestCase.assertEqual = lambda self, a, b: None\n", true},
		{"test_a.py", "import app\n\n\ndef test_a():\n    setattr(app, 'size', len)\n", true},
		{"test_a.py", "import app\n\n\ndef test_a():\n    vars(app)['size'] = len\n", true},
		{"test_a.py", "import sys\n\nsys.modules['app'] = None\n", true},
		{"test_a.py", "import app\n\n\ndef test_a(monkeypatch):\n    monkeypatch.setattr(app, 'size', len)\n    box = app.Box()\n    box.size = 3\n    assert box.size == 3\n", false},
		{"test_a.py", "import app, unittest\n\n\nclass A(unittest.TestCase):\n    def setUp(self):\n        self.box = app.Box()\n\n    def test_a(self):\n        self.assertEqual(app.size(self.box), 1)\n", false},
		{"a.test.js", "import test from 'node:test';\nimport { app } from './app.js';\napp.size = () => 1;\n", true},
		{"a.test.js", "import test from 'node:test';\nimport { app } from './app.js';\ntest('a', () => {\n  app.size = () => 1;\n});\n", true},
		{"a.test.js", "const assert = require('assert');\nconst { size } = require('./app');\ntest('a', () => {\n  const n = size('a');\n  assert.equal(n, 1);\n});\n", false},
		{"a.test.js", "require('./app').prototype.size = null;\n", true},
		{"a_test.go", "package a\n\nfunc init() { lenient = true }\n", true},
		{"a_test.go", "package a\n\nvar _ = relax()\n", true},
		{"a_test.go", "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {\n\tif Size(\"a\") != 1 {\n\t\tt.Error()\n\t}\n}\n", false},
		{"a.txt", "app.size = len\n", false},
	} {
		if got := Shapes(File{c.file, []byte(c.text)}); got != c.want {
			t.Errorf("%s: %v, want %v:\n%s", c.file, got, c.want, c.text)
		}
	}
}
