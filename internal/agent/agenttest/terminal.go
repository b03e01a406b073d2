package agenttest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Terminal runs a program on a separate terminal, as for a user: tmux
// provides it, the test sends keys and reads the screen.
type Terminal struct {
	t      testing.TB
	tmux   string // path of tmux
	socket string
	raw    string // file that takes all that the program writes
}

// Program is what runs on a terminal.
type Program struct {
	Argv []string
	Dir  string
	Env  map[string]string
}

const (
	glance = 100 * time.Millisecond
	typed  = 30 * time.Second // in which what is typed shows on the screen
	leaves = 5 * time.Second  // in which a program ends whose terminal is closed
)

// Open runs a program on a terminal of 110 × 60 for the length of a test. The
// test is skipped where there is no tmux; PAWL_E2E=1 makes that a failure.
func Open(t testing.TB, p Program) *Terminal {
	t.Helper()
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		Lacks(t, "there is no tmux, which interactive sessions need")
	}
	dir, err := os.MkdirTemp("", "tmux") //nolint:usetesting // a test's own folder may be too deep for a socket's path
	if err != nil {
		t.Fatal(err)
	}
	term := &Terminal{t: t, tmux: tmux, socket: filepath.Join(dir, "s"), raw: filepath.Join(dir, "raw")}
	argv := []string{"new-session", "-d", "-x", "110", "-y", "60", "-c", p.Dir, "--", "env", "-i", "TERM=xterm-256color", "LANG=C.UTF-8"}
	for name, value := range p.Env {
		if !slices.Contains([]string{"TERM", "LANG", "LC_ALL"}, name) {
			argv = append(argv, name+"="+value)
		}
	}
	t.Cleanup(func() {
		term.hangUp()
		_ = os.RemoveAll(dir)
	})
	term.must(append(argv, p.Argv...)...)
	term.must("pipe-pane", "-o", "cat >> "+term.raw)
	return term
}

// HangUp takes the terminal away, as a window that is closed does. The program may continue.
func (t *Terminal) HangUp() {
	t.t.Helper()
	t.must("kill-server")
}

// hangUp takes the terminal away, and waits for the program to be gone: it may
// write to its home while it ends.
func (t *Terminal) hangUp() {
	out, err := t.run("display-message", "-p", "#{pane_pid}")
	if err != nil {
		return // it has ended by itself
	}
	_, _ = t.run("kill-server")
	pid, err := strconv.Atoi(strings.TrimSpace(out))
	if err != nil || soon(leaves, func() bool { return !lives(pid) }) == nil {
		return
	}
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}

// lives reports whether there is a process of the id.
func lives(pid int) bool {
	p, err := os.FindProcess(pid)
	return err == nil && p.Signal(syscall.Signal(0)) == nil
}

func (t *Terminal) run(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, t.tmux, append([]string{"-f", os.DevNull, "-S", t.socket}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "TERM=xterm-256color"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("tmux %s: %w: %s", args[0], err, out)
	}
	return string(out), err
}

func (t *Terminal) must(args ...string) string {
	t.t.Helper()
	out, err := t.run(args...)
	if err != nil {
		t.t.Fatalf("%v\n%s", err, t.Written())
	}
	return out
}

// Screen returns what a user sees, without the empty lines; "" once the program is
// gone.
func (t *Terminal) Screen() string {
	out, err := t.run("capture-pane", "-p")
	if err != nil {
		return ""
	}
	lines := slices.DeleteFunc(strings.Split(out, "\n"), func(l string) bool { return strings.TrimSpace(l) == "" })
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// Written is the end of all that the program has written, with its sequences for
// the terminal.
func (t *Terminal) Written() string {
	data, _ := os.ReadFile(t.raw) // nothing yet
	return string(data[max(0, len(data)-200_000):])
}

// Shows waits for a text on the screen.
func (t *Terminal) Shows(text string, within time.Duration) {
	t.t.Helper()
	t.Until(fmt.Sprintf("%q on the screen", text), within, func() bool { return strings.Contains(t.Screen(), text) })
}

// Until waits until something is so.
func (t *Terminal) Until(what string, within time.Duration, so func() bool) {
	t.t.Helper()
	if err := soon(within, so); err != nil {
		t.t.Fatalf("no %s within %v; the screen:\n%s", what, within, t.Screen())
	}
}

func soon(within time.Duration, so func() bool) error {
	for deadline := time.Now().Add(within); ; time.Sleep(glance) {
		if so() {
			return nil
		}
		if time.Now().After(deadline) {
			return errors.New("it did not come")
		}
	}
}

// Keys presses keys by tmux's names for them: Enter, Escape, C-c, Down.
func (t *Terminal) Keys(names ...string) {
	t.t.Helper()
	t.must(append([]string{"send-keys"}, names...)...)
}

// Type types a line and sends it. Text and Enter at once would be taken for a
// paste, so the text is to show first.
func (t *Terminal) Type(line string) {
	t.t.Helper()
	t.Draft(line)
	t.Keys("Enter")
}

// Draft types a line without sending it.
func (t *Terminal) Draft(line string) {
	t.t.Helper()
	t.must("send-keys", "-l", "--", line)
	end := []rune(line)
	want := strings.TrimSpace(string(end[max(0, len(end)-12):]))
	t.Until(fmt.Sprintf("%q in the input", want), typed, func() bool { return strings.Contains(t.Screen(), want) })
	time.Sleep(3 * glance)
}

// Paste pastes a text into the input, as terminals do it (bracketed).
func (t *Terminal) Paste(text string) {
	t.t.Helper()
	file := filepath.Join(filepath.Dir(t.socket), "paste")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.t.Fatal(err)
	}
	t.must("load-buffer", file)
	t.must("paste-buffer", "-p")
	time.Sleep(6 * glance)
}

// Kill ends the program at once, as a crash does, and takes the terminal away.
func (t *Terminal) Kill() {
	t.t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(t.must("display-message", "-p", "#{pane_pid}")))
	if err != nil {
		t.t.Fatal(err)
	}
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
	t.Gone(typed)
}

// Gone waits until the program has ended.
func (t *Terminal) Gone(within time.Duration) {
	t.t.Helper()
	t.Until("end of the program", within, func() bool {
		_, err := t.run("has-session")
		return err != nil
	})
}
