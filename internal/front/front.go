// Package front is what starts at every event of a client: it looks whether a
// loop lives in the session, and if so hands the event to whoever answers.
//
// Most events come from sessions without a loop; then this is all that happens:
// the event's bytes are glanced at, a few names are looked for on the disk, and
// nothing is printed. With a loop the event goes to the session's keeper
// (package keeper), a process that has everything ready; starting all of that
// anew for each turn and tool call would cost several times as much. Where no
// keeper listens, the tool answers itself (pawl hook) and starts one.
//
// It links next to nothing, by a list that is a test (internal/arch), and its
// cost is measured by make bench-hook.
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

// Call is one call by the client.
type Call struct {
	Args         []string // behind the program's name
	In, Out, Err *os.File
	Env          environment.Environment
	Tool         func() []string // how the tool itself is run: its path, and arguments before the command
}

// eventMax bounds what is read: an event that is larger is not worth an answer.
const eventMax = 64 << 20

// Closed is the argument behind the agent's name with which a tool call does not run
// where its event cannot be answered.
const Closed = "--closed"

// denied is what the agent is told then, behind what went wrong.
const denied = "pawl-hook: denied: the guard could not judge this tool call, and no call runs unjudged here (pawl install --guard-blocks)\n"

// exitDeny is the exit code by which the client lets a tool call not run.
const exitDeny = 2

// Run answers one event and returns the exit code.
func Run(c Call) int { return Failing(c.Args, c.run(), c.Err) }

// Failing is the exit code for a client that called with these arguments.
func Failing(args []string, code int, problem io.Writer) int {
	if code == 0 || code == exitDeny || !slices.Contains(args, Closed) {
		return code
	}
	_, _ = io.WriteString(problem, denied)
	return exitDeny
}

func (c Call) run() int {
	if len(c.Args) == 0 || c.Args[0] != "claude" {
		return c.tool(nil, nil)
	}
	if c.Env.Loop != "" {
		return 0 // pawl run drives this session and judges it: never two judges
	}
	data, ok := take(c.In)
	if !ok || len(bytes.TrimSpace(data)) == 0 {
		return c.unread()
	}
	e, folder := glance(data), place.Of(c.Env.PawlHome)
	if e.idle(folder, place.At(c.Env.Session.Project, c.Env)) {
		if last := e.forget(folder); len(last) > 0 {
			return Answer{Code: 1, Err: last}.give(c.Out, c.Err) // the client passes them on only of a hook that fails
		}
		return 0
	}
	if bound := e.bound(folder); e.sure && len(bound) == 1 {
		r := Request{ID: newID(), Args: c.Args, Vars: clients(c.Env.Vars), Parent: os.Getppid(), Event: data}
		a, begun, err := ask(folder.Socket(bound[0]), r)
		if err == nil {
			return a.give(c.Out, c.Err)
		}
		if begun {
			return c.tool(data, []string{Again + r.ID})
		}
	}
	return c.tool(data, nil)
}

// Again begins the argument that says that an event may have been answered in part,
// by a keeper that died over it. The request's id is behind it.
const Again = "--again="

// newID tells this call by the client from all others.
func newID() string {
	return strconv.FormatInt(time.Now().UnixNano(), 36) + "-" + strconv.Itoa(os.Getpid())
}

// take takes the bytes of one event. It is not ok where there are too many.
func take(in io.Reader) ([]byte, bool) {
	b := bytes.NewBuffer(make([]byte, 0, 64<<10)) // most are smaller; what is not touched costs nothing
	_, err := b.ReadFrom(io.LimitReader(in, eventMax+1))
	return b.Bytes(), err == nil && b.Len() <= eventMax
}

// unread answers where there is no event, or one that is too large.
func (c Call) unread() int {
	if !slices.Contains(c.Args, Closed) {
		return 0
	}
	_, _ = c.Err.WriteString("pawl-hook: error: the event cannot be read, or is too large\n")
	return 1
}

// clients are the variables by which a client tells what it starts where it is.
func clients(vars []string) []string {
	var out []string
	for _, v := range vars {
		if strings.HasPrefix(v, "CLAUDE") {
			out = append(out, v)
		}
	}
	return out
}

// ask has the session's keeper answer. begun says, beside an error, that it may
// have begun to.
func ask(socket string, r Request) (a Answer, begun bool, err error) {
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

// give prints an answer, and returns its exit code.
func (a Answer) give(out, problem io.Writer) int {
	_, err := out.Write(a.Out)
	_, err2 := problem.Write(a.Err)
	if err != nil || err2 != nil {
		return 1
	}
	return a.Code
}

// tool has the tool itself answer, in a process of its own.
func (c Call) tool(event []byte, more []string) int {
	argv := append(c.Tool(), "hook")
	argv = append(append(argv, c.Args...), more...)
	in, w, err := os.Pipe()
	if err != nil {
		return c.odd(err)
	}
	path := argv[0]
	p, err := os.StartProcess(path, argv, &os.ProcAttr{Files: []*os.File{in, c.Out, c.Err}})
	_ = in.Close()
	if err != nil {
		_ = w.Close()
		return c.odd(err)
	}
	_, _ = w.Write(event) // a tool that has heard enough may close its end
	_ = w.Close()
	s, err := p.Wait()
	if err != nil {
		return c.odd(err)
	}
	return s.ExitCode()
}

func (c Call) odd(err error) int {
	_, _ = c.Err.WriteString("pawl-hook: error: pawl, which answers this, cannot be started: " + err.Error() + "\n")
	return 1
}
