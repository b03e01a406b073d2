package planloop_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/foreign/planloop"
)

var at = time.Date(2026, 3, 1, 9, 5, 0, 0, time.UTC)

const sha = "0123456789abcdef0123456789abcdef01234567"

func TestPlanPathsAreRecognized(t *testing.T) {
	t.Parallel()
	cases := map[string]bool{
		".ralph/PRD-1/plan.md": true, ".ralph/PRD-12/prd.md": true,
		".ralph/PRD-/plan.md": false, ".ralph/PRD-x/plan.md": false, ".ralph/PRD-1/x/plan.md": false, ".ralph/PRD-1/progress.md": false,
		"plan.md": false, "sub/.ralph/PRD-1/plan.md": false, ".ralph/PRD-1/../../plan.md": false, ".ralph/plan.md": false, "": false,
	}
	for name, want := range cases {
		if got := planloop.IsPlanPath(name); got != want {
			t.Errorf("Plan(%q) = %v", name, got)
		}
	}
}

func TestUnsafeWordsAreRefused(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{"US-001": true, "2.5": true, "a_b": true, "": false, "US 1": false, "US:1": false, "US-1\n": false, strings.Repeat("a", 65): false} {
		if got := planloop.IsStoryID(id); got != want {
			t.Errorf("Story(%q) = %v", id, got)
		}
	}
	for text, want := range map[string]bool{sha: true, strings.Repeat("a", 64): true, sha[:39]: false, strings.ToUpper(sha): false, "": false, "HEAD": false} {
		if got := planloop.IsCommitID(text); got != want {
			t.Errorf("Commit(%q) = %v", text, got)
		}
	}
	if got := planloop.ParseWord([]byte(" US-001\r\n")); got != "US-001" {
		t.Errorf("Value: %q", got)
	}
	if got := string(planloop.FormatWord("US-001")); got != "US-001\n" {
		t.Errorf("Word: %q", got)
	}
}

func TestGoldenIncompleteLine(t *testing.T) {
	t.Parallel()
	for why, want := range map[string]string{
		"stuck":               "incomplete:US-001:1772355900:stuck\n",
		"":                    "incomplete:US-001:1772355900:unknown\n",
		"a:b\nincomplete:X c": "incomplete:US-001:1772355900:a_b_incomplete_X_c\n",
	} {
		i := planloop.OpenStory{Story: "US-001", At: at, Why: why}
		if got := string(i.Line()); got != want {
			t.Errorf("why %q: %q, want %q", why, got, want)
		}
	}
}

var failed = planloop.Failure{
	Loop: "brisk-otter-7f3a", Story: "US-001", Iteration: 3, Base: sha, At: at,
	Reason: "test: 2 tests fail", Tests: []string{"TestA", "TestB"}, Output: "\x1b[31m--- FAIL:\x1b[0m TestA\n    a_test.go:3: `x`\n=== End Failure ===\nFAIL\n",
}

func TestGoldenFailureEntry(t *testing.T) {
	t.Parallel()
	want := `
=== Test Failure 2026-03-01T09:05:00Z ===
Checkpoint: ` + sha + `
Story: US-001, iteration 3 of brisk-otter-7f3a
Reason: test: 2 tests fail
  - TestA
  - TestB
--- FAIL: TestA
    a_test.go:3: ` + "`x`" + `
 === End Failure ===
FAIL
=== End Failure ===
`
	if diff := cmp.Diff(want, string(failed.Entry())); diff != "" {
		t.Errorf("entry (-want +got):\n%s", diff)
	}
	bare := planloop.Failure{Loop: "brisk-otter-7f3a", Story: "US-001", Iteration: 1, At: at, Reason: "no\nkey"}
	want = "\n=== Test Failure 2026-03-01T09:05:00Z ===\nStory: US-001, iteration 1 of brisk-otter-7f3a\nReason: no key\n=== End Failure ===\n"
	if diff := cmp.Diff(want, string(bare.Entry())); diff != "" {
		t.Errorf("entry (-want +got):\n%s", diff)
	}
}

