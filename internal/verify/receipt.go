package verify

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

// Receipt proves a gate's result. The journal records its place, and the commit's record the
// committed tree.
type Receipt struct {
	ID       string        `json:"id"` // hash of the other fields, for the commit's trailer
	Gate     string        `json:"gate"`
	Kind     gate.Kind     `json:"kind,omitempty"` // review; "" for a command
	Command  string        `json:"command"`
	Status   gate.Status   `json:"status"`
	ExitCode int           `json:"exit_code"`  // -1 of a review
	Gated    string        `json:"gated_tree"` // tree the gate ran on
	Duration time.Duration `json:"duration"`
	Tail     string        `json:"tail,omitempty"` // end of the output
	At       time.Time     `json:"at"`             // when the gate ended
}

// NewReceipt makes the receipt of a result.
func NewReceipt(r gate.Result, at time.Time) Receipt {
	rec := Receipt{
		Gate: r.Gate, Kind: r.Kind, Command: r.Command, Status: r.Status, ExitCode: r.ExitCode,
		Gated: r.Tree, Duration: r.Duration, Tail: r.Tail, At: at.UTC().Round(0),
	}
	rec.ID = rec.hash()
	return rec
}

// Intact reports whether the receipt is unaltered.
func (r Receipt) Intact() bool { return r.ID == r.hash() }

func (r Receipt) hash() string {
	r.ID = ""
	b, err := json.Marshal(r)
	if err != nil { // a time outside of the years 0 to 9999
		b = fmt.Appendf(nil, "%#v", r)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// Differs says in one line how a new result contradicts the receipt, or "". Output may differ, and
// an unknown result contradicts nothing.
func (r Receipt) Differs(now gate.Result) string {
	switch {
	case !r.Intact():
		return "the receipt was altered"
	case r.Command != now.Command:
		return fmt.Sprintf("the receipt is for the command %q, this was %q", r.Command, now.Command)
	case now.Status == gate.Unknown, r.Status == now.Status:
		return ""
	}
	return fmt.Sprintf("the receipt says %s, now it is %s (exit %d)%s", r.Status, now.Status, now.ExitCode, withColon(now.Reason))
}
