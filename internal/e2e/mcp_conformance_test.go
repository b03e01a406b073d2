//go:build unix

package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
)

const passes = "passes"

// conformance is what becomes of each scenario of the protocol's own suite. Those
// that do not pass want a server made for the suite: what they stumble over says so,
// and at anything else, or at a scenario that is not named here, the test fails.
func conformance() map[string]string {
	noTool := func(name string) string { return `Failed: MCP error -32602: unknown tool "` + name + `"` }
	noPrompt := func(name string) string { return `Failed: MCP error -32602: unknown prompt "` + name + `"` }
	const (
		noResource = "Failed: MCP error -32602: Resource not found"
		noUpdates  = `Failed: MCP error -32601: method not found: "resources/subscribe"`
	)
	return map[string]string{
		"server-initialize":           passes,
		"ping":                        passes,
		"tools-list":                  passes,
		"logging-set-level":           passes,
		"resources-list":              passes, // there are none
		"prompts-list":                passes, // nor of these
		"server-sse-multiple-streams": passes, // several calls at once

		// It looks for tools of its own, which answer with this or that.
		"tools-call-simple-text":       noTool("test_simple_text"),
		"tools-call-image":             noTool("test_image_content"),
		"tools-call-audio":             noTool("test_audio_content"),
		"tools-call-embedded-resource": noTool("test_embedded_resource"),
		"tools-call-mixed-content":     noTool("test_multiple_content_types"),
		"tools-call-with-logging":      noTool("test_tool_with_logging"),
		"tools-call-error":             noTool("test_error_handling"),
		"tools-call-with-progress":     noTool("test_tool_with_progress"),
		"tools-call-sampling":          noTool("test_sampling"),
		"tools-call-elicitation":       noTool("test_elicitation"),
		"elicitation-sep1034-defaults": noTool("test_elicitation_sep1034_defaults"),
		"elicitation-sep1330-enums":    noTool("test_elicitation_sep1330_enums"),
		"json-schema-2020-12": "Tool 'json_schema_2020_12_tool' not found. Available tools: " +
			"add_lesson, ask_user, complete_task, next_task, read_messages, report_blocked, request_merge, request_test_change, status, verify",

		// Pawl offers no prompts, resources and completions, and says that it does not.
		"prompts-get-simple":            noPrompt("test_simple_prompt"),
		"prompts-get-with-args":         noPrompt("test_prompt_with_arguments"),
		"prompts-get-embedded-resource": noPrompt("test_prompt_with_embedded_resource"),
		"prompts-get-with-image":        noPrompt("test_prompt_with_image"),
		"resources-read-text":           noResource,
		"resources-read-binary":         noResource,
		"resources-templates-read":      noResource,
		"resources-subscribe":           noUpdates,
		"resources-unsubscribe":         noUpdates,
		"completion-complete":           `Failed: MCP error -32601: method not found: "completion/complete"`,

		// HTTP is this test's, not Pawl's: its door asks nobody who they are, and
		// streams nothing.
		"dns-rebinding-protection": "Expected HTTP 4xx for invalid Host/Origin headers, got 200",
		"server-sse-polling":       "",
	}
}

// The protocol's conformance suite runs as a client of `pawl mcp`.
func TestClientMCPConformance(t *testing.T) {
	suite := agenttest.Installed(t, filepath.Join(".cache", "mcp", "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js"))
	t.Parallel()
	d := &door{b: newBench(t, nil), servers: map[string]*mcpServer{}}
	front := httptest.NewServer(d)
	t.Cleanup(front.Close)
	results := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", suite, "server", "--suite", "all", "--url", front.URL, "--output-dir", results)
	cmd.Dir, cmd.Env, cmd.WaitDelay = results, d.b.environ(), time.Second
	out, _ := cmd.CombinedOutput() // fails where any scenario does
	if diff := cmp.Diff(conformance(), outcomes(t, results)); diff != "" {
		t.Errorf("scenarios as they should end (-) and did (+):\n%s\n%s", diff, out)
	}
}

// outcomes reads the suite's files, one folder for each scenario: what failed in it,
// that it passes, or nothing where nothing was checked.
func outcomes(t *testing.T, results string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(results, "server-*", "checks.json"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, file := range files {
		var checks []struct{ Status, ErrorMessage string }
		data, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(data, &checks)
		}
		if err != nil {
			t.Fatal(err)
		}
		outcome := ""
		for _, c := range checks {
			switch {
			case c.Status == "SUCCESS" && outcome == "":
				outcome = passes
			case c.Status != "SUCCESS" && c.Status != "INFO":
				outcome = c.ErrorMessage
			}
		}
		dir := filepath.Base(filepath.Dir(file)) // server-SCENARIO-2026-01-31T09-00-00-000Z
		all[strings.TrimPrefix(dir, "server-")[:len(dir)-len("server-")-len("-2026-01-31T09-00-00-000Z")]] = outcome
	}
	return all
}

// door lets clients that speak HTTP talk to servers on standard streams: each
// session has a `pawl mcp` of its own.
type door struct {
	b       *bench
	mu      sync.Mutex
	servers map[string]*mcpServer
}

// ServeHTTP passes a message on, and answers with what the server says to it. The
// server never speaks first.
func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const header = "Mcp-Session-Id"
	var line bytes.Buffer
	body, err := io.ReadAll(r.Body)
	if r.Method != http.MethodPost || err != nil || json.Compact(&line, body) != nil {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	id := r.Header.Get(header)
	if d.servers[id] == nil {
		id = strconv.Itoa(len(d.servers))
		d.servers[id] = d.b.mcp()
	}
	w.Header().Set(header, id)
	d.servers[id].send(line.String())
	if !bytes.Contains(body, []byte(`"id"`)) {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, d.servers[id].receive())
}
