package cli

import (
	"path/filepath"
	"slices"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/foreign/verifyactive"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/session/place"
)

// verifyFile is the name of a state file of another tool's verify loops.
const verifyFile = "verify-active.json"

// verifyCommands are those in the state files that lie here. One that cannot be
// read runs nothing.
func (a *app) verifyCommands(root string) []config.Command {
	var commands []config.Command
	for _, project := range []string{a.dir, root} {
		for _, path := range place.At(project, a.env).VerifyActivePaths() {
			if filepath.Base(path) != verifyFile {
				continue
			}
			if c, err := verifyCommand(root, project, path); err == nil && !slices.Contains(commands, c) {
				commands = append(commands, c)
			}
		}
	}
	return commands
}

// verifyCommand is the command in a state file, for a session in the project.
func verifyCommand(root, project, path string) (config.Command, error) {
	data, err := atomicfile.Read(path, verifyactive.MaxSize)
	if err != nil {
		return config.Command{}, err
	}
	f, err := verifyactive.Parse(data)
	if err != nil {
		return config.Command{}, err
	}
	dir := root
	if f.WorkingDir != "" {
		dir = absIn(project, f.WorkingDir)
	}
	return config.VerifyCommand(root, git.RealPath(path), git.RealPath(dir), f.Command), nil
}
