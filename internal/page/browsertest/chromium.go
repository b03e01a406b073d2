//go:build unix

// Package browsertest drives pages in a headless Chromium, for tests.
//
//	b := browsertest.Browse(t)
//	b.Open("http://127.0.0.1:7295/")
//	b.Eval(`document.querySelector("button").click()`)
package browsertest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// requireVariable is the environment variable that turns a missing browser from a skip into a
// failure. `make browser` sets it.
const requireVariable = "PAWL_BROWSER"

// skipUnlessRequired skips a test because something is missing on the machine. It fails the test if
// requireVariable is set.
func skipUnlessRequired(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv(requireVariable) == "1" {
		t.Fatalf(requireVariable+"=1, but "+format, args...)
	}
	t.Skipf(format, args...)
}

// Tab is a tab of a headless Chromium, driven over its debugging pipe.
type Tab struct {
	t       *testing.T
	out     *os.File
	session string

	mu      sync.Mutex
	last    int
	answers map[int]chan json.RawMessage
	errors  []string // of the console
	asked   []string // addresses
	loaded  int
}

const callTimeout = 60 * time.Second

// Browse starts a browser with one tab.
func Browse(t *testing.T) *Tab {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		skipUnlessRequired(t, "there is no chromium (a package of Debian's)")
	}
	in, toBrowser, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	fromBrowser, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	// In containers Chromium may not make its own sandbox; it opens our pages only.
	cmd := exec.CommandContext(t.Context(), program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe", "--user-data-dir="+newProfileDir(t))
	cmd.ExtraFiles, cmd.WaitDelay = []*os.File{in, out}, 5*time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = in.Close(), out.Close()
	b := &Tab{t: t, out: toBrowser, answers: map[int]chan json.RawMessage{}}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait(); _ = toBrowser.Close(); _ = fromBrowser.Close() })
	go b.listen(fromBrowser)
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

// newProfileDir returns a folder for the browser's profile, which is removed at the end of the test.
// Processes of the browser write into it for a moment after its end; t.TempDir would then fail.
func newProfileDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "chromium") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for range 250 {
			if os.RemoveAll(dir) == nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
		t.Logf("%s could not be removed", dir)
	})
	return dir
}

