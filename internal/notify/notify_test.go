package notify

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/notice"
)

// received is a request that a service got.
type received struct {
	path, query, title, kind, body string
}

// service simulates a chat service. It answers with the codes in turn, and then always with the
// last one.
func service(t *testing.T, codes ...int) (address string, got func() []received) {
	t.Helper()
	requests := make(chan received, 20)
	var n atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		requests <- received{r.URL.Path, r.URL.RawQuery, r.Header.Get("Title"), r.Header.Get("Content-Type"), string(body)}
		w.WriteHeader(codes[min(int(n.Add(1))-1, len(codes)-1)])
		_, _ = io.WriteString(w, "because of s3cr3t-token")
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []received {
		var all []received
		for len(requests) > 0 {
			all = append(all, <-requests)
		}
		return all
	}
}

func sample() notice.Notice {
	return notice.Notice{
		Event: notice.Ended, Reason: "stuck", Outcome: "stuck", At: time.Unix(0, 0).UTC(),
		Title: "1 of 2 tasks done, 1 needs you · ended STUCK", Text: "US-2 <print> failed & stays",
	}.ForLoop("brisk-otter", "plan.md", "/repo")
}

func sender(address string) Sender {
	return Sender{Vars: []string{"URL=" + address}, pauses: []time.Duration{time.Millisecond, time.Millisecond}}
}

