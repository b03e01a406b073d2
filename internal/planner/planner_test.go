package planner_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/agent/scripted"
	"github.com/pawl-dev/pawl/internal/core/draft"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
	"github.com/pawl-dev/pawl/internal/planner"
)

const good = `{"title":"CSV","gates":["go test ./..."],"tasks":[{"id":"T1","title":"Write rows","criteria":["a row is a line"],"evidence":"proven","proof":"csv_test.go"}]}`

func play(ctx context.Context, t *testing.T, script string, o planner.Options) (draft.Conversation, loop.Usage, error) {
	t.Helper()
	parts, err := scripted.Parse([]byte(script))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "secret.env"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	o.Agent, o.Session.Dir = scripted.Agent{Script: parts, Counter: dir + "/turns"}, dir
	if o.Ask == nil {
		o.Ask = func(planner.NumberedQuestion) (string, error) { return "", nil }
	}
	return planner.Make(ctx, draft.Start("export as CSV"), o)
}

// TestMakeSurvivesFailuresAfterThePlan: what stops an agent before there is a plan is an error; after that it costs
// the review, or the revision.
func TestMakeSurvivesFailuresAfterThePlan(t *testing.T) {
	t.Parallel()
	const remark = `{"remarks":[{"task":"T1","problem":"Too big.","suggestion":""}]}`
	tests := []struct {
		name, script, warning, err string
		most                       float64
	}{
		{"plan and review", "-- review-1/reply --\n" + good + "\n-- review-2/reply --\n{\"remarks\":[]}\n", "", "", 0},
		{"limit before the plan", "-- review-1/failure --\nusage_limit 1h out of luck\n", "", "out of luck", 0},
		{"limit in the review", "-- review-1/reply --\n" + good + "\n-- review-2/failure --\nusage_limit 1h out of luck\n", "the plan was not reviewed: out of luck", "", 0},
		{"limit in the revision", "-- review-1/reply --\n" + good + "\n-- review-2/reply --\n" + remark + "\n-- review-3/failure --\ncrashed it died\n", "the plan was not revised after the review: it died", "", 0},
		{"money", "-- review-1/reply --\n" + good + "\n-- review-1/cost --\n0.50\n", "the plan was not reviewed: its cost limit of $0.40 is reached", "", 0.4},
		{"no plan", "-- review-1/reply --\nhello\n-- review-2/reply --\nhello\n-- review-3/reply --\nhello\n", "", "no plan was written: the answer is not JSON", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, usage, err := play(t.Context(), t, tt.script, planner.Options{MaxCostUSD: tt.most})
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil || c.Warning != tt.warning || len(c.Draft.Tasks) != 1 {
				t.Errorf("error %v, warning %q, %d tasks", err, c.Warning, len(c.Draft.Tasks))
			}
			if usage.CostUSD <= 0 {
				t.Error("it cost nothing")
			}
		})
	}
}

// TestAgentsOnlyRead: whoever plans is denied what changes or runs something, and asked
// about the rest.
func TestAgentsOnlyRead(t *testing.T) {
	t.Parallel()
	script := "-- review-1/read --\nsecret.env\n-- review-1/files/x.txt --\nx\n-- review-1/run --\ntouch y.txt\n-- review-1/reply --\n" + good + "\n-- review-2/reply --\n{\"remarks\":[]}\n"
	var asked, denied []string
	_, _, err := play(t.Context(), t, script, planner.Options{
		Guard: func(c toolcall.Call) agent.Verdict {
			asked = append(asked, c.Tool)
			return agent.Verdict{Reason: "no"}
		},
		OnEvent: func(e agent.Event) {
			if e.Kind == agent.KindDenied {
				denied = append(denied, e.Tool)
			}
		},
	})
	if err != nil || strings.Join(asked, " ") != "Read" || strings.Join(denied, " ") != "Read Write Bash" {
		t.Errorf("error %v, asked %q, denied %q", err, asked, denied)
	}
}

// TestCancelEndsTheConversation ends a conversation in an agent's turn and at a question.
func TestCancelEndsTheConversation(t *testing.T) {
	t.Parallel()
	cause := errors.New("Ctrl-C")
	ctx, cancel := context.WithCancelCause(t.Context())
	_, _, err := play(ctx, t, "-- review-1/sleep --\n1h\n", planner.Options{OnAsk: func(draft.Conversation) {
		time.AfterFunc(20*time.Millisecond, func() { cancel(cause) })
	}})
	if !errors.Is(err, cause) {
		t.Errorf("in a turn: %v", err)
	}
	_, _, err = play(t.Context(), t, "-- review-1/reply --\n"+`{"questions":[{"question":"a?","proposal":"b"}]}`+"\n", planner.Options{
		Ask: func(planner.NumberedQuestion) (string, error) { return "", cause },
	})
	if !errors.Is(err, cause) {
		t.Errorf("at a question: %v", err)
	}
}
