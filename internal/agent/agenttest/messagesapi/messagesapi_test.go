package messagesapi_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

func serve(t *testing.T, steps ...messagesapi.Response) *messagesapi.Server {
	t.Helper()
	s := messagesapi.Serve(messagesapi.Steps(steps...))
	t.Cleanup(s.Close)
	return s
}

// post sends a request as a client would and returns the answer, whole.
func post(t *testing.T, s *messagesapi.Server, body string) (*http.Response, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/v1/messages?beta=true", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Claude-Code-Session-Id", "s1")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp, string(b), err
}

const hello = `{"model":"m","stream":true,"tools":[{"name":"Bash"}],"system":[{"type":"text","text":"be brief"}],` +
	`"messages":[{"role":"user","content":"hi"}]}`

func TestAStreamedAnswer(t *testing.T) {
	t.Parallel()
	s := serve(t, messagesapi.Text("hello").And(messagesapi.Bash("ls")).Using(messagesapi.Usage{Input: 7, Output: 9}))
	resp, body, err := post(t, s, hello)
	if err != nil || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%v, %s", err, resp.Header)
	}
	var events []string
	for line := range strings.Lines(body) {
		if kind, ok := strings.CutPrefix(line, "event: "); ok {
			events = append(events, strings.TrimSpace(kind))
		} else if data, ok := strings.CutPrefix(line, "data: "); ok && !json.Valid([]byte(data)) {
			t.Errorf("no JSON: %s", data)
		}
	}
	want := []string{
		"message_start", "content_block_start", "content_block_delta", "content_block_stop",
		"content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop",
	}
	if diff := cmp.Diff(want, events); diff != "" {
		t.Error(diff)
	}
	for _, part := range []string{`"text":"hello"`, `{\"command\":\"ls\"`, `"stop_reason":"tool_use"`, `"input_tokens":7`, `"output_tokens":9`} {
		if !strings.Contains(body, part) {
			t.Errorf("%s is missing in %s", part, body)
		}
	}
}

func TestAnAnswerInOnePiece(t *testing.T) {
	t.Parallel()
	s := serve(t, messagesapi.Write("/a", "b").Stopping("max_tokens"))
	_, body, err := post(t, s, strings.Replace(hello, `"stream":true,`, "", 1))
	var m struct {
		Content    []struct{ Type, Name string }
		StopReason string `json:"stop_reason"`
	}
	if err != nil || json.Unmarshal([]byte(body), &m) != nil || len(m.Content) != 1 || m.Content[0].Name != "Write" || m.StopReason != "max_tokens" {
		t.Errorf("%v: %s", err, body)
	}
}

func TestErrorsDropsAndDelays(t *testing.T) {
	t.Parallel()
	s := serve(t,
		messagesapi.Fail(429, "slow down", "Retry-After", "60"), messagesapi.Fail(401, "who?"), messagesapi.Fail(529, "busy"),
		messagesapi.Drop(), messagesapi.Text("late").After(100*time.Millisecond))
	resp, body, _ := post(t, s, hello)
	if resp.StatusCode != 429 || resp.Header.Get("Retry-After") != "60" || !strings.Contains(body, "rate_limit_error") {
		t.Errorf("%s: %s", resp.Status, body)
	}
	if resp, body, _ = post(t, s, hello); resp.StatusCode != 401 || !strings.Contains(body, "authentication_error") {
		t.Errorf("%s: %s", resp.Status, body)
	}
	if resp, body, _ = post(t, s, hello); resp.StatusCode != 529 || !strings.Contains(body, "overloaded_error") {
		t.Errorf("%s: %s", resp.Status, body)
	}
	if _, body, err := post(t, s, hello); err == nil || strings.Contains(body, "message_stop") {
		t.Errorf("a dropped stream came whole: %v, %s", err, body)
	}
	begin := time.Now()
	if _, body, err := post(t, s, hello); err != nil || !strings.Contains(body, "late") || time.Since(begin) < 100*time.Millisecond {
		t.Errorf("after %v: %v, %s", time.Since(begin), err, body)
	}
}

func TestWhatAScriptSees(t *testing.T) {
	t.Parallel()
	s := serve(t, messagesapi.Text("ok"))
	var seen []messagesapi.Request
	s.Play(func(r messagesapi.Request) messagesapi.Response {
		seen = append(seen, r)
		return messagesapi.Text("ok")
	})
	body := `{"model":"m","stream":true,"tools":[{"name":"Bash"}],"system":"s","messages":[
		{"role":"user","content":[{"type":"text","text":"do"},{"type":"text","text":"it"}]},
		{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":[{"type":"text","text":"denied"}]}]},
		{"role":"system","content":"note"},{"role":"system","content":"and more"}]}`
	if _, _, err := post(t, s, body); err != nil {
		t.Fatal(err)
	}
	if _, _, err := post(t, s, `{"model":"m","messages":[{"role":"user","content":"a title please"}]}`); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 1 || s.SideRequests() != 1 || len(s.Requests()) != 1 {
		t.Fatalf("%d requests seen, %d on the side", len(seen), s.SideRequests())
	}
	r := seen[0]
	if r.Number != 1 || r.Session != "s1" || r.Model != "m" || r.System != "s" || r.LastUserText() != "do\nit" || r.News() != "note\nand more" || !r.Says("note") || r.Says("never") {
		t.Errorf("request %+v", r)
	}
	if diff := cmp.Diff([]messagesapi.ToolResult{{ID: "t1", Text: "denied", Error: true}}, r.ToolResults()); diff != "" {
		t.Error(diff)
	}
	if u := r.Messages[1].Uses; len(u) != 1 || u[0].Input["command"] != "ls" {
		t.Errorf("uses %+v", u)
	}
}

func TestTheRestOfTheAPI(t *testing.T) {
	t.Parallel()
	s := serve(t, messagesapi.Text("ok"))
	for _, c := range []struct {
		method, path string
		want         int
	}{
		{http.MethodHead, "/", 200},
		{http.MethodPost, "/v1/messages/count_tokens", 200},
		{http.MethodGet, "/v1/models", 404},
		{http.MethodPost, "/v1/messages", 400},
	} {
		req, err := http.NewRequestWithContext(t.Context(), c.method, s.URL+c.path, bytes.NewReader([]byte("no json")))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != c.want {
			t.Errorf("%s %s = %d, want %d", c.method, c.path, resp.StatusCode, c.want)
		}
	}
	if (messagesapi.Request{}).LastUserText() != "" {
		t.Error("an empty request has a user text")
	}
}
