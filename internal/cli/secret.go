package cli

import (
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/redact"
	"github.com/pawl-dev/pawl/internal/term"
)

// withoutSecrets returns text for the agent without secrets: Pawl stores it in files and prompts.
func (a *app) withoutSecrets(text string) string {
	clean := redact.New(a.env.Vars).Prose(text)
	if clean != text {
		term.Warnf(a.Err, "removed a secret from what you typed, because Pawl stores it: %s", secretHint)
	}
	return clean
}

// secretHint says how the agent can still use a secret.
const secretHint = "put it in an environment variable, and give the agent that name"

// secretWords says that a secret was removed from the goal, "" if there was none.
func secretWords(g launch.Goal) string {
	if !g.HadSecret {
		return ""
	}
	return "removed a secret from the goal, because Pawl stores it: " + secretHint
}

// warnSecret prints that as a warning.
func (a *app) warnSecret(g launch.Goal) {
	if words := secretWords(g); words != "" {
		term.Warnf(a.Err, "%s", words)
	}
}
