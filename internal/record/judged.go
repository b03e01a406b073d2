package record

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/guard"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// Judged is a tool call to which the guard did not just say yes: it denied it,
// left it to a user, or could not read all of it.
type Judged struct {
	Tool    string         `json:"tool"`
	Call    string         `json:"call"` // command or path, its beginning
	Verdict guard.Decision `json:"verdict"`
	Rule    string         `json:"rule,omitempty"`
	Unknown string         `json:"unknown,omitempty"` // what could not be read of a call that was allowed
}

// judgedMax bounds what of a call is noted, in characters.
const judgedMax = 200

// Notable tells whether a verdict is more than a yes.
func Notable(v guard.Verdict) bool { return v.Decision != guard.Allow || v.Unknown != "" }

// JudgedOf is what is to be noted of a call, without secrets; redact may be nil.
func JudgedOf(c guard.Call, v guard.Verdict, redact func(string) string) Judged {
	if redact == nil {
		redact = func(text string) string { return text }
	}
	j := Judged{Tool: c.Tool, Verdict: v.Decision, Rule: v.Rule, Unknown: plan.OneLine(redact(v.Unknown), judgedMax)}
	for _, key := range append([]string{"command"}, PathKeys()...) {
		if text, ok := c.Input[key].(string); ok && j.Call == "" {
			j.Call = plan.OneLine(redact(text), judgedMax)
		}
	}
	return j
}

// Note is it as a note in the journal.
func (j Judged) Note() Note {
	return Note{Level: loop.Info, Text: j.text(), Judged: &j}
}

func (j Judged) text() string {
	switch j.Verdict {
	case guard.Deny:
		return fmt.Sprintf("the guard denied %s (%s): %s", j.Tool, j.Rule, j.Call)
	case guard.Ask:
		return fmt.Sprintf("the guard left %s to the user (%s): %s", j.Tool, j.Rule, j.Call)
	case guard.Allow:
	}
	return fmt.Sprintf("the guard could not read %s in what %s ran: %s", j.Unknown, j.Tool, j.Call)
}

// Guarded is what the guard did not just say yes to.
type Guarded struct {
	Denied map[string]int `json:"denied,omitempty"` // calls in the whole loop, by rule
	Noted  []string       `json:"noted,omitempty"`  // in the turn under way
}

// notedMax bounds what is noted of one turn: an agent may try all night.
const notedMax = 50

// News tells whether the call is to be noted: once a turn for each.
func (g Guarded) News(j Judged) bool {
	return len(g.Noted) < notedMax && !slices.Contains(g.Noted, j.text())
}

// add remembers a call. Memories are copied: what another copy holds stays.
func (g *Guarded) add(j Judged) {
	g.Noted = append(slices.Clip(g.Noted), j.text())
	if j.Verdict == guard.Deny {
		denied := map[string]int{j.Rule: 1}
		for rule, n := range maps.All(g.Denied) {
			denied[rule] += n
		}
		g.Denied = denied
	}
}
