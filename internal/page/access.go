package page

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

const (
	tokenHeader = "X-Pawl-Token"
	readCookie  = "pawl-read"
)

// NewToken returns a token that nobody can guess.
func NewToken() string { return rand.Text() }

// readCookieValue returns the cookie of a browser that has the token. The cookie only permits
// reading: browsers send it to every port of the host, also to a server that an agent started.
func (s *server) readCookieValue() string {
	mac := hmac.New(sha256.New, []byte(s.Token))
	mac.Write([]byte("read"))
	return hex.EncodeToString(mac.Sum(nil))
}

// withSecurity rejects requests with an unknown host name, from pages of other origins, and without
// the token if they need one.
func (s *server) withSecurity(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cookie, err := r.Cookie(readCookie)
		mayRead := !s.Locked || s.hasToken(r) || err == nil && equalTokens(cookie.Value, s.readCookieValue())
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		switch {
		case !s.isKnownHost(r.Host):
			http.Error(w, "unknown host: add it with  pawl serve --name HOST", http.StatusMisdirectedRequest)
		case isCrossSite(r):
			http.Error(w, "this request comes from a page of another site", http.StatusForbidden)
		case r.Method == http.MethodPost && !s.hasToken(r):
			http.Error(w, "open the address that pawl serve printed: it has the token", http.StatusUnauthorized)
		case !mayRead && r.Method != http.MethodPost && s.files[r.URL.Path].data == nil:
			s.render(w, http.StatusUnauthorized, "problem", errorPage{layout{Title: "Token needed", Lock: true}, "Open the address that pawl serve printed: it has the token."})
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// isKnownHost reports whether a Host is an address, localhost, or a name that the user gave. An
// attacker's page can have its own name point here, but not an address.
func (s *server) isKnownHost(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	return name == "localhost" || slices.Contains(s.Names, name)
}

// isCrossSite reports whether a page of another origin made the request. Links to a page may be
// followed from anywhere; all other requests must come from our own pages.
func isCrossSite(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+r.Host && origin != "https://"+r.Host {
		return true
	}
	navigates := r.Header.Get("Sec-Fetch-Mode") == "navigate" && (r.Method == http.MethodGet || r.Method == http.MethodHead)
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return false
	}
	return !navigates
}

func (s *server) hasToken(r *http.Request) bool {
	return equalTokens(r.Header.Get(tokenHeader), s.Token)
}

// equalTokens compares secrets in constant time for equal lengths.
func equalTokens(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// serveSession gives a browser that has the token the cookie to read with.
func (s *server) serveSession(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, &http.Cookie{Name: readCookie, Value: s.readCookieValue(), Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil})
	w.WriteHeader(http.StatusNoContent)
}
