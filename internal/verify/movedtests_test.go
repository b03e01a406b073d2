//go:build unix

package verify_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

// A class, its module, its methods and an attribute that holds it get other names, and so do the tests.
func TestTestsMayFollowRenames(t *testing.T) {
	t.Parallel()
	agenttest.Needs(t, "python3")
	start := files{
		"tkt.py":      "class TktMgr:\n    def __init__(self):\n        self.tkts = []\n\n    def addTkt(self, t):\n        self.tkts.append(t)\n\n    def nextTkt(self):\n        return self.tkts.pop(0) if self.tkts else None\n",
		"desk.py":     "from tkt import TktMgr\n\n\nclass Desk:\n    def __init__(self):\n        self.mgr = TktMgr()\n\n    def call(self):\n        return self.mgr.nextTkt()\n",
		"test_tkt.py": "import unittest\nfrom tkt import TktMgr\n\n\nclass TktTest(unittest.TestCase):\n    def test_addTkt(self):\n        m = TktMgr()\n        m.addTkt(2)\n        self.assertEqual(m.nextTkt(), 2)\n",
		"test_desk.py": "import unittest\nfrom desk import Desk\n\n\nclass DeskTest(unittest.TestCase):\n    def test_call(self):\n        d = Desk()\n" +
			"        d.mgr.addTkt(4)\n        self.assertEqual(d.call(), 4)\n",
	}
	names := strings.NewReplacer("TktMgr", "TicketQueue", "TktTest", "TicketsTest", "test_addTkt", "test_add", "addTkt", "add", "nextTkt", "next", "tkts", "waiting", "tkt", "tickets", "mgr", "queue", " m = ", " q = ", " m.", " q.", "(m.", "(q.").Replace
	work := files{"tkt.py": "", "test_tkt.py": "", "tickets.py": names(start["tkt.py"]), "desk.py": names(start["desk.py"]), "test_tickets.py": names(start["test_tkt.py"]), "test_desk.py": names(start["test_desk.py"])}
	const asked = "Rename module tkt.py to tickets.py and class TktMgr to TicketQueue, methods addTkt/nextTkt to add/next. Update callers and tests."
	claim := func(work files) verify.Finding {
		return newBench(t, start, nil).claim(gates("python3 -m unittest -q"), work, func(r *verify.Request) { r.Asked, r.WantedEvidence = asked, gate.Unproven })
	}
	if f := claim(work); !f.Observation.Inputs.Requested || f.Verdict.Status != gate.Pass || f.Verdict.NeedsChangedInputs {
		t.Errorf("renamed: %+v", f.Verdict)
	}
	work["test_tickets.py"] = strings.Replace(work["test_tickets.py"], "self.assertEqual(q.next(), 2)", "self.assertTrue(q)", 1)
	if f := claim(work); !f.Verdict.NeedsChangedInputs {
		t.Errorf("renamed with less: %+v", f.Verdict)
	}
}

// Where no proof is wanted, settings that the gates do not need keep no test from changing as asked.
func TestUnneededSettingsDoNotBlockRequestedTestChanges(t *testing.T) {
	t.Parallel()
	agenttest.Needs(t, "python3")
	start := files{
		"setup.cfg":    "[tool]\nstrict = no\n",
		"when.py":      "def iso(n):\n    return str(n)\n\n\ndef stamp(n):\n    return iso(n)\n",
		"test_when.py": "import unittest\nfrom when import iso, stamp\n\n\nclass When(unittest.TestCase):\n    def test_iso(self):\n        self.assertEqual(iso(1), '1')\n\n    def test_stamp(self):\n        self.assertEqual(stamp(1), '1')\n",
		"check.sh":     "grep -q '^strict' setup.cfg && python3 -m unittest -q\n",
	}
	tests := strings.Replace(strings.Replace(start["test_when.py"], "import iso, stamp", "import iso", 1), "\n    def test_stamp(self):\n        self.assertEqual(stamp(1), '1')\n", "", 1)
	work := files{"setup.cfg": "[tool]\nstrict = yes\n", "when.py": "def iso(n):\n    return str(n)\n", "test_when.py": tests}
	for wanted, needs := range map[gate.Evidence]bool{gate.Unproven: false, gate.Proven: true} {
		f := newBench(t, start, nil).claim(gates("sh check.sh"), work, func(r *verify.Request) {
			r.Asked, r.WantedEvidence = "strict = yes in the settings, and drop `stamp`", wanted
		})
		if f.Verdict.NeedsChangedInputs != needs || f.Verdict.Status != gate.Pass {
			t.Errorf("%s: %+v", wanted, f.Verdict)
		}
	}
}
