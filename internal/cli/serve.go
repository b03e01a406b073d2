package cli

import (
	"context"
	"fmt"
	"io/fs"
	"math"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/page"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/term"
)

type serveCmd struct {
	Listen string   `default:"127.0.0.1:7295" placeholder:"ADDR" help:"the address and port to listen on; beyond loopback, reading needs the token too"`
	Name   []string `placeholder:"HOST" help:"another host name under which browsers may ask; repeatable"`
	All    bool     `help:"show the loops of every repository; default: this one, all its worktrees"`
}

// Run serves the pages until Ctrl-C.
func (c *serveCmd) Run(ctx context.Context, a *app) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return failure.New(failure.Usage, "choose another one:  pawl serve --listen 127.0.0.1:0", "listen on %s: %w", c.Listen, err)
	}
	defer func() { _ = l.Close() }()
	at, err := netip.ParseAddrPort(l.Addr().String())
	if err != nil {
		return fmt.Errorf("read the address %s: %w", l.Addr(), err)
	}
	token := page.NewToken()
	locked := !at.Addr().IsLoopback()
	h, err := page.New(page.Options{Source: &served{a.watched(ctx, c.All)}, Token: token, Names: c.Name, Locked: locked})
	if err != nil {
		return err
	}
	host := l.Addr().String()
	if at.Addr().IsUnspecified() {
		host = net.JoinHostPort("localhost", fmt.Sprint(at.Port()))
		if len(c.Name) > 0 {
			host = net.JoinHostPort(c.Name[0], fmt.Sprint(at.Port()))
		}
	}
	a.print("http://" + host + "/#token=" + token + "\n")
	if locked {
		term.Warnf(a.Err, "others on this network can read what passes between browser and pawl: use a tunnel (ssh -L) where you do not trust it")
	}
	a.listenAgain()
	return page.Serve(ctx, l, h)
}

// served is what the pages show.
type served struct{ *watched }

// Stamp changes when a journal grows, or a loop comes or goes; that of one loop also when
// its agent calls a tool.
func (s *served) Stamp(id string) (string, error) {
	if id != "" {
		l := s.app.store.Loop(id)
		return fmt.Sprint(stampOf([]*store.Loop{l}), callSizes(l)), nil
	}
	loops, err := s.app.store.Loops()
	return stampOf(loops), err
}

// subject is a loop that the pages show.
func (s *served) subject(id string) (*subject, error) {
	l := s.app.store.Loop(id)
	if _, err := os.Stat(l.Dir); err != nil {
		return nil, fmt.Errorf("find loop %s: %w", id, fs.ErrNotExist)
	}
	sub, err := readable(l)
	if err != nil {
		return nil, err
	}
	if !s.all && sub.spec.Root != s.app.root() {
		return nil, fmt.Errorf("find loop %s here: %w", id, fs.ErrNotExist)
	}
	return sub, nil
}

// Loop returns all that a page shows of a loop.
func (s *served) Loop(ctx context.Context, id string, attempt int) (page.Detail, error) {
	sub, err := s.subject(id)
	if err != nil {
		return page.Detail{}, err
	}
	sum := sub.summary()
	first, last := sub.memory.State.Iteration-page.AttemptsMost+1, math.MaxInt
	if attempt > 0 {
		first, last = attempt, attempt
	}
	t := sub.replay(first, last)
	return page.Detail{
		Summary: sum, Headline: headline(sub, sum, time.Now()), Report: s.app.reported(ctx, sub, t.events),
		Attempts: t.attempts, History: t.history[max(0, len(t.history)-historyMost):],
	}, nil
}

// cleanLines is text without what would draw on a terminal; its lines stay.
func cleanLines(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i := range lines {
		lines[i] = term.Clean(lines[i])
	}
	return strings.Join(lines, "\n")
}

// Diff returns what a task changed.
func (s *served) Diff(ctx context.Context, id, task string) (string, error) {
	sub, err := s.subject(id)
	if err != nil {
		return "", err
	}
	return sub.taskDiff(ctx, task)
}
