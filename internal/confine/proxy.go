package confine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	dialTimeout   = 30 * time.Second
	headerTimeout = 30 * time.Second
)

// host is a host that may be reached.
type host struct {
	name string // in lower case; "*.example.com" matches all names below it
	port int    // 0 = the ports of HTTP and HTTPS
}

// parseHost parses HOST, HOST:PORT or *.DOMAIN.
func parseHost(text string) (host, error) {
	h := host{name: strings.ToLower(strings.TrimSuffix(text, "."))}
	if name, port, err := net.SplitHostPort(text); err == nil {
		n, err := strconv.Atoi(port)
		if err != nil || n < 1 || n > 65535 {
			return h, fmt.Errorf("%q: want HOST, HOST:PORT or *.DOMAIN", text)
		}
		h.name, h.port = strings.ToLower(strings.TrimSuffix(name, ".")), n
	}
	h.name = strings.Trim(h.name, "[]")
	bare := strings.TrimPrefix(h.name, "*.")
	if bare == "" || strings.ContainsAny(bare, "*/@ \t\n\r?#") || strings.Contains(bare, "..") ||
		strings.Contains(bare, ":") && net.ParseIP(bare) == nil {
		return h, fmt.Errorf("%q: want HOST, HOST:PORT or *.DOMAIN", text)
	}
	return h, nil
}

// CheckHost says what is wrong with an entry of the allowed hosts.
func CheckHost(text string) error {
	h, err := parseHost(text)
	if err == nil && h.isLoopback() && h.port == 0 {
		return fmt.Errorf("%q: a service of this machine needs its port, such as %s:8080", text, text)
	}
	return err
}

// isLoopback reports whether the host is this machine. In the sandbox, loopback is another
// network.
func (h host) isLoopback() bool {
	ip := net.ParseIP(h.name)
	return h.name == "localhost" || ip != nil && ip.IsLoopback()
}

func (h host) allows(name string, port int) bool {
	if h.port != port && (h.port != 0 || port != 80 && port != 443) {
		return false
	}
	if domain, wild := strings.CutPrefix(h.name, "*"); wild {
		return strings.HasSuffix(name, domain) && len(name) > len(domain)
	}
	return name == h.name
}

// proxy is an HTTP proxy for allowed hosts. It resolves names itself: the sandbox has no name
// server.
type proxy struct {
	hosts   []host
	forward http.Handler

	mu      sync.Mutex
	refused []string
}

// Limits on the refused hosts that are kept: an agent may invent many long names.
const (
	maxRefusedHosts  = 50
	maxRefusedLength = 100
)

// refuse records a host that may not be reached, in the form that would allow it.
func (p *proxy) refuse(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	target = strings.TrimSuffix(strings.TrimSuffix(target, ":443"), ":80")
	if target = target[:min(len(target), maxRefusedLength)]; len(p.refused) < maxRefusedHosts && !slices.Contains(p.refused, target) {
		p.refused = append(p.refused, target)
	}
}

// denied returns the hosts that were refused.
func (p *proxy) denied() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.refused)
}

func newProxy(hosts []host) *proxy {
	dialer := &net.Dialer{Timeout: dialTimeout}
	return &proxy{hosts: hosts, forward: &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.Out.Header.Del("Proxy-Connection") },
		Transport: &http.Transport{
			DialContext: dialer.DialContext, ResponseHeaderTimeout: 0, IdleConnTimeout: time.Minute,
		},
		FlushInterval: -1, // forwards streamed events at once
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, "pawl: "+err.Error(), http.StatusBadGateway)
		},
	}}
}

// ServeHTTP answers a request for a whole URL or for a tunnel.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	target := r.URL.Host
	if r.Method == http.MethodConnect {
		target = r.Host
	} else if r.URL.Scheme != "http" || target == "" {
		http.Error(w, "pawl: this is a proxy", http.StatusBadRequest)
		return
	}
	if !p.allows(target) {
		p.refuse(target)
		http.Error(w, fmt.Sprintf("pawl: %s is blocked (--confine strict; confine_hosts allows hosts)", target), http.StatusForbidden)
		return
	}
	if r.Method == http.MethodConnect {
		tunnel(w, r)
		return
	}
	p.forward.ServeHTTP(w, r)
}

func (p *proxy) allows(target string) bool {
	name, port := target, 80
	if n, text, err := net.SplitHostPort(target); err == nil {
		name = n
		if port, err = strconv.Atoi(text); err != nil {
			return false
		}
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	return slices.ContainsFunc(p.hosts, func(h host) bool { return h.allows(name, port) })
}

// tunnel connects the client with a host.
func tunnel(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), dialTimeout)
	defer cancel()
	there, err := (&net.Dialer{}).DialContext(ctx, "tcp", r.Host)
	if err != nil {
		http.Error(w, "pawl: "+err.Error(), http.StatusBadGateway)
		return
	}
	here, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		_ = there.Close()
		http.Error(w, "pawl: "+err.Error(), http.StatusInternalServerError)
		return
	}
	if _, err := io.WriteString(here, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		_ = errors.Join(here.Close(), there.Close())
		return
	}
	splice(buffered, here, there)
}

// splice copies bytes in both directions until both end.
func splice(fromHere io.Reader, here, there net.Conn) {
	var both sync.WaitGroup
	carry := func(to net.Conn, from io.Reader) {
		_, _ = io.Copy(to, from) // an error at one end closes the other
		if half, ok := to.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		} else {
			_ = to.Close()
		}
	}
	both.Go(func() { carry(there, fromHere) })
	both.Go(func() { carry(here, there) })
	both.Wait()
	_ = errors.Join(here.Close(), there.Close())
}
