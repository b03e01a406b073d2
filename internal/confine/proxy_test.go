package confine

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A tunnel through the proxy carries TLS to an allowed host, end to end. Other hosts are refused,
// and recorded in the form that would allow them.
func TestProxyTunnelsAllowedHosts(t *testing.T) {
	t.Parallel()
	far := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "far: "+r.URL.Path) }))
	t.Cleanup(far.Close)
	place, err := url.Parse(far.URL)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(place.Port())
	if err != nil {
		t.Fatal(err)
	}
	p := newProxy([]host{{name: place.Hostname(), port: port}})
	way := httptest.NewServer(p)
	t.Cleanup(way.Close)
	wayURL, err := url.Parse(way.URL)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(far.Certificate())
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(wayURL), TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}}
	t.Cleanup(client.CloseIdleConnections)
	get := func(url string) string {
		r, err := client.Get(url)
		if err != nil {
			return err.Error()
		}
		defer r.Body.Close()
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		return r.Status + " " + string(body)
	}
	for url, want := range map[string]string{
		far.URL + "/x":                          "200 OK far: /x",
		"https://refused.example.com/":          "Forbidden",
		"https://refused.example.com/again":     "Forbidden",
		"http://refused.example.com/":           "403 Forbidden pawl: refused.example.com is blocked",
		"https://other.example.com:8443/":       "Forbidden",
		"http://" + place.Hostname() + ":1/":    "403 Forbidden",
		"http://" + strings.Repeat("long.", 99): "403 Forbidden",
	} {
		if got := get(url); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
	got := p.denied()
	slices.Sort(got)
	want := []string{place.Hostname() + ":1", strings.Repeat("long.", 20), "other.example.com:8443", "refused.example.com"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
