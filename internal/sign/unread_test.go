package sign_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/sign"
)

func TestUnreadValuesAreNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, before, after, others, want string }{
		{"a.go", "", "package a\n\ntype entry struct {\n\tvalue   string\n\tcreated time.Time\n}\n\nfunc f() string { e := entry{value: x(), created: time.Now()}; return e.value }\n", "", "created"},
		{"a.go", "", "package a\n\ntype key struct {\n\tfrom string\n\tto   string\n}\n\nvar seen = map[key]bool{}\n", "", ""},
		{"a.go", "", "package a\n\nfunc f() int {\n\tn := g()\n\treturn n\n}\n", "", ""},
		{"a.go", "", "package a\n\ntype hook struct {\n\tsync.Mutex\n\tbusy sync.Mutex\n}\n", "h.busy.Lock()\n", ""},
		{"a.py", "", "class Cache:\n    def __init__(self, ttl):\n        self.ttl = ttl\n        self.data = {}\n\n    def get(self, k):\n        return self.data[k]\n", "", "ttl"},
		{"a.py", "", "class Cache:\n    def __init__(self, ttl):\n        self.ttl = ttl\n", "c = Cache(3)\nassert c.ttl == 3\n", ""},
		{"a.py", "", "class HttpError(Exception):\n    def __init__(self, status):\n        self.status = status\n", "", ""},
		{"a.py", "", "class Row(Model):\n    name = Text()\n", "", ""},
		{"a.py", "", "RETRIES = 3\n\n\ndef f():\n    left = 0\n    return g()\n", "", "RETRIES left"},
		{"a.py", "", "def f():\n    body = g()\n    return h(body=body)\n", "", ""},
		{"a.py", "RETRIES = 3\nf(RETRIES)\n", "RETRIES = 4\nf(3)\n", "", ""},
		{"a.js", "", "class A {\n  constructor(size) {\n    this.size = size;\n    this.done = 0;\n  }\n  run() {\n    this.done += 1;\n  }\n}\n", "", "size done"},
		{"a.js", "", "const LIMIT = 5;\nexport const f = () => 5;\n", "", "LIMIT"},
		{"a.js", "", "const { a } = require('b');\nconst limit = 5;\nmodule.exports = { limit };\n", "", ""},
		{"A.java", "", "class A {\n    private final long window;\n    private int max = 3;\n\n    int f() { return max; }\n}\n", "", "window"},
		{"a.sh", "", "delay=3\nLANG=C sort x\nn=1\necho \"$n\"\n", "", "delay"},
	} {
		var names []string
		for _, s := range sign.NewChange(c.file, []byte(c.before), []byte(c.after)).UnreadValues(c.after + c.others) {
			names = append(names, strings.Fields(s.Does)[1])
		}
		if got := strings.ReplaceAll(strings.Join(names, " "), ",", ""); got != c.want {
			t.Errorf("%s\n\t%q, want %q", c.after, got, c.want)
		}
	}
}
