package loop

import "testing"

// A point that needs no approval is passed, also while a stop is pending.
func TestApprovalIsAskedOnlyAtPointsOfPolicy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		approve []Approval
		cause   string
		handled bool
		phase   Phase
	}{
		"no point":            {nil, "", false, New},
		"no point, stopped":   {nil, ByStop, false, New},
		"this point":          {[]Approval{ApproveEnd}, "", true, Waiting},
		"this point, stopped": {[]Approval{ApproveEnd}, ByStop, true, Finishing},
	} {
		m := &machine{s: State{Phase: New, Policy: Policy{Approve: c.approve}, Stop: Stop{Cause: c.cause}}}
		if got := m.askApproval(ApproveEnd, ""); got != c.handled || m.s.Phase != c.phase || got != (len(m.acts) > 0) {
			t.Errorf("%s: handled %t, %s, actions %v", name, got, m.s.Phase, m.acts)
		}
	}
}

// Work is saved by a checkpoint only. Whatever else is followed by it, the loop continues.
func TestSavingWorkWithoutCheckpointIsAnomaly(t *testing.T) {
	t.Parallel()
	m := &machine{s: State{Phase: Paused, After: ThenSaveWork, Policy: Policy{Kind: Change}, Tasks: Tasks{{ID: "a", Status: Open}}}}
	m.endWait()
	if n, ok := FindAction[Note](m.acts); !ok || n.Level != Anomaly || m.s.Phase != Checkpointing {
		t.Errorf("%s, actions %v", m.s.Phase, m.acts)
	}
}
