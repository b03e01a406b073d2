package verifyactive_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/foreign/verifyactive"
)

var ignoreBytes = cmpopts.IgnoreUnexported(verifyactive.File{})

// sample is a file as the server writes it.
const sample = `{
  "sessionId": "chain-fix-bug#1",
  "config": {
    "command": "npm test",
    "timeout": 60000,
    "maxIterations": 7,
    "workingDir": "/work",
    "preset": "full",
    "originalGoal": ">>fix-bug :: verify:\"npm test\" loop:true"
  },
  "state": {
    "iteration": 1,
    "lastResult": {
      "passed": false,
      "exitCode": 1,
      "stdout": "FAIL",
      "stderr": "",
      "durationMs": 1500,
      "command": "npm test",
      "timedOut": false
    },
    "startedAt": "2026-01-02T03:04:05.678Z"
  }
}`

// edit is the sample with one text put for another, which it has.
func edit(t *testing.T, old, put string) string {
	t.Helper()
	if !strings.Contains(sample, old) {
		t.Fatalf("the sample has no %s", old)
	}
	return strings.Replace(sample, old, put, 1)
}

func sampled() *verifyactive.File {
	return &verifyactive.File{
		Command: "npm test", Timeout: time.Minute, MaxIterations: 7, WorkingDir: "/work",
		Preset: "full", Goal: `>>fix-bug :: verify:"npm test" loop:true`, Iteration: 1,
	}
}

// TestFilesAreParsed has a case for each row of the table "What is in the file" in
// docs/reference/verify-loop.md, by the row's name.
func TestFilesAreParsed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		change   func(*verifyactive.File)
	}{
		{"as the server writes it", sample, func(*verifyactive.File) {}},
		{"byte order mark", "\ufeff" + sample, func(*verifyactive.File) {}},
		{"CRLF", strings.ReplaceAll(sample, "\n", "\r\n"), func(*verifyactive.File) {}},
		{"unknown keys", edit(t, `"config": {`, `"config": {"sandbox": [{"command": "rm"}],`), func(*verifyactive.File) {}},
		{"a key twice", edit(t, `"iteration": 1`, `"iteration": 1, "iteration": 3`), func(f *verifyactive.File) { f.Iteration = 3 }},
		{"a key of other case", edit(t, `"iteration": 1`, `"Iteration": 3`), func(f *verifyactive.File) { f.Iteration = 0 }},
		{"no maxIterations", edit(t, `"maxIterations": 7,`, ``), func(f *verifyactive.File) { f.MaxIterations = 10 }},
		{"no timeout", edit(t, `"timeout": 60000,`, ``), func(f *verifyactive.File) { f.Timeout = 300 * time.Second }},
		{"timeout below a second", edit(t, `60000`, `500`), func(f *verifyactive.File) { f.Timeout = 500 * time.Millisecond }},
		{"a whole number with a point", edit(t, `"iteration": 1`, `"iteration": 1.0`), func(*verifyactive.File) {}},
		{"no state", `{"config":{"command":"npm test"}}`, func(f *verifyactive.File) {
			*f = verifyactive.File{Command: "npm test", Timeout: 300 * time.Second, MaxIterations: 10}
		}},
		{"state null", `{"config":{"command":"npm test"},"state":null}`, func(f *verifyactive.File) {
			*f = verifyactive.File{Command: "npm test", Timeout: 300 * time.Second, MaxIterations: 10}
		}},
		{"lastResult null", `{"config":{"command":"npm test"},"state":{"iteration":2,"lastResult":null}}`, func(f *verifyactive.File) {
			*f = verifyactive.File{Command: "npm test", Timeout: 300 * time.Second, MaxIterations: 10, Iteration: 2}
		}},
		{"lastResult that is none", edit(t, `"exitCode": 1`, `"exitCode": "one"`), func(*verifyactive.File) {}},
		{"startedAt that is not a time", edit(t, `2026-01-02T03:04:05.678Z`, `yesterday`), func(*verifyactive.File) {}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := verifyactive.Parse([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			want := sampled()
			tt.change(want)
			if diff := cmp.Diff(want, got, ignoreBytes); diff != "" {
				t.Errorf("Parse (-want +got):\n%s", diff)
			}
			if string(got.Bytes()) != tt.in {
				t.Error("the bytes are not those that were read")
			}
		})
	}
}

