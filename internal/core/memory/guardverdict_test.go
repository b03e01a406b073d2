package memory_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/guard"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/memory/memorytest"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
)

func TestGuardVerdictNotes(t *testing.T) {
	t.Parallel()
	hide := func(s string) string { return strings.ReplaceAll(s, "s3cret", "[redacted]") }
	bash := toolcall.Call{Tool: "Bash", Kind: toolcall.Run, Command: "git push\nhttps://s3cret@host"}
	cases := []struct {
		call    toolcall.Call
		verdict guard.Verdict
		want    string // "": nothing
	}{
		{bash, guard.Verdict{Decision: guard.Allow}, ""},
		{bash, guard.Verdict{Decision: guard.Deny, Rule: "push"}, "the guard denied Bash (push): git push https://[redacted]@host"},
		{bash, guard.Verdict{Decision: guard.Ask, Rule: "push"}, "the guard left Bash to the user (push): git push https://[redacted]@host"},
		{bash, guard.Verdict{Decision: guard.Allow, Unknown: "$x s3cret"}, "the guard could not read $x [redacted] in what Bash ran: git push https://[redacted]@host"},
		{toolcall.Call{Tool: "Write", Kind: toolcall.Write, Path: "/x"}, guard.Verdict{Decision: guard.Deny, Rule: "outside"}, "the guard denied Write (outside): /x"},
	}
	for _, c := range cases {
		if notable := memory.IsNotable(c.verdict); notable != (c.want != "") {
			t.Errorf("%+v: notable %v", c.verdict, notable)
		}
		if got := memory.NewGuardVerdict(c.call, c.verdict, hide).Note().Text; c.want != "" && got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	if got := memory.NewGuardVerdict(bash, guard.Verdict{Decision: guard.Deny}, nil).Call; !strings.Contains(got, "s3cret") {
		t.Errorf("without a redactor: %q", got)
	}
}

// Each call is noted once a turn, and no more of them than a user would read;
// the denied ones are counted for the whole loop.
func TestGuardLogOfATurn(t *testing.T) {
	t.Parallel()
	var m memory.Memory
	note := func(call string, d guard.Decision, rule string) bool {
		j := memory.NewGuardVerdict(toolcall.Call{Tool: "Bash", Kind: toolcall.Run, Command: call}, guard.Verdict{Decision: d, Rule: rule, Unknown: "x"}, nil)
		news := m.GuardLog.IsNew(j)
		if news {
			m.ApplyNote(j.Note())
		}
		return news
	}
	if !note("git push", guard.Deny, "push") || note("git push", guard.Deny, "push") || !note("git push -f", guard.Deny, "push") {
		t.Error("each is to be noted once")
	}
	before := m
	if !note("pkill x", guard.Deny, "kill") || !note("$y", guard.Allow, "") {
		t.Error("others are to be noted too")
	}
	if diff := cmp.Diff(map[string]int{"push": 2, "kill": 1}, m.GuardLog.DeniedByRule); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]int{"push": 2}, before.GuardLog.DeniedByRule); diff != "" {
		t.Errorf("a copy was changed: %s", diff)
	}
	for i := range 100 {
		note(fmt.Sprint("$z ", i), guard.Allow, "")
	}
	if len(m.GuardLog.NotedThisTurn) != 50 {
		t.Errorf("%d noted", len(m.GuardLog.NotedThisTurn))
	}
	for i, e := range memorytest.Life()[:3] { // up to a turn
		e.At = time.Unix(int64(i), 0)
		m.Apply(e)
	}
	if m.State.Phase != loop.Turning || !note("git push", guard.Deny, "push") || m.GuardLog.DeniedByRule["push"] != 3 {
		t.Errorf("in the next turn: %+v in %s", m.GuardLog, m.State.Phase)
	}
}
