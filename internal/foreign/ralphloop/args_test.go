package ralphloop_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/foreign/ralphloop"
)

func TestFlagsAreParsed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, raw string
		want      ralphloop.Args
	}{
		{"words", `Build a todo API`, ralphloop.Args{Prompt: "Build a todo API"}},
		{
			"flags behind", `Build a todo API --completion-promise 'ALL DONE' --max-iterations 20`,
			ralphloop.Args{Prompt: "Build a todo API", Promise: "ALL DONE", MaxIterations: 20, MaxGiven: true},
		},
		{
			"flags before", `--max-iterations 10 --completion-promise "ALL DONE" Fix the bug`,
			ralphloop.Args{Prompt: "Fix the bug", Promise: "ALL DONE", MaxIterations: 10, MaxGiven: true},
		},
		{"flags within", `Fix --max-iterations 10 the bug`, ralphloop.Args{Prompt: "Fix the bug", MaxIterations: 10, MaxGiven: true}},
		{
			"equals signs", `--max-iterations=3 Fix it --completion-promise="ALL  DONE"`,
			ralphloop.Args{Prompt: "Fix it", Promise: "ALL  DONE", MaxIterations: 3, MaxGiven: true},
		},
		{"unlimited", `Fix it --max-iterations 0`, ralphloop.Args{Prompt: "Fix it", MaxGiven: true}},
		{"not octal", `Fix it --max-iterations 08`, ralphloop.Args{Prompt: "Fix it", MaxIterations: 8, MaxGiven: true}},
		{"the last counts", `--max-iterations 3 Fix it --max-iterations 4`, ralphloop.Args{Prompt: "Fix it", MaxIterations: 4, MaxGiven: true}},
		{"quotes in the promise", `Fix it --completion-promise "say "hi""`, ralphloop.Args{Prompt: "Fix it", Promise: `say "hi"`}},
		{"escaped quotes in the promise", `Fix it --completion-promise "say \"hi\""`, ralphloop.Args{Prompt: "Fix it", Promise: `say "hi"`}},
		{"one escaped quote in a command", `Fix it --gate "grep -q 5\" <pipe"`, ralphloop.Args{Prompt: "Fix it", Gates: []string{`grep -q 5" <pipe`}}},
		{"a promise of one word", `Fix it --completion-promise ALL DONE`, ralphloop.Args{Prompt: "Fix it DONE", Promise: "ALL"}},
		{"an apostrophe in the promise", `Fix it --completion-promise 'I don't cheat'`, ralphloop.Args{Prompt: "Fix it", Promise: "I don't cheat"}},
		{"a promise that is a pattern", `Fix it --completion-promise *`, ralphloop.Args{Prompt: "Fix it", Promise: "*"}},
		{
			"Pawl's own", `Fix it --gate "go test ./..." --gate=make --verify 'npm test -- --coverage' --max-duration 1h30m`,
			ralphloop.Args{Prompt: "Fix it", Gates: []string{"go test ./...", "make"}, Verify: "npm test -- --coverage", MaxDuration: 90 * time.Minute},
		},
		{"verify alone", `--verify make`, ralphloop.Args{Verify: "make"}},
		{"nothing expanded in a gate", `Fix it --gate "test $HOME = \$HOME && echo $(id) *"`, ralphloop.Args{Prompt: "Fix it", Gates: []string{"test $HOME = $HOME && echo $(id) *"}}},
		{"on lines of their own", "Fix it\n--max-iterations 3\n--gate make\n", ralphloop.Args{Prompt: "Fix it", MaxIterations: 3, MaxGiven: true, Gates: []string{"make"}}},
		{"a blank that is none of ASCII", "Fix it --max-iterations\u00a03", ralphloop.Args{Prompt: "Fix it", MaxIterations: 3, MaxGiven: true}},
		{"help", `--help`, ralphloop.Args{Help: true}},
		{"help among others", `Fix it --max-iterations 3 --help`, ralphloop.Args{Help: true}},
		{"short help", ` -h `, ralphloop.Args{Help: true}},
		{"short help in prose", `Run df -h often`, ralphloop.Args{Prompt: "Run df -h often"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := ralphloop.ParseArgs(tt.raw)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tt.raw, diff)
			}
		})
	}
}

