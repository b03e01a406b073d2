package runner_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
	"github.com/pawl-dev/pawl/internal/review"
)

// scriptedReviewers answers for reviewers: the given answers in turn, then the last one again.
type scriptedReviewers struct {
	says  []review.Answer
	asked []review.Request
	then  func() // while one is asked
}

func (p *scriptedReviewers) Ask(_ context.Context, q review.Request) (review.Answer, error) {
	a := p.says[min(len(p.asked), len(p.says)-1)]
	p.asked = append(p.asked, q)
	if p.then != nil {
		p.then()
	}
	a.Result.Gate, a.Result.Kind, a.Result.ExitCode, a.Result.Tree = q.Gate.Name, gate.ByReview, -1, q.Tree
	return a, nil
}

func opinion(s gate.Status, reason string) review.Answer {
	a := review.Answer{Result: gate.Result{Status: s, Reason: reason}, Usage: loop.Usage{Input: 10, CostUSD: 0.25}}
	if s == gate.Fail {
		a.Result.FirstError, a.Findings = reason, []string{reason, "no test"}
	}
	return a
}

const bothWords = "-- 1+/run --\nprintf 'one\\ntwo\\n' > have.txt; echo x >> notes.txt; echo 'make || true' > do.sh\n-- 1+/reply --\n<promise>DONE</promise>\n"

func withReview(more map[string]any) map[string]any {
	more["review"] = []string{"The words are real.", "Nothing else was added."}
	return withGate(more)
}

// Reviewers run one after another until one fails the work. Each gets the gates' results and the
// remaining budget.
func TestReviewersGetGateResultsAndRemainingBudget(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	p := &scriptedReviewers{says: []review.Answer{opinion(gate.Pass, "it points at have.txt:2"), opinion(gate.Fail, "notes.txt:1: not asked for"), opinion(gate.Pass, "fine")}}
	d := b.begin(bothWords, []string{"have every word"}, withReview(map[string]any{"max_cost": "5"}))
	d.Reviewer = p
	s, err := b.drive(t.Context(), d, logObserver{t})
	if err != nil || s.Outcome != loop.Verified || s.Iteration != 2 || s.Tasks[0].Evidence != gate.Proven {
		t.Fatalf("%v, %s after %d: %s", err, s.Outcome, s.Iteration, s.Reason)
	}
	var names []string
	for _, q := range p.asked {
		names = append(names, q.Gate.Name)
	}
	if diff := cmp.Diff([]string{"review", "review-2", "review", "review-2"}, names); diff != "" {
		t.Errorf("asked: %s", diff)
	}
	q := p.asked[1]
	if q.Goal != "have every word" || q.Base == q.Tree || q.Base == "" || len(q.Tasks) != 0 || q.MaxCostUSD > 4.74 || q.MaxCostUSD < 4 {
		t.Errorf("asked %+v", q)
	}
	if len(q.Receipts) != 1 || q.Receipts[0].ID == "" || q.Receipts[0].Status != gate.Pass || q.Receipts[0].Command != "sh check.sh" {
		t.Errorf("receipts %+v", q.Receipts)
	}
	if got := strings.Join(q.Labels, "; "); got != "look at: do.sh:1 drops an error: make || true; look at: have.txt is data that was there: a gate may read it; evidence so far: proven (failed before this work and passes now: sh check.sh)" {
		t.Errorf("labels %s", got)
	}
	if v := q.Guard(toolcall.Call{Kind: toolcall.Read, Path: filepath.Join(b.root, "have.txt"), Dir: b.root}); !v.Allow {
		t.Errorf("it may not read the work: %+v", v)
	}
	if s.Reviews != (loop.Reviews{Runs: 2, CostUSD: 1}) || s.Usage.CostUSD < 1 {
		t.Errorf("reviews %+v of %+v", s.Reviews, s.Usage)
	}
	second := b.file("iterations", "0002", "prompt.md")
	if !strings.Contains(second, "notes.txt:1: not asked for") || strings.Contains(second, "exit code -1") {
		t.Errorf("the second prompt:\n%s", second)
	}
}

// A review that changes the files has not reviewed the work that would be kept. If it always does so,
// the tree of the last gates is kept without a review.
func TestReviewThatChangesFilesDoesNotCount(t *testing.T) {
	t.Parallel()
	files := map[string]string{"theirs.txt": "tracked: a new file could be the user's, by the time at which it is made\n"}
	maps.Copy(files, words)
	b := newBench(t, files)
	n := 0
	p := &scriptedReviewers{says: []review.Answer{opinion(gate.Pass, "fine")}}
	p.then = func() {
		n++
		b.write("theirs.txt", strings.Repeat("x", n))
	}
	d := b.begin(bothWords, []string{"have every word"}, withGate(map[string]any{"review": []string{"r"}}))
	d.Reviewer = p
	s, err := b.drive(t.Context(), d, logObserver{t})
	if err != nil || s.Outcome != loop.Unverified || s.Tasks[0].Reviewed != loop.ReviewNone || s.Tasks[0].Evidence != gate.EvidenceUnknown {
		t.Fatalf("%v, %s: %s: %+v", err, s.Outcome, s.Reason, s.Tasks)
	}
	if n != 4 || s.Turns != 1 {
		t.Errorf("reviewed %d times in %d turns", n, s.Turns)
	}
	if got := b.git("show", "HEAD:theirs.txt"); got != "xxx" { // as in the last gate run
		t.Errorf("committed %q", got)
	}
	if got := b.git("show", "HEAD:have.txt"); got != "one\ntwo" {
		t.Errorf("committed %q", got)
	}
}

// If a runner dies during a review, the next one repeats the review, but not the gates.
func TestInterruptedReviewIsRepeated(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	ctx, kill := context.WithCancel(t.Context())
	p := &scriptedReviewers{says: []review.Answer{opinion(gate.Pass, "fine")}, then: func() { kill(); time.Sleep(50 * time.Millisecond) }} // the review is asked once
	d := b.begin(bothWords, []string{"have every word"}, withReview(map[string]any{}))
	d.Reviewer = p
	s, err := b.drive(ctx, d, logObserver{t})
	if err == nil || s.Phase != loop.Judging || s.Gates.Purpose != loop.ForReview {
		t.Fatalf("killed while %s for %s: %v", s.Phase, s.Gates.Purpose, err)
	}
	b.rewrite(bothWords + "-- review-1+/reply --\n" + `{"verdict":"pass","findings":[],"evidence":[{"what":"it is there","where":"have.txt:2"}]}` + "\n")
	s = b.resume(logObserver{t})
	if s.Outcome != loop.Verified || s.Turns != 1 || s.Tasks[0].Reviewed != loop.ReviewPassed {
		t.Errorf("%s after %d turns: %s", s.Outcome, s.Turns, s.Reason)
	}
	if _, err := os.Stat(filepath.Join(b.loop.Dir, "iterations", "0001", "review-2.md")); err != nil {
		t.Errorf("the reviewer's prompt: %v", err)
	}
}
