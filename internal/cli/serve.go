package cli

import (
	"context"
	"fmt"
	"net"
	"net/netip"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/page"
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
	at, _ := netip.ParseAddrPort(l.Addr().String()) // a listener on TCP has such an address
	token := page.NewToken()
	locked := !at.Addr().IsLoopback()
	h, err := page.New(page.Options{Source: loopinfo.NewPages(ctx, a.displayOptions(c.All)), Token: token, Names: c.Name, Locked: locked})
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
		term.Warnf(a.Err, "others on this network can read the traffic between browser and pawl; if you do not trust it, use a tunnel (ssh -L)")
	}
	a.listenForEndedLoops()
	return page.Serve(ctx, l, h)
}
