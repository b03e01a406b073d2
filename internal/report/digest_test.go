package report_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/report"
)

func TestDigestIsShort(t *testing.T) {
	t.Parallel()
	asks := loop.State{Phase: loop.Waiting, Tasks: []loop.Task{{ID: "goal", Title: "add a", Status: loop.Open}}, Conversation: loop.Conversation{Questions: []loop.Question{{Task: "goal", Text: "Which zone?"}}}, Counts: loop.Counts{Usage: loop.Usage{CostUSD: 0.5}}}
	fine := loop.State{Phase: loop.Ended, Tasks: []loop.Task{{ID: "0", Status: loop.Done, WorkResult: loop.WorkResult{Evidence: "proven"}, DoneEarlier: true}, {ID: "1", Status: loop.Done, WorkResult: loop.WorkResult{Evidence: "proven"}}, {ID: "2", Status: loop.Done, WorkResult: loop.WorkResult{Evidence: "proven"}}}, End: loop.End{Outcome: loop.Verified}}
	got := report.Digest(evening, []report.Entry{
		{ID: "quiet-heron", Goal: "add a", Where: "/src/a", Group: "NEEDS YOU", Status: "waiting", State: asks},
		{ID: "brisk-otter", Goal: "plan.md", Where: "/src/b", Group: "NEEDS YOU", Status: "ended", State: night().State},
		{ID: "calm-hare", Goal: "plan.md", Where: "/src/c", Group: "ENDED", Status: "ended", State: fine},
	})
	const want = `3 loops since 2026-01-31 22:00: 2 need you, 1 ended · 8 of 14 tasks done (4 not proven), 3 need you, 3 open · $7.81

NEEDS YOU
  quiet-heron  waiting
    add a, in /src/a · $0.50
    the agent asks: Which zone?  → pawl answer quiet-heron "…"
  brisk-otter  7 of 12 tasks done (4 not proven), 3 need you, 2 open · ended stuck: task US-006 (Cache) failed: TestCache fails
    plan.md, in /src/b · $7.31
    US-006 Cache: skipped: TestCache fails
    US-007 Deploy: blocked: no credentials here
    US-008 Tidy: unchanged

ENDED
  calm-hare  3 of 3 tasks done · ended verified
    plan.md, in /src/c · $0.00
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got = report.DigestMarkdown(evening, []report.Entry{{ID: "quiet-heron", Goal: "add a | b", Where: "/src/a", Group: "NEEDS YOU", Status: "waiting", State: asks}})
	const table = "**1 loop since 2026-01-31 22:00: 1 needs you · $0.50**\n\n| | loop | goal | result | cost |\n|---|---|---|---|---|\n" +
		"| needs you | `quiet-heron` | add a \\| b, in /src/a | waiting<br>the agent asks: Which zone? → pawl answer quiet-heron \"…\" | $0.50 |\n"
	if diff := cmp.Diff(table, got); diff != "" {
		t.Error(diff)
	}
	open := loop.State{Phase: loop.Ended, Clock: loop.Clock{StartedAt: evening}, Tasks: []loop.Task{{ID: "1", Status: loop.Open, Turns: 3}, {ID: "2", Status: loop.Open}}, End: loop.End{Outcome: loop.Iterations}}
	done := loop.State{Phase: loop.Ended, Clock: loop.Clock{StartedAt: evening.Add(time.Hour)}, Tasks: []loop.Task{{ID: "1", Status: loop.Done, WorkResult: loop.WorkResult{Evidence: "proven"}}, {ID: "2", Status: loop.Open}}, End: loop.End{Outcome: loop.Iterations}}
	got = report.Digest(evening, []report.Entry{
		{ID: "brisk-otter", Goal: "plan.md", Where: "/src/b", Group: "ENDED", Status: "ended", State: done},
		{ID: "calm-hare", Goal: "plan.md", Where: "/src/b", Group: "ENDED", Status: "ended", State: open},
	})
	if line, _, _ := strings.Cut(got, "\n"); !strings.Contains(line, "1 of 2 tasks done, 1 open") {
		t.Errorf("a plan that was run twice: %q", line)
	}
	before := fine
	before.Tasks, before.Usage.CostUSD, fine.Usage.CostUSD = slices.Clone(fine.Tasks), 2, 5
	before.Tasks[1].Status, fine.Tasks = loop.Open, append(slices.Clone(fine.Tasks), loop.Task{ID: "3", Status: loop.Open})
	got = report.Digest(evening, []report.Entry{{ID: "calm-hare", Goal: "plan.md", Where: "/src/c", Group: "ENDED", Status: "ended", State: fine, Before: before}})
	if !strings.Contains(got, "1 of 2 tasks done, 1 open · $3.00\n") || !strings.Contains(got, "plan.md, in /src/c · $3.00 of $5.00\n") {
		t.Errorf("a loop that began before:\n%s", got)
	}
	if got := report.Digest(evening, nil); got != "no loop since 2026-01-31 22:00\n" {
		t.Errorf("%q", got)
	}
}
