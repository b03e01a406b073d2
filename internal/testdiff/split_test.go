package testdiff

import "testing"

const utilOld = `package util

import (
	"testing"
	"time"
)

func TestTitle(t *testing.T) {
	if Title("a b") != "A B" {
		t.Error()
	}
}

func TestDay(t *testing.T) {
	if Day(time.Unix(0, 0)) != "1970-01-01" {
		t.Error()
	}
}
`

// The tests of a file go where the functions go that they test.
func TestAdaptMovesTestsOfASplitFile(t *testing.T) {
	t.Parallel()
	const title = "package text\n\nimport \"testing\"\n\nfunc TestTitle(t *testing.T) {\n\tif Title(\"a b\") != \"A B\" {\n\t\tt.Error()\n\t}\n}\n"
	const day = "package clock\n\nimport (\n\t\"testing\"\n\t\"time\"\n)\n\nfunc TestDay(t *testing.T) {\n\tif Day(time.Unix(0, 0)) != \"1970-01-01\" {\n\t\tt.Error()\n\t}\n}\n"
	w := Work{
		Task: "split util into the packages text and clock", VanishedNames: map[string]bool{"util": true}, RemovedNames: map[string]bool{"util": true}, AddedNames: map[string]bool{"text": true, "clock": true},
		NewFiles: map[string]bool{"text/text_test.go": true, "clock/clock_test.go": true}, MayShadow: func(string) bool { return false }, Declares: func(string) bool { return false }, Untested: func(string) bool { return true },
	}
	before := []File{{"util/util_test.go", []byte(utilOld)}}
	got := w.Adapt(before, []File{{"clock/clock_test.go", []byte(day)}, {"text/text_test.go", []byte(edited(title, `"A B"`, `"a b"`))}})
	if len(got) != 2 {
		t.Fatalf("%d files: %+v", len(got), got)
	}
	for _, f := range got {
		other := map[string]string{"text/text_test.go": "TestDay", "clock/clock_test.go": "TestTitle"}[f.Path]
		if other == "" || Words(string(f.Content))[other] || !f.Fewer {
			t.Errorf("%s has tests of the other:\n%s", f.Path, f.Content)
		}
		if f.Path == "text/text_test.go" && (!Words(string(f.Content))["B"] || Words(string(f.Content))["time"]) {
			t.Errorf("the text of before, without the import that only the other needs, is missing:\n%s", f.Content)
		}
	}
	if got := w.Adapt(before, []File{{"clock/clock_test.go", []byte(day)}}); got != nil {
		t.Errorf("a test is gone: %s", got[0].Content)
	}
	before = append(before, File{"text/other_test.go", []byte(edited(title, "package text", "package util"))})
	if got := w.Adapt(before, []File{{"clock/clock_test.go", []byte(day)}, {"text/text_test.go", []byte(title)}}); got != nil {
		t.Errorf("two files are one: %+v", got)
	}
}

// A file whose tests all have other names may still be found.
func TestAdaptFindsAFileWithRenamedTests(t *testing.T) {
	t.Parallel()
	const old = "from tkt import TktMgr\n\n\ndef test_addTkt():\n    m = TktMgr()\n    m.addTkt(2, urgent=True)\n    assert m.nextTkt() == 2\n\n\ndef test_nextTkt_empty():\n    assert TktMgr().nextTkt() is None\n"
	now := edited(old, "tkt", "tickets", "TktMgr", "TicketQueue", "test_addTkt", "test_add_urgent", "test_nextTkt_empty", "test_next_of_none", "addTkt", "add", "nextTkt", "next", "m ", "q ", "m.", "q.")
	names := func(all ...string) map[string]bool {
		set := map[string]bool{}
		for _, name := range all {
			set[name] = true
		}
		return set
	}
	w := Work{
		Task:         "Rename module tkt.py to tickets.py and class TktMgr to TicketQueue, methods addTkt/nextTkt to add/next",
		RemovedNames: names("tkt", "TktMgr", "addTkt", "nextTkt"), VanishedNames: names("tkt", "TktMgr", "addTkt", "nextTkt"), AddedNames: names("tickets", "TicketQueue", "add", "next"),
		NewFiles: map[string]bool{"test_tickets.py": true}, MayShadow: func(string) bool { return false }, Declares: func(string) bool { return false }, Untested: func(string) bool { return false },
	}
	got := w.Adapt([]File{{"test_tkt.py", []byte(old)}}, []File{{"test_tickets.py", []byte(now)}})
	if len(got) != 1 || got[0].Path != "test_tickets.py" || !Words(string(got[0].Content))["TicketQueue"] || Words(string(got[0].Content))["nextTkt"] {
		t.Errorf("%+v", got)
	}
	swapped := edited(now, "q.add(", "q.next(", "q.next(", "q.add(", "().next", "().add")
	if got := w.Adapt([]File{{"test_tkt.py", []byte(old)}}, []File{{"test_tickets.py", []byte(swapped)}}); got != nil {
		t.Errorf("the names are exchanged: %s", got[0].Content)
	}
}

