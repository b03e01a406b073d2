//go:build unix

package verify_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/sign"
	"github.com/pawl-dev/pawl/internal/verify"
)

// Names that the work made for itself are no means for what the task asks for; others are.
func TestMissingMeansAreNamed(t *testing.T) {
	t.Parallel()
	const asked = "backup.sh: delete all but the newest archives; saving must be atomic"
	for _, c := range []struct {
		name  string
		after files
		want  []string
	}{
		{"none", files{"backup.sh": "prune() {\n  echo \"deleted $1\"\n}\n", "store.py": "def lock(path):\n    path.write_text('x')\n"}, []string{
			"backup.sh has no call that removes anything, and the task says delete all: prune, lock",
			"backup.sh has no call that renames a file, locks or commits, and the task says atomic: prune, lock",
		}},
		{"by what it calls", files{"backup.sh": "prune() {\n  rm -f -- \"$1\"\n}\n", "save.py": "import store\ndef save(path):\n    store.keep(path)\n"}, nil},
		{"both", files{"backup.sh": "prune() {\n  rm -f -- \"$1\"\n}\n", "store.py": "def save(path):\n    temporary(path).rename(path)\n"}, nil},
		{"no function changed", files{"notes.md": "x\n"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, files{"backup.sh": "#!/bin/sh\n", "store.py": "def keep(path):\n    temporary(path).rename(path)\n\ndef drop(path):\n    path.unlink()\n"}, nil)
			before := b.tree()
			b.write(c.after)
			found, err := verify.Signs(t.Context(), b.repo, verify.SignRequest{Before: before, After: b.tree(), Asked: asked})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range found {
				if strings.Contains(s.Does, "the task says") {
					got = append(got, s.String())
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What the agent itself deleted, as the task asks, needs no call that deletes.
func TestDeletedFileNeedsNoDeletingCode(t *testing.T) {
	t.Parallel()
	for gone, want := range map[string]int{"vendor/randomid/index.js": 0, "extra/lib.js": 1} {
		b := newBench(t, files{"store.js": "const id = require('./vendor/randomid')\n", "vendor/randomid/index.js": "module.exports = () => 1\n", "extra/lib.js": "1\n"}, nil)
		f := b.claim(gates("true"), files{"store.js": "function id() {\n  return crypto.randomBytes(4)\n}\n", gone: ""}, func(r *verify.Request) {
			r.Asked = "replace vendor/randomid by node:crypto and make sure that it deletes the folder"
		})
		if got := f.Observation.Work.MissingMeans; len(got) != want {
			t.Errorf("%s is gone: %q", gone, got)
		}
	}
}

// Work that has no means for what its task asks for is not proven by tests of what it does. A shell
// script is no exception.
func TestWorkWithoutMeansIsNotProven(t *testing.T) {
	t.Parallel()
	const asked, test = "saving must be atomic", "echo a | sh save.sh out && grep -q a out\n"
	for script, want := range map[string]gate.Evidence{
		"save() {\n  cat > \"$1\"\n}\nsave \"$1\"\n":                             gate.Unproven,
		"save() {\n  cat > \"$1.new\"\n  mv \"$1.new\" \"$1\"\n}\nsave \"$1\"\n": gate.Proven,
	} {
		b := newBench(t, files{"save.sh": "exit 1\n", "test.sh": "for t in test_*.sh; do sh $t || exit 1; done\n", "test_old.sh": "true\n"}, nil)
		f := b.claim(gates("sh test.sh"), files{"save.sh": script, "test_save.sh": test}, func(r *verify.Request) { r.Asked = asked })
		v := f.Verdict
		if v.Evidence != want || want == gate.Unproven && !strings.HasPrefix(v.Reason, "the work cannot do all that the task asks for: save.sh has no call that renames") {
			t.Errorf("%s: %+v", script, v)
		}
	}
}

// What the task asks to remove is not removed by another name.
func TestRenamedCodeIsNotRemoved(t *testing.T) {
	t.Parallel()
	const add = "def add(a, b):\n    return a + b\n\n\n"
	body := "(name, password):\n    return name == 'bob' and password == 'pass'\n\n\n"
	const test = "import app\nassert not hasattr(app, 'old_login')\n"
	for _, c := range []struct{ name, asked, work, reason string }{
		{"it is gone", "Remove old_login", add, ""},
		{"it has another name", "Remove old_login", add + "def _compat" + body, "the work cannot do all that the task asks for: old_login is still there: app.py:5 _compat has its text"},
		{"the task asks for another name", "Remove old_login, rename it to check", add + "def check" + body, ""},
		{"the task removes something else", "Remove add1. Improve old_login", add + "def login" + body, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, files{"app.py": add + "def old_login" + body, "test_old.py": "import app\nassert app.add(1, 2) == 3\n"}, nil)
			f := b.claim(gates("for t in test_*.py; do python3 $t || exit 1; done"), files{"app.py": c.work, "test_new.py": test}, func(r *verify.Request) { r.Asked = c.asked })
			if v := f.Verdict; c.reason != "" && (v.Evidence != gate.Unproven || v.Reason != c.reason) || c.reason == "" && strings.Contains(v.Reason, "is still there") {
				t.Errorf("%+v", v)
			}
		})
	}
}

// Of what the task lists, the work is to do something with each.
func TestUntouchedItemsOfAListAreNamed(t *testing.T) {
	t.Parallel()
	const lists = "add and drop keep the index up to date"
	page := func(name, bio string) string {
		return "def page(user):\n    return f'<h1>{" + name + "}</h1>', " + bio + ", user.age\n\n\ndef add():\n    index = 1\n    # add\n    return index\n\n\ndef drop():\n    # drop\n    return send()\n\n\ndef send():\n    # send\n    return [2]\n"
	}
	const asked = "page() escapes name, bio and age. It is quick or slow"
	for name, c := range map[string]struct{ work, asked, want string }{
		"one of three":   {page("user.name", "escape(user.bio)"), asked, "app.py does something else with bio and not with name, age: name, bio and age"},
		"all":            {"def page(user):\n    return f'<h1>{escape(user.name)}</h1>', escape(user.bio), escape(user.age)\n", asked, ""},
		"none by name":   {strings.Replace(page("user.name", "user.bio"), "return", "user = escaped(user)\n    return", 1), asked, ""},
		"no list":        {page("user.name", "escape(user.bio)"), "page() escapes bio", ""},
		"a function":     {strings.Replace(page("user.name", "user.bio"), "# add", "index()", 1), lists, "app.py does something else with add and not with drop: add and drop"},
		"functions":      {strings.NewReplacer("# add", "index()", "# drop", "index()").Replace(page("user.name", "user.bio")), lists, ""},
		"what they call": {strings.NewReplacer("# add", "index()", "# send", "index()").Replace(page("user.name", "user.bio")), lists, ""},
	} {
		b := newBench(t, files{"app.py": page("user.name", "user.bio")}, nil)
		before := b.tree()
		b.write(files{"app.py": c.work})
		found, err := verify.Signs(t.Context(), b.repo, verify.SignRequest{Before: before, After: b.tree(), Asked: c.asked})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, s := range found {
			if strings.Contains(s.Does, "does something else") {
				got += s.String()
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// What the task has replaced everywhere is to go everywhere.
func TestPartialReplacementIsNamed(t *testing.T) {
	t.Parallel()
	const asked = "Replace datetime.now()/old_time() by aware times in the whole package"
	start := files{"order.py": "placed = datetime.now()\n", "log.py": "# old_time()\nat = old_time()\n", "clock.py": "def old_time():\n    return 1\n", "test_log.py": "old_time()\ndatetime.now()\n", "a.md": "datetime.now()\n"}
	for name, c := range map[string]struct {
		work        files
		asked, want string
	}{
		"one of two":       {files{"order.py": "placed = datetime.now(utc)\n", "new.py": "datetime.now()\n"}, asked, "order.py replaces datetime.now() and not in new.py: datetime.now()"},
		"each":             {files{"order.py": "placed = datetime.now(utc)\n", "log.py": "# old_time()\nat = now(utc)\n"}, asked, ""},
		"not asked to all": {files{"order.py": "placed = datetime.now(utc)\n", "new.py": "datetime.now()\n"}, "Replace datetime.now() in the order", ""},
	} {
		b := newBench(t, start, nil)
		before := b.tree()
		b.write(c.work)
		found, err := verify.Signs(t.Context(), b.repo, verify.SignRequest{Before: before, After: b.tree(), Asked: c.asked})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, s := range found {
			if s.Kind == sign.HalfDone {
				got += s.String()
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
