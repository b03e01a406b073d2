package record_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
)

const secret = `pa"ss<\word>é`

func hide(s string) string { return strings.ReplaceAll(s, secret, "[hidden]") }

// However JSON writes a secret, it is found; all else stays as it is.
func TestEncodeRedactsEachString(t *testing.T) {
	t.Parallel()
	in := map[string]any{"a": "x " + secret + secret, "b": []any{secret, 7.0, nil, true}, "c" + secret: map[string]any{"d": `"`}}
	got, err := record.Encode(in, hide)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"a":"x [hidden][hidden]","b":["[hidden]",7,null,true],"c[hidden]":{"d":"\""}}`
	if string(got) != want {
		t.Errorf("got %s", got)
	}
	if _, err := record.Encode(func() {}, hide); err == nil {
		t.Error("a function became JSON")
	}
}

// What the machine takes is what stands in the journal.
func FuzzEvent(f *testing.F) {
	for _, kind := range loop.EventKinds() {
		f.Add([]byte(`{"kind":"`+string(kind)+`","at":"2026-01-01T00:00:00+02:00","text":"t","turn":{"text":"x","claim":{"reason":"r"}},"inspection":{"ticked_by_agent":["a"]}}`), "x")
	}
	f.Add([]byte(`{"kind":"gates_finished","gates":{"results":[{"failing":["t"]}]}}`), "t")
	f.Add([]byte(`{"kind":"agent_failed","failure":{"message":"m","until":"2026-01-01T00:00:00Z"}}`), "t")
	f.Fuzz(func(t *testing.T, data []byte, needle string) {
		var e loop.Event
		if json.Unmarshal(data, &e) != nil {
			return
		}
		hide := func(s string) string { return s }
		if needle != "" {
			hide = func(s string) string { return strings.ReplaceAll(s, needle, "") }
		}
		kept, raw, err := record.Event(e, hide)
		if err != nil {
			if _, plain := json.Marshal(e); plain == nil && !strings.Contains(err.Error(), "json") && !strings.Contains(err.Error(), "time") {
				t.Error(err)
			}
			return // a time or a number that is none without the needle
		}
		var read loop.Event
		if err := json.Unmarshal(raw, &read); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		if diff := cmp.Diff(kept, read, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("the machine took (-), the journal has (+)\n%s", diff)
		}
	})
}

// Encode keeps the shape of what it cleans, and leaves no secret in it.
func FuzzEncode(f *testing.F) {
	f.Add(`{"a":"b"}`, "b")
	f.Add(`["\u00e9\\\"",{"é":1e9}]`, `é\"`)
	f.Fuzz(func(t *testing.T, text, needle string) {
		var in any
		if needle == "" || !utf8.ValidString(needle) || json.Unmarshal([]byte(text), &in) != nil {
			return
		}
		var seen []string
		out, err := record.Encode(in, func(s string) string {
			seen = append(seen, s)
			return strings.ReplaceAll(s, needle, "\x00")
		})
		if err != nil {
			t.Fatal(err)
		}
		same, err := record.Encode(in, func(s string) string { return s })
		plain, _ := json.Marshal(in)
		if err != nil || string(same) != string(plain) {
			t.Errorf("%s became %s: %v", plain, same, err)
		}
		var back any
		if err := json.Unmarshal(out, &back); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		if !strings.Contains(needle, "\x00") && has(back, needle) {
			t.Errorf("%q is still in %s", needle, out)
		}
		if want := count(in); len(seen) != want {
			t.Errorf("%d strings were looked at, there are %d", len(seen), want)
		}
	})
}

// stringsIn are those in v, names included.
func stringsIn(v any) []string {
	var all []string
	switch v := v.(type) {
	case string:
		all = append(all, v)
	case []any:
		for _, x := range v {
			all = append(all, stringsIn(x)...)
		}
	case map[string]any:
		for k, x := range v {
			all = append(append(all, k), stringsIn(x)...)
		}
	}
	return all
}

func count(v any) int { return len(stringsIn(v)) }

func has(v any, needle string) bool {
	for _, s := range stringsIn(v) {
		if strings.Contains(s, needle) {
			return true
		}
	}
	return false
}
