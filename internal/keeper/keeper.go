// Package keeper answers the hooks of one session, from a process that lives as
// long as a loop lives there.
//
// A hook is a process of its own for each turn and tool call of the agent. Most
// of what it costs is starting: reading what a loop was asked, and all that is
// needed to do so. The keeper has that done; pawl-hook only hands it the event
// and prints what it says (package front). It holds no state: every answer is
// made from what is on the disk, by package hook, as it would be without a
// keeper. One may be killed at any time; the next event is answered without, and
// starts another.
//
// It ends by itself when the loop has ended or left the session, after an hour
// without an event, and when the tool was replaced by another version.
package keeper

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

// Options of a keeper.
type Options struct {
	Env     environment.Environment
	Session string
	Tool    string // path of the tool: it does what takes long, and is looked at for a new version
	Version string
	// Untracked is what hook.Call wants.
	Untracked func(root, dir string) ([]string, bool)
	Every     time.Duration // between looks whether it is still needed
	Idle      time.Duration // without an event, after which it is not
}

// pathMax is how long a socket's path may be, everywhere.
const pathMax = 100

// Possible tells whether a session in this home can have a keeper.
func Possible(home, session string) bool {
	return place.Valid(session) && len(place.Of(home).Socket(session)) <= pathMax
}

// Keep answers until it is not needed any more. Where a keeper is at work already
// it returns at once.
func Keep(ctx context.Context, o Options) (err error) {
	folder := place.Of(o.Env.PawlHome)
	path := folder.Socket(o.Session)
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	if ok, err := lock.TryLock(); err != nil || !ok {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("make way for the keeper's socket: %w", err) // one that was killed left it
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "unix", path)
	if err != nil {
		return fmt.Errorf("listen for hooks: %w", err)
	}
	k := &keeper{Options: o, folder: folder, redact: redact.New(o.Env.Vars).String}
	k.last.Store(time.Now().UnixNano())
	var calls sync.WaitGroup
	ctx, stop := context.WithCancel(ctx)
	calls.Go(func() { k.watch(ctx, stop) })
	context.AfterFunc(ctx, func() { _ = l.Close() }) // which ends Accept
	for {
		c, err := l.Accept()
		if err != nil {
			stop()
			calls.Wait()
			return nil // the socket was closed: it is over
		}
		calls.Go(func() { k.answer(ctx, c) })
	}
}

type keeper struct {
	Options

	folder place.Folder
	redact func(string) string
	busy   atomic.Int64 // calls being answered, wakers aside: they are asked again elsewhere
	last   atomic.Int64 // when the last one came
	client atomic.Int64 // process id of the session's client, 0 while it is not known
}

// watch ends the keeper when it is not needed any more.
func (k *keeper) watch(ctx context.Context, stop func()) {
	was := k.build()
	tick := time.NewTicker(k.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		idle := time.Since(time.Unix(0, k.last.Load())) > k.Idle
		if pid := int(k.client.Load()); pid != 0 && !proc.Alive(pid) {
			idle = true // nobody will ask
		}
		if k.busy.Load() == 0 && (idle || hook.Ended(k.Env.PawlHome, k.Session) || k.build() != was) {
			stop()
			return
		}
	}
}

// build tells one version of the tool's file from another.
func (k *keeper) build() string {
	info, err := os.Stat(k.Tool)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.Size(), info.ModTime())
}

// answer answers one call. Should whoever made it go away, the answer is not
// needed any more.
func (k *keeper) answer(ctx context.Context, c net.Conn) {
	defer c.Close()
	k.last.Store(time.Now().UnixNano())
	r, err := front.ReadRequest(c)
	if err != nil {
		return
	}
	if !slices.Contains(r.Args, "--wake") {
		k.busy.Add(1)
		defer k.busy.Add(-1)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = c.Read(make([]byte, 1)) // ends when the other side is gone, or we are done
		cancel()
	}()
	env, err := environment.Of(append(k.own(), r.Vars...))
	if err != nil {
		return
	}
	k.client.Store(int64(env.Session.Client))
	var out, problem bytes.Buffer
	code := hook.Run(ctx, hook.Call{
		ID: r.ID, Args: r.Args, In: bytes.NewReader(r.Event), Out: &out, Err: &problem,
		Env: env, Tool: []string{k.Tool}, Parent: r.Parent, Version: k.Version, Redact: k.redact, Untracked: k.Untracked,
	})
	if ctx.Err() == nil {
		_ = front.Answer{Code: code, Out: out.Bytes(), Err: problem.Bytes()}.Write(c) // whoever asked is gone, else
	}
}

// own is our environment without what a client told us of itself: each call has
// its own.
func (k *keeper) own() []string {
	return slices.DeleteFunc(slices.Clone(k.Env.Vars), func(v string) bool { return strings.HasPrefix(v, "CLAUDE") })
}
