package sign_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/sign"
)

func TestMissingMechanismsAreNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ asked, program, want string }{
		{"delete all but the newest archives", `echo "deleted $old"`, "has no call that removes anything, and the task says delete all"},
		{"delete all but the newest archives", `rm -f "$old"; echo "deleted $old"`, ""},
		{"insert, delete, substitute", `x = 1`, ""},
		{"saving must be atomic", `fs.writeFileSync(tmp, text); fs.copyFileSync(tmp, path);`, "has no call that renames a file, locks or commits, and the task says atomic"},
		{"saving must be atomic", `os.replace(tmp, path)`, ""},
		{"saving must be atomic", `writeFileAtomically(path, text)`, ""},
		{"saving must be atomic", "os.replace(path, path + '.bak')\nwith open(path, 'w') as f:\n", "has no call that renames a file, locks or commits, and the task says atomic"},
		{"saving must be atomic", "os.replace(path, path + '.bak')\nwith open(tmp, 'w') as f:\n    f.write(text)\nos.replace(tmp, path)", ""},
		{"saving must be atomic", "    os.replace(tmp, path)\n\ndef log(text):\n    with open(path, 'w') as f:\n", ""},
		{"Encrypt the notes with the passphrase", `return base64.b64encode(text)`, "has no cipher and no exclusive or, and the task says Encrypt"},
		{"Encrypt the notes with the passphrase", `bytes(a ^ b for a, b in zip(text, key))`, ""},
		{"safe from several threads", `hits++;`, "has no lock that is taken, atomic value or queue, and the task says several threads"},
		{"safe from several threads", `synchronized (this) { hits++; }`, ""},
		{"make it thread-safe", "import threading\n\nclass C:\n    def __init__(self):\n        self.lock = threading.Lock()\n", "has no lock that is taken, atomic value or queue, and the task says thread-safe"},
		{"make it thread-safe", "import threading\n\nclass C:\n    def __init__(self):\n        self.lock = threading.Lock()\n    def add(self):\n        with self.lock:\n", ""},
		{"make it thread-safe", "import (\n\t\"sync\"\n)\n\ntype C struct {\n\tmu sync.Mutex\n\tn int\n}\n", "has no lock that is taken, atomic value or queue, and the task says thread-safe"},
		{"make it thread-safe", "type C struct {\n\tsync.Mutex\n}\n\tc.Lock()\n", ""},
		{"make it thread-safe", "type C struct {\n\tall sync.Map\n}\n", ""},
		{"make it thread-safe", "    private final Lock mine = new ReentrantLock();\n", "has no lock that is taken, atomic value or queue, and the task says thread-safe"},
		{"make it thread-safe", "    private final Lock mine = new ReentrantLock();\n    mine.lock();\n", ""},
		{"Load(path) should read .csv and .json", "case \".json\":\n\treturn _(path)\n", "has nothing that reads JSON, and the task says Load(path) should read .csv and .json"},
		{"Load(path) should read .csv and .json", "err = json.Unmarshal(text, &all)", ""},
		{"print JSON with --json", `printf("{\"a\": %d}", a)`, ""},
		{"print JSON with --json", `if c == '{' {`, ""},
		{"write YAML instead of JSON", "x = 1", ""},
		{"read the version, and list it in package.json", "x = 1", ""},
		{"stored notes have the type application/json", "x = 1", ""},
		{"the JSON view is too slow", "x = 1", ""},
		{"pool_destroy leaks every block: free them", "live--;\np->used = NULL;", "has no call that frees anything, and the task says leaks every block"},
		{"pool_destroy leaks every block: free them", "free(b);", ""},
		{"a lock-free list", "x = 1", ""},
		{"removed on success, on error and on panic", "work(&dir);\nfs::remove_dir_all(&dir)?;", "has nothing that runs on a panic, and the task says on panic"},
		{"removed on success, on error and on panic", "impl Drop for Scratch {", ""},
		{"cancelling it ends them at once", `if ctx.Err() != nil {`, "has nothing that waits for the cancellation, and the task says cancelling it ends them at once"},
		{"cancelling it ends them at once", `case <-ctx.Done():`, ""},
		{"check the HMAC in constant time", `a == b`, "has no comparison in constant time, and the task says check the HMAC in constant time; has no HMAC, and the task says HMAC"},
		{"Try up to 4 times, waiting 1, 2 and 4 seconds between the attempts", `delay *= 2`, "has no call that waits, and the task says Try up to 4 times, waiting 1, 2 and 4 seconds between"},
		{"Retry it, and wait a second before each attempt", `time.sleep(1)`, ""},
		{"stopping waits 30 seconds: end at once", `x = 1`, ""},
		{"must not double the slash", `return dir + "/" + name`, ""},
		{"look a key up in constant time", `return m[key]`, ""},
		{"remove the old encrypted format", `x = 1`, ""},
		{"sort the names", `x = 1`, ""},
		{"TempFile leaves its file behind. Remove the file when the TempFile is dropped", "impl Drop for TempFile {\n    fn drop(&mut self) {\n        self.removed.set(true);\n", "has no call that removes anything, and the task says Remove the file when"},
		{"Remove the file when the TempFile is dropped", "impl Drop for TempFile {\n    fn drop(&mut self) {\n        let _ = fs::remove_file(&self.path);\n", ""},
		{"Remove the file utils.py", `x = 1`, ""},
		{"Debounce it: search only when no key came for 300 ms", "if (this.timer) return;\nthis.timer = setTimeout(ask, 300);", "has nothing that begins the wait again, and the task says Debounce"},
		{"Debounce it: search only when no key came for 300 ms", "clearTimeout(this.timer);\nthis.timer = setTimeout(ask, 300);", ""},
		{"Read the rates from the JSON file", "const rates = new Map([['EUR', 1]]);", "has nothing that reads JSON, and the task says Read the rates from the JSON"},
		{"Read the rates from the JSON file", "const rates = JSON.parse(text);", ""},
		{"Read the rates from the JSON file", "if (*p == '{')", ""},
		{"Money is to be usable as the key of a HashMap", "public boolean equals(Object o) {", "has nothing that makes a hash, and the task says usable as the key"},
		{"Money is to be usable as the key of a HashMap", "public int hashCode() {", ""},
		{"Money is to be usable as the key of a HashMap", "record Money(long amount) {}", ""},
		{"Check the header x-signature: hex HMAC-SHA256 of the body", "const expected = createHmac('sha256', secret);\nif (given.length !== expected.length) {", "has nothing that compares more than lengths, and the task says Check the header x-signature"},
		{"Check the header x-signature: hex HMAC-SHA256 of the body", "const expected = createHmac('sha256', secret);\nif (given.length !== expected.length || !timingSafeEqual(given, expected)) {", ""},
		{"Check the header x-signature: hex HMAC-SHA256 of the body", "const expected = createHmac('sha256', secret);\nif (given !== expected) {", ""},
		{"when it is full, the least recently used entry goes", "func (c *Cache) Get(key string) string {\n\treturn c.values[key]\n}\n\nfunc (c *Cache) Put(key string) {\n\tc.order = append(c.order, key)\n}\n", "has nothing that notes a use where it looks something up, and the task says least recently used"},
		{"when it is full, the least recently used entry goes", "func (c *Cache) Get(key string) string {\n\tc.order.MoveToFront(c.values[key])\n}\n", ""},
		{"when it is full, the least recently used entry goes", "func (c *Cache) Get(key string) string {\n\tc.own(key)\n\treturn c.values[key]\n}\n\nfunc (c *Cache) own(key string) {\n\tc.order = append(c.order, key)\n}\n", ""},
		{"when it is full, the least recently used entry goes", "class Cache {\n  get(key) {\n    const v = this.m.get(key);\n    this.m.delete(key);\n    this.m.set(key, v);\n    return v;\n  }\n}\n", ""},
		{"when it is full, the least recently used entry goes", "class Cache {\n  get(key) {\n    return this.m.get(key);\n  }\n  set(key, v) {\n    this.m.set(key, v);\n    this.order.push(key);\n  }\n}\n", "has nothing that notes a use where it looks something up, and the task says least recently used"},
		{"when it is full, the least recently used entry goes", "class Cache:\n    def get(self, key):\n        return self.m[key]\n\n    def put(self, key, v):\n        self.order.append(key)\n", "has nothing that notes a use where it looks something up, and the task says least recently used"},
		{"LRU", "class Cache<K, V> extends LinkedHashMap<K, V> {\n    Cache() {\n        super(16, 0.75f, true);\n    }\n}\n", ""},
		{"as soon as that is cancelled, no node is visited", "func Walk(ctx context.Context, n *Node, visit func(*Node) error) error {\n\tif ctx.Err() != nil {\n\t\treturn ctx.Err()\n\t}\n\treturn walk(n, visit)\n}\n", "has nothing that heeds the cancellation once it works, and the task says as soon as that is cancelled"},
		{"as soon as that is cancelled, no node is visited", "func Walk(ctx context.Context, n *Node) error {\n\tif ctx.Err() != nil {\n\t\treturn ctx.Err()\n\t}\n\treturn Walk(ctx, n.Next)\n}\n", ""},
		{"as soon as that is cancelled, no node is visited", "func Walk(ctx context.Context, all []*Node) error {\n\tfor _, n := range all {\n\t\tif ctx.Err() != nil {\n\t\t\treturn ctx.Err()\n\t\t}\n\t}\n}\n", ""},
		{"Abort the earlier request and ignore its answer", "  async query(text) {\n    if (this.controller) this.controller.abort();\n    this.controller = new AbortController();\n    const answer = await this.fetch(url);\n  }\n", "has nothing that heeds the cancellation once it works, and the task says Abort the earlier request"},
		{"Abort the earlier request and ignore its answer", "  async query(text) {\n    this.controller = new AbortController();\n    const answer = await this.fetch(url, { signal: this.controller.signal });\n  }\n", ""},
		{"Abort the earlier request and ignore its answer", "  async query(text) {\n    const turn = ++this.turn;\n    const answer = await this.fetch(url);\n    if (turn !== this.turn) return this.results;\n  }\n", ""},
	} {
		if got := strings.Join(sign.MissingMechanisms(c.asked, c.program, "", []string{"own", "drop"}), "; "); got != c.want {
			t.Errorf("%s: %s: %s, want %s", c.asked, c.program, got, c.want)
		}
	}
}
