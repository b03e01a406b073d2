//go:build unix

package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// launched starts a program that is a shell script, by the launcher of the npm package,
// once it has printed a line. It is in a process group of its own, as in a terminal.
func launched(t *testing.T, script string) (cmd *exec.Cmd, rest *bufio.Reader) {
	t.Helper()
	needs(t, "node")
	modules := filepath.Join(t.TempDir(), "node_modules")
	launch, err := templates.ReadFile("templates/launch.js")
	if err != nil {
		t.Fatal(err)
	}
	program := npmPlatform(platform{runtime.GOOS, runtime.GOARCH})
	for _, f := range []file{
		{"pawl/launch.js", 0o644, launch},
		{"pawl/start.js", 0o644, []byte(`require("./launch.js")("pawl");`)},
		{program + "/package.json", 0o644, []byte("{}")},
		{program + "/bin/pawl", 0o755, []byte("#!/bin/sh\n" + script)},
	} {
		path := filepath.Join(modules, f.name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.data, os.FileMode(f.mode)); err != nil {
			t.Fatal(err)
		}
	}
	cmd = exec.CommandContext(t.Context(), "node", filepath.Join(modules, "pawl", "start.js"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	rest = bufio.NewReader(out)
	if line, err := rest.ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("the program printed %q: %v", line, err)
	}
	return cmd, rest
}

// What the user or a supervisor does to the launcher happens to the program, which has
// the time that it needs, and how the program ends is how the launcher does.
func TestLauncherPassesSignals(t *testing.T) {
	t.Parallel()
	const slowly = `trap 'sleep 0.3; echo "kept the work"; exit 7' %s; echo ready; while :; do sleep 0.05; done`
	tests := map[string]struct {
		script string
		signal syscall.Signal
		group  bool // sent to all, as by a terminal
		want   string
	}{
		"Ctrl-C":                {strings.Replace(slowly, "%s", "INT", 1), syscall.SIGINT, true, "exit status 7"},
		"the terminal closes":   {strings.Replace(slowly, "%s", "HUP", 1), syscall.SIGHUP, true, "exit status 7"},
		"a supervisor":          {strings.Replace(slowly, "%s", "TERM", 1), syscall.SIGTERM, false, "exit status 7"},
		"ended by the signal":   {"echo ready; exec sleep 60", syscall.SIGTERM, false, "signal: terminated"},
		"interrupted, unheeded": {"echo ready; exec sleep 60", syscall.SIGINT, true, "signal: interrupt"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd, rest := launched(t, tt.script)
			pid := cmd.Process.Pid
			if tt.group {
				pid = -pid
			}
			if err := syscall.Kill(pid, tt.signal); err != nil {
				t.Fatal(err)
			}
			said, _ := rest.ReadString('\n')
			err := cmd.Wait()
			if err == nil || err.Error() != tt.want {
				t.Errorf("the launcher ended with %v, want %s", err, tt.want)
			}
			if kept := said == "kept the work\n"; kept != strings.Contains(tt.script, "trap") {
				t.Errorf("the program said %q", said)
			}
		})
	}
}
