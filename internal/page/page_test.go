package page

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestForeignRequestsAreRefused: what no page of ours would ask.
func TestForeignRequestsAreRefused(t *testing.T) {
	t.Parallel()
	const at = "/loop/lost-moth-33cc"
	tests := []struct {
		name, method, path, body string
		headers                  []string
		code                     int
	}{
		{"a rebound name", "GET", "/", "", []string{"Host: evil.example"}, 421},
		{"a rebound name with our port", "POST", at, "do=stop", []string{"Host: evil.example:7295", "Origin: http://evil.example:7295"}, 421},
		{"a form of another site", "POST", at, "do=stop", []string{"Origin: https://evil.example", "Sec-Fetch-Site: cross-site"}, 403},
		{"a form of another port", "POST", at, "do=stop", []string{"Origin: http://127.0.0.1:3000", "Sec-Fetch-Site: same-site"}, 403},
		{"a form without an origin", "POST", at, "do=stop", []string{"Origin: ", "Sec-Fetch-Site: cross-site"}, 403},
		{"a sandboxed form", "POST", at, "do=stop", []string{"Origin: null"}, 403},
		{"an image of another site", "GET", at, "", []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"}, 403},
		{"a link of another site", "GET", at, "", []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"}, 200},
		{"no token", "POST", at, "do=stop", []string{"X-Pawl-Token: "}, 401},
		{"a wrong token", "POST", at, "do=stop", []string{"X-Pawl-Token: the-token-of-this-tesT"}, 401},
		{"the token as a cookie", "POST", at, "do=stop", []string{"X-Pawl-Token: ", "Cookie: pawl-read=" + token}, 401},
		{"a huge body", "POST", at, "do=tell&text=" + strings.Repeat("x", maxBodyBytes), nil, 413},
		{"a huge goal", "POST", "/", "text=" + strings.Repeat("x", maxBodyBytes), nil, 413},
		{"another command", "POST", at, "do=uninstall", nil, 400},
		{"an unknown task", "POST", at, "do=answer&task=--all&text=x", nil, 400},
		{"an unknown loop", "POST", "/loop/calm-heron-11aa", "do=stop", nil, 404},
		{"a path out of the store", "GET", "/loop/..%2f..%2fetc", "", nil, 404},
		{"a path out of the store, in an action", "POST", "/loop/..%2f..%2fetc", "do=stop", nil, 404},
		{"a path out of the store, live", "GET", "/events?loop=..%2f..%2fetc", "", nil, 404},
		{"a path out of the assets", "GET", "/assets/..%2fpage.go", "", nil, 404},
		{"an unknown task's diff", "GET", at + "/diff/..%2f..", "", nil, 404},
		{"an unknown attempt", "GET", at + "/attempt/9", "", nil, 404},
		{"an attempt that is no number", "GET", at + "/attempt/..%2f1", "", nil, 404},
		{"a comment without a token", "POST", at, "do=comment&task=US-1&at=3&quote=-old&text=x", []string{"X-Pawl-Token: "}, 401},
		{"a comment from another site", "POST", at, "do=comment&task=US-1&at=3&quote=-old&text=x", []string{"Origin: https://evil.example", "Sec-Fetch-Site: cross-site"}, 403},
		{"another method", "DELETE", at, "", []string{"X-Pawl-Token: " + token}, 404},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d, h := world(t)
			w := request(h, tt.method, tt.path, tt.body, tt.headers...)
			if w.Code != tt.code {
				t.Errorf("%d, want %d: %s", w.Code, tt.code, body(t, w))
			}
			if len(d.commands) > 0 {
				t.Errorf("it ran %q", d.commands)
			}
			if csp := w.Header().Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
				t.Errorf("policy %q", csp)
			}
		})
	}
}

