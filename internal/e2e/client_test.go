//go:build unix

package e2e_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// A bench with the real client, whose model is played by a script.
type clientBench struct {
	*bench
	client string
	api    *messagesapi.Server
}

// done is the model's claim, blocked its other honest exit.
var (
	done    = messagesapi.Text("It works.\n\n<promise>DONE</promise>")
	blocked = messagesapi.Text("<blocked>there is no database here</blocked>")
)

func newClientBench(t *testing.T, files map[string]string) *clientBench {
	t.Helper()
	client := agenttest.Client(t)
	t.Parallel()
	c := &clientBench{bench: newBench(t, files), client: client, api: agenttest.API(t, messagesapi.Steps(done))}
	c.git("tag", "start")
	for k, v := range agenttest.Env(t, c.api) {
		if _, ours := c.env[k]; !ours {
			c.env[k] = v
		}
	}
	return c
}

// playAnswers sets the model's answers, one after another.
func (c *clientBench) playAnswers(steps ...messagesapi.Response) {
	c.api.Play(messagesapi.Steps(steps...))
}

// answerAddingWord returns an answer that adds a word and its test.
func (c *clientBench) answerAddingWord(word string) messagesapi.Response {
	return messagesapi.Write(c.path(word+".txt"), word+"\n").And(messagesapi.Write(c.path("tests/"+word+".sh"), wordTest(word)))
}

// goal is a command line with the real client.
func (c *clientBench) goal(more ...string) []string {
	return append([]string{"--gate", checkWords, "--agent-command", c.client}, more...)
}

// prompts are what the client was told by Pawl, one for each turn.
func (c *clientBench) prompts() []string {
	var all []string
	for _, r := range c.api.Requests() {
		if len(r.ToolResults()) == 0 {
			all = append(all, r.LastUserText())
		}
	}
	return all
}

// cleared counts the contexts that began with /clear in a process that ran.
func (c *clientBench) cleared() int {
	sessions := map[string]bool{}
	for _, r := range c.api.Requests() {
		if r.Says("<command-name>/clear") {
			sessions[r.Session] = true
		}
	}
	return len(sessions)
}

// A plan of three tasks, in each of the three session modes.
func TestClientPlanInEachSessionMode(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{
		"one process": nil, "a process for each task": {"--warm=false"}, "a context for each turn": {"--session", "turn"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClientBench(t, wordShop(map[string]string{"plan.md": threeWords}))
			c.write(map[string]string{"mine.txt": "mine\n"})
			c.playAnswers(c.answerAddingWord("bye"), done, c.answerAddingWord("thanks"), messagesapi.Text("I will test it."), done, c.answerAddingWord("please"), done)
			r := c.run(0, c.goal(append(flags, "plan.md")...)...)
			want := []string{"feat(1):_add_bye", "feat(2):_add_thanks", "feat(3):_add_please"}
			if diff := cmp.Diff(want, c.subjects()); diff != "" {
				t.Errorf("commits: %s\n%s", diff, r)
			}
			if got := c.read("plan.md"); got != strings.ReplaceAll(threeWords, "[ ]", "[x]") {
				t.Errorf("the plan:\n%s", got)
			}
			if got := c.git("status", "--porcelain"); got != "?? mine.txt" {
				t.Errorf("left over: %s", got)
			}
			if s := c.status(); s.Outcome != "verified" || s.Iteration != 4 || s.Turns != 4 || s.Evidence != "proven" || s.CostUSD <= 0 {
				t.Errorf("status %+v", s)
			}
			if prompts := c.prompts(); len(prompts) != 4 {
				t.Errorf("%d prompts", len(prompts))
			}
			if got, want := c.cleared(), map[string]int{"one process": 2, "a context for each turn": 3}[name]; got != want {
				t.Errorf("%d contexts were cleared, want %d", got, want)
			}
			c.checkJournalChain()
		})
	}
}

// wrong is a model that breaks a word and claims, again and again.
func (c *clientBench) wrong(r messagesapi.Request) messagesapi.Response {
	if len(r.ToolResults()) > 0 {
		return done
	}
	return messagesapi.Bash("echo goodbye > hello.txt")
}

