package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"
)

// What pawl-hook costs is measured on the binary as it is shipped, against an
// empty Go program that was built with the same flags:
//
//	go run ./bench hook
//	go run ./bench hook -against 'bash other-hook.sh'   # the same payload, to another hook

// shipped are the flags that a release is built with, beside -trimpath, which each build
// here has.
var shipped = []string{"-ldflags", "-s -w"}

// benchHook measures the hook, and tells whether every bound held.
func benchHook(args []string) (bool, error) {
	var o options
	f := flag.NewFlagSet("bench hook", flag.ExitOnError)
	f.IntVar(&o.runs, "runs", 101, "measure each `N` times, in turns")
	f.IntVar(&o.iterations, "iterations", 10_000, "iterations of the loop before it is measured")
	only := f.String("only", "", "only the rows whose text has `TEXT`")
	other := f.String("against", "", "compare with another Stop hook: a `SCRIPT` or a command")
	if err := f.Parse(args); err != nil {
		return false, err
	}
	ctx, done := timed(20 * time.Minute)
	defer done()
	l, err := emptyLab(o)
	if err != nil {
		return false, err
	}
	defer l.close()
	programs := map[string]string{l.empty: l.empty + ".go", l.hook: "github.com/pawl-dev/pawl/cmd/pawl-hook", l.pawl: "github.com/pawl-dev/pawl/cmd/pawl"}
	if err := l.build(ctx, programs, shipped...); err != nil {
		return false, err
	}
	if *other != "" {
		return against(ctx, l, *other)
	}
	return measure(ctx, l, hookRows(o), *only)
}

const (
	silent = "≤ 1.3 × an empty program"
	quick  = "≤ 2 × an empty program"
)

// hookRows are the bounds of the hook.
func hookRows(o options) []row {
	here := fmt.Sprintf("in a loop of %d iterations", o.iterations)
	return []row{
		{"Stop, no loop on this machine", silent, hookRow(1.3, func(s *liveSession) work { return s.without().silently(s.stop()) })},
		{"Stop, a loop in another session", silent, hookRow(1.3, func(s *liveSession) work { return s.elsewhere().silently(s.stop()) })},
		{"PreToolUse, a loop in another session", silent, hookRow(1.3, func(s *liveSession) work { return s.elsewhere().silently(s.call("PreToolUse")) })},
		{"the waker, a loop in another session", silent, hookRow(1.3, func(s *liveSession) work { return s.elsewhere().silently(s.stop(), "--wake") })},
		{"Stop without a claim " + here, quick, hookRow(2, (*liveSession).turn)},
		{"the same, with the daemon's work for it", "≤ 3 × an empty program", hookRow(3, func(s *liveSession) work { return s.inAll().turn() })},
		{"the waker beside it", quick, hookRow(2, (*liveSession).wake)},
		{"guard verdict for a Bash call " + here, quick, hookRow(2, func(s *liveSession) work { return s.silently(s.call("PreToolUse")) })},
		{"a denied call " + here, quick, hookRow(2, func(s *liveSession) work { return s.denied("git push origin part-%d") })},
		{"the same, with the daemon's work for it", "≤ 3 × an empty program", hookRow(3, func(s *liveSession) work { return s.inAll().denied("git push origin part-%d") })},
		{"PostToolUse " + here, quick, hookRow(2, func(s *liveSession) work { return s.silently(s.call("PostToolUse")) })},
		{"Stop, transcript of 1 GB", "≤ 1.2 × the same with 1 MB", flat},
	}
}

// hookRow compares something that happens in a session with an empty program.
func hookRow(bound float64, what func(*liveSession) work) func(context.Context, *lab) (outcome, error) {
	return func(ctx context.Context, l *lab) (outcome, error) {
		s, err := l.startSession(ctx)
		if err != nil {
			return outcome{}, err
		}
		return pair{what(s), l.nothing()}.within(ctx, l.runs, bound)
	}
}

// flat compares a stop in a session with a very long transcript with one in a
// young session. All but the end of the long file is a hole: nobody may look.
func flat(ctx context.Context, l *lab) (outcome, error) {
	var turns [2]work
	for i, size := range []int64{1 << 30, 1 << 20} {
		s, err := l.startSession(ctx)
		if err != nil {
			return outcome{}, err
		}
		if s.transcript, err = s.hollow(size); err != nil {
			return outcome{}, err
		}
		turns[i] = s.turn()
	}
	return pair{turns[0], turns[1]}.within(ctx, l.runs, 1.2)
}

// silently is a call of the hook that has nothing to say.
func (s *liveSession) silently(payload string, flags ...string) work {
	return func(ctx context.Context) (time.Duration, error) {
		out, state, err := s.hook(payload, flags...).run(ctx)
		if err != nil {
			return 0, err
		}
		if out != "" {
			return 0, fmt.Errorf("the hook should have nothing to say: %s", out)
		}
		return s.whole(state)
	}
}

// whole returns the cost of an event: of the process that starts for it and, if asked for, of the
// daemon's work.
func (s *liveSession) whole(hook *os.ProcessState) (time.Duration, error) {
	cost := hook.UserTime() + hook.SystemTime()
	if !s.all {
		return cost, nil
	}
	daemon, err := s.worked()
	return cost + daemon, err
}

// inAll is the same session, of which the daemon's work counts too.
func (s *liveSession) inAll() *liveSession {
	s.all = true
	return s
}

// turn is the end of a turn of the loop's in which the agent used a tool and
// claimed nothing: it is sent back to work.
func (s *liveSession) turn() work {
	return func(ctx context.Context) (time.Duration, error) {
		if err := s.used(); err != nil {
			return 0, err
		}
		return s.goesOn(ctx, s.stop())
	}
}

// goesOn is the hook's answer to a stop: that the session does not end.
func (s *liveSession) goesOn(ctx context.Context, stop string) (time.Duration, error) {
	out, state, err := s.hook(stop).run(ctx)
	if err != nil {
		return 0, err
	}
	if err := continues(out); err != nil {
		return 0, err
	}
	return s.whole(state)
}

// denied is a call that the guard denies, and that is journalled: the first of its
// turn. The turn before it does not count.
func (s *liveSession) denied(format string) work {
	return func(ctx context.Context) (time.Duration, error) {
		if _, err := s.turn()(ctx); err != nil {
			return 0, err
		}
		before := s.journalled()
		out, state, err := s.hook(s.callOf("PreToolUse", fmt.Sprintf(format, s.stops))).run(ctx)
		if err != nil {
			return 0, err
		}
		if !strings.Contains(out, `"deny"`) || s.journalled() == before {
			return 0, fmt.Errorf("the call should be denied, and that journalled: %q", out)
		}
		return s.whole(state)
	}
}

// wake is the waker, which the client starts together with the hook that answers.
func (s *liveSession) wake() work {
	return func(ctx context.Context) (time.Duration, error) {
		if err := s.used(); err != nil {
			return 0, err
		}
		stop, answered := s.stop(), make(chan error, 1)
		go func() {
			_, err := s.goesOn(ctx, stop)
			answered <- err
		}()
		cost, err := s.silently(stop, "--wake")(ctx)
		return cost, errors.Join(err, <-answered)
	}
}
