// Package messagesapi is a scripted Messages API on loopback: the model's side
// of a conversation with a real coding-agent client, played from a script. It
// speaks the real wire format (server-sent events, tool use, usage, errors by
// status), so that tests run the client that users run, without a network and
// without cost.
//
//	api := messagesapi.Serve(messagesapi.Steps(
//		messagesapi.Tool("Bash", map[string]any{"command": "go test ./..."}),
//		messagesapi.Text("All green.").Using(messagesapi.Usage{Input: 5000}),
//	))
//	defer api.Close()
//	// run the client with ANTHROPIC_BASE_URL=api.URL
//
// A client may ask for more than the conversation itself (titles, summaries,
// guesses at the user's next prompt); such side requests carry no tools, get
// a short answer of their own and never reach the script.
//
// It is for tests only: nothing of the product imports it.
package messagesapi

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Script plays the model. It is called for one request at a time.
type Script func(Request) Response

// Steps answers the first request with the first response and so on. When they
// are used up, the last one is repeated.
func Steps(steps ...Response) Script {
	next := 0
	return func(Request) Response {
		r := steps[min(next, len(steps)-1)]
		next++
		return r
	}
}

// Server is a running API.
type Server struct {
	counted atomic.Int64 // requests to count tokens
	URL     string

	http   *httptest.Server
	closed chan struct{}

	mu       sync.Mutex
	script   Script
	requests []Request
	side     int
}

// TokenCounts is how often a client asked how many tokens something has.
func (s *Server) TokenCounts() int { return int(s.counted.Load()) }

// Serve starts a server on a free port of the loopback interface.
func Serve(script Script) *Server {
	s := &Server{script: script, closed: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", s.messages)
	mux.HandleFunc("POST /v1/messages/count_tokens", func(w http.ResponseWriter, _ *http.Request) {
		s.counted.Add(1)
		writeJSON(w, map[string]any{"input_tokens": 1000})
	})
	mux.HandleFunc("HEAD /{$}", func(http.ResponseWriter, *http.Request) {})
	s.http = httptest.NewServer(mux)
	s.URL = s.http.URL
	return s
}

// Close ends the server and the answers that it still owes.
func (s *Server) Close() {
	close(s.closed)
	s.http.CloseClientConnections()
	s.http.Close()
}

// Play continues with another script.
func (s *Server) Play(script Script) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = script
}

// Requests are those of the conversation so far, in order, without side
// requests.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// SideRequests counts what the client asked besides the conversation.
func (s *Server) SideRequests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.side
}

func (s *Server) messages(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	req, stream, err := parseRequest(body, r.Header)
	if err != nil {
		writeError(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	resp := s.answer(&req)
	select {
	case <-time.After(resp.delay):
	case <-r.Context().Done():
		return
	case <-s.closed:
		return
	}
	resp.write(w, req, stream)
}

// answer asks the script, or answers a side request itself.
func (s *Server) answer(req *Request) Response {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(req.Tools) == 0 {
		s.side++
		return Text("ok").Using(Usage{Input: 1, Output: 1})
	}
	req.Number = len(s.requests) + 1
	s.requests = append(s.requests, *req)
	return s.script(*req)
}

// Request is what the client asked.
type Request struct {
	Number   int    // of the requests of all conversations of this server, from 1
	Session  string // the client's session id
	Model    string
	System   string // system prompt
	Messages []Message
	Tools    []string // names of the tools offered; none in a side request
	APIKey   string
}

// Message is one message of the conversation so far.
type Message struct {
	Role    string // "user", "assistant", "system"
	Text    string // text blocks, joined by newlines
	Results []ToolResult
	Uses    []ToolUse
}

// ToolUse is a call that the model made.
type ToolUse struct {
	ID, Name string
	Input    map[string]any
}

// ToolResult is what the client reports of a call.
type ToolResult struct {
	ID    string // of the call
	Text  string
	Error bool
}

// LastUserText is the text of the last user message that has any.
func (r Request) LastUserText() string {
	for _, m := range slices.Backward(r.Messages) {
		if m.Role == "user" && m.Text != "" {
			return m.Text
		}
	}
	return ""
}

// ToolResults are those since the model last spoke.
func (r Request) ToolResults() []ToolResult {
	var results []ToolResult
	for i := len(r.Messages) - 1; i >= 0 && r.Messages[i].Role != "assistant"; i-- {
		results = append(r.Messages[i].Results, results...)
	}
	return results
}

// News returns the texts that the model got since it last answered, joined by
// newlines, also those that the client adds.
func (r Request) News() string {
	var texts []string
	for i := len(r.Messages) - 1; i >= 0 && r.Messages[i].Role != "assistant"; i-- {
		if r.Messages[i].Text != "" {
			texts = append([]string{r.Messages[i].Text}, texts...)
		}
	}
	return strings.Join(texts, "\n")
}

// Says reports whether any message of the conversation contains the text.
func (r Request) Says(text string) bool {
	for _, m := range r.Messages {
		if strings.Contains(m.Text, text) {
			return true
		}
	}
	return false
}

func parseRequest(body []byte, h http.Header) (_ Request, stream bool, _ error) {
	var wire struct {
		Model    string          `json:"model"`
		Stream   bool            `json:"stream"`
		System   json.RawMessage `json:"system"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &wire); err != nil {
		return Request{}, false, fmt.Errorf("parse request: %w", err)
	}
	req := Request{
		Session: h.Get("X-Claude-Code-Session-Id"), APIKey: h.Get("X-Api-Key"),
		Model: wire.Model, System: parseContent(wire.System).Text,
	}
	for _, t := range wire.Tools {
		req.Tools = append(req.Tools, t.Name)
	}
	for _, m := range wire.Messages {
		msg := parseContent(m.Content)
		msg.Role = m.Role
		req.Messages = append(req.Messages, msg)
	}
	return req, wire.Stream, nil
}

// parseContent reads content that is a string or a list of blocks.
func parseContent(raw json.RawMessage) Message {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return Message{Text: text}
	}
	var blocks []struct {
		Type      string          `json:"type"`
		Text      string          `json:"text"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Input     map[string]any  `json:"input"`
		ToolUseID string          `json:"tool_use_id"`
		Content   json.RawMessage `json:"content"`
		IsError   bool            `json:"is_error"`
	}
	_ = json.Unmarshal(raw, &blocks) // what is not understood is left out
	var m Message
	var texts []string
	for _, b := range blocks {
		switch b.Type {
		case "text":
			texts = append(texts, b.Text)
		case "tool_use":
			m.Uses = append(m.Uses, ToolUse{ID: b.ID, Name: b.Name, Input: b.Input})
		case "tool_result":
			m.Results = append(m.Results, ToolResult{ID: b.ToolUseID, Text: parseContent(b.Content).Text, Error: b.IsError})
		}
	}
	m.Text = strings.Join(texts, "\n")
	return m
}