// Loops that end unverified: no task is ticked, nothing is committed, and the work of an interrupted
// loop stays in the tree.
func TestClientUnverifiedEnds(t *testing.T) {
	t.Parallel()
	costly := messagesapi.Usage{Input: 100_000, Output: 1_000} // $0.42 by the client's list
	half := func(c *clientBench) messagesapi.Response {
		return messagesapi.Write(c.path("half.txt"), "half\n").Using(costly)
	}
	then := func(step messagesapi.Response) func(c *clientBench) messagesapi.Script {
		return func(c *clientBench) messagesapi.Script { return messagesapi.Steps(half(c), step) }
	}
	cases := map[string]struct {
		model func(c *clientBench) messagesapi.Script
		args  []string
		code  int
		says  string
		kept  string
	}{
		"false claims": {
			model: func(c *clientBench) messagesapi.Script { return c.wrong },
			code:  13, says: "task 1 (", kept: "hello.txt",
		},
		"blocked":    {model: then(blocked), code: 14, says: "there is no database here"},
		"iterations": {model: then(messagesapi.Text("More to come.")), args: []string{"--max-iterations", "2"}, code: 10, kept: "half.txt"},
		"duration":   {model: then(messagesapi.Bash("sleep 60")), args: []string{"--max-duration", "20s"}, code: 11, kept: "half.txt"},
		"cost":       {model: then(messagesapi.Bash("touch more").Using(costly)), args: []string{"--max-cost", "0.5"}, code: 12, kept: "half.txt"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newClientBench(t, wordShop(map[string]string{"plan.md": threeWords}))
			c.api.Play(tc.model(c))
			if r := c.run(tc.code, c.goal(append(tc.args, "plan.md")...)...); !r.contains(tc.says) {
				t.Errorf("%q must be said: %s", tc.says, r)
			}
			if got := c.subjects(); len(got) > 0 {
				t.Errorf("commits %q", got)
			}
			if strings.Contains(c.read("plan.md"), "[x]") {
				t.Error("a task is ticked")
			}
			if tc.kept != "" && c.read(tc.kept) == "" {
				t.Errorf("%s is lost", tc.kept)
			}
			c.checkJournalChain()
		})
	}
}

// API errors are handled by their class: temporary ones are waited for and count against nothing;
// those that only a user can fix end the loop at once.
func TestClientAPIErrors(t *testing.T) {
	t.Parallel()
	overloaded := messagesapi.Fail(529, "Overloaded")
	cases := map[string]struct {
		trouble []messagesapi.Response
		says    string
	}{
		"a usage limit that ends soon": {[]messagesapi.Response{messagesapi.Fail(429, "limit", "retry-after", "10")}, "usage limit"},
		"overloaded":                   {slices.Repeat([]messagesapi.Response{overloaded}, 5), "overloaded"},
		"a dropped stream":             {[]messagesapi.Response{messagesapi.Drop()}, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newClientBench(t, wordShop(nil))
			c.playAnswers(append(tc.trouble, c.answerAddingWord("bye"), done)...)
			if r := c.run(0, c.goal("add bye", "--max-iterations", "1")...); !r.contains(tc.says) {
				t.Errorf("%q must be said: %s", tc.says, r)
			}
			if s := c.status(); s.Iteration != 1 || s.Commits != 1 {
				t.Errorf("status %+v", s)
			}
		})
	}
}

// The client alone would retry a wrong login for three minutes.
func TestClientWrongLogin(t *testing.T) {
	c := newClientBench(t, wordShop(nil))
	c.playAnswers(messagesapi.Fail(401, "invalid x-api-key"))
	begin := time.Now()
	if r := c.run(1, c.goal("add bye")...); !r.contains("claude /login") {
		t.Errorf("no hint: %s", r)
	}
	if d := time.Since(begin); d > 30*time.Second {
		t.Errorf("it took %v", d)
	}
}

// A long wait is shown with its end and its reason, and can be stopped.
func TestClientLongWaitIsShownAndStoppable(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		arrange func(c *clientBench)
		says    string
	}{
		"usage limit": {
			func(c *clientBench) { c.playAnswers(messagesapi.Fail(429, "limit", "retry-after", "3600")) }, "usage limit",
		},
		"refused connection": {func(c *clientBench) { c.env["ANTHROPIC_BASE_URL"] = "http://127.0.0.1:1" }, "network"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newClientBench(t, wordShop(nil))
			tc.arrange(c)
			r := c.start(append([]string{"run"}, c.goal("add bye")...)...)
			r.waitForOutput(tc.says)
			r.waitUntil("the wait", func() bool { return c.status().State == "waiting" })
			if stop := c.pawl("stop", "."); stop.code != 0 {
				t.Errorf("stop: %s", stop)
			}
			c.checkExitCode(r.wait(), 130)
			if s := c.status(); s.Outcome != "cancelled" {
				t.Errorf("status %+v", s)
			}
		})
	}
}
