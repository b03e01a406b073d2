//go:build unix

package page

import (
	"context"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pawl-dev/pawl/internal/page/browsertest"
	"github.com/pawl-dev/pawl/internal/report"
)

// screens are what the pages are looked at on.
func screens() map[string]struct {
	width, height int
	scheme        string
} {
	return map[string]struct {
		width, height int
		scheme        string
	}{"light": {1280, 900, "light"}, "dark": {1280, 900, "dark"}, "phone": {390, 844, "light"}}
}

// TestPagesWorkInABrowser drives the pages as a user does: axe-core finds nothing wrong on any screen,
// the console has no error, nothing is asked of anybody else, and the loop is told.
func TestPagesWorkInABrowser(t *testing.T) {
	t.Parallel()
	source := browsertest.Axe(t)
	d, h := world(t)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { _ = Serve(ctx, l, h) }()
	base := "http://" + l.Addr().String()
	b := browsertest.Browse(t)
	b.Open(base + "/#token=" + token)
	for name, s := range screens() {
		b.SetScreen(s.width, s.height, s.scheme)
		for page, path := range map[string]string{"overview": "/", "loop": "/loop/lost-moth-33cc", "diff": "/loop/lost-moth-33cc/diff/US-1", "comment": "/loop/lost-moth-33cc/diff/US-1?at=3", "attempt": "/loop/lost-moth-33cc/attempt/2"} {
			b.Open(base + path)
			b.CheckAccessibility(page+", "+name, source)
			b.Screenshot(page + "-" + name)
			if wide := b.Eval("document.documentElement.scrollWidth - innerWidth"); strings.TrimPrefix(wide, "-") == wide && wide != "0" {
				t.Errorf("%s, %s: %s pixels too wide", page, name, wide)
			}
		}
	}
	b.Open(base + "/loop/lost-moth-33cc")
	b.Eval(`document.querySelector("#tell").value = "use the fake"; document.querySelector("button[value=tell]").click()`)
	b.WaitFor("the message is told", func() bool { return b.Eval(`document.querySelector("#status").textContent`) == "said" })
	b.Eval(`document.querySelector("#answer-US-2").value = "UTC"; document.querySelector("button[value=answer]").click()`)
	b.WaitFor("the question is answered", func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return len(d.commands) == 2
	})
	if got := strings.Join(d.commands, "\n"); got != "tell lost-moth-33cc -- use the fake\nanswer lost-moth-33cc --task=US-2 -- UTC" {
		t.Errorf("commands %q", got)
	}
	control(t, b, d, base)
	b.Open(base + "/loop/lost-moth-33cc/diff/US-1")
	b.Eval(`document.querySelector("a.line").click()`)
	b.WaitFor("the form has the focus", func() bool { return b.Eval(`document.activeElement?.id`) == "remark" })
	b.Eval(`document.activeElement.value = "keep it"; document.querySelector("button[value=comment]").click()`)
	b.WaitFor("the comment is told", func() bool { return b.Eval(`document.querySelector("#status").textContent`) == "said" })
	if got := d.commands[len(d.commands)-1]; got != "tell lost-moth-33cc -- x:1 (removed): keep it\nThe line: -old" {
		t.Errorf("comment %q", got)
	}
	b.Open(base + "/loop/lost-moth-33cc")
	d.mu.Lock()
	d.detail.Headline, d.stamped = "running again", "2"
	d.mu.Unlock()
	b.WaitFor("the page follows the loop", func() bool { return b.Eval(`document.querySelector("h1").textContent`) == "running again" })
	b.CheckConsole(base)
}

