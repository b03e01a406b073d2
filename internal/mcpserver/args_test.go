package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/mcpserver"
)

// What an agent is told of arguments that cannot be taken: UPDATE=1 writes it to
// testdata/arguments.txt.
func TestArgumentsThatCannotBeTaken(t *testing.T) {
	t.Parallel()
	s := lonely(t)
	var b strings.Builder
	for _, c := range []struct{ tool, args string }{
		{"complete_task", `{}`},
		{"complete_task", `{"summary": "all of it"}`},
		{"complete_task", `{"summary": null, "status": "success"}`},
		{"complete_task", `{"summary": "all of it", "status": "done"}`},
		{"complete_task", `{"summary": "all of it", "status": "Success"}`},
		{"complete_task", `{"summary": 5, "status": ["success"], "id": 3, "no_behaviour_change": "true"}`},
		{"complete_task", `{"summary": "all of it", "status": "success", "force": true, "task_id": "US-1"}`},
		{"complete_task", `{"Summary": "all of it", "status": "success"}`},
		{"complete_task", `["all of it"]`},
		{"report_blocked", `{"summary": "no key"}`},
		{"report_blocked", `"no key"`},
		{"request_merge", `{"summary": {"text": "all"}}`},
		{"request_test_change", `{"files": "a_test.go", "why": "renamed"}`},
		{"request_test_change", `{"files": ["a_test.go", 7]}`},
		{"add_lesson", `{"lesson": "run the migration first"}`},
		{"verify", `{"gate": "make test"}`},
		{"status", `7`},
		{"next_task", `{"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1, "g": 1}`},
	} {
		r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: c.tool, Arguments: json.RawMessage(c.args)})
		if err != nil || !r.IsError {
			t.Errorf("%s %s: %+v, %v", c.tool, c.args, r, err)
			continue
		}
		fmt.Fprintf(&b, "%s %s\n%s\n\n", c.tool, c.args, r.Content[0].(*mcp.TextContent).Text)
	}
	golden := filepath.Join("testdata", "arguments.txt")
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), b.String()); diff != "" {
		t.Error(diff)
	}
}

// Optional fields may be null, and a call may have no arguments at all.
func TestArgumentsThatAreTaken(t *testing.T) {
	t.Parallel()
	s := lonely(t)
	for tool, args := range map[string]any{
		"complete_task": json.RawMessage(`{"summary": "all of it", "status": "success", "id": null, "no_behaviour_change": null}`),
		"status":        nil, "next_task": json.RawMessage(`null`),
	} {
		r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
		if err != nil || !strings.Contains(strings.ToLower(r.Content[0].(*mcp.TextContent).Text), "no loop runs in this session") {
			t.Errorf("%s: %+v, %v", tool, r, err)
		}
	}
}

// A client can hold a call against the schema before it makes it.
func TestSchemasDescribeTheArguments(t *testing.T) {
	t.Parallel()
	list, err := lonely(t).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		var schema jsonschema.Schema
		data, err := json.Marshal(tool.InputSchema)
		if err == nil {
			err = json.Unmarshal(data, &schema)
		}
		if err != nil {
			t.Fatal(err)
		}
		resolved, err := schema.Resolve(nil)
		if err != nil {
			t.Fatalf("%s: %v", tool.Name, err)
		}
		call := map[string]any{}
		for name, p := range schema.Properties {
			switch {
			case len(p.Enum) > 0:
				call[name] = p.Enum[0]
			case p.Type == "boolean":
				call[name] = true
			case p.Type == "array" && p.Items.Type == "string":
				call[name] = []any{"x"}
			case p.Type == "string":
				call[name] = "x"
			default:
				t.Errorf("%s: %s has an odd type: %s", tool.Name, name, data)
			}
		}
		if err := resolved.Validate(call); err != nil || schema.Type != "object" {
			t.Errorf("%s: %v: %s", tool.Name, err, data)
		}
		call["no_such_field"] = "x"
		if resolved.Validate(call) == nil {
			t.Errorf("%s takes any field: %s", tool.Name, data)
		}
	}
}

// lonely is a client of a server where there is no loop.
func lonely(t *testing.T) *mcp.ClientSession {
	t.Helper()
	env, err := environment.Of([]string{"HOME=" + t.TempDir(), "PAWL_HOME=" + t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return connect(t, mcpserver.Options{Env: env, Version: "test"})
}

// connect gives a client of a server.
func connect(t *testing.T, o mcpserver.Options) *mcp.ClientSession {
	t.Helper()
	here, there := mcp.NewInMemoryTransports()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = mcpserver.New(o).Serve(ctx, there)
	}()
	t.Cleanup(func() { cancel(); <-done })
	s, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}
