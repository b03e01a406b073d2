package autostart_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/autostart"
)

func command(home string) autostart.Command {
	return autostart.Command{
		Program: "/opt/my tools/pawl", Home: home, ConfigHome: filepath.Join(home, ".config"), Path: `/usr/bin:/home/a b/100%/"x"`, PawlHome: "/state/<a>&b",
	}
}

func TestSystemdUnit(t *testing.T) {
	t.Parallel()
	s, err := autostart.New("linux", command("/home/ann"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(s.Text, "\n")
	want := `[Unit]
Description=Pawl: resume background loops after a restart

[Service]
Type=oneshot
RemainAfterExit=yes
Environment="PATH=/usr/bin:/home/a b/100%%/\"x\"" "PAWL_HOME=/state/<a>&b"
ExecStart="/opt/my tools/pawl" resume --after-restart

[Install]
WantedBy=default.target
`
	if diff := cmp.Diff(want, text); diff != "" {
		t.Error(diff)
	}
}

// The agent of launchd is well-formed, whatever stands in the paths.
func TestLaunchdPlist(t *testing.T) {
	t.Parallel()
	c := command("/Users/ann")
	s, err := autostart.New("darwin", c)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	d := xml.NewDecoder(bytes.NewReader([]byte(s.Text)))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := token.(xml.CharData); ok && strings.TrimSpace(string(text)) != "" {
			texts = append(texts, string(text))
		}
	}
	want := []string{
		"Label", "pawl.resume", "ProgramArguments", c.Program, "resume", "--after-restart",
		"EnvironmentVariables", "PATH", c.Path, "PAWL_HOME", c.PawlHome, "RunAtLoad", "AbandonProcessGroup",
	}
	if diff := cmp.Diff(want, texts); diff != "" {
		t.Error(diff)
	}
}

// TestPlistByItsReader: Python's reader of property lists finds in the agent what launchd
// is to do; launchd itself is on macOS alone.
func TestPlistByItsReader(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	switch {
	case err != nil && os.Getenv("PAWL_E2E") == "1":
		t.Fatal("there is no python3")
	case err != nil:
		t.Skip("there is no python3, which has a reader of property lists")
	}
	c := command("/Users/ann")
	s, err := autostart.New("darwin", c)
	if err != nil {
		t.Fatal(err)
	}
	read := exec.CommandContext(t.Context(), python, "-c", "import json, plistlib, sys; json.dump(plistlib.loads(sys.stdin.buffer.read()), sys.stdout)")
	read.Stdin = strings.NewReader(s.Text)
	var said strings.Builder
	read.Stderr = &said
	out, err := read.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	var got any
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"Label": "pawl.resume", "ProgramArguments": []any{c.Program, "resume", "--after-restart"}, "RunAtLoad": true, "AbandonProcessGroup": true,
		"EnvironmentVariables": map[string]any{"PATH": c.Path, "PAWL_HOME": c.PawlHome},
	}
	if diff := cmp.Diff(any(want), got); diff != "" {
		t.Error(diff)
	}
}

func TestNoServiceElsewhere(t *testing.T) {
	t.Parallel()
	if _, err := autostart.New("plan9", command("/usr/ann")); err == nil {
		t.Error("there is a service for plan9")
	}
}

func skipOnWindows(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("a user needs a privilege for links there, and there is no service")
	}
}

// What is installed twice is installed once, and what is removed leaves nothing.
func TestInstallAndUninstall(t *testing.T) {
	t.Parallel()
	skipOnWindows(t)
	for _, system := range []string{"linux", "darwin"} {
		home := t.TempDir()
		s, err := autostart.New(system, command(home))
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct {
			do   func() (autostart.Result, error)
			want autostart.Result
		}{
			{s.Uninstall, autostart.Already},
			{s.Install, autostart.Written},
			{s.Install, autostart.Already},
			{s.Uninstall, autostart.Written},
			{s.Uninstall, autostart.Already},
		} {
			if got, err := step.do(); err != nil || got != step.want {
				t.Fatalf("%s: got %q, %v, want %q", system, got, err, step.want)
			}
		}
		for _, path := range []string{s.Path, s.Link} {
			if _, err := os.Lstat(path); path != "" && !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s: %s is left (%v)", system, path, err)
			}
		}
	}
}

// A program that moved is written anew; the link is made if it alone is missing.
func TestReinstallReplacesTheProgram(t *testing.T) {
	t.Parallel()
	skipOnWindows(t)
	c := command(t.TempDir())
	old, err := autostart.New("linux", c)
	if err != nil {
		t.Fatal(err)
	}
	c.Program = "/usr/local/bin/pawl"
	now, err := autostart.New("linux", c)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []autostart.Service{old, now} {
		if got, err := s.Install(); err != nil || got != autostart.Written {
			t.Fatalf("got %q, %v", got, err)
		}
	}
	if err := os.Remove(now.Link); err != nil {
		t.Fatal(err)
	}
	if got, err := now.Install(); err != nil || got != autostart.Written {
		t.Fatalf("got %q, %v", got, err)
	}
	if to, err := os.Readlink(now.Link); err != nil || to != now.Path {
		t.Errorf("the link leads to %q, %v", to, err)
	}
}

// What a user has edited, or wrote, stays.
func TestAUsersFileStays(t *testing.T) {
	t.Parallel()
	skipOnWindows(t)
	for name, edit := range map[string]func(text string) string{
		"edited":  func(text string) string { return strings.Replace(text, "[Service]", "[Service]\nNice=10", 1) },
		"written": func(string) string { return "[Service]\nExecStart=/bin/true\n" },
		"emptied": func(string) string { return "" },
	} {
		s, err := autostart.New("linux", command(t.TempDir()))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Install(); err != nil {
			t.Fatal(err)
		}
		text := edit(s.Text)
		if err := os.WriteFile(s.Path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for what, do := range map[string]func() (autostart.Result, error){"install": s.Install, "uninstall": s.Uninstall} {
			if _, err := do(); err == nil || !strings.Contains(err.Error(), "was changed since Pawl wrote it, so it is kept") {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
		if got, err := os.ReadFile(s.Path); err != nil || string(got) != text {
			t.Errorf("%s: the file is %q, %v", name, got, err)
		}
	}
}
