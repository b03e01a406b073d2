package memory

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/guard"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
)

// GuardVerdict is a tool call that the guard denied, left to the user, or could not read
// in full.
type GuardVerdict struct {
	Tool    string         `json:"tool"`
	Call    string         `json:"call"` // start of the command or path
	Verdict guard.Decision `json:"verdict"`
	Rule    string         `json:"rule,omitempty"`
	Unknown string         `json:"unknown,omitempty"` // what could not be read of a call that was allowed
}

// maxCallChars bounds what is recorded of a call, in characters.
const maxCallChars = 200

// IsNotable reports whether the guard did more than allow a call.
func IsNotable(v guard.Verdict) bool { return v.Decision != guard.Allow || v.Unknown != "" }

// NewGuardVerdict returns what to record about a call, without secrets; redact may be
// nil.
func NewGuardVerdict(call toolcall.Call, verdict guard.Verdict, redact func(string) string) GuardVerdict {
	if redact == nil {
		redact = func(text string) string { return text }
	}
	recorded := GuardVerdict{Tool: call.Tool, Verdict: verdict.Decision, Rule: verdict.Rule, Unknown: plan.OneLine(redact(verdict.Unknown), maxCallChars)}
	if text := cmp.Or(call.Command, call.Path); text != "" {
		recorded.Call = plan.OneLine(redact(text), maxCallChars)
	}
	return recorded
}

// Note returns the note for the journal.
func (v GuardVerdict) Note() Note {
	return Note{Level: loop.Info, Text: v.describe(), GuardVerdict: &v}
}

func (v GuardVerdict) describe() string {
	switch v.Verdict {
	case guard.Deny:
		return fmt.Sprintf("the guard denied %s (%s): %s", v.Tool, v.Rule, v.Call)
	case guard.Ask:
		return fmt.Sprintf("the guard left %s to the user (%s): %s", v.Tool, v.Rule, v.Call)
	}
	return fmt.Sprintf("the guard could not read %s in what %s ran: %s", v.Unknown, v.Tool, v.Call)
}

// GuardLog counts the calls that the guard did not simply allow.
type GuardLog struct {
	DeniedByRule  map[string]int `json:"denied_by_rule,omitempty"`  // calls in the whole loop
	NotedThisTurn []string       `json:"noted_this_turn,omitempty"` // texts of the notes in the current turn
}

// maxNotesPerTurn bounds the notes of one turn, since an agent may try all night.
const maxNotesPerTurn = 50

// IsNew reports whether to note the call: each call once per turn.
func (g GuardLog) IsNew(v GuardVerdict) bool {
	return len(g.NotedThisTurn) < maxNotesPerTurn && !slices.Contains(g.NotedThisTurn, v.describe())
}

// add records a verdict. It changes no slice or map of a copied Memory.
func (g *GuardLog) add(v GuardVerdict) {
	g.NotedThisTurn = append(slices.Clip(g.NotedThisTurn), v.describe())
	if v.Verdict == guard.Deny {
		denied := map[string]int{v.Rule: 1}
		for rule, n := range maps.All(g.DeniedByRule) {
			denied[rule] += n
		}
		g.DeniedByRule = denied
	}
}
