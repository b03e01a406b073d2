//go:build unix

package verify_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/sign"
	"github.com/pawl-dev/pawl/internal/verify"
)

// A new file that nothing uses but its tests changes nothing of what the program does.
func TestUnusedNewFilesAreNamed(t *testing.T) {
	t.Parallel()
	const rule, test = "def owes(country):\n    return country == 'SE'\n", "import rule\nassert rule.owes('SE') and not rule.owes('DE')\n"
	const says = "the work cannot do all that the task asks for: the program does not use rule.py"
	const asked = "Bills to other countries must not have a tax"
	for _, c := range []struct {
		name, asked string
		work        files
		named       bool
		reason      string
	}{
		{"alone", asked, files{"rule.py": rule}, true, says},
		{"alone, with a word of the task", "A bill of a foreign country owes no tax", files{"rule.py": rule}, true, says},
		{"asked for by a function", "Bills do not have a tax: owes() says for whom", files{"rule.py": rule}, false, ""},
		{"used", asked, files{"rule.py": rule, "bill.py": "import rule\ndef total(net, country='DE'):\n    return net if rule.owes(country) else net * 2\n"}, false, ""},
		{"asked for as something new", "Add who owes a tax", files{"rule.py": rule}, true, ""},
		{"about nothing that is there", "A foreign country owes no tax", files{"rule.py": rule}, true, ""},
		{"asked for by its name", "rule.py knows who has to pay a tax", files{"rule.py": rule}, false, ""},
		{"beside other work", asked, files{"rule.py": rule, "bill.py": "def total(net, country='DE'):\n    return net * (1 if country == 'SE' else 2)\n"}, true, ""},
		{"started as a program", asked, files{"rule.py": rule + "if __name__ == '__main__':\n    print(owes('SE'))\n"}, false, ""},
		{"found by its folder", asked, files{"rules/owes.py": rule, "test_rule.py": "from rules.owes import owes\nassert owes('SE') and not owes('DE')\n"}, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, files{"bill.py": "def total(net):\n    return net * 2\n", "rules/base.py": "def rates(x):\n    return x\n", "test_old.py": "import bill\nassert bill.total(2) == 4\n"}, nil)
			work := files{"test_rule.py": test}
			maps.Copy(work, c.work)
			f := b.claim(gates("for t in test_*.py; do python3 $t || exit 1; done"), work, func(r *verify.Request) { r.Asked = c.asked })
			named := slices.ContainsFunc(f.Signs, func(s sign.Sign) bool {
				return s.Path == "rule.py" && strings.Contains(s.Does, "is used by tests alone")
			})
			switch v := f.Verdict; {
			case named != c.named, c.reason == "" && strings.Contains(v.Reason, "does not use"), c.reason != "" && (v.Evidence != gate.Unproven || v.Reason != c.reason):
				t.Errorf("%+v %v", v, f.Signs)
			}
		})
	}
}
