package review_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/agent/scripted"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/prompt"
	"github.com/pawl-dev/pawl/internal/review"
)

// room is a repository with work in it, and a reviewer whose part is scripted.
type room struct {
	t     *testing.T
	dir   string
	r     *review.Reviewer
	q     review.Request
	calls int // of the agent
	saw   agent.Options
}

func newRoom(t *testing.T, script string) *room {
	t.Helper()
	t.Parallel()
	c := &room{t: t, dir: t.TempDir()}
	c.git("init", "-q")
	c.write("app.go", "package app\n\nfunc Answer() int { return 41 }\n")
	base := c.commit()
	c.write("app.go", "package app\n\nfunc Answer() int { return 42 }\n")
	tree := c.commit()
	repo, err := git.Open(t.Context(), c.dir)
	if err != nil {
		t.Fatal(err)
	}
	parts, err := scripted.Parse([]byte(script))
	if err != nil {
		t.Fatal(err)
	}
	state := t.TempDir()
	c.r = &review.Reviewer{
		Repo: repo, Dir: filepath.Join(state, "reviews"), Marker: "otter",
		Agent: func(gate.Gate) (agent.Agent, agent.Options, error) {
			c.calls++
			return spy{scripted.Agent{Script: parts, Counter: filepath.Join(state, "turns")}, c}, agent.Options{Model: "m"}, nil
		},
	}
	c.q = review.Request{
		Gate: gate.Gate{Name: "review", Kind: gate.ByReview, Rubric: "The answer is computed."}, Base: base, Tree: tree, Goal: "answer it",
		Receipts: []prompt.Receipt{{ID: "4f2a", Result: gate.Result{Gate: "test", Command: "go test ./...", Status: gate.Pass}}},
		LogDir:   filepath.Join(state, "1"),
	}
	return c
}

// spy notes how sessions begin.
type spy struct {
	scripted.Agent
	c *room
}

func (s spy) Start(ctx context.Context, o agent.Options) (agent.Session, error) {
	s.c.saw = o
	return s.Agent.Start(ctx, o)
}

