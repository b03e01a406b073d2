//go:build unix

package e2e_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// The demo's goal with the real client, whose model does each task in one go.
func TestClientDemo(t *testing.T) {
	c := newClientBench(t, map[string]string{"README.md": "elsewhere\n"})
	c.env["TMPDIR"] = t.TempDir()
	c.plays(
		messagesapi.Bash(`sed -i.old 's/return 0 }/s := 0; for _, i := range c.items { s += i.Price * i.Count }; return s }/' cart.go && rm cart.go.old`), done,
		messagesapi.Bash(`printf 'package cart\n\nfunc (c *Cart) Voucher(p int) int { return c.Total() * (100 - p) / 100 }\n' > voucher.go
printf 'package cart\n\nimport "testing"\n\nfunc TestVoucher(t *testing.T) {\n\tif breakfast().Voucher(50) != 270 {\n\t\tt.Fatal()\n\t}\n}\n' > voucher_test.go`), done,
		messagesapi.Bash(`printf 'package cart\n\nfunc (c *Cart) Shipping() int { return 490 }\n' > shipping.go
printf 'package cart\n\nimport "testing"\n\nfunc TestShipping(t *testing.T) {\n\tif breakfast().Shipping() != 490 {\n\t\tt.Fatal()\n\t}\n}\n' > shipping_test.go`), done,
	)
	r := c.pawl("demo", "--agent", "claude", "--agent-command", c.client)
	if r.code != 0 || !r.says("This demo runs your own claude", "ended VERIFIED", "3 proven", "git log --stat main..HEAD") {
		t.Fatalf("%s", r)
	}
	made, err := filepath.Glob(filepath.Join(c.env["TMPDIR"], "pawl-demo-*", "cart"))
	if err != nil || len(made) != 1 {
		t.Fatalf("the demo made %v, %v", made, err)
	}
	want := []string{"feat(1):_Total_adds_up_the_items", "feat(2):_Voucher:_a_percentage_off", "feat(3):_Shipping_is_free_from_50.00"}
	c.root = made[0]
	c.git("tag", "start", "main")
	if diff := cmp.Diff(want, c.subjects()); diff != "" {
		t.Errorf("commits: %s\n%s", diff, r)
	}
}
