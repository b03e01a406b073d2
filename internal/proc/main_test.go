package proc_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pawl-dev/pawl/internal/proc"
)

// TestMain lets the test binary be a misbehaving child; TEST_MAIN says how.
func TestMain(m *testing.M) {
	if mode := os.Getenv("TEST_MAIN"); mode != "" {
		os.Exit(child(mode))
	}
	if err := proc.Subreaper(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

func child(mode string) int {
	mode, arg, _ := strings.Cut(mode, ":")
	switch mode {
	case "exit-3":
		return 3
	case "echo":
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "env":
		fmt.Print(os.Getenv(proc.MarkerName))
	case "both":
		fmt.Print("out ")
		fmt.Fprint(os.Stderr, "err")
	case "flood":
		line := strings.Repeat("x", 1<<16)
		for range 64 {
			fmt.Print(line)
		}
	case "foreground":
		fmt.Print(proc.InForeground(os.Stdin))
	case "hang":
		time.Sleep(time.Minute)
	case "heavy":
		heavy()
	case "ignore-term":
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("ready")
		time.Sleep(time.Minute)
	case "die-by-signal":
		p, _ := os.FindProcess(os.Getpid())
		_ = p.Kill()
		time.Sleep(time.Minute)
	case "orphan": // starts a process by this package, and is killed
		p, err := proc.Start(context.Background(), proc.Spec{Argv: os.Args[:1], Env: append(os.Environ(), "TEST_MAIN=hang")})
		if err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println(p.PID())
		time.Sleep(100 * time.Millisecond)
		self, _ := os.FindProcess(os.Getpid())
		_ = self.Kill()
		time.Sleep(time.Minute)
	case "leak": // leak:HOW:MODE starts a child that outlives it
		leak(arg)
	case "leak-and-hang":
		leak(arg)
		time.Sleep(time.Minute)
	}
	return 0
}

// leak starts this binary again and prints its pid. how is "group" (same session), "session" (a new
// one) or "naked" (a new one, with an empty environment).
func leak(arg string) {
	how, mode, _ := strings.Cut(arg, ":")
	cmd := exec.Command(os.Args[0])
	cmd.Stdout = os.Stdout // keeps the grandparent's pipe open
	if how == "naked" {
		cmd = exec.Command("/bin/sleep", "60")
		cmd.Env = []string{}
	} else {
		cmd.Env = append(os.Environ(), "TEST_MAIN="+mode)
	}
	if how != "group" {
		ownSession(cmd)
	}
	if err := cmd.Start(); err != nil {
		fmt.Println(err)
		return
	}
	go func() { _ = cmd.Wait() }() // collects it in the modes that continue
	fmt.Println(cmd.Process.Pid)
}

// heavy listens on a port, which it prints, and uses so much memory that the system needs some tens
// of milliseconds to release it.
func heavy() {
	memory := make([]byte, 256<<20)
	for i := 0; i < len(memory); i += 4096 {
		memory[i] = 1
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("listens on", l.Addr())
	time.Sleep(time.Minute)
	runtime.KeepAlive(memory)
}

// self returns a Spec that runs the test binary in a mode.
func self(t *testing.T, mode string) proc.Spec {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return proc.Spec{Argv: []string{exe}, Env: append(os.Environ(), "TEST_MAIN="+mode), Grace: 300 * time.Millisecond}
}
