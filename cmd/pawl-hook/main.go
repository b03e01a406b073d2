// Command pawl-hook answers the hooks of a coding agent's client. It starts at
// every turn and tool call, so it links next to nothing: see internal/front, and
// the test of its import list in internal/arch.
package main

import (
	"os"
	"path/filepath"
	"runtime"

	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/front"
)

func main() {
	env, err := environment.Read()
	if err != nil {
		_, _ = os.Stderr.WriteString("pawl-hook: error: " + err.Error() + "\n")
		os.Exit(front.ExitCode(os.Args[1:], 1, os.Stderr))
	}
	os.Exit(front.Run(front.Call{Args: os.Args[1:], In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: env, Tool: tool}))
}

// tool is the pawl that lies beside this program, or else the one on the PATH.
func tool() []string {
	name := "pawl"
	if runtime.GOOS == "windows" {
		name = "pawl.exe"
	}
	var folders []string
	if self, err := os.Executable(); err == nil {
		folders = append(folders, filepath.Dir(self))
	}
	for _, folder := range append(folders, filepath.SplitList(os.Getenv("PATH"))...) {
		path := filepath.Join(folder, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && filepath.IsAbs(path) {
			return []string{path}
		}
	}
	return []string{name}
}
