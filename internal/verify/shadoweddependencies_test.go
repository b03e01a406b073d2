//go:build unix

package verify_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

// A module of the agent's with the name of a library is not the library that the task wants to be used.
func TestModuleThatShadowsALibraryIsNotProven(t *testing.T) {
	t.Parallel()
	const (
		module  = "def dumps(values):\n    return '# kept\\n' + str(values)\n"
		program = "import tomlkit\n\n\ndef save(values):\n    return tomlkit.dumps(values)\n"
		test    = "import settings\nassert settings.save({}) == '# kept\\n{}'\n"
	)
	for name, c := range map[string]struct {
		work files
		want gate.Evidence
	}{
		"a module":                  {files{"tomlkit.py": module}, gate.Unproven},
		"a package":                 {files{"src/tomlkit/__init__.py": module}, gate.Unproven},
		"the library is not wanted": {files{"tomlkit.py": module, "requirements.txt": "flask\n"}, gate.Proven},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, files{"requirements.txt": "flask\ntomlkit==0.12.4\n", "settings.py": "def save(values):\n    return str(values)\n"}, nil)
			c.work["settings.py"], c.work["test_settings.py"] = program, test
			v := b.claim(gates("for t in test_*.py; do [ ! -f $t ] || PYTHONPATH=src python3 $t || exit 1; done"), c.work, nil).Verdict
			if v.Status != gate.Pass || v.Evidence != c.want || c.want == gate.Unproven && !strings.Contains(v.Reason, "takes the place of the library tomlkit, which requirements.txt declares") {
				t.Errorf("%s %s: %s", v.Status, v.Evidence, v.Reason)
			}
		})
	}
}
