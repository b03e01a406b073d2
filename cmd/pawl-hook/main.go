// Command pawl-hook answers the hooks of a coding agent's client. It starts at
// every turn and tool call, so it links little: see internal/hook, and the test
// of its import list in internal/arch.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/hook"
	"github.com/pawl-dev/pawl/internal/version"
)

func main() {
	env, err := environment.Read()
	if err != nil {
		fmt.Fprintln(os.Stderr, "pawl-hook: error:", err)
		os.Exit(1)
	}
	call := hook.Call{
		Args: os.Args[1:], In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: env,
		Tool: tool(), Parent: os.Getppid(),
	}
	if slices.Contains(call.Args, "--version") { // which takes a while to find out
		call.Version = version.String()
	}
	os.Exit(hook.Run(context.Background(), call))
}

// tool is the pawl that lies beside this program, or else the one on the PATH.
func tool() []string {
	name := "pawl"
	if runtime.GOOS == "windows" {
		name = "pawl.exe"
	}
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), name)
		if _, err := os.Stat(beside); err == nil {
			return []string{beside}
		}
	}
	return []string{name}
}
