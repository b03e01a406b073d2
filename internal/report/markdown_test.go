package report_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/report"
)

func TestMarkdownMatchesGoldenFiles(t *testing.T) {
	t.Parallel()
	l := night()
	l.ID = "brisk-otter-7f3a"
	l.State.Tasks[7].Why = "ask @admin: <img src=x> | [here](https://example.org)"
	l.State.Tasks[1].Flipped = []string{"TestLogout", "Test_Expired"}
	const want = `**7 of 12 tasks done (4 not proven), 3 need you, 2 open · ended stuck: task US-006 (Cache) failed: TestCache fails**

| | task | | commit |
|---|---|---|---|
| skipped | US-006 Cache | failed after all attempts: TestCache fails |  |
| blocked | US-007 Deploy | the agent says that it is blocked: ask @<!-- -->admin: &lt;img src=x\> \| \[here\](https:&#47;/example.org) |  |
| unchanged | US-008 Tidy | claimed done, but changed no files |  |
| to approve | US-005 Status codes | waits for your approval | c81f0c2 |
| unproven | US-004 Update README | no test checks parseRow, Sub: please review | 77c1d3e |
| unproven | US-012 Notes | nothing new fails; what failed before still fails (TestTotal): please review | 87c1d3e |
| reviewed | US-009 Reviewed | an independent review passed | d81f0c2 |
| proven | US-002 Logout button | failed before, passes now: TestLogout, Test\_Expired | a81f0c2 |
| proven | US-003 Session expiry | a test failed before and passes now | b81f0c2 |
| open | US-010 Metrics | not started |  |
| open | US-011 Alerts | not started |  |
| earlier | US-001 Login form | done before this loop |  |

Look at:

- session\_test.go:17: changed TestExpiry
- session.go:12 asks whether it is being tested: if testing.Testing() \{

Tests:

- task US-002: 7 of 9 changed functions are tested: not parseRow (rows.go:12), Sub (calc.go:3)

Gates: go test ./... pass, lint fail, make test fail (TestA, TestCache)

$7.31, 2.1M tokens, 4h31m, 21 iterations, ` + "`brisk-otter-7f3a`" + `
`
	if diff := cmp.Diff(want, report.Markdown(l)); diff != "" {
		t.Error(diff)
	}
}

// The report of a running loop says so, and that the cost of a session is unknown.
func TestMarkdownOfALoopAtWork(t *testing.T) {
	t.Parallel()
	got := report.Markdown(report.Loop{ID: "x", Status: "running", State: loop.State{Phase: loop.Turning, Tasks: []loop.Task{{ID: "goal", Title: "add a", Status: loop.Open}}, Ownership: loop.Ownership{InSession: true}, Counts: loop.Counts{Iteration: 1}}})
	if !strings.HasPrefix(got, "**running**\n") || strings.Contains(got, "$") {
		t.Error(got)
	}
}
