package mutant_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/mutant"
)

// A new parameter has the zero value of its type, whatever a caller gives. What was there
// before, and what a framework hands to all, is no parameter of the work.
func TestNewParametersGetZeroValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, before, after, want string }{
		{
			"a.py", "", "def wait(times, *, unit: list[str] = (), **more):\n    '''Waits.'''\n    return go(times)\n",
			"times: def wait(times, *, unit: list[str] = (), **more):\n    '''Waits.'''\n    times = \"pawl\" if isinstance(times, str) or hasattr(times, '__fspath__') else type(times)()\n    return go(times)\n" +
				"unit: def wait(times, *, unit: list[str] = (), **more):\n    '''Waits.'''\n    unit = \"pawl\" if isinstance(unit, str) or hasattr(unit, '__fspath__') else type(unit)()\n    return go(times)\n",
		},
		{
			"a.py", "def wait(times):\n    return go(times)\n", "def wait(times, unit):\n    return go(times, unit)\n",
			"unit: def wait(times, unit):\n    unit = \"pawl\" if isinstance(unit, str) or hasattr(unit, '__fspath__') else type(unit)()\n    return go(times, unit)\n",
		},
		{
			"a.js", "", "export async function all(urls, { fetch, limit = 4, of: name } = {}, ...rest) {\n  return go();\n}\n",
			"urls: export async function all(urls, { fetch, limit = 4, of: name } = {}, ...rest) { urls = typeof urls === 'string' ? \"pawl\" : urls?.constructor?.();\n  return go();\n}\n" +
				"fetch: export async function all(urls, { fetch, limit = 4, of: name } = {}, ...rest) { fetch = typeof fetch === 'string' ? \"pawl\" : fetch?.constructor?.();\n  return go();\n}\n" +
				"limit: export async function all(urls, { fetch, limit = 4, of: name } = {}, ...rest) { limit = typeof limit === 'string' ? \"pawl\" : limit?.constructor?.();\n  return go();\n}\n" +
				"name: export async function all(urls, { fetch, limit = 4, of: name } = {}, ...rest) { name = typeof name === 'string' ? \"pawl\" : name?.constructor?.();\n  return go();\n}\n",
		},
		{
			"a.ts", "", "function at(key?: string): number {\n  return go();\n}\n",
			"key: function at(key?: string): number { key = typeof key === 'string' ? \"pawl\" : (key as any)?.constructor?.();\n  return go();\n}\n",
		},
		{"a.js", "", "const at = (key) => go(key);\n", ""},
		{
			"a.go", "", "package a\n\nfunc New(ctx context.Context, low, ttl time.Duration, at string, opts ...Option) *Cache {\n\treturn with(ttl)\n}\n",
			"low: package a\n\nfunc New(ctx context.Context, low, ttl time.Duration, at string, opts ...Option) *Cache { low = *new(time.Duration);\n\treturn with(ttl)\n}\n" +
				"ttl: package a\n\nfunc New(ctx context.Context, low, ttl time.Duration, at string, opts ...Option) *Cache { ttl = *new(time.Duration);\n\treturn with(ttl)\n}\n" +
				"at: package a\n\nfunc New(ctx context.Context, low, ttl time.Duration, at string, opts ...Option) *Cache { at = \"pawl\";\n\treturn with(ttl)\n}\n" +
				"opts: package a\n\nfunc New(ctx context.Context, low, ttl time.Duration, at string, opts ...Option) *Cache { opts = nil;\n\treturn with(ttl)\n}\n",
		},
		{
			"a.rs", "", "fn fits(&self, mut tag: &str, key: (u64, u64), at: PathBuf) -> bool {\n    tag.len() == 3\n}\n",
			"tag: fn fits(&self, mut tag: &str, key: (u64, u64), at: PathBuf) -> bool { let _ = &tag; #[allow(unused_mut)] let mut tag: &str = \"pawl\";\n    tag.len() == 3\n}\n" +
				"key: fn fits(&self, mut tag: &str, key: (u64, u64), at: PathBuf) -> bool { let _ = &key; #[allow(unused_mut)] let mut key: (u64, u64) = Default::default();\n    tag.len() == 3\n}\n",
		},
		{
			"A.java", "", "class A {\n    int f(final int most, long span, Map<String, Integer> counts) {\n        return 3;\n    }\n}\n",
			"span: class A {\n    int f(final int most, long span, Map<String, Integer> counts) { span = 0;\n        return 3;\n    }\n}\n" +
				"counts: class A {\n    int f(final int most, long span, Map<String, Integer> counts) { counts = null;\n        return 3;\n    }\n}\n",
		},
		{
			"a.c", "", "static int seal(const uint8_t *text, size_t len, uint8_t nonce[12], struct box b)\n{\n    return 3;\n}\n",
			"text: static int seal(const uint8_t *text, size_t len, uint8_t nonce[12], struct box b)\n{ text = 0;\n    return 3;\n}\n" +
				"len: static int seal(const uint8_t *text, size_t len, uint8_t nonce[12], struct box b)\n{ len = 0;\n    return 3;\n}\n" +
				"nonce: static int seal(const uint8_t *text, size_t len, uint8_t nonce[12], struct box b)\n{ nonce = 0;\n    return 3;\n}\n",
		},
	} {
		var got strings.Builder
		for _, p := range mutant.Parameters(c.file, []byte(c.before), []byte(c.after)) {
			got.WriteString(p.Name + ": " + string(mutant.Apply([]byte(c.after), p.Mutant)))
		}
		if got.String() != c.want {
			t.Errorf("%s\ngot\n%swant\n%s", c.after, got.String(), c.want)
		}
	}
}

