package cli

import "github.com/pawl-dev/pawl/internal/version"

type versionCmd struct{}

func (versionCmd) Help() string { return "  pawl version" }

// Run prints the version.
func (versionCmd) Run(a *app) error {
	a.printf("pawl %s\n", version.String())
	return nil
}
