package report

import (
	"strings"
	"unicode"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/narrate"
)

// notDelivered lists the user's messages that the agent did not get.
func (p *page) notDelivered() {
	say := p.under("undelivered")
	for _, text := range narrate.NotDelivered(p.State) {
		say("your message: %s  → %s", text, p.State.ResumeCommand(p.ID))
	}
}

// editsNotMade lists the edits of the plan that were pending when the loop ended.
func (p *page) editsNotMade() {
	say := p.under("not made")
	for _, text := range narrate.EditsNotMade(p.State) {
		say("your edit of the plan: %s  → %s", text, p.State.ResumeCommand(p.ID))
	}
}

func shortCommit(commit string) string { return commit[:min(len(commit), 7)] }

// cleanLine keeps the indentation of a line of the agent's text and removes terminal control characters.
func cleanLine(line string) string {
	text := strings.TrimLeftFunc(line, unicode.IsSpace)
	indent := strings.ReplaceAll(strings.TrimRight(line[:len(line)-len(text)], "\r\n"), "\t", "    ")
	return indent + plan.OneLine(text, 0)
}
