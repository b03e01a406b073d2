package mcpserver_test

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/mcpserver"
)

// Whatever a client says, what it is told is JSON line by line, and a ping that it
// sends afterwards is answered.
func FuzzLines(f *testing.F) {
	for _, line := range []string{
		"", "\r", "no JSON", "{", "{}", "[]", "[[]]", "null", `"x"`, `{"jsonrpc":"2.0","id":1}`, `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"status"}}`, `{"jsonrpc":"2.0","id":null,"result":{}}`,
		`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `[{"jsonrpc":"2.0","method":"x"}]`,
		strings.Repeat("[", 2000) + strings.Repeat("]", 2000), "{\n}",
	} {
		f.Add(line)
	}
	const last = `{"jsonrpc":"2.0","id":"the last one","method":"ping"}`
	f.Fuzz(func(t *testing.T, said string) {
		var out bytes.Buffer
		in := io.MultiReader(strings.NewReader(said), strings.NewReader("\n"+last+"\n"))
		if err := mcpserver.New(mcpserver.Options{}).Serve(t.Context(), mcpserver.Lines{In: in, Out: &out}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if !json.Valid([]byte(line)) {
				t.Errorf("no JSON: %q", line)
			}
		}
		if !strings.Contains(out.String(), `"id":"the last one","result":{}`) {
			t.Errorf("the last ping has no answer:\n%s", out.String())
		}
	})
}
