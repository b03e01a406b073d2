package ralphloop_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/foreign/ralphloop"
)

// FuzzParse holds what is read to the byte, and a new iteration to its digits.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		sample, strings.ReplaceAll(sample, "\n", "\r\n"), "\ufeff" + sample, strings.ReplaceAll(sample, ": ", ":"),
		"---\niteration: '08' # x\n---\n---\niteration: 77\n---", "---\ncompletion_promise: \"say \"hi\"\" # x\niteration: 1\n---\na", "---\n", "",
	} {
		f.Add([]byte(s), 7)
	}
	f.Fuzz(func(t *testing.T, data []byte, n int) {
		file, err := ralphloop.Parse(bytes.Clone(data))
		if err != nil {
			if !strings.HasPrefix(err.Error(), ralphloop.Path+":") || !strings.Contains(err.Error(), ": expected ") {
				t.Fatalf("an error without a line or without what was expected: %v", err)
			}
			return
		}
		if !bytes.Equal(file.Bytes(), data) {
			t.Fatal("the bytes are not those that were read")
		}
		if same := file.SetIteration(file.Iteration); same.Iteration != file.Iteration {
			t.Fatalf("iteration %d became %d", file.Iteration, same.Iteration)
		}
		n = max(n, 0)
		set := file.SetIteration(n)
		again, err := ralphloop.Parse(set.Bytes())
		if err != nil {
			t.Fatalf("with iteration %d: %v\n%s", n, err, set.Bytes())
		}
		want := *file
		want.Iteration = n
		for _, got := range []*ralphloop.File{set, again} {
			if diff := cmp.Diff(&want, got, ignoreBytes); diff != "" {
				t.Fatalf("with iteration %d (-want +got):\n%s", n, diff)
			}
		}
	})
}

// FuzzNew reads back what it writes.
func FuzzNew(f *testing.F) {
	f.Add("0f5c-11", 20, `say "hi"`, "Build it.\n---\niteration: 77\n")
	f.Add("", 0, "null", "\n\n a \r\n")
	f.Add("'x'", 1, `" # x`, "a")
	f.Add("", 0, "A\nB", "a\r")
	f.Fuzz(func(t *testing.T, session string, limit int, promise, prompt string) {
		file, err := ralphloop.New(ralphloop.Options{SessionID: session, MaxIterations: limit, Promise: promise, Prompt: prompt})
		if err != nil {
			return
		}
		if file.Prompt != prompt || file.SessionID != session || file.MaxIterations != limit || !file.MaxGiven || file.Iteration != 1 || !file.Active {
			t.Fatalf("%+v", file)
		}
		if strings.ContainsFunc(promise, func(r rune) bool { return unicode.IsControl(r) || r == utf8.RuneError }) {
			return // they are replaced
		}
		if got, want := strings.Fields(file.Promise), strings.Fields(promise); !cmp.Equal(got, want) {
			t.Fatalf("promise %q, want %q", got, want)
		}
	})
}

// FuzzParseArgs holds that quotes around a prompt come off and nothing else
// happens to it, and that a limit behind a prompt counts whatever the prompt is.
func FuzzParseArgs(f *testing.F) {
	for _, s := range []string{
		"Fix it", "don't \"stop\" --now", `a \ b \\" c`, "`a` ``b", "a '--gate", "-- x", "'", `"`, "\\", "--help", "a\n\nb 🔁", "$x `y` *",
		`Get 'em --gate x the users' own`, "--gate", "--gate='a b", `x="`, "“a”",
	} {
		f.Add(s)
	}
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	f.Fuzz(func(t *testing.T, prompt string) {
		if strings.TrimSpace(prompt) != "" {
			raw := ` "` + escape.Replace(prompt) + `" --max-iterations 7`
			got, err := ralphloop.ParseArgs(raw)
			if want := (ralphloop.Args{Prompt: prompt, MaxIterations: 7, MaxGiven: true}); err != nil || !cmp.Equal(want, got) {
				t.Fatalf("%s\n%v\n%s", raw, err, cmp.Diff(want, got))
			}
			if !strings.ContainsAny(prompt, `"\`) {
				if got, err := ralphloop.ParseArgs(`"` + prompt + `"`); err != nil || got.Prompt != prompt {
					t.Fatalf("%q: %q, %v", prompt, got.Prompt, err)
				}
			}
		}
		got, err := ralphloop.ParseArgs(prompt + " --max-iterations 7")
		if err != nil || got.Help {
			return
		}
		ended := slices.Contains(strings.Fields(prompt), "--") // before the prompt, perhaps
		if !ended && (!got.MaxGiven || got.MaxIterations != 7) {
			t.Fatalf("%q: the limit is lost: %+v", prompt, got)
		}
	})
}