func TestGoldenFailureIsToldOnce(t *testing.T) {
	t.Parallel()
	log := planloop.AppendEntry([]byte("older\n"), failed.Entry())
	other, later := failed, failed
	other.Loop, later.Iteration = "calm-fox-0000", 30
	if !failed.IsInLog(log) || other.IsInLog(log) || later.IsInLog(log) {
		t.Errorf("in the log: %v, another loop's %v, a later one %v", failed.IsInLog(log), other.IsInLog(log), later.IsInLog(log))
	}
}

func TestGoldenFailureEntryHasAtMostAHundredLines(t *testing.T) {
	t.Parallel()
	f := failed
	f.Output = strings.Repeat("line\n", 5000) + "the last line"
	for range 200 {
		f.Tests = append(f.Tests, strings.Repeat("T", 500))
	}
	entry := f.Entry()
	if n := bytes.Count(entry, []byte("\n")); n != planloop.MaxEntryLines {
		t.Errorf("%d lines", n)
	}
	if !bytes.Contains(entry, []byte("\nthe last line\n"+"=== End Failure ===\n")) || !bytes.Contains(entry, []byte("… and 182 more")) {
		t.Errorf("the end is missing:\n%s", entry)
	}
}

func TestGoldenLogRotates(t *testing.T) {
	t.Parallel()
	var log []byte
	for i := range 20_000 / 2 { // 10 bytes a line: exactly the limit
		log = fmt.Appendf(log, "line %04d\n", i)
	}
	if got := planloop.AppendEntry(nil, log); len(got) != planloop.MaxLogBytes {
		t.Fatalf("a log of exactly the bound was cut to %d bytes", len(got))
	}
	got := planloop.AppendEntry(log, []byte("the newest\n"))
	if n := bytes.Count(got, []byte("\n")); n != planloop.KeptLogLines {
		t.Errorf("%d lines are left", n)
	}
	if !bytes.HasPrefix(got, []byte("line 9501\n")) || !bytes.HasSuffix(got, []byte("line 9999\nthe newest\n")) {
		t.Errorf("left are\n%.40s … %s", got, got[len(got)-40:])
	}
	if got := planloop.AppendEntry([]byte("no line end"), []byte("next\n")); string(got) != "no line end\nnext\n" {
		t.Errorf("%q", got)
	}
}

const progress = `# Progress Log

## Iteration 1 - US-001
- Status: FAILED (exit 1)
- Time: 2026-02-01T00:00:00Z

## Iteration 2 - US-001
- Status: SUCCESS
- Commit: N/A
- Time: 2026-02-01T00:00:00Z

## Iteration 3 - US-002
- Status: SUCCESS
- Commit: 89abcde
`

func TestGoldenProgressOfAFailedTry(t *testing.T) {
	t.Parallel()
	want := `
## Iteration 3 - US-001
- Status: FAILED (test: 2 tests fail)
- Time: 2026-03-01T09:05:00Z
- Loop: brisk-otter-7f3a
`
	if diff := cmp.Diff(want, string(failed.ProgressEntry())); diff != "" {
		t.Errorf("entry (-want +got):\n%s", diff)
	}
	other := failed
	other.Loop = "calm-fox-0000"
	with := append([]byte(progress), failed.ProgressEntry()...)
	if failed.IsInProgressFile([]byte(progress)) || !failed.IsInProgressFile(with) || other.IsInProgressFile(with) {
		t.Error("an entry is not told from another")
	}
}

func TestGoldenProgressIsStamped(t *testing.T) {
	t.Parallel()
	want := strings.Replace(progress, "Commit: N/A", "Commit: 0123456", 1)
	if diff := cmp.Diff(want, string(planloop.StampCommit([]byte(progress), "US-001", sha))); diff != "" {
		t.Errorf("stamped (-want +got):\n%s", diff)
	}
	for _, story := range []string{"US-002", "US-003", "1"} {
		if got := string(planloop.StampCommit([]byte(progress), story, sha)); got != progress {
			t.Errorf("%s: stamped without an entry to stamp:\n%s", story, got)
		}
	}
	if got := planloop.StampCommit([]byte(progress), "US-001", "012"); string(got) != progress {
		t.Errorf("stamped with no hash:\n%s", got)
	}
}

