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

// A private network has no connection to the outside. The process that enters the sandbox
// opens listeners there and passes them to Pawl through a socket. Pawl, outside, accepts the
// connections that are made inside. So no forwarder has to run in the sandbox.

const (
	socketName     = "ways"
	proxyName      = "proxy"
	handoffTimeout = 10 * time.Second
)

// bridge serves the connections of one sandbox to the outside.
type bridge struct {
	socket string
	ports  []int
	proxy  *proxy

	listener *net.UnixListener
	mu       sync.Mutex
	closing  bool
	open     map[interface{ Close() error }]bool
	served   sync.WaitGroup
}

// openBridge serves connections to some hosts. Its socket is in dir.
func openBridge(dir string, names []string) (*bridge, error) {
	b := &bridge{socket: filepath.Join(dir, socketName), open: map[interface{ Close() error }]bool{}}
	var hosts []host
	for _, name := range names {
		h, err := parseHost(name)
		if err != nil {
			return nil, err
		}
		if h.isLoopback() {
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
	err := withShortPath(dir, func(dir string) (err error) {
		b.listener, err = net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, socketName), Net: "unix"})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("open the way out of the sandbox: %w", err)
	}
	b.listener.SetUnlinkOnClose(false) // its name is valid now only; Close removes the folder
	b.serve(b.listener, b.receive)
	return b, nil
}

// refused returns the hosts that the proxy refused.
func (b *bridge) refused() []string {
	if b.proxy == nil {
		return nil
	}
	return b.proxy.denied()
}

func (b *bridge) net() *Net { return &Net{Socket: b.socket, Proxy: b.proxy != nil, Ports: b.ports} }

// close ends all connections and listeners.
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

// track records what close must close. It returns false if the bridge is closing.
func (b *bridge) track(c interface{ Close() error }) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closing {
		_ = c.Close()
		return false
	}
	b.open[c] = true
	return true
}

func (b *bridge) untrack(c interface{ Close() error }) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.open, c)
	_ = c.Close()
}

// serve accepts connections until the listener is closed.
func (b *bridge) serve(l net.Listener, each func(net.Conn)) {
	if !b.track(l) {
		return
	}
	b.served.Go(func() {
		defer b.untrack(l)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if b.track(c) {
				b.served.Go(func() { defer b.untrack(c); each(c) })
			}
		}
	})
}

// receive receives a listener that was opened inside, with its name.
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
	case way == proxyName && b.proxy != nil:
		b.serveHTTP(l)
	case slices.Contains(b.ports, port):
		b.serve(l, func(here net.Conn) { b.forward(here, port) })
	default:
		_ = l.Close()
		return
	}
	_, _ = c.Write([]byte{1}) // confirms that the listener is served
}

func (b *bridge) serveHTTP(l net.Listener) {
	s := &http.Server{Handler: b.proxy, ReadHeaderTimeout: headerTimeout}
	if !b.track(s) {
		return
	}
	b.served.Go(func() {
		defer b.untrack(s)
		_ = s.Serve(l) // returns when it is closed
	})
}

// forward connects to the same port of the machine.
func (b *bridge) forward(here net.Conn, port int) {
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	defer cancel()
	there, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort("localhost", strconv.Itoa(port)))
	if err != nil || !b.track(there) {
		return
	}
	defer b.untrack(there)
	splice(here, here, there)
}

// listenerOf returns the one listener in a control message.
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

// openListeners opens the listeners of this network and passes them to Pawl. It returns the
// variables by which programs find the proxy.
func (n *Net) openListeners() ([]string, error) {
	if n == nil || n.Socket == "" {
		return nil, nil
	}
	for _, port := range n.Ports {
		if _, err := n.passListener(strconv.Itoa(port), port); err != nil {
			return nil, err
		}
	}
	if !n.Proxy {
		return nil, nil
	}
	addr, err := n.passListener(proxyName, 0)
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

// proxyVars returns the variables by which programs find a proxy. Their lower-case forms count too.
func proxyVars() []string { return []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"} }

// passListener opens a listener on a port, 0 for any, and passes it to Pawl. It returns its address.
func (n *Net) passListener(way string, port int) (string, error) {
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
	err = withShortPath(filepath.Dir(n.Socket), func(dir string) error {
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
			return errors.New("the loop's process is gone")
		}
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("open the way out of the sandbox: %w", err)
	}
	return l.Addr().String(), nil
}

// withShortPath calls use with a short path of a folder. The path of a socket may have 107 bytes
// at most.
func withShortPath(dir string, use func(dir string) error) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return use(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
}