// TestProseMayContainFlagWords has prompts as people type them, each with a limit of 3.
func TestProseMayContainFlagWords(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, raw, want string }{
		{"quoted", `"Fix it" --max-iterations 3`, `Fix it`},
		{"quoted, limit first", `--max-iterations 3 'Fix it'`, `Fix it`},
		{"white space stays", "Fix  it\n\n  - a\n  - b\n --max-iterations 3", "Fix  it\n\n  - a\n  - b"},
		{"white space in quotes stays", "\"\n Fix  it\n\" --max-iterations 3", "\n Fix  it\n"},
		{"text continues behind", "One\n\n--max-iterations 3\n\nTwo", "One\n\nTwo"},
		{"nothing expanded", `Print $HOME $(id) ${x} {a,b} ~ * ? ! # ; & | < > (x) [y] \n --max-iterations 3`, `Print $HOME $(id) ${x} {a,b} ~ * ? ! # ; & | < > (x) [y] \n`},
		{"nothing expanded in quotes", `"Print $HOME $(id) * \n" --max-iterations 3`, `Print $HOME $(id) * \n`},
		{"escaped for a shell", `"Print \$HOME, \"x\", \\ and \` + "`id\\`" + `" --max-iterations 3`, "Print $HOME, \"x\", \\ and `id`"},
		{"quotes within stay", `Print "hello" and 'bye' --max-iterations 3`, `Print "hello" and 'bye'`},
		{"two quotations stay", `"One" and "two" --max-iterations 3`, `"One" and "two"`},
		{"quotes in quotes", `"Say "hi"" --max-iterations 3`, `Say "hi"`},
		{"an apostrophe", `don't stop --max-iterations 3`, `don't stop`},
		{"two apostrophes", `don't stop --max-iterations 3 and don't cry`, `don't stop and don't cry`},
		{"an apostrophe in quotes", `'Don't stop' --max-iterations 3`, `Don't stop`},
		{"apostrophes that could be quotes", `Get 'em all --max-iterations 3 from the users' data`, `Get 'em all from the users' data`},
		{"inches", `Cut 5" and 6" of it --max-iterations 3`, `Cut 5" and 6" of it`},
		{"a quote that does not close", `Fix the " thing --max-iterations 3`, `Fix the " thing`},
		{"a quotation that does not close", `"Fix the thing --max-iterations 3`, `"Fix the thing`},
		{"a quotation before a comma", `Fix "it", then "that". --max-iterations 3`, `Fix "it", then "that".`},
		{"a flag in quotes", `Make "go test --race ./..." pass --max-iterations 3`, `Make "go test --race ./..." pass`},
		{"a flag in single quotes", `Make 'go test --race ./...' pass --max-iterations 3`, `Make 'go test --race ./...' pass`},
		{"a flag in code", "Make (`go test --race`) pass --max-iterations 3", "Make (`go test --race`) pass"},
		{"a flag in a block of code", "Make this pass:\n```\ngo test --race # don't\n```\n--max-iterations 3", "Make this pass:\n```\ngo test --race # don't\n```"},
		{"a flag of ours in quotes", `"Explain --max-iterations 9 to me" --max-iterations 3`, `Explain --max-iterations 9 to me`},
		{"a flag of ours in single quotes", `'Explain --max-iterations 9 to me' --max-iterations 3`, `Explain --max-iterations 9 to me`},
		{"code that does not close", "Print a ` twice `` --max-iterations 3", "Print a ` twice ``"},
		{"a dash", `Fix it - or not --max-iterations 3`, `Fix it - or not`},
		{"a long dash", `Fix it -- or not -- soon --max-iterations 3`, `Fix it -- or not -- soon`},
		{"dashes of all kinds", "Fix --- it --> a --5 a--b — c – d -x\n---\n--max-iterations 3", "Fix --- it --> a --5 a--b — c – d -x\n---"},
		{"the end of flags", `--max-iterations 3 -- Add --verbose, -- and --max-iterations 9`, `Add --verbose, -- and --max-iterations 9`},
		{"the end of flags, quoted", `--max-iterations=3 -- "Add --verbose"`, `Add --verbose`},
		{"emoji", `Füge 🔁 hinzu --max-iterations 3`, `Füge 🔁 hinzu`},
		{"invalid UTF-8", "a\xffb \xfe --max-iterations 3", "a\xffb \xfe"},
		{"long", strings.Repeat("emoji 🔁 'n' more\n", 5000) + "x --max-iterations 3", strings.Repeat("emoji 🔁 'n' more\n", 5000) + "x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := ralphloop.ParseArgs(tt.raw)
			if err != nil {
				t.Fatalf("%s\n%v", tt.raw, err)
			}
			want := ralphloop.Args{Prompt: tt.want, MaxIterations: 3, MaxGiven: true}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tt.raw, diff)
			}
		})
	}
}

