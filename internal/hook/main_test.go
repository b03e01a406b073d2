package hook

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/session"
)

// The test binary is its own tool and its own hook: TEST_MAIN says which.
const (
	role     = "TEST_MAIN"
	asTool   = "tool"
	asHook   = "hook"
	asHolder = "holder"
)

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case asTool:
		os.Exit(playTool(os.Args[1:]))
	case asHook:
		os.Exit(playHook(os.Args[1:]))
	case asHolder:
		os.Exit(playHolder(os.Args[1:]))
	}
	agenttest.Part()
	os.Exit(m.Run())
}

// playTool stands for the pawl command that the hook starts, with scripted gate results.
func playTool(args []string) int {
	env, err := environment.Read()
	if err == nil {
		err = tool(env, args, streams{os.Stdin, os.Stdout})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "pawl: error:", err)
		return 1
	}
	return 0
}

type streams struct {
	in  io.Reader
	out io.Writer
}

func tool(env environment.Environment, args []string, s streams) error {
	ctx := context.Background()
	args = slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return arg == "--" })
	what := strings.Join(args[:min(2, len(args))], " ")
	switch {
	case what == "session drive":
		return drive(ctx, env.PawlHome, args[2])
	case what == "session begin":
		var q session.BeginRequest
		if err := json.NewDecoder(s.in).Decode(&q); err != nil {
			return err
		}
		return json.NewEncoder(s.out).Encode(beginFor(ctx, env.PawlHome, q))
	case args[0] == "stop":
		return s.sendMessage(ctx, env.PawlHome, args[1], record.Message{Kind: record.MessageStop})
	case args[0] == "tell":
		return s.sendMessage(ctx, env.PawlHome, args[1], record.Message{Kind: record.MessageNote, Text: args[2]})
	case args[0] == "handover":
		return nil
	case args[0] == "status":
		return json.NewEncoder(s.out).Encode("how " + args[1] + " stands")
	}
	return fmt.Errorf("no such command: %q", args)
}

// playHook stands for pawl-hook. Its environment contains all fields of a Call.
func playHook(args []string) int {
	env, err := environment.Read()
	if err != nil {
		return 1
	}
	env.Vars = append(env.Vars, role+"="+asTool)
	return Run(context.Background(), Call{
		Args: args, In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: env,
		Tool: os.Args[:1], Parent: os.Getppid(), Version: "test",
	})
}

// playHolder holds the loop's lease until its stdin ends, and does no work.
func playHolder(args []string) int {
	w := fixture{home: args[0]}
	s, err := (&handler{Call: Call{Env: environment.Environment{PawlHome: w.home}}}).acquire(context.Background(), w.binding(args[1]))
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("held")
	_, _ = os.Stdin.Read(make([]byte, 1))
	if err := s.owner.Close(); err != nil {
		return 1
	}
	return 0
}
