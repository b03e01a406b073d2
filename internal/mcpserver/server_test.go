//go:build unix

package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-dev/pawl/internal/core/guard"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
)

func TestOutsideOfALoop(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.o.Project = passing
	s := w.connect()
	w.says(s, "next_task", nil, "No loop runs in this session", "/pawl:loop GOAL")
	w.says(s, "status", nil, "No loop runs in this session")
	w.says(s, "verify", nil, "No loop runs in this session; these are the project's gates", "pass: make test")
	for name, args := range map[string]map[string]any{
		"complete_task":       {"summary": "done", "status": "success"},
		"report_blocked":      {"reason": "why"},
		"request_merge":       {"summary": "all"},
		"ask_user":            {"question": "which?"},
		"request_test_change": {"files": []string{"a_test.go"}, "why": "why"},
		"add_lesson":          {"text": "a lesson"},
		"read_messages":       nil,
	} {
		w.refuses(s, name, args, "no loop runs in this session")
	}
	w.begin(nil) // a loop may begin later
	w.says(s, "status", nil, w.loop.ID, "iteration 1 of 25")
}

// After /clear the session has another id than the server was started with.
func TestTheLoopIsFoundByTheClientToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.begin(nil)
	w.o.Env.Session.ID, w.o.Client, w.o.Dir = "another", 4242, w.root
	w.says(w.connect(), "status", nil, w.loop.ID)
	w.o.Dir = t.TempDir() // the process had its number before
	w.says(w.connect(), "status", nil, "No loop runs in this session")
}

func TestATaskDoneHonestly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "old.red.go")
	w.begin(nil)
	s := w.connect()
	w.says(s, "next_task", nil, "The goal itself is the task (id goal)", "add a", "sh ./check.sh")
	w.says(s, "status", nil, w.loop.ID, "gate sh ./check.sh: fail when Pawl last ran it")
	w.ran()

	w.says(s, "verify", nil, "PASS compared with the start of the task; still fails, as before: sh ./check.sh", "failing: Test_old", "--- FAIL: Test_old")
	if n := w.ran(); n != 0 {
		t.Errorf("the gate ran %d times for what Pawl knows", n)
	}
	if err := os.Remove(filepath.Join(w.root, "old.red.go")); err != nil {
		t.Fatal(err)
	}
	w.says(s, "verify", nil, "PASS: every gate passes", "pass: sh ./check.sh")
	w.says(s, "complete_task", map[string]any{"summary": "a stands", "status": "success", "evidence": "Test_old"},
		"Recorded: goal is done, as you claim", "Pawl runs them again itself. End your turn now")
	if n := w.ran(); n != 1 {
		t.Errorf("the gate ran %d times on one tree", n)
	}
	want := []record.Message{{Kind: record.MessageClaim, Tasks: []string{"goal"}, Text: "a stands\nEvidence: Test_old", Turn: 1}}
	if diff := cmp.Diff(want, w.left()); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat(filepath.Join(w.loop.Dir, "advice", "results")); err != nil {
		t.Errorf("what the agent had run is not kept apart: %v", err)
	}
}

// A review is not a command: the agent hears that it comes, and cannot run it.
func TestReviewsComeAfterwards(t *testing.T) {
	t.Parallel()
	for name, gates := range map[string][]string{"beside a command": {"sh ./check.sh"}, "alone": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			flags := map[string]any{"review": []string{"It is real."}}
			if gates != nil {
				flags["gates"] = gates
			}
			w.begin(flags)
			s := w.connect()
			w.write("a.go", "package a\n")
			w.says(s, "next_task", nil, "another agent, which reviews the work last: It is real.")
			answer := "PASS: every gate passes"
			if gates == nil {
				answer = "No gate runs a command"
			}
			w.says(s, "verify", nil, answer)
			w.says(s, "complete_task", map[string]any{"summary": "done", "status": "success"}, "Recorded", "Another agent reviews it as well")
		})
	}
}