// TestBrokenConnectionIsShownInABrowser: a page says that it is no longer up to date, and follows the loop again once
// there is a server. A refused stream is asked for again.
func TestBrokenConnectionIsShownInABrowser(t *testing.T) {
	t.Parallel()
	d, h := world(t)
	refuses := atomic.Bool{}
	var l net.Listener
	serve := func(at string) (end func()) {
		t.Helper()
		var err error
		if l, err = new(net.ListenConfig).Listen(t.Context(), "tcp", at); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = Serve(ctx, l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/events" && refuses.Load() {
					http.Error(w, "too many pages are open", http.StatusServiceUnavailable)
					return
				}
				h.ServeHTTP(w, r)
			}))
		}()
		return func() { cancel(); <-done }
	}
	change := func(headline string) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.detail.Headline, d.stamped = headline, headline
	}
	end := serve("127.0.0.1:0")
	b := browsertest.Browse(t)
	b.Open("http://" + l.Addr().String() + "/loop/lost-moth-33cc#token=" + token)
	shows := func(selector, text string) func() bool {
		return func() bool {
			return strings.HasPrefix(b.Eval(`document.querySelector("`+selector+`").textContent`), text)
		}
	}
	end()
	b.WaitFor("the page says that it is not up to date", shows("#status", "pawl serve does not answer: this page is as of "))
	change("running again")
	refuses.Store(true)
	end = serve(l.Addr().String())
	defer func() { end() }()
	b.WaitFor("the page follows the loop", shows("h1", "running again"))
	refuses.Store(false)
	change("and again")
	b.WaitFor("the page follows the loop after a refusal", shows("h1", "and again"))
	b.WaitFor("the warning is gone", func() bool { return !shows("#status", "pawl serve does not answer")() })
}

// control presses the other buttons that control a loop, and confirms where asked.
func control(t *testing.T, b *browsertest.Tab, d *double, base string) {
	t.Helper()
	const page = "/loop/lost-moth-33cc"
	presses := []struct{ page, press, command string }{
		{"/", `document.querySelector("#start").value = "plan.md"; document.querySelector("#start + button").click()`, "run --detach --yes -- plan.md"},
		{page, `document.querySelector("#limit").value = "40"; document.querySelector("#limit + button").click()`, "limit lost-moth-33cc --max-iterations=40"},
		{page, `document.querySelector("button[value=pause]").click()`, "pause lost-moth-33cc"},
		{page, `document.querySelector("button[value=skip]").click()`, "plan skip lost-moth-33cc -- US-2"},
		{page, `document.querySelector("button[value=retry]").click()`, "plan retry lost-moth-33cc -- US-3"},
		{page, `document.querySelector("button[value=approve]").click()`, "approve lost-moth-33cc"},
		{page, `document.querySelector("button[value=restore]").click()`, "restore lost-moth-33cc --task=US-3 --yes"},
		{page, `document.querySelector("button[value=stop]").click()`, "stop lost-moth-33cc"},
	}
	for _, p := range presses {
		d.mu.Lock()
		d.detail.Summary.Tests, d.detail.Summary.State = []string{"a_test.go"}, "waiting"
		if strings.Contains(p.press, "restore") {
			d.detail.Summary.State, d.detail.Report.State.Tasks[2].WorkKept = "paused", true
		}
		before := len(d.commands)
		d.mu.Unlock()
		b.Open(base + p.page)
		b.Eval("window.confirm = () => true; " + p.press)
		b.WaitFor(p.command, func() bool {
			d.mu.Lock()
			defer d.mu.Unlock()
			return len(d.commands) > before
		})
		if got := d.commands[before]; got != p.command {
			t.Errorf("%s: command %q, want %q", p.press, got, p.command)
		}
	}
}

