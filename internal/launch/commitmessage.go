package launch

import (
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/record"
)

// useCommitMessage reads the form of commit messages from the current configuration: a hook that
// refused the last one ended the loop, and the user was told to set another. A form that was given
// for the run stays. It returns an error if the configuration cannot be read.
func useCommitMessage(spec *record.Spec, env environment.Environment) error {
	if spec.MessageFromCLI {
		return nil
	}
	layers, err := config.ReadFiles(env, spec.Root)
	if err != nil {
		return err
	}
	s, err := config.Resolve(layers...)
	if err == nil {
		spec.CommitMessage = s.CommitMessage
	}
	return err
}
