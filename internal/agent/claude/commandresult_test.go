package claude

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/agent"
)

func TestRanIsACommandThatEnded(t *testing.T) {
	t.Parallel()
	bash := calledTool{name: "Bash", input: map[string]any{"command": "npm test"}}
	cases := []struct {
		name, result string
		of           calledTool
		want         *agent.Ran
	}{
		{"green", `{"type":"tool_result","content":"ok\n"}`, bash, &agent.Ran{Command: "npm test", Output: "ok\n"}},
		{"red", `{"type":"tool_result","is_error":true,"content":"Exit code 3\nbad"}`, bash, &agent.Ran{Command: "npm test", ExitCode: 3, Output: "bad"}},
		{
			"in blocks", `{"type":"tool_result","is_error":true,"content":[{"type":"text","text":"Exit code 1\n"},{"type":"text","text":"bad"}]}`, bash,
			&agent.Ran{Command: "npm test", ExitCode: 1, Output: "bad"},
		},
		{"refused", `{"type":"tool_result","is_error":true,"content":"pushing is not for you"}`, bash, nil},
		{"still running", `{"type":"tool_result","content":"Command running in background with ID: b1"}`, bash, nil},
		{
			"sent to the background", `{"type":"tool_result","content":"ok"}`,
			calledTool{name: "Bash", input: map[string]any{"command": "npm test", "run_in_background": true}},
			nil,
		},
		{"another tool", `{"type":"tool_result","content":"npm test"}`, calledTool{name: "Read", input: map[string]any{"file_path": "x"}}, nil},
		{"of no call", `{"type":"tool_result","content":"ok"}`, calledTool{}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l, err := decode([]byte(`{"type":"user","message":{"content":[` + c.result + `]}}`))
			if err != nil || len(l.Message.Content) != 1 {
				t.Fatalf("%+v, %v", l.Message.Content, err)
			}
			if diff := cmp.Diff(c.want, c.of.ran(l.Message.Content[0])); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	var o output
	if err := json.Unmarshal([]byte(`{"odd":1}`), &o); err != nil || o != "" {
		t.Errorf("output of a new shape: %q, %v", o, err)
	}
}