// message is a message of the debugging protocol.
type message struct {
	ID     int             `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

func (b *Tab) listen(from *os.File) {
	in := bufio.NewReader(from)
	for {
		line, err := in.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(line[:len(line)-1], &m) != nil {
			continue
		}
		b.mu.Lock()
		if m.ID != 0 {
			if len(m.Error) > 0 {
				m.Result = m.Error
			}
			if c := b.answers[m.ID]; c != nil {
				c <- m.Result
			}
		} else {
			b.event(m)
		}
		b.mu.Unlock()
	}
}

func (b *Tab) event(m message) {
	switch m.Method {
	case "Page.loadEventFired":
		b.loaded++
	case "Runtime.exceptionThrown":
		b.errors = append(b.errors, string(m.Params))
	case "Runtime.consoleAPICalled":
		if strings.Contains(string(m.Params), `"type":"error"`) {
			b.errors = append(b.errors, string(m.Params))
		}
	case "Log.entryAdded":
		if strings.Contains(string(m.Params), `"level":"error"`) {
			b.errors = append(b.errors, string(m.Params))
		}
	case "Network.requestWillBeSent":
		var p struct{ Request struct{ URL string } }
		if json.Unmarshal(m.Params, &p) == nil {
			b.asked = append(b.asked, p.Request.URL)
		}
	}
}

// call sends a command of the protocol and decodes the reply.
func (b *Tab) call(method string, params map[string]any, answer any) {
	b.t.Helper()
	b.mu.Lock()
	b.last++
	id, c := b.last, make(chan json.RawMessage, 1)
	b.answers[id] = c
	b.mu.Unlock()
	request := map[string]any{"id": id, "method": method, "params": params}
	if params == nil {
		request["params"] = map[string]any{}
	}
	if b.session != "" {
		request["sessionId"] = b.session
	}
	data, err := json.Marshal(request)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.out.Write(append(data, 0)); err != nil {
		b.t.Fatal(err)
	}
	select {
	case r := <-c:
		if answer != nil {
			if err := json.Unmarshal(r, answer); err != nil {
				b.t.Fatalf("%s: %v in %s", method, err, r)
			}
		}
	case <-time.After(callTimeout):
		b.t.Fatalf("%s: no answer", method)
	}
}

// Open loads a page.
func (b *Tab) Open(url string) {
	b.t.Helper()
	b.mu.Lock()
	before := b.loaded
	b.mu.Unlock()
	b.call("Page.navigate", map[string]any{"url": url}, nil)
	b.WaitFor("the page is loaded", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.loaded > before
	})
}

// WaitFor waits until done returns true.
func (b *Tab) WaitFor(what string, done func() bool) {
	b.t.Helper()
	for end := time.Now().Add(callTimeout); !done(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			b.t.Fatalf("waited for: %s", what)
		}
	}
}

// Eval runs a script in the page, and returns its result as text.
func (b *Tab) Eval(script string) string {
	b.t.Helper()
	var r struct {
		Result           struct{ Value any }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": script, "awaitPromise": true, "returnByValue": true}, &r)
	if len(r.ExceptionDetails) > 0 {
		b.t.Fatalf("%.60s: %s", script, r.ExceptionDetails)
	}
	return fmt.Sprint(r.Result.Value)
}

// Type types a text into the focused element, like a keyboard.
func (b *Tab) Type(text string) {
	b.t.Helper()
	b.call("Input.insertText", map[string]any{"text": text}, nil)
}

// Press presses a key: Tab, Enter or Space.
func (b *Tab) Press(key string) {
	b.t.Helper()
	k := map[string]struct {
		code       int
		name, text string
	}{"Tab": {9, "Tab", ""}, "Enter": {13, "Enter", "\r"}, "Space": {32, " ", " "}}[key]
	for _, kind := range []string{"keyDown", "keyUp"} {
		b.call("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": k.name, "code": key, "windowsVirtualKeyCode": k.code, "text": k.text}, nil)
	}
}

// TabTo presses Tab until the selected element has the focus. It checks that each element on the way
// shows its focus.
func (b *Tab) TabTo(selector string) {
	b.t.Helper()
	const most = 200
	for range most {
		b.Press("Tab")
		state := b.Eval(`(() => { const e = document.activeElement, s = getComputedStyle(e); return e === document.body ? "outside" : !e.matches(":focus-visible") || s.outlineStyle === "none" || parseFloat(s.outlineWidth) < 1 ? "unseen: " + e.outerHTML : e.matches(` + "`" + selector + "`" + `) ? "there" : "" })()`)
		switch {
		case state == "there":
			return
		case strings.HasPrefix(state, "unseen"):
			b.t.Errorf("the focus is not seen; %.200s", state)
		}
	}
	b.t.Fatalf("no way to %s with %d times Tab", selector, most)
}

// SetScreen sets the size of the screen and the colour scheme, light or dark.
func (b *Tab) SetScreen(width, height int, scheme string) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}, nil)
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// Screenshot saves a picture of the whole page into the folder PAWL_SCREENSHOTS, if it is set.
func (b *Tab) Screenshot(name string) {
	b.t.Helper()
	dir := os.Getenv("PAWL_SCREENSHOTS")
	if dir == "" {
		return
	}
	var shot struct{ Data []byte }
	b.call("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true}, &shot)
	if err := os.WriteFile(filepath.Join(dir, name+".png"), shot.Data, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// Axe returns the source of axe-core, which .ci/clients installs.
func Axe(t *testing.T) string {
	t.Helper()
	path := filepath.Join("..", "..", ".cache", "page", "node_modules", "axe-core", "axe.min.js") // of internal/page
	data, err := os.ReadFile(path)
	if err != nil {
		skipUnlessRequired(t, "there is no axe-core: .ci/clients installs it")
	}
	return string(data)
}

// CheckAccessibility fails the test if axe-core finds a problem in the page.
func (b *Tab) CheckAccessibility(where, source string) {
	b.t.Helper()
	b.Eval(source + "; 0")
	found := b.Eval(`axe.run().then((r) => r.violations.map((v) => v.id + ": " + v.help + "\n  " + v.nodes.map((n) => n.target + " " + n.failureSummary).join("\n  ")).join("\n"))`)
	if found != "" {
		b.t.Errorf("%s: %s", where, found)
	}
}

// CheckConsole fails the test if the console has an error, or if a request left base.
func (b *Tab) CheckConsole(base string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.errors {
		b.t.Errorf("on the console: %s", e)
	}
	for _, url := range b.asked {
		if !strings.HasPrefix(url, base) && !strings.HasPrefix(url, "data:") {
			b.t.Errorf("it asked %s", url)
		}
	}
}