func TestParseErrorsNameTheLine(t *testing.T) {
	t.Parallel()
	const path = verifyactive.StatePath
	for name, tt := range map[string]struct{ in, want string }{
		"not JSON":               {"{\n\"config\":\n", path + ":3: this is not JSON: unexpected end of JSON input: expected a JSON object"},
		"empty":                  {"", path + ":1: this is not JSON"},
		"two values":             {"{}\n{}", path + ":2: this is not JSON"},
		"array":                  {"\n[]", path + ":2: this is no object"},
		"not UTF-8":              {"{\"a\":\n\"\xe9\"}", path + ":2: this is not UTF-8 text: expected a file saved as UTF-8"},
		"too large":              {strings.Repeat(" ", 1<<20+1), path + ":1: the file has 1048577 bytes: expected at most 1048576"},
		"too deep":               {strings.Repeat("[", 20000), path + ":1: this is not JSON"},
		"no config":              {`{"state":{}}`, path + ":1: there is no config"},
		"no command":             {edit(t, `"command": "npm test",`, ``), path + ":3: there is no command: expected a shell command on one line"},
		"blank command":          {edit(t, `"npm test"`, `" "`), path + ":4: there is no command"},
		"command of two lines":   {edit(t, `"npm test"`, `"a\nb"`), path + ":4: the command holds a line break"},
		"command with NUL":       {edit(t, `"npm test"`, `"a\u0000b"`), path + ":4: command holds a NUL character"},
		"command that is a list": {edit(t, `"npm test"`, `["npm", "test"]`), path + `:4: command is ["npm", "test"]: expected a text in quotes`},
		"maxIterations 0":        {edit(t, `: 7,`, `: 0,`), path + ":6: maxIterations is 0: expected a whole number from 1 to 1000"},
		"maxIterations of text":  {edit(t, `: 7,`, `: "7",`), path + `:6: maxIterations is "7": expected a whole number`},
		"timeout of text":        {edit(t, `60000`, `"300"`), path + `:5: timeout is "300": expected a whole number from 1 to 86400000`},
		"timeout negative":       {edit(t, `60000`, `-1`), path + `:5: timeout is -1`},
		"timeout huge":           {edit(t, `60000`, `1e999`), path + `:5: timeout is 1e999`},
		"workingDir a number":    {edit(t, `"/work"`, `1`), path + `:7: workingDir is 1: expected a text in quotes`},
		"iteration of text":      {edit(t, `"iteration": 1`, `"iteration": "1"`), path + `:12: iteration is "1"`},
		"iteration with a part":  {edit(t, `"iteration": 1`, `"iteration": 1.5`), path + `:12: iteration is 1.5`},
		"state a list":           {edit(t, `"state": {`, `"state": [], "other": {`), path + `:11: state is []: expected an object`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := verifyactive.Parse([]byte(tt.in))
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) || !strings.Contains(err.Error(), ": expected ") {
				t.Fatalf("error %v, want %q", err, tt.want)
			}
			if failure.Hint(err) == "" {
				t.Error("no hint")
			}
		})
	}
}

