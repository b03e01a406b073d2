//go:build unix

package verify_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

// What the work adds is to make a difference to a test: a condition that asks where the
// program runs in both ways, half of the others and of its functions in one, what removes things if
// the task asks for that.
func TestEachPieceOfWorkMustMatterToATest(t *testing.T) {
	t.Parallel()
	const old = "import sys\n\n\ndef add(a, b):\n    return a + b\n"
	const test = "import app\nassert app.mask('a:b') == 'a:*'\n"
	const masks = "\n\ndef mask(text):\n"
	const does = "    return text.split(':')[0] + ':*'\n"
	const removes = "\n\ndef prune(rows):\n    last = rows[-1:]\n    rows.clear()\n    rows += last\n    return 'pruned'\n"
	const rolls = "\n\ndef load(db, rows):\n    for r in rows:\n        if r == '':\n            db.rollback()\n            raise ValueError(r)\n        db.append(r)\n"
	const store = "import app\nclass DB(list):\n    rollback = list.clear\ndb = DB()\ntry:\n    app.load(db, [''])\n    raise SystemExit('loaded')\nexcept ValueError:\n    pass\n"
	for _, c := range []struct{ name, work, test, reason string }{
		{"a removal that tests only hear of", removes, "import app\nassert app.prune([1]) == 'pruned'\n", "app.py:10 in prune is left out (rows.clear())"},
		{"one that tests see", removes, "import app\nall = [1, 2]\nassert app.prune(all) == 'pruned' and all == [2]\n", ""},
		{"a way back that no test goes", rolls, store + "assert db == []\napp.load(db, 'a')\nassert db == ['a']\n", "app.py:11 in load is left out (db.rollback())"},
		{"one that a test goes", rolls, strings.Replace(store, "['']", "['b', '']", 1) + "assert db == []\n", ""},
		{"a question that tests see one side of", "\n\ndef probed():\n    return 'app' in sys.modules and not sys.flags.quiet\n" + masks + "    if not probed():\n        return text\n" + does, test, "app.py:13 in mask never holds (if not probed():)"},
		{"the same, chosen between", "\n\nTRACED = len(sys.path) > 0\n" + masks + "    head, tail = text.split(':')\n    return head + (':*' if TRACED else ':' + tail)\n", test, "app.py:13 in mask always holds "},
		{"a condition without a test", masks + "    if text.startswith('//'):\n        text = text[2:]\n" + does, test, "app.py:9 in mask never holds (if text.startswith('//'):)"},
		{"a refusal without a test", masks + "    if text == '':\n        raise ValueError('nothing')\n" + does, test, "app.py:9 in mask never holds (if text == '':)"},
		{"a shortcut without a test", masks + "    if text.endswith(':*'):\n        return text\n" + does, test, ""},
		{"the same beside others", masks + "    if text.startswith('//'):\n        text = text[2:]\n    if ':' not in text:\n        return ''\n    if text == '?':\n        return '!'\n" + does, test + "assert app.mask('ab') == ''\nassert app.mask('?:') == '?:*'\n", "app.py:9 in mask never holds"},
		{"most of them tested", masks + "    if text.startswith('//'):\n        text = text[2:]\n    if ':' not in text:\n        return ''\n    if text[0] == '?':\n        return '!'\n" + does, test + "assert app.mask('ab') == ''\nassert app.mask('?:') == '!'\n", ""},
		{"a function that tests have for themselves", "\n\ndef star(text):\n    return text * 2\n" + masks + "    return text[:2] + star('*')\n", "import app\napp.star = lambda text: '*'\nassert app.mask('a:b') == 'a:*'\n", "app.py:8 star does nothing"},
		{"a function that the task names, beside one that is tested", "\n\ndef prune(rows):\n    del rows[:-1]\n    return rows\n" + masks + does, test, "app.py:9 in prune is left out (del rows[:-1]), app.py:8 prune "},
		{"all tested", "\n\ndef star(text):\n    return '*' * len(text)\n" + masks + "    if ':' not in text:\n        return ''\n    return text[:2] + star(text[2:])\n", test + "assert app.mask('ab') == ''\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			asked := "Mask what is secret"
			if strings.Contains(c.work, "load") {
				asked += ", and load is all or nothing"
			}
			if strings.Contains(c.work, "prune") {
				asked += ", prune drops all but the last and deletes all others"
			}
			b := newBench(t, files{"app.py": old, "test_old.py": "import app\nassert app.add(1, 2) == 3\n"}, nil)
			f := b.claim(gates("for t in test_*.py; do python3 $t || exit 1; done"), files{"app.py": old + c.work, "test_new.py": c.test}, func(r *verify.Request) { r.Asked = asked })
			const says = "no test notices when part of this work has no effect: "
			switch v := f.Verdict; {
			case c.reason == "" && v.Evidence != gate.Proven, c.reason != "" && (v.Evidence != gate.Unproven || !strings.HasPrefix(v.Reason, says+c.reason) || v.Remedy == ""):
				t.Errorf("%+v", v)
			}
		})
	}
}

