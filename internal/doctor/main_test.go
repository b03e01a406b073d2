package doctor

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/install"
)

// The programs of the tests are this binary under other names: claude, pawl-hook, and hooks of
// other tools.
func TestMain(m *testing.M) {
	switch install.ProgramName(os.Args[0]) {
	case "claude":
		fmt.Println("2.1.332 (Claude Code)")
	case "git":
		fmt.Println("git version 2.43.0\nand more")
	case "pawl-hook":
		os.Exit(fakeHook(os.Args[1:]))
	case "theirs":
		os.Exit(theirs(os.Args[1:]))
	default:
		os.Exit(m.Run())
	}
}

// fakeHook answers like Pawl's hook, if its call is like the client's.
func fakeHook(args []string) int {
	if len(args) > 0 && args[0] == "--version" {
		fmt.Println("pawl-hook v1.0.0 test")
		return 0
	}
	if fault := misfit(); fault != "" {
		fmt.Fprintln(os.Stderr, fault)
		return 1
	}
	return theirs(args[1:])
}

// misfit returns the difference between a hook's environment and the one that the client gives
// it.
func misfit() string {
	data, err := io.ReadAll(os.Stdin)
	var p struct {
		Session string `json:"session_id"`
		Cwd     string `json:"cwd"`
		Event   string `json:"hook_event_name"`
		Source  string `json:"source"`
		Last    string `json:"last_assistant_message"`
	}
	if err != nil || json.Unmarshal(data, &p) != nil || !strings.HasSuffix(string(data), "}\n") {
		return fmt.Sprintf("payload: %v %s", err, data)
	}
	dir, err := os.Getwd()
	if err != nil {
		return err.Error()
	}
	here, err := filepath.EvalSymlinks(p.Cwd)
	there, err2 := filepath.EvalSymlinks(dir)
	switch {
	case err != nil || err2 != nil || here != there:
		return fmt.Sprintf("cwd is %s, and the payload says %s", dir, p.Cwd)
	case len(p.Session) != 36 || p.Session != os.Getenv("CLAUDE_CODE_SESSION_ID"):
		return "session is " + p.Session
	case os.Getenv("CLAUDE_PROJECT_DIR") != p.Cwd || os.Getenv("CLAUDECODE") != "1" || os.Getenv("CLAUDE_CODE_SESSION_ATTENDED") != "1":
		return "the client's variables are missing"
	case os.Getenv("PAWL_LOOP") != "" || os.Getenv("CLAUDE_CODE_MESSAGING_SOCKET") != "":
		return "variables of another session"
	case p.Event == "SessionStart" && p.Source != "startup", p.Event == "Stop" && p.Last == "":
		return "payload: " + string(data)
	}
	return ""
}

// theirs is a hook of another tool. Its argument selects its behaviour.
func theirs(args []string) int {
	if len(args) == 0 {
		return 0
	}
	switch args[0] {
	case "hang":
		time.Sleep(time.Minute)
	case "fail":
		fmt.Fprintln(os.Stderr, "no such thing\nat all")
		return 1
	case "flood":
		for range 1000 {
			fmt.Println(strings.Repeat("x", 1000))
		}
	case "say":
		fmt.Print(args[1])
	case "variable":
		fmt.Print(os.Getenv(args[1]))
	case "touch":
		if err := os.WriteFile(args[1], nil, 0o600); err != nil {
			return 3
		}
	}
	return 0
}
