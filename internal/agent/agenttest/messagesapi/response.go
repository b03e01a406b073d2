package messagesapi

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"time"
)

// Usage is what a response says it used.
type Usage struct {
	Input, Output, CacheRead, CacheWrite int64
}

// Response is one answer of the model. The zero value is an empty message; make
// one with Text, Tool, Fail or Drop.
type Response struct {
	blocks []block
	usage  Usage
	stop   string // stop_reason, "" = by what the message holds
	delay  time.Duration
	drop   bool
	status int // of an error
	kind   string
	text   string
	header http.Header
}

type block struct {
	text  string
	tool  string
	input map[string]any
}

// Text answers with a text.
func Text(s string) Response { return Response{blocks: []block{{text: s}}} }

// Tool answers with the call of a tool.
func Tool(name string, input map[string]any) Response {
	return Response{blocks: []block{{tool: name, input: input}}}
}

// Bash answers with the call of a shell command.
func Bash(command string) Response {
	return Tool("Bash", map[string]any{"command": command, "description": "run it"})
}

// Write answers with the writing of a file.
func Write(path, content string) Response {
	return Tool("Write", map[string]any{"file_path": path, "content": content})
}

// Fail answers with an HTTP error and headers given as name, value, ….
func Fail(status int, message string, header ...string) Response {
	r := Response{status: status, kind: errorKind(status), text: message, header: http.Header{}}
	for i := 0; i+1 < len(header); i += 2 {
		r.header.Set(header[i], header[i+1])
	}
	return r
}

// Drop begins an answer and cuts the connection.
func Drop() Response { return Response{drop: true, blocks: []block{{text: "I will"}}} }

// And adds the blocks of another response to the same message.
func (r Response) And(other Response) Response {
	r.blocks = append(append([]block(nil), r.blocks...), other.blocks...)
	return r
}

// Using sets the usage that is reported; by default 1000 in and 50 out.
func (r Response) Using(u Usage) Response { r.usage = u; return r }

// After delays the answer.
func (r Response) After(d time.Duration) Response { r.delay = d; return r }

// Stopping sets the stop reason ("refusal", "max_tokens").
func (r Response) Stopping(reason string) Response { r.stop = reason; return r }

func errorKind(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusForbidden:
		return "permission_error"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	case http.StatusBadRequest:
		return "invalid_request_error"
	case 529:
		return "overloaded_error"
	}
	return "api_error"
}

func (r Response) write(w http.ResponseWriter, req Request, stream bool) {
	if r.status != 0 {
		maps.Copy(w.Header(), r.header)
		writeError(w, r.status, r.kind, r.text)
		return
	}
	if !stream {
		writeJSON(w, r.message(req, true))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	s := sse{w}
	s.event("message_start", map[string]any{"message": r.message(req, false)})
	for i, b := range r.blocks {
		s.block(i, b)
		if r.drop {
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler) // net/http's way to cut a connection
		}
		s.event("content_block_stop", map[string]any{"index": i})
	}
	s.event("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": r.stopReason(), "stop_sequence": nil},
		"usage": r.wireUsage(true),
	})
	s.event("message_stop", map[string]any{})
}

// message is the JSON of a message: whole, or as the start of a stream.
func (r Response) message(req Request, whole bool) map[string]any {
	m := map[string]any{
		"id": newID("msg"), "type": "message", "role": "assistant", "model": req.Model,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": r.wireUsage(whole),
	}
	if whole {
		var content []any
		for _, b := range r.blocks {
			content = append(content, b.wire(true))
		}
		m["content"], m["stop_reason"] = content, r.stopReason()
	}
	return m
}

func (r Response) stopReason() string {
	if r.stop != "" {
		return r.stop
	}
	for _, b := range r.blocks {
		if b.tool != "" {
			return "tool_use"
		}
	}
	return "end_turn"
}

func (r Response) wireUsage(final bool) map[string]any {
	u := r.usage
	if u == (Usage{}) {
		u = Usage{Input: 1000, Output: 50}
	}
	if !final {
		u.Output = 1
	}
	return map[string]any{
		"input_tokens": u.Input, "output_tokens": u.Output,
		"cache_read_input_tokens": u.CacheRead, "cache_creation_input_tokens": u.CacheWrite,
	}
}

func (b block) wire(whole bool) map[string]any {
	if b.tool == "" {
		text := ""
		if whole {
			text = b.text
		}
		return map[string]any{"type": "text", "text": text}
	}
	input := map[string]any{}
	if whole {
		input = b.input
	}
	return map[string]any{"type": "tool_use", "id": newID("toolu"), "name": b.tool, "input": input}
}

type sse struct{ w http.ResponseWriter }

// event sends one event; a client that is gone is noticed by net/http.
func (s sse) event(kind string, data map[string]any) {
	data["type"] = kind
	b, err := json.Marshal(data)
	if err != nil {
		panic(err) // a script with input that is no JSON
	}
	fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", kind, b)
	_ = http.NewResponseController(s.w).Flush()
}

// block sends the start and the deltas of a block.
func (s sse) block(i int, b block) {
	s.event("content_block_start", map[string]any{"index": i, "content_block": b.wire(false)})
	delta := map[string]any{"type": "text_delta", "text": b.text}
	if b.tool != "" {
		input, err := json.Marshal(b.input)
		if err != nil {
			panic(err)
		}
		delta = map[string]any{"type": "input_json_delta", "partial_json": string(input)}
	}
	s.event("content_block_delta", map[string]any{"index": i, "delta": delta})
}

func writeError(w http.ResponseWriter, status int, kind, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Request-Id", newID("req"))
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"type": "error", "error": map[string]any{"type": kind, "message": message},
	})
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// newID is unlike any other: clients key on it.
func newID(prefix string) string { return prefix + "_01" + rand.Text()[:22] }