// TestPagesWorkWithTheKeyboard: a loop is found, told and answered without a mouse, and what has the focus
// keeps it when the page follows the loop.
func TestPagesWorkWithTheKeyboard(t *testing.T) {
	t.Parallel()
	d, h := world(t)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { _ = Serve(ctx, l, h) }()
	base := "http://" + l.Addr().String()
	b := browsertest.Browse(t)
	b.Open(base + "/#token=" + token)
	b.Press("Tab")
	if first := b.Eval(`document.activeElement.className`); first != "skip" {
		t.Errorf("the first Tab leads to %q", first)
	}
	b.Press("Enter")
	b.WaitFor("the content has the focus", func() bool { return b.Eval(`document.activeElement.id`) == "main" })
	b.TabTo(`a[href="/loop/lost-moth-33cc"]`)
	b.Press("Enter")
	b.WaitFor("the loop is open", func() bool { return b.Eval(`location.pathname`) == "/loop/lost-moth-33cc" })
	b.TabTo("#answer-US-2")
	b.Type("UTC")
	b.Press("Enter")
	b.WaitFor("the question is answered", func() bool { return b.Eval(`document.querySelector("#status").textContent`) == "said" })
	b.TabTo("#tell")
	b.Type("use the fake")
	b.TabTo("button[value=tell]")
	b.Press("Space")
	b.WaitFor("the message is told", func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return len(d.commands) == 2
	})
	if got := strings.Join(d.commands, "\n"); got != "answer lost-moth-33cc --task=US-2 -- UTC\ntell lost-moth-33cc -- use the fake" {
		t.Errorf("commands %q", got)
	}
	b.WaitFor("the button has the focus still", func() bool { return b.Eval(`document.activeElement.value`) == "tell" })
	b.TabTo(`a[href="/loop/lost-moth-33cc/attempt/2"]`)
	d.mu.Lock()
	d.detail.Headline, d.stamped = "running again", "2"
	d.mu.Unlock()
	b.WaitFor("the page follows the loop", func() bool { return b.Eval(`document.querySelector("h1").textContent`) == "running again" })
	if kept := b.Eval(`document.activeElement.getAttribute("href")`); kept != "/loop/lost-moth-33cc/attempt/2" {
		t.Errorf("the focus went to %q", kept)
	}
	b.CheckConsole(base)
}

// TestFirstPaintInABrowser compares when Chromium first shows something of 1,000 loops with
// when it does of a single one: what is far below the screen delays nothing. Both are
// shown anew in turn, and the quickest of each counts: on a busy machine that takes more rounds.
func TestFirstPaintInABrowser(t *testing.T) {
	t.Parallel()
	const rounds, maxRounds, bound = 5, 30, 3
	b := browsertest.Browse(t)
	paint := func(url string) float64 {
		b.Open(url)
		ms := ""
		b.WaitFor("something is shown", func() bool {
			ms = b.Eval(`performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? ""`)
			return ms != ""
		})
		f, err := strconv.ParseFloat(ms, 64)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	serve := func(loops int) string {
		d, h := world(t)
		d.loops = many(loops)
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = Serve(t.Context(), l, h) }()
		return "http://" + l.Addr().String() + "/?all=1"
	}
	one, thousand := serve(1), serve(1000)
	least := [2]float64{math.MaxFloat64, math.MaxFloat64}
	for n := 0; n < rounds || n < maxRounds && least[1] > bound*least[0]; n++ {
		for i, url := range []string{one, thousand} {
			least[i] = min(least[i], paint(url))
		}
	}
	t.Logf("first paint of one loop %.0f ms, of 1,000 %.0f ms", least[0], least[1])
	if least[1] > bound*least[0] {
		t.Errorf("the first paint of 1,000 loops takes %.1f × that of one, at most %d", least[1]/least[0], bound)
	}
}

// TestReportInABrowser holds the same of the report as a file.
func TestReportInABrowser(t *testing.T) {
	t.Parallel()
	source := browsertest.Axe(t)
	b := browsertest.Browse(t)
	path := filepath.Join(t.TempDir(), "report.html")
	file, err := report.HTML(detailed().Report)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, s := range screens() {
		b.SetScreen(s.width, s.height, s.scheme)
		b.Open("file://" + path)
		b.CheckAccessibility("report, "+name, source)
		b.Screenshot("report-" + name)
	}
	b.CheckConsole("file://" + path)
}
