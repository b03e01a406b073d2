package testdiff

import "testing"

func TestSideEffectsOfTestFilesAreFound(t *testing.T) {
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
		{"test_a.py", "import app\n\n\ndef test_a():\n    m = app\n    m.size = len\n", true},
		{"test_a.py", "import app\n\n\nclass TestA:\n    def test_a(self):\n        self.m = app\n        self.m.size = len\n", true},
		{"test_a.py", "import app\n\n\ndef put(m):\n    m.size = len\n\n\ndef test_a():\n    put(app)\n    assert app\n", true},
		{"test_a.py", "import app\n\n\ndef test_a():\n    app.size, n = len, 1\n    assert n\n", true},
		{"test_a.py", "import app\n\n\ndef test_a():\n    for app.size in [len]:\n        assert app\n", true},
		{"test_a.py", "import app\n\n\ndef test_a():\n    app.__setattr__('size', len)\n", true},
		{"test_a.py", "import app\nfrom unittest import mock\n\n\ndef test_a():\n    mock.patch('app.size', len).start()\n    assert app\n", true},
		{"test_a.py", "import app\n\nif app:\n    app.relax()\n\n\ndef test_a():\n    assert app\n", true},
		{"test_a.py", "import app\n\n\nclass TestA:\n    mode = [app.relax()]\n\n    def test_a(self):\n        assert app\n", true},
		{"test_a.py", "import app\nimport pytest\n\n\n@pytest.mark.parametrize('n', [1])\ndef test_a(n):\n    assert app.size(n)\n", false},
		{"sizes.py", "def size(name):\n    return len(name)\n", true},
		{"__init__.py", "# here\n", false},
		{"AppTest.java", "class AppTest {\n    @Test\n    void a() {\n        App.strict = false;\n        assertTrue(true);\n    }\n}\n", true},
		{"AppTest.java", "class AppTest {\n    @Test\n    void a() {\n        App app = new App();\n        app.strict = false;\n        assertTrue(app.ok());\n    }\n}\n", false},
		{"a_test.rb", "class App\n  def size\n    3\n  end\nend\n\ndef test_a\n  assert App\nend\n", true},
		{"a.test.js", "const app = require('./app');\ntest('a', () => {\n  Object.assign(app, { size: () => 1 });\n  assert(app);\n});\n", true},
		{"a_test.go", "package a\n\nimport \"testing\"\n\nvar (\n\t_ = relax()\n)\n\nfunc TestA(t *testing.T) {}\n", true},
		{"a_test.go", "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {\n\tlength = nil\n}\n\nfunc f() { length := 1; _ = length }\n", true},
		{"a_test.go", "package a_test\n\nimport (\n\t\"testing\"\n\n\t\"m/a\"\n)\n\nfunc TestA(t *testing.T) {\n\ta.Length = nil\n}\n", true},
		{"a_test.go", "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {\n\tp := &length\n\t*p = nil\n}\n", true},
		{"a_test.go", "package a\n\nfunc len(s string) int { return 3 }\n", true},
		{"a_test.go", "package a\n\nfunc (b *bench) run() int { return 3 }\n", false},
		{"a_test.go", "package a\n\nfunc (T) Len(s string) int { return 3 }\n", true},
		{"a_test.go", "package a\n\nimport \"testing\"\n\ntype fake struct{ n int }\n\nfunc (f *fake) Add() { f.n++ }\n\nvar want = map[string]int{\"a\": 1}\n\nfunc TestA(t *testing.T) {\n\tf := &fake{}\n\tf.Add()\n\tvar err error\n\tfor k, v := range want {\n\t\tif _, err = Size(k); err != nil || f.n != v {\n\t\t\tt.Error(k)\n\t\t}\n\t}\n\twant[\"b\"] = 2\n}\n", false},
		{"a.txt", "app.size = len\n", false},
	} {
		if got := MayChangeOthers(File{c.file, []byte(c.text)}, func(name string) bool { return name == "T" }); got != c.want {
			t.Errorf("%s: %v, want %v:\n%s", c.file, got, c.want, c.text)
		}
	}
}
