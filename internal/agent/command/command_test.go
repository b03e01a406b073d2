package command_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/agent/command"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/rawlog"
)

// The test binary is the program: TEST_PART names a file that says what to do.
func TestMain(m *testing.M) {
	if part := os.Getenv("TEST_PART"); part != "" {
		os.Exit(play(part))
	}
	goleak.VerifyTestMain(m)
}

func play(part string) int {
	b, err := os.ReadFile(part)
	if err != nil {
		fmt.Println(err)
		return 9
	}
	prompt, _ := io.ReadAll(os.Stdin)
	what, arg, _ := strings.Cut(string(b), " ")
	switch what {
	case "say":
		fmt.Println(arg)
	case "prompt":
		fmt.Printf("%s in %s", prompt, os.Args[len(os.Args)-1])
	case "hang":
		time.Sleep(time.Hour)
	case "slow": // a line each 200 ms, for a second and a half
		for range 7 {
			fmt.Println("tick")
			time.Sleep(200 * time.Millisecond)
		}
	case "flood":
		for range 4000 {
			fmt.Println(strings.Repeat("x", 500))
		}
		fmt.Println("the end")
	case "lines":
		fmt.Println(strings.Repeat("a line\n", 1_000_000) + "the end")
	case "zeros":
		n, _ := strconv.Atoi(arg)
		fmt.Println("said\n\x00\x00")
		return n
	case "exit":
		n, _ := strconv.Atoi(arg)
		fmt.Println("it went wrong")
		return n
	}
	return 0
}

// program is an agent whose next turns are arranged by writing the part.
type program struct {
	part string
	o    agent.Options
}

func newProgram(t *testing.T) program {
	t.Helper()
	dir := t.TempDir()
	part := filepath.Join(dir, "part")
	return program{part: part, o: agent.Options{Dir: dir, Env: map[string]string{"TEST_PART": part}}}
}

func (p program) agent() command.Agent { return command.Agent{Argv: []string{os.Args[0]}} }

func (p program) arrange(t *testing.T, part string) {
	t.Helper()
	if err := os.WriteFile(p.part, []byte(part), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (p program) turn(t *testing.T, o agent.Turn) agent.Result {
	t.Helper()
	s, err := p.agent().Start(t.Context(), p.o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := s.Turn(t.Context(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCommandAgentKeepsTheContract(t *testing.T) {
	t.Parallel()
	agenttest.Run(t, func(t *testing.T) agenttest.Subject {
		p := newProgram(t)
		return agenttest.Subject{
			Agent: p.agent(), Options: p.o,
			Says:  func(text string) { p.arrange(t, "say "+text) },
			Hangs: func() { p.arrange(t, "hang") },
		}
	})
}

func TestPromptArgumentsAndLog(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	p.o.Args = []string{"--fast"}
	p.o.LogPath = filepath.Join(t.TempDir(), "log")
	p.arrange(t, "prompt")
	r := p.turn(t, agent.Turn{Prompt: "do it"})
	if r.Failure != nil || r.Text != "do it in --fast" || r.ContextPercent != -1 {
		t.Errorf("result %+v", r)
	}
	if got, err := rawlog.Read(p.o.LogPath); err != nil || got != "do it in --fast" {
		t.Errorf("log %q, %v", got, err)
	}
}

func TestAnExitCodeIsACrash(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	p.arrange(t, "exit 3")
	r := p.turn(t, agent.Turn{Prompt: "x"})
	if r.Failure == nil || r.Failure.Class != loop.Crashed || !strings.HasSuffix(r.Failure.Message, "exit code 3: it went wrong") || r.Text != "it went wrong" {
		t.Errorf("result %+v", r)
	}
}

// What it printed last may be nothing that a terminal shows.
func TestAnExitCodeWithoutTextHasNoColon(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	p.arrange(t, "zeros 3")
	r := p.turn(t, agent.Turn{Prompt: "x"})
	if r.Failure == nil || !strings.HasSuffix(r.Failure.Message, "ended with exit code 3") {
		t.Errorf("result %+v", r)
	}
}

func TestOutputIsASignOfLife(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	p.arrange(t, "slow")
	if r := p.turn(t, agent.Turn{Prompt: "x", IdleTimeout: time.Second}); r.Failure != nil {
		t.Errorf("failure %+v", *r.Failure)
	}
}

func TestOnlyTheEndOfALongOutputIsKept(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	p.arrange(t, "flood")
	r := p.turn(t, agent.Turn{Prompt: "x"})
	if !strings.HasSuffix(r.Text, "the end") || len(r.Text) > 600<<10 {
		t.Errorf("%d bytes of text, ending %q", len(r.Text), r.Text[max(0, len(r.Text)-20):])
	}
}

// A program that prints millions of lines is not slowed down by an event for each.
func TestALongOutputIsFewEvents(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	p.arrange(t, "lines")
	s, err := p.agent().Start(t.Context(), p.o)
	if err != nil {
		t.Fatal(err)
	}
	events := 0
	r, err := s.Turn(t.Context(), agent.Turn{Prompt: "x"}, func(agent.Event) { events++ })
	if err != nil || r.Failure != nil || !strings.HasSuffix(r.Text, "a line\nthe end") {
		t.Fatalf("%+v, %v", r.Failure, err)
	}
	if events == 0 || events > 10_000 {
		t.Errorf("%d events", events)
	}
}

func TestMissingProgramIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := (command.Agent{}).Start(t.Context(), agent.Options{}); err == nil {
		t.Error("started nothing")
	}
	s, err := command.Agent{Argv: []string{"no-such-program-here"}}.Start(t.Context(), agent.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Turn(t.Context(), agent.Turn{}, nil)
	if err != nil || r.Failure == nil || r.Failure.Class != loop.Crashed {
		t.Errorf("%+v, %v", r, err)
	}
}
