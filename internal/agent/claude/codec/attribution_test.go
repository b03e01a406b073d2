package codec

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Only what may have written a file counts, wherever in the session it ran; where
// nobody can tell it is the agent's.
func TestMayHaveWritten(t *testing.T) {
	t.Parallel()
	const person = `{"type":"user","message":{"role":"user","content":"make a tool_use of \"feature_list.json\""}}`
	use := func(name, input string) string {
		return `{"type":"assistant","message":{"content":[{"type":"text","text":"feature_list.json"},{"type":"tool_use","id":"t","name":"` + name + `","input":` + input + `}]}}`
	}
	tests := []struct {
		name, main, sub string
		want            bool
	}{
		{name: "the user speaks of it", main: person},
		{name: "it was read", main: use("Read", `{"file_path":"/p/feature_list.json"}`)},
		{name: "it was looked at", main: use("Bash", `{"command":"cat a/feature_list.json | head"}`)},
		{name: "another file was written", main: use("Write", `{"file_path":"/p/main.go"}`)},
		{name: "it was written", main: person + "\n" + use("Write", `{"file_path":"/p/feature_list.json"}`), want: true},
		{name: "a mark was set in it", main: use("Edit", `{"file_path":"/p/feature_list.json"}`)},
		{name: "the record was kept", main: use("Bash", `{"command":"sed -i 's/1/2/' ralph-loops/current/progress.txt"}`)},
		{name: "a folder was made of it", main: use("Bash", `{"command":"cp -r t ralph-loops/current"}`), want: true},
		{name: "a command wrote it", main: use("Bash", `{"command":"echo '[]' > feature_list.json"}`), want: true},
		{name: "a script that writes it", main: use("Write", `{"file_path":"/p/a.sh","content":"cp x feature_list.json"}`), want: true},
		{name: "another tool", main: use("mcp__fs__put", `{"to":"feature_list.json"}`), want: true},
		{name: "a subagent wrote it", main: person, sub: use("Write", `{"file_path":"/p/feature_list.json"}`), want: true},
		{name: "a subagent read it", main: person, sub: use("Read", `{"file_path":"/p/feature_list.json"}`)},
		{name: "no transcript", want: true},
		{name: "too long a transcript", main: strings.Repeat(person+"\n", maxAttributionBytes/len(person)), want: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			put := func(name, text string) {
				if text == "" {
					return
				}
				path := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			put("s1.jsonl", tt.main)
			put("s1/subagents/agent-1.jsonl", tt.sub)
			e := Event{Transcript: filepath.Join(dir, "s1.jsonl")}
			if got := e.MayHaveWritten("progress.txt", []string{"feature_list.json", "ralph-loops"}); got != tt.want {
				t.Errorf("by the agent: %v", got)
			}
		})
	}
	if !(Event{}).MayHaveWritten("y", []string{"x"}) {
		t.Error("no name of a transcript: not by the agent")
	}
}