// The task names the new package before the new name.
func TestAdaptFollowsAFunctionIntoAPackage(t *testing.T) {
	t.Parallel()
	const old = "package main\n\nimport \"testing\"\n\nfunc TestHumanBytes(t *testing.T) {\n\tif got := humanBytes(1024); got != \"1 KB\" {\n\t\tt.Errorf(\"humanBytes: %s\", got)\n\t}\n}\n"
	now := edited(old, "package main", "package size", "HumanBytes", "Human", "humanBytes", "Human")
	w := Work{
		Task: "Move humanBytes into a package size, as size.Human, with its test", RemovedNames: map[string]bool{"humanBytes": true}, VanishedNames: map[string]bool{"humanBytes": true},
		AddedNames: map[string]bool{"size": true, "Human": true}, NewFiles: map[string]bool{"size/size_test.go": true},
		MayShadow: func(string) bool { return false }, Declares: func(name string) bool { return name == "Human" }, Untested: func(string) bool { return true },
	}
	before := []File{{"human_test.go", []byte(old)}}
	got := w.Adapt(before, []File{{"size/size_test.go", []byte(now)}})
	if len(got) != 1 || got[0].Path != "size/size_test.go" || string(got[0].Content) != edited(now, "TestHuman", "TestHumanBytes") {
		t.Errorf("%+v", got)
	}
	if got := w.Adapt(before, []File{{"size/size_test.go", []byte(edited(now, "1 KB", "2 KB"))}}); got != nil {
		t.Errorf("with another value: %+v", got)
	}
}

// The tests of a removed file may stand in several new ones, with what they call.
func TestCompareSplitFindsMovedTests(t *testing.T) {
	t.Parallel()
	const head = "import unittest\nfrom bank import Bank\n\n\n"
	const base = "class BankTestCase(unittest.TestCase):\n    def setUp(self):\n        self.bank = Bank()\n\n    def assertBalances(self, **want):\n        self.assertEqual(self.bank.all(), want)\n\n\n"
	const open = "class AccountTest(BankTestCase):\n    def test_open(self):\n        self.bank.open(\"ann\")\n        self.assertBalances(ann=0)\n\n    def test_unknown(self):\n        self.assertRaises(KeyError, self.bank.get, \"cid\")\n\n\n"
	const move = "class TransferTest(BankTestCase):\n    def test_transfer(self):\n        self.bank.transfer(\"ann\", \"bob\", 3)\n        self.assertBalances(ann=7, bob=3)\n\n    def test_all(self):\n        self.bank.transfer(\"ann\", \"bob\", 10)\n        self.assertBalances(ann=0, bob=10)\n"
	const end = "\n\nif __name__ == \"__main__\":\n    unittest.main()\n"
	gone := File{"tests/test_bank.py", []byte(head + base + open + move + end)}
	now := File{"tests/test_transfers.py", []byte("from tests.base import BankTestCase\n\n\n" + move)}
	for _, c := range []struct {
		name, base, accounts string
		kept                 bool
	}{
		{"all of it", base, open, true},
		{"a test less", base, edited(open, "    def test_unknown(self):\n        self.assertRaises(KeyError, self.bank.get, \"cid\")\n", ""), false},
		{"another assertion", base, edited(open, "ann=0", "ann=1"), false},
		{"skipped", base, edited(open, "    def test_open", "    @unittest.skip(\"\")\n    def test_open"), false},
		{"a class that no runner runs", base, edited(open, "(BankTestCase)", ""), false},
		{"another helper", edited(base, "self.assertEqual(self.bank.all(), want)", "pass"), open, false},
	} {
		got := CompareSplit(gone, now, []File{{"tests/base.py", []byte(head + c.base)}, {"tests/test_accounts.py", []byte("from tests.base import BankTestCase\n\n\n" + c.accounts)}})
		if (len(got) == 0) != c.kept {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}
