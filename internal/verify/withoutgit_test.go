//go:build unix

package verify_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

func TestGatesRunWithoutGit(t *testing.T) {
	t.Parallel()
	v, err := verify.New(verify.Options{Root: t.TempDir(), Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	f, err := v.Claim(t.Context(), verify.Request{Gates: gates("exit 0"), Base: "1", Tree: "2"})
	if err != nil {
		t.Fatal(err)
	}
	if f.Verdict.Status != gate.Pass || f.Verdict.Evidence != gate.Unproven {
		t.Errorf("verdict %+v", f.Verdict)
	}
	if _, err := v.RunInCheckout(t.Context(), "1", gates("true"), ""); err == nil {
		t.Error("there is no other tree without git")
	}
}
