package launch

import (
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/record"
)

// useCommitMessage takes the form of commit messages from the configuration as it is now:
// a hook that refused the one before ended the loop, and the user was told to set another.
// One that was given for the run stays. With a configuration that cannot be read a loop
// goes on as it began.
func useCommitMessage(spec *record.Spec, env environment.Environment) {
	if spec.FixedMessage {
		return
	}
	user, err := config.ReadUser(env)
	if err != nil {
		return
	}
	project, err := config.ReadProject(spec.Root)
	if err != nil {
		return
	}
	if s, err := config.Resolve(user, project); err == nil {
		spec.CommitMessage = s.CommitMessage
	}
}
