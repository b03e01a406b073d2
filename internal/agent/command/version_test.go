package command_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/command"
	"github.com/pawl-dev/pawl/internal/failure"
)

// A program that cannot be run is refused before a loop starts.
func TestProgramThatCannotBeRun(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there are no permissions to run a file here")
	}
	path := filepath.Join(t.TempDir(), "agent.sh")
	hint := func() string {
		_, err := command.Agent{Argv: []string{path}}.Version(t.Context())
		if err != nil && failure.CodeOf(err) != failure.Usage {
			t.Errorf("%v is no usage error", err)
		}
		return failure.Hint(err)
	}
	if got := hint(); got == "" {
		t.Error("a program that is not there was taken")
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, want := hint(), "chmod +x "+path; got != want {
		t.Errorf("hint %q, want %q", got, want)
	}
	if err := os.Chmod(path, 0o700); err != nil { //nolint:gosec // it is a program
		t.Fatal(err)
	}
	if got := hint(); got != "" {
		t.Errorf("a program was refused: %s", got)
	}
}

// A shell's line in the program's place is told where its arguments belong.
func TestProgramWithArguments(t *testing.T) {
	t.Parallel()
	_, err := command.Agent{Argv: []string{"sh agent.sh"}}.Version(t.Context())
	if got := failure.Hint(err); !strings.Contains(got, "agent_args") {
		t.Errorf("hint %q", got)
	}
}

// A program of the current folder is named with its folder.
func TestProgramOfThisFolder(t *testing.T) {
	t.Parallel()
	_, err := command.Agent{Argv: []string{"version_test.go"}}.Version(t.Context())
	if got := failure.Hint(err); !strings.HasSuffix(got, "chmod +x version_test.go; --agent-command ./version_test.go") {
		t.Errorf("hint %q", got)
	}
}