func TestServicesGetTheirOwnForm(t *testing.T) {
	t.Parallel()
	const title = "brisk-otter · 1 of 2 tasks done, 1 needs you · ended STUCK"
	const text = title + "\nplan.md in repo\nUS-2 <print> failed & stays\npawl report brisk-otter"
	webhook, err := json.Marshal(sample())
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		kind  notice.Kind
		query string
		want  received
		field string // field of the JSON body that contains value
		value string
	}{
		{notice.Webhook, "", received{kind: "application/json", body: string(webhook)}, "", ""},
		{notice.Slack, "", received{kind: "application/json"}, "text", strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)},
		{notice.Discord, "?wait=true", received{kind: "application/json", query: "wait=true"}, "content", text},
		{notice.Telegram, "?chat_id=42", received{kind: "application/json"}, "text", text},
		{notice.Telegram, "?chat_id=42", received{kind: "application/json"}, "chat_id", "42"},
		{notice.Ntfy, "", received{
			title: title,
			body:  "plan.md in repo\nUS-2 <print> failed & stays\npawl report brisk-otter",
		}, "", ""},
	}
	for _, c := range cases {
		t.Run(string(c.kind)+" "+c.field, func(t *testing.T) {
			t.Parallel()
			address, got := service(t, http.StatusOK)
			if failed := sender(address+"/s3cr3t-token"+c.query).Send(t.Context(), sample(), []notice.Receiver{{Kind: c.kind, Arg: "env:URL"}}); len(failed) > 0 {
				t.Fatal(failed)
			}
			all := got()
			if len(all) != 1 {
				t.Fatalf("%d requests", len(all))
			}
			c.want.path = "/s3cr3t-token"
			decoded, err := new(mime.WordDecoder).DecodeHeader(all[0].title)
			if all[0].title = decoded; err != nil {
				t.Fatal(err)
			}
			if c.field != "" {
				var body map[string]any
				if err := json.Unmarshal([]byte(all[0].body), &body); err != nil || body[c.field] != c.value {
					t.Errorf("%s is %q, want %q (%v)", c.field, body[c.field], c.value, err)
				}
				all[0].body = ""
			}
			if diff := cmp.Diff(c.want, all[0], cmp.AllowUnexported(received{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFailuresAreRetriedWhereTheyMayPass(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		codes []int
		tries int
		want  string // part of the error; "" = sent
	}{
		{"sent", []int{200}, 1, ""},
		{"down for a moment", []int{503, 429, 204}, 3, ""},
		{"down", []int{500}, 3, "answers 500 Internal Server Error: because of [redacted] (3 attempts)"},
		{"refused", []int{404}, 1, "answers 404 Not Found: because of [redacted]"},
		{"moved", []int{301}, 1, "redirects (301 Moved Permanently), which is not followed"},
	}
	for _, kind := range []notice.Kind{notice.Webhook, notice.Slack, notice.Discord, notice.Telegram, notice.Ntfy} {
		for _, c := range cases {
			t.Run(string(kind)+" "+c.name, func(t *testing.T) {
				t.Parallel()
				address, got := service(t, c.codes...)
				failed := sender(address+"/s3cr3t-token").Send(t.Context(), sample(), []notice.Receiver{{Kind: kind, Arg: "env:URL"}})
				if tries := len(got()); tries != c.tries {
					t.Errorf("%d requests, want %d", tries, c.tries)
				}
				checkFailure(t, failed, c.want)
			})
		}
	}
}

// checkFailure expects one failure with a text, or none.
func checkFailure(t *testing.T, failed map[notice.Receiver]error, want string) {
	t.Helper()
	said := fmt.Sprint(failed)
	switch {
	case want == "" && len(failed) > 0:
		t.Error(failed)
	case want == "":
	case len(failed) != 1 || !strings.Contains(said, want):
		t.Errorf("%v, want %q", failed, want)
	case strings.Contains(said, "s3cr3t"):
		t.Errorf("the address is told: %v", failed)
	}
}

// A redirect is not followed, because the address is for one host.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	elsewhere, got := service(t, http.StatusOK)
	s := httptest.NewServer(http.RedirectHandler(elsewhere, http.StatusTemporaryRedirect))
	t.Cleanup(s.Close)
	failed := sender(s.URL).Send(t.Context(), sample(), []notice.Receiver{{Kind: notice.Slack, Arg: "env:URL"}})
	checkFailure(t, failed, "not followed")
	if all := got(); all != nil {
		t.Errorf("it was told %v", all)
	}
}

// A receiver that never answers does not delay the others, and Send returns when the context ends.
func TestASlowReceiverDelaysNobody(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(func() { close(release); slow.Close() })
	fast, got := service(t, http.StatusOK)
	ctx, cancel := contextUntil(t, got)
	defer cancel()
	s := Sender{Vars: []string{"SLOW=" + slow.URL, "FAST=" + fast}}
	to := []notice.Receiver{{Kind: notice.Webhook, Arg: "env:SLOW"}, {Kind: notice.Webhook, Arg: "env:FAST"}}
	failed := s.Send(ctx, sample(), to)
	checkFailure(t, failed, "out of time")
	if failed[to[0]] == nil {
		t.Errorf("%v failed", failed)
	}
}

func TestNothingListensThere(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(nil)
	address := s.URL
	s.Close()
	failed := sender(address+"/s3cr3t-token").Send(t.Context(), sample(), []notice.Receiver{{Kind: notice.Ntfy, Arg: "env:URL"}})
	checkFailure(t, failed, "(3 attempts)")
}

func TestAddressesStandInFilesAndVariables(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	address, got := service(t, http.StatusOK)
	for name, text := range map[string]string{"url": address + "\n", "bad": "s3cr3t", "ftp": "ftp://s3cr3t"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := Sender{Vars: []string{"SET=s3cr3t", "EMPTY="}, Dir: dir, Home: dir}
	for arg, want := range map[string]string{
		"file:url": "", "file:~/url": "", "file:" + filepath.Join(dir, "url"): "",
		"file:none": "read the address in none: no such file", "file:bad": "file:bad holds no address", "file:ftp": "holds no address",
		"env:SET": "env:SET holds no address", "env:EMPTY": "the environment variable EMPTY is not set", "env:NONE": "NONE is not set",
	} {
		r := notice.Receiver{Kind: notice.Webhook, Arg: arg}
		checkFailure(t, s.Send(t.Context(), sample(), []notice.Receiver{r}), want)
		if err := s.Check(r); (err == nil) != (want == "") {
			t.Errorf("Check(%s): %v, want %q", arg, err, want)
		}
	}
	if n := len(got()); n != 3 {
		t.Errorf("%d sent, want 3", n)
	}
}

func TestSecretsAreRemoved(t *testing.T) {
	t.Parallel()
	address, got := service(t, http.StatusOK)
	s := sender(address)
	s.Redact = func(text string) string { return strings.ReplaceAll(text, "hunter2", "[redacted]") }
	n := sample()
	n.Text, n.Title, n.Goal = "the password is hunter2\n"+strings.Repeat("long ", 2000)+"\npawl report brisk-otter", "hunter2", "hunter2"
	if failed := s.Send(t.Context(), n, []notice.Receiver{{Kind: notice.Webhook, Arg: "env:URL"}}); len(failed) > 0 {
		t.Fatal(failed)
	}
	body := got()[0].body
	if strings.Contains(body, "hunter2") || !strings.Contains(body, "[redacted]") {
		t.Error(body)
	}
	if len(body) > 2500 || !strings.Contains(body, `\npawl report brisk-otter"`) {
		t.Errorf("%d bytes: %s", len(body), body)
	}
}

// contextUntil returns a context that ends when a service gets a request.
func contextUntil(t *testing.T, got func() []received) (context.Context, context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for len(got()) == 0 && ctx.Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
	}()
	return ctx, cancel
}