// TestCookieOnlyReads: the token buys a cookie that reads, and does nothing else.
func TestCookieOnlyReads(t *testing.T) {
	t.Parallel()
	d, h := world(t, func(o *Options) { o.Locked, o.Names = true, []string{"desk.example"} })
	for _, path := range []string{"/", "/loop/lost-moth-33cc", "/events", "/loop/lost-moth-33cc/diff/US-1"} {
		w := request(h, "GET", path, "")
		if text := body(t, w); w.Code != http.StatusUnauthorized || strings.Contains(text, "lost-moth") {
			t.Errorf("%s without a token: %d %s", path, w.Code, text)
		}
	}
	for _, path := range []string{"/style.css", "/script.js"} {
		if w := request(h, "GET", path, ""); w.Code != http.StatusOK {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	if w := request(h, "POST", "/session", "", tokenHeader+": wrong"); w.Code != http.StatusUnauthorized {
		t.Errorf("a wrong token got a cookie: %d", w.Code)
	}
	cookie := request(h, "POST", "/session", "").Result().Cookies()[0]
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || strings.Contains(cookie.Value, token) {
		t.Errorf("cookie %+v", cookie)
	}
	with := "Cookie: " + cookie.Name + "=" + cookie.Value
	if w := request(h, "GET", "/", "", with, "Host: desk.example:7295"); w.Code != http.StatusOK {
		t.Errorf("with the cookie: %d", w.Code)
	}
	if w := request(h, "POST", "/loop/lost-moth-33cc", "do=stop", with, tokenHeader+": "); w.Code != http.StatusUnauthorized || len(d.commands) > 0 {
		t.Errorf("the cookie acts: %d %q", w.Code, d.commands)
	}
}

// TestFormsRunCommands: a form is a command line of Pawl's, whose text cannot become an option.
func TestFormsRunCommands(t *testing.T) {
	t.Parallel()
	tests := []struct{ form, command string }{
		{"do=tell&text=--now+use+the+fake", "tell lost-moth-33cc -- --now use the fake"},
		{"do=tell-now&text=stop+that", "tell lost-moth-33cc --now -- stop that"},
		{"do=answer&task=US-2&text=2", "answer lost-moth-33cc --task=US-2 -- 2"},
		{"do=approve", "approve lost-moth-33cc"},
		{"do=approve&task=US-2", "approve lost-moth-33cc --task=US-2"},
		{"do=reject", "reject lost-moth-33cc"},
		{"do=reject&text=--yes", "reject lost-moth-33cc --why=--yes"},
		{"do=comment&task=US-1&at=4&quote=%2B" + url.QueryEscape(hostile) + "&text=+no+", "tell lost-moth-33cc -- x:1: no\nThe line: +" + hostile},
		{"do=comment-now&task=US-1&at=3&quote=-old&text=--keep", "tell lost-moth-33cc --now -- x:1 (removed): --keep\nThe line: -old"},
		{"do=pause", "pause lost-moth-33cc"},
		{"do=limit-iterations&text=40", "limit lost-moth-33cc --max-iterations=40"},
		{"do=limit-duration&text=--json", "limit lost-moth-33cc --max-duration=--json"},
		{"do=skip&task=US-2", "plan skip lost-moth-33cc -- US-2"},
		{"do=retry&task=US-3", "plan retry lost-moth-33cc -- US-3"},
		{"do=restore&task=US-3", "restore lost-moth-33cc --task=US-3 --yes"},
		{"do=undo", "undo lost-moth-33cc --yes"},
		{"do=resume", "resume lost-moth-33cc --detach"},
		{"do=stop", "stop lost-moth-33cc"},
	}
	for _, tt := range tests {
		d, h := world(t)
		w := request(h, "POST", "/loop/lost-moth-33cc", tt.form)
		if got := strings.Join(d.commands, "\n"); got != tt.command || w.Code != http.StatusOK || body(t, w) != "said" {
			t.Errorf("%s: %q, %d %s", tt.form, got, w.Code, body(t, w))
		}
	}
	d, h := world(t)
	d.says, d.err = "pawl: error: no", errors.New("exit status 2")
	if w := request(h, "POST", "/loop/lost-moth-33cc", "do=stop"); w.Code != http.StatusConflict || body(t, w) != "pawl: error: no" {
		t.Errorf("a command that failed: %d", w.Code)
	}
	for _, form := range []string{"at=3&quote=-older", "at=2&quote=%40%40+-1+%2B1+%40%40", "at=99&quote=", "at=-1&quote="} {
		if w := request(h, "POST", "/loop/lost-moth-33cc", "do=comment&task=US-1&text=x&"+form); w.Code != http.StatusConflict || len(d.commands) != 1 {
			t.Errorf("a comment on another line, %s: %d %q", form, w.Code, d.commands)
		}
	}
	for form, code := range map[string]int{"text=--gate+true": http.StatusOK, "text=+": http.StatusBadRequest} {
		d, h := world(t)
		if w := request(h, "POST", "/", form); w.Code != code || code == http.StatusOK && d.commands[0] != "run --detach --yes -- --gate true" {
			t.Errorf("start %s: %d %q", form, w.Code, d.commands)
		}
		if w := request(h, "POST", "/", form, tokenHeader+": "); w.Code != http.StatusUnauthorized {
			t.Errorf("start without the token: %d", w.Code)
		}
	}
	if w := request(h, "POST", "/loop/lost-moth-33cc", "do=tell&text="); w.Code != http.StatusBadRequest {
		t.Errorf("nothing to tell: %d", w.Code)
	}
}

// TestStaleAnswerIsRefused: what a page showed may no longer be asked when its button is pressed.
func TestStaleAnswerIsRefused(t *testing.T) {
	t.Parallel()
	d, h := world(t)
	st := &d.detail.Report.State
	d.detail.Summary.Tests = []string{"a_test.go", "b_test.go"}
	shown := body(t, request(h, "GET", "/loop/lost-moth-33cc", ""))
	keys := regexp.MustCompile(`name="asked" value="([^"]+)"`).FindAllStringSubmatch(shown, -1)
	if len(keys) != 3 {
		t.Fatalf("%d forms answer what is asked, want 3: two of the question, one of the tests\n%s", len(keys), shown)
	}
	answer, approve := "do=answer&task=US-2&text=UTC&asked="+keys[0][1], "do=approve&asked="+keys[2][1]
	for _, form := range []string{answer, approve} {
		if w := request(h, "POST", "/loop/lost-moth-33cc", form); w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", form, w.Code, body(t, w))
		}
	}
	later := st.Questions[0]
	later.At = later.At.Add(time.Minute)
	st.Questions, d.detail.Summary.Tests, d.commands = []loop.Question{later}, []string{"a_test.go", "c_test.go"}, nil
	for _, form := range []string{answer, approve, strings.Replace(answer, "answer", "reject", 1)} {
		w := request(h, "POST", "/loop/lost-moth-33cc", form)
		if said := body(t, w); w.Code != http.StatusConflict || !strings.Contains(said, "no longer asked") || len(d.commands) > 0 {
			t.Errorf("stale %s: %d %s, ran %q", form, w.Code, said, d.commands)
		}
	}
}

// TestPagesMatchGoldenFiles compares pages with golden files. No text of an agent's is markup in them.
func TestPagesMatchGoldenFiles(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{
		"overview": "/", "search": "/?q=upload", "nothing": "/?q=" + strings.Repeat("z", 10), "loop": "/loop/lost-moth-33cc", "diff": "/loop/lost-moth-33cc/diff/US-1", "comment": "/loop/lost-moth-33cc/diff/US-1?at=3",
		"attempt": "/loop/lost-moth-33cc/attempt/2", "attempt-untold": "/loop/lost-moth-33cc/attempt/1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, h := world(t)
			w := request(h, "GET", path, "")
			got := body(t, w)
			if w.Code != http.StatusOK {
				t.Fatalf("%d %s", w.Code, got)
			}
			for _, bad := range []string{"<script>alert", "<img", " style=", "javascript:", " onerror=alert(1)>", "http://", "https://"} {
				if strings.Contains(strings.ReplaceAll(got, "&lt;img", ""), bad) && (bad != " onerror=alert(1)>" || strings.Contains(got, "<img")) {
					t.Errorf("%q in the page", bad)
				}
			}
			golden(t, filepath.Join("testdata", name+".html"), got)
		})
	}
}

