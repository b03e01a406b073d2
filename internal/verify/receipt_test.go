package verify_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

func TestReceiptIsVerifiable(t *testing.T) {
	t.Parallel()
	res := gate.Result{Gate: "unit", Command: "go test ./...", Status: gate.Pass, Tree: "abc", Duration: time.Second, Tail: "ok\n"}
	rec := verify.NewReceipt(res, time.Date(2026, 11, 20, 3, 12, 0, 5, time.Local))
	b, err := json.Marshal(rec)
	if err != nil {
		t.Fatal(err)
	}
	var back verify.Receipt
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if len(back.ID) != 16 || !back.Intact() || back.Differs(res) != "" {
		t.Errorf("after JSON: %+v", back)
	}
	altered := back
	altered.ExitCode = 1
	red, unsure, other := res, res, res
	red.Status, red.ExitCode, red.Reason = gate.Fail, 1, "TestX"
	unsure.Status = gate.Unknown
	other.Command = "true"
	cases := []struct {
		name string
		rec  verify.Receipt
		now  gate.Result
		want string
	}{
		{"altered", altered, res, "altered"},
		{"red now", back, red, "says pass, now it is fail (exit 1): TestX"},
		{"could not tell", back, unsure, ""},
		{"another command", back, other, `"true"`},
	}
	for _, c := range cases {
		if got := c.rec.Differs(c.now); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
