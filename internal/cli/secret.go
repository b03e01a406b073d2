package cli

import (
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/redact"
	"github.com/pawl-dev/pawl/internal/term"
)

// withoutSecrets is what a user typed for the agent, as it may be kept: it stands
// in Pawl's files, and in prompts from then on.
func (a *app) withoutSecrets(text string) string {
	clean := redact.New(a.env.Vars).Prose(text)
	if clean != text {
		term.Warnf(a.Err, "a secret was taken out of what you typed, for Pawl keeps it: %s", secretHint)
	}
	return clean
}

// secretHint is how the agent gets a secret all the same.
const secretHint = "put it in an environment variable, and name that to the agent"

// secretWords tell of a secret that stood in the goal, "" where none did.
func secretWords(g launch.Goal) string {
	if !g.HadSecret {
		return ""
	}
	return "a secret was taken out of the goal, for Pawl keeps it: " + secretHint
}

// warnSecret says so to the user.
func (a *app) warnSecret(g launch.Goal) {
	if words := secretWords(g); words != "" {
		term.Warnf(a.Err, "%s", words)
	}
}