func TestOtherWordsOnATask(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.begin(nil)
	s := w.connect()
	const token = "ghp_0123456789abcdefghij0123456789abcdef" // of nobody
	w.says(s, "complete_task", map[string]any{"summary": "half of it", "status": "partial"}, "Recorded")
	w.says(s, "complete_task", map[string]any{"summary": "no key", "status": "blocked"}, "End your turn now")
	w.says(s, "report_blocked", map[string]any{"reason": "no key at all"}, "End your turn now")
	w.says(s, "request_merge", map[string]any{"summary": "all of it"}, "Recorded: the user sees it")
	w.says(s, "ask_user", map[string]any{"question": "which, " + token + "?", "choices": []string{"UTC", "local"}, "proposed": "UTC"}, "Asked")
	w.says(s, "request_test_change", map[string]any{"files": []string{"sub/../a_test.go", filepath.Join(w.root, "b_test.go"), "a_test.go"}, "why": "renamed"},
		"a_test.go, b_test.go")
	w.says(s, "add_lesson", map[string]any{"text": "run the migration first, as " + token}, "Kept")
	want := []record.Message{
		{Kind: record.MessagePartial, Tasks: []string{"goal"}, Text: "half of it", Turn: 1},
		{Kind: record.MessageBlocked, Tasks: []string{"goal"}, Text: "no key", Turn: 1},
		{Kind: record.MessageBlocked, Tasks: []string{"goal"}, Text: "no key at all", Turn: 1},
		{Kind: record.MessageMerge, Text: "all of it"},
		{Kind: record.MessageQuestion, Question: &loop.Question{Text: "which, [redacted]?", Choices: []string{"UTC", "local"}, Proposed: "UTC"}},
		{Kind: record.MessageTests, Paths: []string{"a_test.go", "b_test.go"}, Text: "renamed"},
		{Kind: record.MessageLearn, Text: "run the migration first, as [redacted]"},
	}
	if diff := cmp.Diff(want, w.left()); diff != "" {
		t.Error(diff)
	}
	w.says(s, "read_messages", nil, "Nobody has said anything")
	if err := w.loop.Post("n1", record.Message{Kind: record.MessageNote, Text: "mind the cache"}); err != nil {
		t.Fatal(err)
	}
	w.says(s, "read_messages", nil, "- mind the cache", "with your next prompt too")
}

func TestBadInputRecordsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.begin(nil)
	s := w.connect()
	long := strings.Repeat("x", 20_000)
	for _, c := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"complete_task", map[string]any{"summary": " ", "status": "success"}, "summary is empty"},
		{"complete_task", map[string]any{"summary": long, "status": "success"}, "summary has 20000 bytes, at most 4000 are taken"},
		{"complete_task", map[string]any{"summary": "x", "status": "done"}, "status"},
		{"complete_task", map[string]any{"status": "success"}, "summary"},
		{"complete_task", map[string]any{"summary": "x", "status": "success", "id": "US-9"}, `there is no task "US-9"`},
		{"complete_task", map[string]any{"summary": "x", "status": "success", "force": true}, "force"},
		{"report_blocked", map[string]any{"reason": "x", "id": long}, "there is no task"},
		{"request_test_change", map[string]any{"files": []string{"../other/a_test.go"}, "why": "x"}, "is not a file of the project"},
		{"request_test_change", map[string]any{"files": []string{"/etc/passwd"}, "why": "x"}, "is not a file of the project"},
		{"request_test_change", map[string]any{"files": []string{}, "why": "x"}, "0 files are named"},
		{"add_lesson", map[string]any{"text": strings.Repeat("x", 501)}, "at most 500"},
		{"request_merge", map[string]any{"summary": ""}, "summary is empty"},
	} {
		w.refuses(s, c.tool, c.args, c.want)
	}
	if _, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "push"}); err == nil || !strings.Contains(err.Error(), "unknown tool") {
		t.Errorf("an unknown tool: %v", err)
	}
	if left := w.left(); len(left) > 0 {
		t.Errorf("left: %+v", left)
	}
}

func TestCallsMayBeCutOffAndComeTogether(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.begin(map[string]any{"gates": []string{"sh ./slow.sh"}})
	w.write("slow.sh", "echo ran >> .ran; sleep 30\n")
	s := w.connect()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "verify"})
			done <- err
		}()
	}
	w.says(s, "status", nil, w.loop.ID) // answers while gates run
	for deadline := time.Now().Add(time.Minute); !isFilled(filepath.Join(w.root, ".ran")); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no gate ran")
		}
	}
	cancel()
	for range 2 {
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("a call that was cut off: %v", err)
		}
	}
	w.write("slow.sh", "echo ran >> .ran\n")
	began := time.Now()
	w.says(s, "verify", nil, "PASS")
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("the gates of a call that was cut off ran on for %s", took)
	}
	if n := w.ran(); n != 2 {
		t.Errorf("gates ran %d times, of two calls at once one waits", n)
	}
}

// isFilled reports whether a file has content: a shell makes the file before it writes.
func isFilled(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Size() > 0
}