// A program that the task names is what tests must look at, not only the one beside it that the
// work wrote as well.
func TestFileNamedByTheTaskMustMatterToATest(t *testing.T) {
	t.Parallel()
	start := files{"keep.sh": "cp \"$1\" \"$2\"\n", "test.sh": "for t in test_*.sh; do sh $t || exit 1; done\n", "test_old.sh": "sh keep.sh test.sh kept && cmp test.sh kept\n"}
	work := files{"same.sh": "cmp -s \"$1\" \"$2\"\n", "keep.sh": "cp \"$1\" \"$2\"\nsh same.sh \"$1\" \"$2\" || exit 1\n", "test_same.sh": "sh same.sh test.sh keep.sh && exit 1\nsh same.sh test.sh test.sh\n"}
	for asked, reason := range map[string]string{
		"keep.sh compares the copy": "no test notices when part of this work has no effect: keep.sh does what it did before",
		"same.sh compares two":      "",
	} {
		b := newBench(t, start, nil)
		f := b.claim(gates("sh test.sh"), work, func(r *verify.Request) { r.Asked = asked })
		if got := f.Verdict.Reason; reason != "" && !strings.HasPrefix(got, reason) || reason == "" && f.Verdict.Evidence != gate.Proven {
			t.Errorf("%s: %+v", asked, f.Verdict)
		}
	}
}

// A test that searches a script for its new text does not look at what the script does.
func TestReadingAScriptDoesNotTestIt(t *testing.T) {
	t.Parallel()
	start := files{"run.sh": "for s in \"$@\"; do sh -c \"$s\"; done\n", "test.sh": "for t in test_*.sh; do sh $t || exit 1; done\n", "test_old.sh": "sh run.sh true\n"}
	stops := "set -e\nfor s in \"$@\"; do sh -c \"$s\"; done\n"
	const reads = "grep -q '^set -e' run.sh\n"
	for _, c := range []struct{ name, work, test, reason string }{
		{"its text", "set -e\nfor s in \"$@\"; do sh -c \"$s\" | cat; done\n", reads, "no test notices when part of this work has no effect: run.sh does what it did before"},
		{"what it does", stops, "! sh run.sh false true\n", ""},
		{"both", stops, reads + "if sh run.sh false true; then exit 1; fi\n", ""},
		{"the functions in it", "stop() { exit 1; }\n" + stops, "set -- true\n. ./run.sh\n(stop) && exit 1\nset -- false\n(. ./run.sh; true) && exit 1\nexit 0\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, start, nil)
			f := b.claim(gates("sh test.sh"), files{"run.sh": c.work, "test_stop.sh": c.test}, func(r *verify.Request) { r.Asked = "run.sh must stop at the first step that fails" })
			if got := f.Verdict.Reason; c.reason != "" && !strings.HasPrefix(got, c.reason) || c.reason == "" && f.Verdict.Evidence != gate.Proven {
				t.Errorf("%+v", f.Verdict)
			}
		})
	}
}

// A bound that the task gives is to be tested at the bound, and what the task names with another value.
func TestBoundsAndNamedValuesMustBeTested(t *testing.T) {
	t.Parallel()
	const work = "FREE = 5000\n\n\ndef cost(cents):\n    return 0 if cents > FREE else 490\n"
	for _, c := range []struct{ name, asked, test, reason string }{
		{"not at the bound", "orders of 50.00 or more ship free", "assert app.cost(9000) == 0 and app.cost(100) == 490", "app.py:1 has 5001 for 5000 (FREE = 5000)"},
		{"at the bound", "orders over 50.00 ship free", "assert app.cost(5001) == 0 and app.cost(5000) == 490", ""},
		{"relative to it", "orders over 50.00 ship free", "assert app.cost(app.FREE + 1) == 0 and app.cost(app.FREE) == 490", ""},
		{"no bound", "write cost(), with tests for 5000", "assert app.cost(9000) == 0 and app.cost(100) == 490", ""},
	} {
		b := newBench(t, files{"test_old.py": "assert True\n"}, nil)
		f := b.claim(gates("for t in test_*.py; do python3 $t || exit 1; done"), files{"app.py": work, "test_new.py": "import app\n" + c.test + "\n"}, func(r *verify.Request) { r.Asked = c.asked })
		if v := f.Verdict; c.reason == "" && v.Evidence != gate.Proven || c.reason != "" && (v.Evidence != gate.Unproven || !strings.Contains(v.Reason, c.reason)) {
			t.Errorf("%s: %+v", c.name, v)
		}
	}
}