func TestInvalidArgsAreRefused(t *testing.T) {
	t.Parallel()
	const inQuotes = "text that begins with -- goes into quotes, or behind a lone -- at the start"
	tests := []struct{ raw, want, hint string }{
		{`Fix it --max-iterations`, "--max-iterations requires a number argument", ""},
		{`Fix it --max-iterations=`, "--max-iterations requires a number argument", ""},
		{`--max-iterations --completion-promise X Fix it`, "--max-iterations requires a number argument", ""},
		{`Fix it --max-iterations ten`, "--max-iterations must be a positive integer or 0, got: ten", "0 means unlimited"},
		{`Fix it --max-iterations -5`, "--max-iterations must be a positive integer or 0, got: -5", "0 means unlimited"},
		{`Fix it --max-iterations=10.5`, "--max-iterations must be a positive integer or 0, got: 10.5", "0 means unlimited"},
		{`Fix it --max-iterations 99999999999999999999`, "--max-iterations must be a positive integer or 0, got: 99999999999999999999", "0 means unlimited"},
		{`Fix it --completion-promise`, "--completion-promise requires a text argument", ""},
		{`Fix it --completion-promise ""`, "--completion-promise requires a text argument", ""},
		{`Fix it --completion-promise --max-iterations 3`, "--completion-promise requires a text argument", ""},
		{`Fix it --gate`, "--gate requires a command argument", ""},
		{`Fix it --verify=' '`, "--verify requires a command argument", ""},
		{`Fix it --max-duration`, "--max-duration requires a duration argument", ""},
		{`Fix it --max-duration 8`, "--max-duration must be a duration such as 90s, 10m or 8h, got: 8", ""},
		{`Fix it --max-duration -8h`, "--max-duration must be a duration such as 90s, 10m or 8h, got: -8h", ""},
		{`Fix it --gate "grep -q "x" file"`, `--gate: cannot tell where the quotation ends after "grep -q \"x"`, `write \" for a quote within quotes, or put '…' around it`},
		{``, "no prompt provided", `say what to do, as in: "Fix the failing tests" --max-iterations 20`},
		{" \n", "no prompt provided", `say what to do, as in: "Fix the failing tests" --max-iterations 20`},
		{`"" --max-iterations 3`, "no prompt provided", `say what to do, as in: "Fix the failing tests" --max-iterations 20`},
		{`--`, "no prompt provided", `say what to do, as in: "Fix the failing tests" --max-iterations 20`},
		{`Fix it --max-iteration 3`, "unknown flag --max-iteration", "did you mean --max-iterations? " + inQuotes},
		{`Fix it --max-iteration=3`, "unknown flag --max-iteration", "did you mean --max-iterations? " + inQuotes},
		{`Fix it --MAX_ITERATIONS 3`, "unknown flag --MAX_ITERATIONS", "did you mean --max-iterations? " + inQuotes},
		{`Fix it --max 3`, "unknown flag --max", "did you mean --max-iterations? " + inQuotes},
		{`Fix it --promise X`, "unknown flag --promise", "did you mean --completion-promise? " + inQuotes},
		{`Fix it --gates make`, "unknown flag --gates", "did you mean --gate? " + inQuotes},
		{`Fix it -max-iterations 3`, "unknown flag -max-iterations", "did you mean --max-iterations? " + inQuotes},
		{`Fix it —max-iterations 3`, "unknown flag —max-iterations", "did you mean --max-iterations? " + inQuotes},
		{`Add --verbose`, "unknown flag --verbose", inQuotes},
		{`Count --i`, "unknown flag --i", inQuotes},
		{"Add --\u00e9\u202ex", "unknown flag --\u00e9x", inQuotes},
	}
	for _, tt := range tests {
		_, err := ralphloop.ParseArgs(tt.raw)
		if err == nil || err.Error() != tt.want || failure.Hint(err) != tt.hint || failure.CodeOf(err) != failure.Usage {
			t.Errorf("%s\ngot  %v (%s)\nwant %s (%s)", tt.raw, err, failure.Hint(err), tt.want, tt.hint)
		}
	}
}

// TestArgsAreReadInOnePass would take minutes if each quote were searched for
// its end anew.
func TestArgsAreReadInOnePass(t *testing.T) {
	t.Parallel()
	const n = 1 << 18
	for _, part := range []string{`'a `, `"a `, "`", "`a ``b ", `"a 'b `, `\`, `"\`, `'a --gate x `, `' `, `"a" `, `-- `, "a=' "} {
		start := time.Now()
		raw := strings.Repeat(part, n) + "'"
		if a, err := ralphloop.ParseArgs(raw); err == nil && a.Prompt == "" {
			t.Errorf("%q: no prompt", part)
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%q × %d took %v", part, n, took)
		}
	}
}
