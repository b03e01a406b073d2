// Package front is the client shim: the process that runs at every hook event of a
// client. It checks whether the session has a loop and, if so, passes the event on.
//
// Most events come from sessions without a loop. For these the shim scans the event's
// bytes for session ids, checks a few file names and prints nothing. With a loop the
// event goes to the session's daemon (package daemon), which has everything loaded;
// loading it for each turn and tool call would cost several times as much. If no daemon
// listens, the shim runs the tool (pawl hook), which answers and starts a daemon.
//
// The package links almost nothing (internal/arch holds the list), and make bench-hook
// measures its cost.
package front

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/session/place"
)

// Call is one call of the shim by the client.
type Call struct {
	Args         []string // after the program's name
	In, Out, Err *os.File
	Env          environment.Environment
	Tool         func() []string // how to run pawl: its path, and arguments before the command
}

// maxEventBytes bounds an event. Larger events are not answered.
const maxEventBytes = 64 << 20

// FailClosedFlag is the argument after the agent's name that makes the hook fail closed: a
// tool call does not run if its event cannot be answered.
const FailClosedFlag = "--closed"

// denialText tells the agent that its call was denied, after the error itself.
const denialText = "pawl-hook: denied: the guard could not check this tool call, and unchecked calls are blocked here (pawl install --guard-blocks)\n"

// exitDeny is the exit code that makes the client deny a tool call.
const exitDeny = 2

// Run answers one event and returns the exit code.
func Run(c Call) int { return ExitCode(c.Args, c.run(), c.Err) }

// ExitCode returns the exit code for the client. With FailClosedFlag in args an error becomes
// a denial, which is explained on stderr.
func ExitCode(args []string, code int, problem io.Writer) int {
	if code == 0 || code == exitDeny || !slices.Contains(args, FailClosedFlag) {
		return code
	}
	_, _ = io.WriteString(problem, denialText)
	return exitDeny
}

// run answers the event: itself, by the daemon, or by the tool.
func (c Call) run() int {
	if len(c.Args) == 0 || c.Args[0] != "claude" {
		return c.runTool(nil, nil)
	}
	if c.Env.Loop != "" {
		return 0 // pawl run drives this session
	}
	data, ok := readEvent(c.In)
	if !ok || len(bytes.TrimSpace(data)) == 0 {
		return c.failUnreadable()
	}
	e, folder := scanEvent(data), place.Of(c.Env.PawlHome)
	if e.isIdle(folder, place.At(c.Env.Session.Project, c.Env)) {
		if last := e.forgetSession(folder); len(last) > 0 {
			return Answer{Code: 1, Err: last}.print(c.Out, c.Err) // the client passes on stderr only if the hook fails
		}
		return 0
	}
	if bound := e.sessionsWithLoop(folder); e.complete && len(bound) == 1 {
		r := Request{ID: newCallID(), Args: c.Args, Vars: clientVars(c.Env.Vars), Parent: os.Getppid(), Event: data}
		a, begun, err := askDaemon(folder.SocketPath(bound[0]), r)
		if err == nil {
			return a.print(c.Out, c.Err)
		}
		if begun {
			return c.runTool(data, []string{RetryFlag + r.ID})
		}
	}
	return c.runTool(data, nil)
}

// RetryFlag begins the argument that says that a daemon died while it answered this
// event. The request's id follows it.
const RetryFlag = "--again="

// newCallID returns an id for this call that no other call has.
func newCallID() string {
	return strconv.FormatInt(time.Now().UnixNano(), 36) + "-" + strconv.Itoa(os.Getpid())
}

// readEvent reads one event. It returns false if the event is too large or cannot be
// read.
func readEvent(in io.Reader) ([]byte, bool) {
	b := bytes.NewBuffer(make([]byte, 0, 64<<10)) // most events are smaller; unused memory costs nothing
	_, err := b.ReadFrom(io.LimitReader(in, maxEventBytes+1))
	return b.Bytes(), err == nil && b.Len() <= maxEventBytes
}

// failUnreadable returns the exit code for an event that is missing or too large.
func (c Call) failUnreadable() int {
	if !slices.Contains(c.Args, FailClosedFlag) {
		return 0
	}
	_, _ = c.Err.WriteString("pawl-hook: error: the event cannot be read, or is too large\n")
	return 1
}

// clientVars returns the variables that the client sets for its hooks.
func clientVars(vars []string) []string {
	var out []string
	for _, v := range vars {
		if strings.HasPrefix(v, "CLAUDE") {
			out = append(out, v)
		}
	}
	return out
}

// askDaemon sends the request to the session's daemon. begun reports, together with an
// error, that the daemon may have begun to answer.
func askDaemon(socket string, r Request) (a Answer, begun bool, err error) {
	c, err := dial(socket)
	if err != nil {
		return Answer{}, false, err
	}
	defer c.Close()
	if err := r.Write(c); err != nil {
		return Answer{}, false, err
	}
	a, err = ReadAnswer(c)
	return a, true, err
}

// print writes the answer and returns its exit code.
func (a Answer) print(out, problem io.Writer) int {
	_, err := out.Write(a.Out)
	_, err2 := problem.Write(a.Err)
	if err != nil || err2 != nil {
		return 1
	}
	return a.Code
}

// runTool runs pawl hook with the event and returns its exit code.
func (c Call) runTool(event []byte, more []string) int {
	argv := append(c.Tool(), "hook")
	argv = append(append(argv, c.Args...), more...)
	in, w, err := os.Pipe()
	if err != nil {
		return c.failToStart(err)
	}
	path := argv[0]
	p, err := os.StartProcess(path, argv, &os.ProcAttr{Files: []*os.File{in, c.Out, c.Err}})
	_ = in.Close()
	if err != nil {
		_ = w.Close()
		return c.failToStart(err)
	}
	_, _ = w.Write(event) // the tool may close its end early
	_ = w.Close()
	s, err := p.Wait()
	if err != nil {
		return c.failToStart(err)
	}
	return s.ExitCode()
}

// failToStart reports that the tool could not be started.
func (c Call) failToStart(err error) int {
	_, _ = c.Err.WriteString("pawl-hook: error: start pawl: " + err.Error() + "\n")
	return 1
}
