package confine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A network of its own has no way out. Instead of a forwarder that would have to
// live inside, the process that enters the wall opens the listeners there and
// hands them out through a socket: Pawl, outside, accepts what is connected to
// inside.

const (
	socketName     = "ways"
	proxyWay       = "proxy"
	handoffTimeout = 10 * time.Second
)

// bridge serves the ways out of one wall.
type bridge struct {
	socket string
	ports  []int
	proxy  *proxy

	door    *net.UnixListener
	mu      sync.Mutex
	closing bool
	open    map[interface{ Close() error }]bool
	served  sync.WaitGroup
}

// openWays serves the ways to some hosts; the socket lies in dir.
func openWays(dir string, names []string) (*bridge, error) {
	b := &bridge{socket: filepath.Join(dir, socketName), open: map[interface{ Close() error }]bool{}}
	var hosts []host
	for _, name := range names {
		h, err := parseHost(name)
		if err != nil {
			return nil, err
		}
		if h.loopback() {
			b.ports = append(b.ports, h.port)
		} else {
			hosts = append(hosts, h)
		}
	}
	if len(hosts) > 0 {
		b.proxy = newProxy(hosts)
	}
	if len(hosts)+len(b.ports) == 0 {
		b.socket = ""
		return b, nil
	}
	err := short(dir, func(dir string) (err error) {
		b.door, err = net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, socketName), Net: "unix"})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("open the way out of the sandbox: %w", err)
	}
	b.door.SetUnlinkOnClose(false) // by a name that means nothing later; its folder goes
	b.serve(b.door, b.receive)
	return b, nil
}

// refused are the hosts that were asked for in vain.
func (b *bridge) refused() []string {
	if b.proxy == nil {
		return nil
	}
	return b.proxy.denied()
}

func (b *bridge) net() *Net { return &Net{Socket: b.socket, Proxy: b.proxy != nil, Ports: b.ports} }

// close ends everything that it serves.
func (b *bridge) close() error {
	b.mu.Lock()
	b.closing = true
	for c := range b.open {
		_ = c.Close() // it may have ended by itself
	}
	b.mu.Unlock()
	b.served.Wait()
	return nil
}

// keep notes what must be closed at the end; false says that it has come.
func (b *bridge) keep(c interface{ Close() error }) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closing {
		_ = c.Close()
		return false
	}
	b.open[c] = true
	return true
}

func (b *bridge) drop(c interface{ Close() error }) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.open, c)
	_ = c.Close()
}

// serve accepts what comes until the listener is closed.
func (b *bridge) serve(l net.Listener, each func(net.Conn)) {
	if !b.keep(l) {
		return
	}
	b.served.Go(func() {
		defer b.drop(l)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if b.keep(c) {
				b.served.Go(func() { defer b.drop(c); each(c) })
			}
		}
	})
}

// receive takes a listener that was opened inside, with the name of its way.
func (b *bridge) receive(c net.Conn) {
	_ = c.SetDeadline(time.Now().Add(handoffTimeout))
	name, rights := make([]byte, 32), make([]byte, syscall.CmsgSpace(4))
	n, m, _, _, err := c.(*net.UnixConn).ReadMsgUnix(name, rights)
	if err != nil {
		return
	}
	l, err := listenerOf(rights[:m])
	if err != nil {
		return
	}
	way := string(name[:n])
	port, _ := strconv.Atoi(way)
	switch {
	case way == proxyWay && b.proxy != nil:
		b.serveHTTP(l)
	case slices.Contains(b.ports, port):
		b.serve(l, func(here net.Conn) { b.forward(here, port) })
	default:
		_ = l.Close()
		return
	}
	_, _ = c.Write([]byte{1}) // whoever handed it over may begin
}

func (b *bridge) serveHTTP(l net.Listener) {
	s := &http.Server{Handler: b.proxy, ReadHeaderTimeout: headerTimeout}
	if !b.keep(s) {
		return
	}
	b.served.Go(func() {
		defer b.drop(s)
		_ = s.Serve(l) // until it is closed
	})
}

// forward connects to the same port of the machine.
func (b *bridge) forward(here net.Conn, port int) {
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	defer cancel()
	there, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort("localhost", strconv.Itoa(port)))
	if err != nil || !b.keep(there) {
		return
	}
	defer b.drop(there)
	splice(here, here, there)
}

// listenerOf takes the one listener out of a control message.
func listenerOf(rights []byte) (net.Listener, error) {
	messages, err := syscall.ParseSocketControlMessage(rights)
	if err != nil || len(messages) != 1 {
		return nil, errors.New("no listener was handed over")
	}
	fds, err := syscall.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, errors.New("no listener was handed over")
	}
	syscall.CloseOnExec(fds[0])
	f := os.NewFile(uintptr(fds[0]), "listener")
	defer f.Close()
	return net.FileListener(f)
}

// hand opens the listeners of this network and hands them out. It returns the
// variables by which programs find the proxy.
func (n *Net) hand() ([]string, error) {
	if n == nil || n.Socket == "" {
		return nil, nil
	}
	for _, port := range n.Ports {
		if _, err := n.give(strconv.Itoa(port), port); err != nil {
			return nil, err
		}
	}
	if !n.Proxy {
		return nil, nil
	}
	addr, err := n.give(proxyWay, 0)
	if err != nil {
		return nil, err
	}
	var vars []string
	for _, name := range proxyVars() {
		value := "http://" + addr
		if name == "NO_PROXY" {
			value = "localhost,127.0.0.1,::1"
		}
		vars = append(vars, name+"="+value, strings.ToLower(name)+"="+value)
	}
	return vars, nil
}

// proxyVars are the variables by which programs find a proxy; in small letters, too.
func proxyVars() []string { return []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"} }

// give hands out one listener on a port, 0 for any, and returns its address.
func (n *Net) give(way string, port int) (string, error) {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	if err != nil {
		return "", fmt.Errorf("open the way out of the sandbox: %w", err)
	}
	defer l.Close()
	f, err := l.File()
	if err != nil {
		return "", fmt.Errorf("open the way out of the sandbox: %w", err)
	}
	defer f.Close()
	err = short(filepath.Dir(n.Socket), func(dir string) error {
		c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: filepath.Join(dir, filepath.Base(n.Socket)), Net: "unix"})
		if err != nil {
			return err
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(handoffTimeout))
		if _, _, err := c.WriteMsgUnix([]byte(way), syscall.UnixRights(int(f.Fd())), nil); err != nil {
			return err
		}
		if _, err := c.Read(make([]byte, 1)); err != nil {
			return errors.New("nobody serves it: the loop's owner is gone")
		}
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("open the way out of the sandbox: %w", err)
	}
	return l.Addr().String(), nil
}

// short names a folder in few letters: the path of a socket may be 107 long.
func short(dir string, use func(dir string) error) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return use(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
}
