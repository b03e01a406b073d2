//go:build unix

package verify_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

// A test file that node cannot load is named as in the work tree, not by its absolute path.
func TestUnloadableTestFileIsNamedRelativeToTheRoot(t *testing.T) {
	t.Parallel()
	agenttest.Needs(t, "node")
	r := run(t, gate.Gate{Name: "unit", Command: "node --test"}, func(o *verify.Options) {
		if err := os.WriteFile(filepath.Join(o.Root, "sum.test.js"), []byte("require('./sum.js')\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	})
	if diff := cmp.Diff([]string{"sum.test.js"}, r.Failing); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
