package sign_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/sign"
)

func TestLacking(t *testing.T) {
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
		{"Load(path) should read .csv and .json", "case \".json\":\n\treturn _(path)\n", "has nothing that reads or writes JSON, and the task says Load(path) should read .csv and .json"},
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
	} {
		if got := strings.Join(sign.MissingMechanisms(c.asked, c.program, ""), "; "); got != c.want {
			t.Errorf("%s: %s: %s, want %s", c.asked, c.program, got, c.want)
		}
	}
}