// A page offers to restore what was undone, and to undo what was restored, and nothing else.
func TestRestoresAreOffered(t *testing.T) {
	t.Parallel()
	for _, kept := range []bool{false, true} {
		d, h := world(t)
		st := &d.detail.Report.State
		d.detail.Summary.State, st.Tasks[2].WorkKept, st.UserRestores = "ended", kept, map[bool]int{true: 1}[kept]
		got := body(t, request(h, "GET", "/loop/lost-moth-33cc", ""))
		for _, button := range []string{"Restore the work", "Undo the last restore"} {
			if strings.Contains(got, button) != kept {
				t.Errorf("%q is offered: %t, want %t", button, !kept, kept)
			}
		}
	}
}

// TestEndedLoopSaysWhy: a page of a loop that ended with work undone says why before its plan.
func TestEndedLoopSaysWhy(t *testing.T) {
	t.Parallel()
	d, h := world(t)
	d.detail.Summary.State, d.detail.Report.State.Outcome, d.detail.Report.State.Reason = "ended", loop.Stuck, "task US-3 failed: TestLogout"
	top, _, _ := strings.Cut(body(t, request(h, "GET", "/loop/lost-moth-33cc", "")), "<h2>Plan")
	if want := `<p class="need">task US-3 failed: TestLogout</p>`; !strings.Contains(top, want) {
		t.Errorf("%s is missing in\n%s", want, top)
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	got = regexp.MustCompile(`queued \d\d:\d\d:\d\d`).ReplaceAllString(got, "queued HH:MM:SS") // in the zone of this machine
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// TestOverviewOfManyLoopsIsLimited: the list is read once while nothing changes, and ended loops beyond
// the first hundred are a link.
func TestOverviewOfManyLoopsIsLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // no time passes between the requests
		d, h := world(t)
		d.loops = many(1000)
		for range 20 {
			if got := body(t, request(h, "GET", "/", "")); strings.Count(got, "<li>") != maxEnded || !strings.Contains(got, "Show 900 more") {
				t.Fatalf("%d rows", strings.Count(got, "<li>"))
			}
		}
		if d.reads != 1 {
			t.Errorf("the loops were read %d times", d.reads)
		}
		if got := body(t, request(h, "GET", "/?all=1", "")); strings.Count(got, "<li>") != 1000 {
			t.Errorf("%d rows of all", strings.Count(got, "<li>"))
		}
	})
}