func (c *room) git(args ...string) string {
	c.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e@x"}, args...)...)
	cmd.Dir = c.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("git %q: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (c *room) write(name, text string) {
	c.t.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// commit makes a commit and gives its tree.
func (c *room) commit() string {
	c.git("add", "-A")
	c.git("commit", "-qm", "c")
	return c.git("rev-parse", "HEAD^{tree}")
}

func (c *room) ask() review.Answer {
	c.t.Helper()
	a, err := c.r.Ask(c.t.Context(), c.q)
	if err != nil {
		c.t.Fatal(err)
	}
	return a
}

func (c *room) prompt(name string) string {
	c.t.Helper()
	b, err := os.ReadFile(filepath.Join(c.q.LogDir, name))
	if err != nil {
		c.t.Fatal(err)
	}
	return string(b)
}

const (
	pass    = `{"verdict":"pass","findings":[],"evidence":[{"what":"it is computed","where":"app.go:3"},{"what":"tests pass","where":"4f2a"}]}`
	fail    = `{"verdict":"fail","findings":[{"file":"app.go","line":3,"what":"the answer is written out","severity":"blocker"}],"evidence":[]}`
	invents = `{"verdict":"pass","findings":[],"evidence":[{"what":"it is computed","where":"app.go:99"}]}`
	unsure  = `{"verdict":"unsure","findings":[],"evidence":[]}`
)

func TestPassIsCached(t *testing.T) {
	c := newRoom(t, "-- review-1/reply --\n"+pass+"\n-- review-1/tools --\n2\n-- review-1/cost --\n0.25\n")
	a := c.ask()
	want := gate.Result{
		Gate: "review", Kind: gate.ByReview, Command: "review: The answer is computed.", Status: gate.Pass,
		ExitCode: -1, Reason: "it points at app.go:3, 4f2a", Tree: c.q.Tree, Duration: a.Result.Duration,
	}
	if diff := cmp.Diff(want, a.Result); diff != "" {
		t.Error(diff)
	}
	if a.Usage.CostUSD != 0.25 || len(a.Sessions) != 1 {
		t.Errorf("usage %+v, sessions %q", a.Usage, a.Sessions)
	}
	if !c.saw.ReadOnly || c.saw.Schema != gate.OpinionSchema || c.saw.Resume != "" || c.saw.Marker != "otter" || c.saw.Model != "m" || c.saw.Dir != c.r.Repo.Root() {
		t.Errorf("the session began with %+v", c.saw)
	}
	text := c.prompt("review-1.md")
	for _, has := range []string{"The answer is computed.", "M app.go", "+func Answer() int { return 42 }", "4f2a  pass, exit code 0", "answer it"} {
		if !strings.Contains(text, has) {
			t.Errorf("the reviewer is not told %q:\n%s", has, text)
		}
	}

	// The same question again costs nothing, under other receipts too.
	c.q.Receipts[0].ID = "77bb"
	if again := c.ask(); !again.Result.Cached || again.Result.Status != gate.Pass || again.Usage.CostUSD != 0 || c.calls != 1 {
		t.Errorf("asked %d times: %+v", c.calls, again)
	}
	c.q.Gate.Rubric = "Another."
	if other := c.ask(); other.Result.Cached {
		t.Error("another rubric is another question")
	}
}

func TestFailedReviewNamesFindings(t *testing.T) {
	c := newRoom(t, "-- review-1/reply --\n```json\n"+fail+"\n```\n")
	a := c.ask()
	if a.Result.Status != gate.Fail || a.Result.FirstError != "app.go:3: the answer is written out" || !cmp.Equal(a.Findings, []string{a.Result.FirstError}) {
		t.Errorf("%+v", a)
	}
	if again := c.ask(); !again.Result.Cached || !cmp.Equal(again.Findings, a.Findings) {
		t.Errorf("kept: %+v", again)
	}
}

// What does not count is asked for once more, of another session, which is told
// why; then it is unknown.
func TestInvalidAnswerIsAskedOnceMore(t *testing.T) {
	cases := map[string]struct {
		first, why string
	}{
		"evidence that is not there": {invents, `points at "app.go:99"`},
		"prose":                      {"It looks good to me.", "not JSON"},
		"not sure":                   {unsure, "not sure"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newRoom(t, "-- review-1/reply --\n"+tc.first+"\n-- review-2/reply --\n"+pass+"\n")
			if a := c.ask(); a.Result.Status != gate.Pass || len(a.Sessions) != 2 || a.Sessions[0] == a.Sessions[1] || a.Usage.CostUSD != 0.04 {
				t.Errorf("%+v", a)
			}
			if !strings.Contains(c.prompt("review-2.md"), tc.why) {
				t.Errorf("the second is not told why:\n%s", c.prompt("review-2.md"))
			}
		})
		t.Run(name+", twice", func(t *testing.T) {
			c := newRoom(t, "-- review-1+/reply --\n"+tc.first+"\n")
			if a := c.ask(); a.Result.Status != gate.Unknown || a.RetryLater || c.calls != 2 || !strings.Contains(a.Result.Reason, tc.why) {
				t.Errorf("asked %d times: %+v", c.calls, a)
			}
			c.ask()
			if c.calls != 4 {
				t.Errorf("what is not known was kept")
			}
		})
	}
}

func TestReviewIsLimited(t *testing.T) {
	t.Run("by its cost", func(t *testing.T) {
		c := newRoom(t, "-- review-1+/reply --\n"+unsure+"\n-- review-1+/cost --\n0.6\n")
		if c.q.MaxCostUSD = 0.5; c.ask().Result.Status != gate.Unknown || c.calls != 1 {
			t.Errorf("asked %d times", c.calls)
		}
	})
	t.Run("by its time", func(t *testing.T) {
		c := newRoom(t, "-- review-1+/sleep --\n1m\n")
		c.q.Gate.Timeout = time.Millisecond
		if a := c.ask(); a.Result.Status != gate.Unknown || a.RetryLater || c.calls != 1 {
			t.Errorf("asked %d times: %+v", c.calls, a)
		}
	})
	t.Run("by a usage limit", func(t *testing.T) {
		c := newRoom(t, "-- review-1+/failure --\nusage_limit 1h resets later\n")
		if a := c.ask(); a.Result.Status != gate.Unknown || !a.RetryLater || time.Until(a.RetryAfter) < 50*time.Minute || c.calls != 1 {
			t.Errorf("asked %d times: %+v", c.calls, a)
		}
	})
	t.Run("by whoever asks", func(t *testing.T) {
		c := newRoom(t, "-- review-1+/sleep --\n1m\n")
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if _, err := c.r.Ask(ctx, c.q); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}

// A reviewer looks. Whatever else it calls is denied, and what it reads is judged
// as the worker's reading is.
func TestReviewerOnlyReads(t *testing.T) {
	c := newRoom(t, "-- review-1/files/app.go --\nmine\n-- review-1/run --\ntouch ran\n-- review-1/delete --\napp.go\n-- review-1/reply --\n"+pass+"\n")
	var asked []string
	c.q.Guard = func(call toolcall.Call) agent.Verdict {
		asked = append(asked, call.Tool)
		return agent.Verdict{Allow: true}
	}
	c.ask()
	if got := c.git("status", "--porcelain"); got != "" {
		t.Errorf("it changed %q", got)
	}
	if !cmp.Equal(asked, []string{"Read"}) {
		t.Errorf("the guard was asked for %q", asked)
	}
}

// Only a gate that may approve asks about changed tests, and only its pass approves.
func TestReviewMayApproveChangedTests(t *testing.T) {
	word := func(verdict string) string {
		return strings.Replace(strings.TrimSuffix(verdict, "}"), `"evidence"`, `"tests":[{"file":"app_test.go","needed":true,"why":"it asks for 42"}],"evidence"`, 1) + "}"
	}
	cases := map[string]struct {
		approves bool
		says     string
		want     []string
	}{
		"may":            {true, pass, []string{"app_test.go"}},
		"may not":        {false, pass, nil},
		"fails the work": {true, fail, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newRoom(t, "-- review-1/reply --\n"+word(tc.says)+"\n")
			c.q.Gate.ApprovesTests, c.q.Tests = tc.approves, []string{"app_test.go"}
			if a := c.ask(); !cmp.Equal(a.Approved, tc.want) || a.Result.Status == gate.Unknown {
				t.Errorf("%+v", a)
			}
			if asked := strings.Contains(c.prompt("review-1.md"), `"needed": true`); asked != tc.approves {
				t.Errorf("asked about the tests: %v", asked)
			}
			if again := c.ask(); !again.Result.Cached && tc.says == pass || !cmp.Equal(again.Approved, tc.want) {
				t.Errorf("kept: %+v", again)
			}
		})
	}
}

func TestAnswersAreReviewedAsText(t *testing.T) {
	c := newRoom(t, "-- review-1/reply --\n"+strings.ReplaceAll(pass, "app.go:3", "answer:2")+"\n")
	c.q.Answer = "It is 42.\nSee app.go:3; the key is s3cret."
	c.r.Redact = func(s string) string { return strings.ReplaceAll(s, "s3cret", "[redacted]") }
	if a := c.ask(); a.Result.Status != gate.Pass {
		t.Errorf("%+v", a)
	}
	if text := c.prompt("review-1.md"); !strings.Contains(text, "It is 42.") || strings.Contains(text, "# What changed") || strings.Contains(text, "s3cret") {
		t.Errorf("it is told\n%s", text)
	}
}

// What a reviewer points at is looked up in the tree that was judged.
func TestCitedPlacesMustExist(t *testing.T) {
	places := map[string]bool{
		"app.go:1": true, "app.go:3": true, "app.go:1-3": true, "./app.go:3": true, "receipt 4f2a": true, "4f2a": true,
		"app.go:4": false, "app.go:2-9": false, "app.go": false, "none.go:1": false, "../app.go:1": false, "4f2": false, "answer:1": false, "": false,
	}
	for where, there := range places {
		t.Run(where, func(t *testing.T) {
			c := newRoom(t, "-- review-1+/reply --\n"+strings.ReplaceAll(invents, "app.go:99", where)+"\n")
			if a := c.ask(); (a.Result.Status == gate.Pass) != there {
				t.Errorf("%+v", a.Result)
			}
		})
	}
	t.Run("absolute", func(t *testing.T) {
		c := newRoom(t, "")
		parts, err := scripted.Parse([]byte("-- review-1/reply --\n" + strings.ReplaceAll(invents, "app.go:99", filepath.ToSlash(filepath.Join(c.r.Repo.Root(), "app.go"))+":3")))
		if err != nil {
			t.Fatal(err)
		}
		c.r.Agent = func(gate.Gate) (agent.Agent, agent.Options, error) {
			return scripted.Agent{Script: parts}, agent.Options{}, nil
		}
		if a := c.ask(); a.Result.Status != gate.Pass {
			t.Errorf("%+v", a.Result)
		}
	})
}

func TestReviewerThatCannotStartIsUnknown(t *testing.T) {
	c := newRoom(t, "")
	c.r.Agent = func(gate.Gate) (agent.Agent, agent.Options, error) { return scripted.Agent{}, agent.Options{}, nil }
	if a := c.ask(); a.Result.Status != gate.Unknown || !a.RetryLater || !strings.Contains(a.Result.Reason, "could not be started") {
		t.Errorf("%+v", a)
	}
	c.r.Agent = func(gate.Gate) (agent.Agent, agent.Options, error) {
		return nil, agent.Options{}, errors.New("no such agent")
	}
	if _, err := c.r.Ask(t.Context(), c.q); err == nil || !strings.Contains(err.Error(), "no such agent") {
		t.Errorf("error %v", err)
	}
}