func TestSetChangesOneValue(t *testing.T) {
	t.Parallel()
	passed := verifyactive.Result{Passed: true, Stdout: "a <b> é", DurationMs: 2000, Command: "npm test"}
	const passedText = `{"passed":true,"exitCode":0,"stdout":"a <b> é","stderr":"","durationMs":2000,"command":"npm test","timedOut":false}`
	tests := []struct {
		name, in string
		set      func(*verifyactive.File) *verifyactive.File
		want     string
	}{
		{"iteration", sample, func(f *verifyactive.File) *verifyactive.File { return f.SetIteration(12) }, edit(t, `"iteration": 1`, `"iteration": 12`)},
		{"iteration in a file with a mark", "\ufeff" + sample, func(f *verifyactive.File) *verifyactive.File { return f.SetIteration(2) }, "\ufeff" + edit(t, `"iteration": 1`, `"iteration": 2`)},
		{"the last of two", `{"config":{"command":"a"},"state":{"iteration":1,"iteration":2}}`, func(f *verifyactive.File) *verifyactive.File { return f.SetIteration(9) }, `{"config":{"command":"a"},"state":{"iteration":1,"iteration":9}}`},
		{"no iteration", `{"config":{"command":"a"},"state":{ "x": 1}}`, func(f *verifyactive.File) *verifyactive.File { return f.SetIteration(2) }, `{"config":{"command":"a"},"state":{ "iteration": 2, "x": 1}}`},
		{"an empty state", `{"config":{"command":"a"},"state":{ }}`, func(f *verifyactive.File) *verifyactive.File { return f.SetIteration(2) }, `{"config":{"command":"a"},"state":{"iteration": 2 }}`},
		{"no state", "{\r\n  \"config\":{\"command\":\"a\"}\r\n}\r\n", func(f *verifyactive.File) *verifyactive.File { return f.SetIteration(2) }, "{\r\n  \"state\": {\"iteration\": 2},\r\n  \"config\":{\"command\":\"a\"}\r\n}\r\n"},
		{"state null", `{"config":{"command":"a"},"state":null}`, func(f *verifyactive.File) *verifyactive.File { return f.SetIteration(2) }, `{"config":{"command":"a"},"state":{"iteration": 2}}`},
		{"lastResult null", `{"config":{"command":"a"},"state":{"lastResult":null,"iteration":1}}`, func(f *verifyactive.File) *verifyactive.File { return f.SetLast(passed) }, `{"config":{"command":"a"},"state":{"lastResult":` + passedText + `,"iteration":1}}`},
		{"no lastResult", `{"config":{"command":"a"},"state":{"iteration":1}}`, func(f *verifyactive.File) *verifyactive.File { return f.SetLast(passed) }, `{"config":{"command":"a"},"state":{"lastResult": ` + passedText + `,"iteration":1}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f, err := verifyactive.Parse([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(tt.set(f).Bytes())); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// FuzzEdit: what is read stays to the byte; a value that is set is read back, and
// nothing else changes, neither for us nor for another reader of JSON.
func FuzzEdit(f *testing.F) {
	for _, s := range []string{
		sample, "\ufeff" + sample, strings.ReplaceAll(sample, "\n", "\r\n"), `{"config":{"command":"a"}}`, `{"state":null,"config":{"command":"a","b":1e3}}`,
		`{"config":{"command":"a"},"state":{},"state":{"iteration":1,"iteration":2,"lastResult":3}} `, `[]`, ``,
	} {
		f.Add([]byte(s), 3, "FAIL \x1b[31m<é\xff", 1)
	}
	f.Fuzz(func(t *testing.T, data []byte, n int, output string, code int) {
		file, err := verifyactive.Parse(bytes.Clone(data))
		if err != nil {
			if !strings.HasPrefix(err.Error(), verifyactive.StatePath+":") || !strings.Contains(err.Error(), ": expected ") {
				t.Fatalf("an error without a line or without what was expected: %v", err)
			}
			return
		}
		if !bytes.Equal(file.Bytes(), data) {
			t.Fatal("the bytes are not those that were read")
		}
		n = min(max(n, 0), 1<<30)
		set := file.SetIteration(n)
		want := *file
		want.Iteration = n
		if diff := cmp.Diff(&want, set, ignoreBytes); diff != "" {
			t.Fatalf("iteration %d (-want +got):\n%s", n, diff)
		}
		if diff := cmp.Diff(loose(t, data, "iteration"), loose(t, set.Bytes(), "iteration")); diff != "" {
			t.Fatalf("something else changed (-want +got):\n%s", diff)
		}
		if again := set.SetIteration(n); !bytes.Equal(again.Bytes(), set.Bytes()) {
			t.Fatal("set again, the file changed once more")
		}
		last := verifyactive.Result{ExitCode: code, Stderr: strings.ToValidUTF8(output[:min(len(output), 1000)], ""), DurationMs: 1000, Command: "a"}
		set = file.SetLast(last)
		if diff := cmp.Diff(file, set, ignoreBytes); diff != "" {
			t.Fatalf("what the file asks for changed (-want +got):\n%s", diff)
		}
		var back struct {
			State struct{ LastResult verifyactive.Result }
		}
		if err := json.Unmarshal(bytes.TrimPrefix(set.Bytes(), []byte("\ufeff")), &back); err != nil || back.State.LastResult != last {
			t.Fatalf("%v: read back as %+v, set to %+v", err, back.State.LastResult, last)
		}
		if diff := cmp.Diff(loose(t, data, "lastResult"), loose(t, set.Bytes(), "lastResult")); diff != "" {
			t.Fatalf("something else changed (-want +got):\n%s", diff)
		}
	})
}

// loose is what another reader makes of a file, without one value of its state.
func loose(t *testing.T, data []byte, without string) map[string]any {
	t.Helper()
	var all map[string]any
	dec := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	dec.UseNumber()
	if err := dec.Decode(&all); err != nil {
		t.Fatalf("not JSON: %v\n%s", err, data)
	}
	state, _ := all["state"].(map[string]any)
	delete(state, without)
	if len(state) == 0 {
		delete(all, "state")
	}
	return all
}