// TestChangesAreStreamedOnce: a browser is told once what it shows has changed; streams are bounded, and end
// with the server.
func TestChangesAreStreamedOnce(t *testing.T) {
	t.Parallel()
	d, h := world(t)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, l, h) }()
	url := "http://" + l.Addr().String() + "/events"
	get := func() *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		w, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	var open []*http.Response
	for range maxStreams {
		open = append(open, get())
	}
	if w := get(); w.StatusCode != http.StatusServiceUnavailable || w.Header.Get("Retry-After") == "" {
		t.Errorf("one stream too many: %d", w.StatusCode)
	} else {
		_ = w.Body.Close()
	}
	lines := bufio.NewScanner(open[0].Body)
	d.change("2")
	for lines.Scan() && lines.Text() != "data: changed" {
	}
	if lines.Err() != nil || lines.Text() != "data: changed" {
		t.Errorf("told %q, %v", lines.Text(), lines.Err())
	}
	cancel()
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("the server ended with %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the server does not end while pages are open")
	}
	for _, w := range open {
		_ = w.Body.Close()
	}
}

// TestSlowClientIsDisconnected: who sends no request within a moment is hung up on.
func TestSlowClientIsDisconnected(t *testing.T) {
	t.Parallel()
	_, h := world(t)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { _ = Serve(ctx, l, h) }()
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: local"); err != nil {
		t.Fatal(err)
	}
	if err := c.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the connection is still open after 30 s")
	}
}

func TestTokenIsRequired(t *testing.T) {
	t.Parallel()
	if _, err := New(Options{}); err == nil {
		t.Error("pages without a token")
	}
	if a, b := NewToken(), NewToken(); a == b || len(a) < 20 {
		t.Errorf("tokens %q and %q", a, b)
	}
}

// BenchmarkOverview is a page of a thousand loops.
func BenchmarkOverview(b *testing.B) {
	d := &double{loops: many(1000), stamped: "1"}
	h, err := New(Options{Source: d, Token: token})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/", nil))
	}
}