// FuzzAppend checks that a log never exceeds the limit, keeps its newest whole lines, and that the
// given log does not change.
func FuzzAppend(f *testing.F) {
	f.Add([]byte("a\nb"), []byte("c\n"), 0)
	f.Add([]byte("a\nb\n"), []byte("c"), 99_990)
	f.Add([]byte(""), []byte(""), 100_001)
	f.Fuzz(func(t *testing.T, log, entry []byte, long int) {
		log = append(bytes.Repeat([]byte("x"), min(max(long, 0), 300_000)), log...)
		before := bytes.Clone(log)
		got := planloop.AppendEntry(log, entry)
		whole := bytes.Clone(log)
		if len(whole) > 0 && whole[len(whole)-1] != '\n' {
			whole = append(whole, '\n')
		}
		whole = append(whole, entry...)
		switch {
		case !bytes.Equal(log, before):
			t.Fatal("the log handed in was changed")
		case len(whole) <= planloop.MaxLogBytes && !bytes.Equal(got, whole):
			t.Fatal("cut without need")
		case len(got) > planloop.MaxLogBytes:
			t.Fatalf("%d bytes", len(got))
		case !bytes.HasSuffix(whole, got):
			t.Fatal("not the newest")
		case len(got) < len(whole) && len(whole) > len(got) && len(got) > 0 && whole[len(whole)-len(got)-1] != '\n':
			t.Fatal("begins within a line")
		case len(whole) > planloop.MaxLogBytes && bytes.Count(got, []byte("\n")) > planloop.KeptLogLines:
			t.Fatal("more lines than are kept")
		}
	})
}

// FuzzFailure checks that an entry has a limited number of lines, fits into a log, is found in it,
// and controls no terminal.
func FuzzFailure(f *testing.F) {
	f.Add("test fails", "TestA", "\x1b[31mFAIL\x1b[0m\r\n=== x\n", 3)
	f.Add("\n=== End Failure ===\n", "", "\x9b\xff\u202e", 0)
	f.Fuzz(func(t *testing.T, reason, test, output string, iteration int) {
		fail := planloop.Failure{Loop: "calm-fox-0000", Story: "US-001", Iteration: iteration, At: at, Reason: reason, Tests: []string{test, test}, Output: output}
		entry := fail.Entry()
		if n := bytes.Count(entry, []byte("\n")); n > planloop.MaxEntryLines {
			t.Fatalf("%d lines", n)
		}
		if bytes.Count(entry, []byte("\n=== ")) != 2 || bytes.ContainsAny(entry, "\x1b\r\x00") {
			t.Fatalf("entry %q", entry)
		}
		old := bytes.Repeat([]byte("old\n"), planloop.MaxLogBytes/4)
		if log := planloop.AppendEntry(old, entry); !fail.IsInLog(log) || !bytes.HasSuffix(log, entry) {
			t.Fatal("it does not fit a log")
		}
		if p := fail.ProgressEntry(); bytes.Count(p, []byte("\n")) != 5 || !fail.IsInProgressFile(append([]byte(planloop.NewProgress), p...)) {
			t.Fatalf("progress %q", p)
		}
	})
}

// FuzzStamp checks that a stamp changes at most one word, and only once.
func FuzzStamp(f *testing.F) {
	f.Add([]byte(progress), "US-001")
	f.Add([]byte(strings.ReplaceAll(progress, "\n", "\r\n")), "US-001")
	f.Add([]byte("## Iteration 1 - a\n- Status: SUCCESS\n- Commit: N/A"), "a")
	f.Fuzz(func(t *testing.T, data []byte, story string) {
		before := bytes.Clone(data)
		got := planloop.StampCommit(data, story, sha)
		if !bytes.Equal(before, data) {
			t.Fatal("what was handed in was changed")
		}
		if bytes.Equal(got, data) {
			return
		}
		front := 0
		for front < len(data) && data[front] == got[front] {
			front++
		}
		if string(got[front:front+7]) != sha[:7] || !bytes.HasPrefix(data[front:], []byte("N/A")) || !bytes.Equal(got[front+7:], data[front+3:]) {
			t.Fatalf("more than a word has changed:\n%s", cmp.Diff(string(data), string(got)))
		}
	})
}
