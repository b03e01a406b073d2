package mutant_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/mutant"
)

func TestUnreadParametersAreFound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, before, after, all, want string }{
		{"a.py", "def verify(body, secret):\n    \"\"\"With the secret.\"\"\"\n    raise NotImplementedError\n", "def verify(body, secret):\n    \"\"\"With the secret.\"\"\"\n    return body > 3\n", "", "secret"},
		{"a.py", "", "def verify(body, secret):\n    return f'{secret}' + body\n", "", ""},
		{"a.py", "def f(a, unit):\n    return a\n", "def f(a, unit):\n    return a + 1\n", "", ""},
		{"a.py", "def f(aa, unit):\n    return unit\n", "def f(aa, unit):\n    return aa + 1\n", "", "unit"},
		{"a.py", "", "def handle(request, times):\n    return 3 + len('x')\n", "ON = {'a': handle, 'b': 1}\n", ""},
		{"a.py", "", "def f(self, *parts, _unit, **more):\n    return g()\n", "", ""},
		{"a.js", "", "async function post(url, key, body) {\n  return JSON.parse(body);\n}\n", "", "url, key"},
		{"a.js", "", "const post = (url, body) => `${url} of ` + body;\n", "", ""},
		{"a.go", "", "package a\n\nfunc Get(n int, within, every int) int {\n\t_ = within\n\treturn n + every\n}\n", "", "within"},
		{"a.go", "", "package a\n\nfunc (s S) Get(unit string) int {\n\treturn s.n + 1\n}\n", "func (s S) Get(unit string) int {\nfunc (s T) Get(unit string) int {\n", ""},
		{"a.go", "", "package a\n\nfunc Mark(t int, now bool) int {\n\tswitch {\n\tcase now:\n\t\treturn t\n\t}\n\treturn 0\n}\n", "", ""},
		{"a.c", "", "static int side(const char *s, int *out)\n{\n    *out = 3;\n    return s[0];\n}\n", "", ""},
		{"A.java", "", "class A {\n    int f(int a, int limit) {\n        return a + a;\n    }\n}\n", "", "limit"},
		{"a.rs", "", "pub fn wait(times: u8, unit: &str) -> u8 {\n    let _ = unit;\n    times + 1\n}\n", "", "unit"},
		{"a.js", "", "async function all(items, limit, fn) {\n  if (!(limit >= 1)) {\n    throw new RangeError(`limit is ${limit}`);\n  }\n  return Promise.all(items.map(fn));\n}\n", "", "limit"},
		{"a.js", "", "function all(items, limit, fn) {\n  if (!Number.isInteger(limit)) throw new Error('limit');\n  return items.map(fn);\n}\n", "", "limit"},
		{"a.js", "", "function all(items, limit, fn) {\n  if (limit > items.length) {\n    throw new RangeError('limit');\n  }\n  return items.map(fn);\n}\n", "", ""},
		{"a.js", "", "function all(items, limit, fn) {\n  if (limit < 1) {\n    return items;\n  }\n  return items.map(fn);\n}\n", "", ""},
		{"a.js", "", "function port(number) {\n  if (number < 1) {\n    throw new RangeError('port');\n  }\n  return true;\n}\n", "", ""},
		{"a.py", "", "def take(rows, limit):\n    if limit < 1:\n        raise ValueError(f'limit {limit}')\n    return list(rows)\n", "", "limit"},
		{"a.py", "", "def take(rows, limit):\n    if limit < 1:\n        raise ValueError(f'limit {limit}')\n    return rows[:limit]\n", "", ""},
		{"a.py", "", "def pay(cents, unit):\n    if unit not in UNITS:\n        raise ValueError(unit)\n    return cents\n", "", ""},
		{"a.go", "", "package a\n\nfunc Take(rows []int, limit int) ([]int, error) {\n\tif limit < 1 {\n\t\treturn nil, fmt.Errorf(\"limit %d\", limit)\n\t}\n\treturn sorted(rows), nil\n}\n", "", "limit"},
		{"a.rs", "", "fn take(rows: &[u8], limit: usize) -> Result<Vec<u8>, String> {\n    if limit == 0 {\n        return Err(\"limit\".into());\n    }\n    Ok(rows.to_vec())\n}\n", "", "limit"},
		{"A.java", "", "class A {\n    int f(int a, int limit) {\n        if (limit < 0) {\n            throw new IllegalArgumentException(\"limit \" + limit);\n        }\n        return a + a;\n    }\n}\n", "", "limit"},
		{"a.py", "def take(rows, limit):\n    if limit < 1:\n        raise ValueError\n    return list(rows)\n", "def take(rows, limit):\n    if limit < 1:\n        raise ValueError\n    return sorted(rows)\n", "", ""},
		{"lock.h", "", "#define LOCK(m) ((void)0)\n#define TWICE(n) ((n) + (n))\n#define OFF(n)\n", "", "m"},
	} {
		found := mutant.UnreadParameters(c.file, []byte(c.before), []byte(c.after), c.after+c.all)
		got := ""
		for _, f := range found {
			got += f.Name
		}
		if got != c.want {
			t.Errorf("%s\n\t%q, want %q", c.after, got, c.want)
		}
	}
}