func TestEachProtocolVersion(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "1999-01-01"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			got := w.dialogue(
				`{"jsonrpc":"2.0","id":"server-discover-probe-1","method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
				`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+version+`","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
				`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
				`{"jsonrpc":"2.0","id":2,"method":"ping"}`,
				`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`,
				`{"jsonrpc":"2.0","id":4,"method":"no/such"}`,
			)
			if got["server-discover-probe-1"].Error.Code != -32601 {
				t.Errorf("the probe: %+v", got["server-discover-probe-1"])
			}
			want := version
			if version > "2025-11-25" || version < "2024" {
				want = "2025-11-25"
			}
			var init struct{ ProtocolVersion string }
			if err := json.Unmarshal(got["1"].Result, &init); err != nil || init.ProtocolVersion != want {
				t.Errorf("initialize: %s, want %s", got["1"].Result, want)
			}
			var list struct{ Tools []struct{ Name string } }
			if err := json.Unmarshal(got["3"].Result, &list); err != nil || len(list.Tools) != len(guard.OwnTools()) {
				t.Errorf("tools/list: %s", got["3"].Result)
			}
			if got["2"].Error.Code != 0 || got["4"].Error.Code == 0 {
				t.Errorf("ping %+v, an unknown method %+v", got["2"], got["4"])
			}
		})
	}
}

// answer is a message of the server.
type answer struct {
	ID     any
	Result json.RawMessage
	Error  struct{ Code int }
}

// dialogue says lines to a server of its own and gives its answers by id.
func (w *world) dialogue(lines ...string) map[string]answer {
	w.t.Helper()
	in, out := newPipes()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	go w.serve(ctx, in, out)
	got := map[string]answer{}
	replies := json.NewDecoder(out.r)
	for _, line := range lines {
		if _, err := in.w.Write([]byte(line + "\n")); err != nil {
			w.t.Fatal(err)
		}
		if !strings.Contains(line, `"id"`) {
			continue
		}
		var a answer
		if err := replies.Decode(&a); err != nil {
			w.t.Fatal(err)
		}
		id, _ := json.Marshal(a.ID)
		got[strings.Trim(string(id), `"`)] = a
	}
	return got
}

func TestToolsAreThoseThatAreNamed(t *testing.T) {
	t.Parallel()
	s := newWorld(t).connect()
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		if len(tool.Description) > 600 {
			t.Errorf("%s: a description of %d bytes is not read", tool.Name, len(tool.Description))
		}
		if tool.Name != "verify" && tool.Annotations.ReadOnlyHint != slices.Contains([]string{"next_task", "status", "read_messages"}, tool.Name) {
			t.Errorf("%s: read-only is %v", tool.Name, tool.Annotations.ReadOnlyHint)
		}
	}
	slices.Sort(names)
	if diff := cmp.Diff(guard.OwnTools(), names); diff != "" {
		t.Errorf("those that nobody is asked about (-) are not those of the server (+):\n%s", diff)
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference", "mcp.md"))
	if err != nil {
		t.Fatal(err)
	}
	fresh := withTable(string(page), table(t, list.Tools))
	if fresh == string(page) {
		return
	}
	if os.Getenv("UPDATE") == "" {
		t.Fatal("docs/reference/mcp.md is stale: UPDATE=1 go test ./internal/mcpserver")
	}
	if err := os.WriteFile(filepath.Join("..", "..", "docs", "reference", "mcp.md"), []byte(fresh), 0o644); err != nil {
		t.Fatal(err)
	}
}

const (
	tableBegins = "<!-- tools: printed by a test -->\n"
	tableEnds   = "<!-- end of tools -->\n"
)

func withTable(page, table string) string {
	before, rest, ok := strings.Cut(page, tableBegins)
	_, after, found := strings.Cut(rest, tableEnds)
	if !ok || !found {
		return page + tableBegins + table + tableEnds
	}
	return before + tableBegins + table + tableEnds + after
}

// table is each tool with what it takes and what an agent is told of it.
func table(t *testing.T, tools []*mcp.Tool) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| tool | takes | description |\n|---|---|---|\n")
	for _, tool := range tools {
		var schema struct {
			Properties map[string]struct {
				Description string
				Enum        []string
			}
			Required []string
		}
		data, err := json.Marshal(tool.InputSchema)
		if err == nil {
			err = json.Unmarshal(data, &schema)
		}
		if err != nil {
			t.Fatal(err)
		}
		var takes []string
		for name, p := range schema.Properties {
			if !slices.Contains(schema.Required, name) {
				name += "?"
			}
			if len(p.Enum) > 0 {
				name += " (" + strings.Join(p.Enum, ", ") + ")"
			}
			takes = append(takes, "`"+name+"`")
			if p.Description == "" {
				t.Errorf("%s: %s is not described", tool.Name, name)
			}
		}
		slices.Sort(takes)
		b.WriteString("| `" + tool.Name + "` | " + strings.Join(takes, " ") + " | " + tool.Description + " |\n")
	}
	return b.String()
}