// Where a function refuses some numbers, it also takes a large one.
func TestLargeNumbersAreTried(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, text, want string }{
		{"a.js", "function f(urls, limit = 4) {\n  if (limit < 1) {\n    throw new RangeError('limit');\n  }\n  return urls.slice(limit);\n}\n", "function f(urls, limit = 4) { limit = typeof limit === 'number' ? (limit > 0 ? 1048576 : limit) : typeof limit === 'string' ? \"pawl\" : limit?.constructor?.();\n"},
		{"a.py", "def f(limit):\n    if limit < 1:\n        raise ValueError(limit)\n    return [limit]\n", "    limit = (1048576 if limit > 0 else limit) if type(limit) in (int, float) else \"pawl\" if isinstance(limit, str)"},
		{"a.go", "package a\n\nfunc F(limit int) error {\n\tif limit < 1 {\n\t\treturn errors.New(\"limit\")\n\t}\n\treturn g(limit)\n}\n", "func F(limit int) error { if limit > 0 { limit = 1048576 };\n"},
		{"A.java", "class A {\n    int f(int limit) {\n        if (limit < 1) {\n            throw new IllegalArgumentException();\n        }\n        return limit;\n    }\n}\n", "int f(int limit) { if (limit > 0) limit = 1048576;\n"},
		{"a.go", "package a\n\nfunc F(limit int) error {\n\treturn g(limit)\n}\n", ""},
		{"a.go", "package a\n\nfunc F(name string) error {\n\tif name == \"\" {\n\t\treturn errors.New(\"name\")\n\t}\n\treturn g(name)\n}\n", ""},
	} {
		got := ""
		for _, p := range mutant.Parameters(c.file, nil, []byte(c.text)) {
			if p.Name != "urls" && p.Large != nil {
				got = string(mutant.Apply([]byte(c.text), *p.Large))
			}
		}
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", c.file, got, c.want)
		}
	}
}

// Where old text does not fit and no value of its type is known, a function takes zero values.
func TestAlternativesReturnZeroValues(t *testing.T) {
	t.Parallel()
	const before, after = "fn from(text: &str, base: u32) -> Result<Kind, Bad> {\n    old()\n}\n", "fn from(text: &str, base: u32) -> Result<Kind, Bad> {\n    new()\n}\n"
	want := []string{
		before,
		"fn from(text: &str, base: u32) -> Result<Kind, Bad> { #[allow(unreachable_code)] if true { return Ok(Default::default()); }\n    new()\n}\n",
		"fn from(text: &str, base: u32) -> Result<Kind, Bad> { let _ = &text; #[allow(unused_mut)] let mut text: &str = \"pawl\"; let _ = &base; #[allow(unused_mut)] let mut base: u32 = 0;\n    new()\n}\n",
	}
	var got []string
	for _, f := range mutant.Changed("a.rs", []byte(before), []byte(after)) {
		for _, m := range f.Alternatives() {
			got = append(got, string(mutant.Apply([]byte(after), m)))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
