// Package daemon is the daemon of one session. It answers the session's hooks from one
// process that lives as long as the session has a loop.
//
// Without it each turn and tool call of the agent would start a process that reads the
// configuration, the loop and its journal again. The client shim (package front) only
// passes the event to the daemon and prints the answer. The daemon holds no state:
// package hook makes every answer from what is on disk, as it would in a process of its
// own. A daemon may be killed at any time; the next event is answered without one and
// starts another.
//
// The daemon ends when the loop has ended or left the session, when its client has
// exited, after IdleTimeout without an event, and when the tool was replaced by another
// version.
package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"

	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/front"
	"github.com/pawl-dev/pawl/internal/hook"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/redact"
	"github.com/pawl-dev/pawl/internal/session/place"
)

// Options configure a daemon.
type Options struct {
	Env     environment.Environment
	Session string
	Tool    string // path of pawl, which runs longer work; the daemon ends if the file changes
	Version string
	// Untracked is hook.Call.Untracked.
	Untracked    func(root, dir string) ([]string, bool)
	PollInterval time.Duration // between checks whether the daemon is still needed
	IdleTimeout  time.Duration // without an event, after which the daemon ends
}

// maxSocketPath is the longest path of a socket that every system accepts, in bytes.
const maxSocketPath = 100

// Possible reports whether a session in this home can have a daemon.
func Possible(home, session string) bool {
	return place.IsValidID(session) && len(place.Of(home).SocketPath(session)) <= maxSocketPath
}

// Serve answers calls until the daemon is no longer needed. It returns at once if the
// session has a daemon already.
func Serve(ctx context.Context, o Options) (err error) {
	folder := place.Of(o.Env.PawlHome)
	path := folder.SocketPath(o.Session)
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	if ok, err := lock.TryLock(); err != nil || !ok {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove stale daemon socket: %w", err) // left by a daemon that was killed
	}
	d := &daemon{Options: o, redact: redact.New(o.Env.Vars).String}
	d.build = d.toolBuild() // before anybody can call
	var config net.ListenConfig
	l, err := config.Listen(ctx, "unix", path)
	if err != nil {
		return fmt.Errorf("listen for hooks: %w", err)
	}
	d.lastCall.Store(time.Now().UnixNano())
	var calls sync.WaitGroup
	ctx, stop := context.WithCancel(ctx)
	calls.Go(func() { d.stopWhenUnneeded(ctx, stop) })
	context.AfterFunc(ctx, func() { _ = l.Close() }) // which ends Accept
	for {
		c, err := l.Accept()
		if err != nil {
			stop()
			calls.Wait()
			return nil // the socket was closed
		}
		calls.Go(func() { d.answerCall(ctx, c) })
	}
}

// daemon answers the calls of one session.
type daemon struct {
	Options

	redact      func(string) string
	build       string       // of the tool when the daemon began
	activeCalls atomic.Int64 // calls being answered, except wakers, which another process can repeat
	lastCall    atomic.Int64 // when the last call came, in Unix nanoseconds
	client      atomic.Int64 // process id of the session's client; 0: unknown
}

// stopWhenUnneeded calls stop once the daemon is no longer needed.
func (d *daemon) stopWhenUnneeded(ctx context.Context, stop func()) {
	tick := time.NewTicker(d.PollInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		idle := time.Since(time.Unix(0, d.lastCall.Load())) > d.IdleTimeout
		if pid := int(d.client.Load()); pid != 0 && !proc.Alive(pid) {
			idle = true // the client has exited
		}
		if d.activeCalls.Load() == 0 && (idle || hook.HasNoRunningLoop(d.Env.PawlHome, d.Session) || d.toolBuild() != d.build) {
			stop()
			return
		}
	}
}

// toolBuild identifies the version of the tool's file.
func (d *daemon) toolBuild() string {
	info, err := os.Stat(d.Tool)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.Size(), info.ModTime())
}

// answerCall answers one call. If the caller goes away the answer is dropped.
func (d *daemon) answerCall(ctx context.Context, c net.Conn) {
	defer c.Close()
	d.lastCall.Store(time.Now().UnixNano())
	r, err := front.ReadRequest(c)
	if err != nil {
		return
	}
	if !slices.Contains(r.Args, "--wake") {
		d.activeCalls.Add(1)
		defer d.activeCalls.Add(-1)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = c.Read(make([]byte, 1)) // returns when the caller has gone or the call is answered
		cancel()
	}()
	env, err := environment.Of(append(d.ownVars(), r.Vars...))
	if err != nil {
		return
	}
	d.client.Store(int64(env.Session.Client))
	var out, problem bytes.Buffer
	code := hook.Run(ctx, hook.Call{
		ID: r.ID, Args: r.Args, In: bytes.NewReader(r.Event), Out: &out, Err: &problem,
		Env: env, Tool: []string{d.Tool}, Parent: r.Parent, Version: d.Version, Redact: d.redact, Untracked: d.Untracked,
	})
	if ctx.Err() == nil {
		_ = front.Answer{Code: code, Out: out.Bytes(), Err: problem.Bytes()}.Write(c) // fails if the caller has gone
	}
}

// ownVars returns the daemon's environment without the client's variables, which each
// call brings.
func (d *daemon) ownVars() []string {
	return slices.DeleteFunc(slices.Clone(d.Env.Vars), func(v string) bool { return strings.HasPrefix(v, "CLAUDE") })
}
