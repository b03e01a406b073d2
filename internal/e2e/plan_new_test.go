//go:build unix

package e2e_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

const (
	askedFirst = `{"questions":[{"question":"Which word first?","proposal":"bye"}]}`
	wordPlan   = `{"title":"Words","gates":["for t in tests/*.sh; do sh $t || exit 1; done"],"tasks":[{"id":"T1","title":"add bye","criteria":["bye.txt says bye"],"evidence":"proven","proof":"tests/bye.sh"}]}`
	wordsPlan  = `{"title":"Words","gates":["for t in tests/*.sh; do sh $t || exit 1; done"],"tasks":[{"id":"T1","title":"add bye","criteria":["bye.txt says bye"],"evidence":"proven","proof":"tests/bye.sh"},{"id":"T2","title":"add thanks","criteria":["thanks.txt says thanks"],"depends_on":["T1"],"evidence":"proven","proof":"tests/thanks.sh"}]}`
	oneRemark  = `{"remarks":[{"task":"","problem":"The second word is missing.","suggestion":"Add a task for thanks."}]}`
)

// withCritic plays the author of a plan and, beside it, its critic.
func withCritic(author, critic messagesapi.Script) messagesapi.Script {
	return func(r messagesapi.Request) messagesapi.Response {
		if r.Says("You review a plan before any work is done.") {
			return critic(r)
		}
		return author(r)
	}
}

// The real client writes a plan: it asks, answers invalid text, tries to write files, and revises;
// another session reviews. Then it works through its plan.
func TestClientWritesPlan(t *testing.T) {
	c := newClientBench(t, wordShop(nil))
	c.api.Play(withCritic(
		messagesapi.Steps(
			messagesapi.Tool("Read", map[string]any{"file_path": c.path("hello.txt")}),
			messagesapi.Write(c.path("early.txt"), "x\n"), structured(t, askedFirst),
			structured(t, wordPlan), structured(t, wordsPlan),
		),
		messagesapi.Steps(messagesapi.Bash("touch ran.txt"), structured(t, oneRemark)),
	))
	r := c.pawl("plan", "new", "add two words", "--yes", "--agent-command", c.client)
	c.checkExitCode(r, 0)
	for _, want := range []string{"1 of 1  Which word first?", "the review has 1 remark", "wrote plan.md"} {
		if !strings.Contains(r.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, r)
		}
	}
	if c.read("early.txt") != "" || c.read("ran.txt") != "" {
		t.Error("who plans wrote or ran something")
	}
	var authors, critics []string
	for _, q := range c.api.Requests() {
		if q.Says("You review a plan before any work is done.") {
			critics = append(critics, q.Session)
		} else if q.Says("You write a plan.") {
			authors = append(authors, q.Session)
		}
		for _, tool := range []string{"Write", "Edit", "Bash"} {
			if slices.Contains(q.Tools, tool) {
				t.Errorf("who plans has the tool %s of %q", tool, q.Tools)
			}
		}
	}
	if slices.Sort(authors); len(slices.Compact(authors)) != 1 || len(critics) == 0 || slices.Contains(authors, critics[0]) {
		t.Errorf("authors %q, critics %q", authors, critics)
	}
	c.git("add", ".")
	c.git("commit", "-qm", "plan")
	c.playAnswers(c.answerAddingWord("bye"), done, c.answerAddingWord("thanks"), done)
	c.pawl("trust", "--yes")
	if r := c.run(0, "plan.md", "--agent-command", c.client); c.status().Outcome != "verified" {
		t.Errorf("its own plan:\n%s", r)
	}
}

// The real client improves a plan: a critic objects, the author answers, --yes accepts.
// A task that is done, in Pawl's layout, stays as it is; the user's file is kept beside it.
func TestClientImprovesPlan(t *testing.T) {
	const (
		kept = "# Words\n\nOne word is there.\n\n- [x] add hello\n  - hello.txt says hello\n"
		old  = kept + "* [-] add  words\t\r\n"
		made = kept + "- [ ] add bye <!-- pawl: id=T1 -->\n  - bye.txt says bye\n\n  Checked by: tests/bye.sh\n\n" +
			"- [ ] add thanks <!-- pawl: id=T2 depends_on=T1 -->\n  - thanks.txt says thanks\n\n  Checked by: tests/thanks.sh\n\n"
	)
	c := newClientBench(t, wordShop(map[string]string{"plan.md": old}))
	c.api.Play(withCritic(
		messagesapi.Steps(messagesapi.Write(c.path("plan.md"), "x\n"), structured(t, wordPlan), structured(t, wordsPlan)),
		messagesapi.Steps(structured(t, oneRemark)),
	))
	r := c.pawl("plan", "improve", "plan.md", "one word a task", "--yes", "--agent-command", c.client)
	c.checkExitCode(r, 0)
	if !strings.Contains(r.String(), "the review has 1 remark; the plan is revised") {
		t.Errorf("it does not tell of the review:\n%s", r)
	}
	if got := c.read("plan.md.before"); got != old {
		t.Errorf("kept %q", got)
	}
	if got := c.read("plan.md"); got != made {
		t.Errorf("the plan is %q\nwant %q", got, made)
	}
}

// At a terminal the user answers questions about the plan, views it and rejects it.
func TestClientPlanQuestionsAtTerminal(t *testing.T) {
	c := newClientBench(t, wordShop(nil))
	author := func() messagesapi.Script {
		return messagesapi.Steps(structured(t, askedFirst), structured(t, wordPlan))
	}
	begin := func() *agenttest.Terminal {
		c.api.Play(withCritic(author(), messagesapi.Steps(structured(t, `{"remarks":[]}`))))
		// The shell keeps the screen once pawl has ended.
		script := `trap : INT; "$0" plan new 'add a word' --agent-command "$1"; echo "exit $?"; cat`
		term := agenttest.Open(t, agenttest.Program{Argv: []string{"sh", "-c", script, c.binary, c.client}, Dir: c.root, Env: c.env})
		term.Shows("Enter takes: bye", turnMost)
		return term
	}
	term := begin()
	term.Type("thanks")
	term.Shows("[n]o", turnMost)
	if !slices.ContainsFunc(c.api.Requests(), func(q messagesapi.Request) bool { return strings.Contains(q.News(), "Which word first?\n  thanks") }) {
		t.Error("the author was not told the answer")
	}
	term.Type("n")
	term.Shows("nothing was written\nexit 0", turnMost)
	if got := c.git("status", "--porcelain"); got != "" {
		t.Errorf("left over: %s", got)
	}
}

// Ctrl-C ends the conversation at each stage and leaves no file and no process.
func TestClientPlanInterruptedLeavesNothing(t *testing.T) {
	t.Parallel()
	late := func(r messagesapi.Response) messagesapi.Response { return r.After(time.Hour) }
	asked, plan, remark, none := structured(t, askedFirst), structured(t, wordPlan), structured(t, oneRemark), structured(t, `{"remarks":[]}`)
	for stage, s := range map[string]struct {
		author []messagesapi.Response
		critic messagesapi.Response
		shows  string // when Ctrl-C is typed
	}{
		"the author reads":   {[]messagesapi.Response{late(asked)}, none, "reads the repository"},
		"a question":         {[]messagesapi.Response{asked}, none, "Enter takes: bye"},
		"the critic reviews": {[]messagesapi.Response{plan}, late(none), "a second session reviews it"},
		"the author revises": {[]messagesapi.Response{plan, late(plan)}, remark, "the plan is revised"},
		"the last question":  {[]messagesapi.Response{plan}, none, "[n]o"},
	} {
		t.Run(stage, func(t *testing.T) { // newClientBench makes it parallel
			c := newClientBench(t, wordShop(nil))
			c.env["TMPDIR"] = t.TempDir()
			c.api.Play(withCritic(messagesapi.Steps(s.author...), messagesapi.Steps(s.critic)))
			script := `trap : INT; "$0" plan new 'add a word' --agent-command "$1"; echo "exit $?"; cat`
			term := agenttest.Open(t, agenttest.Program{Argv: []string{"sh", "-c", script, c.binary, c.client}, Dir: c.root, Env: c.env})
			term.Shows(s.shows, turnMost)
			asks := len(c.api.Requests())
			term.Until("the request under way", turnMost, func() bool { return asks > 0 || len(c.api.Requests()) > 0 })
			term.Keys("C-c")
			term.Shows("exit 130", turnMost)
			if got := c.git("status", "--porcelain"); got != "" {
				t.Errorf("left in the repository: %s", got)
			}
			if left, _ := filepath.Glob(filepath.Join(c.env["TMPDIR"], "pawl-*")); len(left) > 0 {
				t.Errorf("left in the temporary folder: %v", left)
			}
			if left := processesIn(t, c.root); len(left) > 0 {
				t.Errorf("processes run on: %q", left)
			}
		})
	}
}

// processesIn lists the command lines of clients that work in a folder.
func processesIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, e := range entries {
		if at, err := os.Readlink(e); err != nil || at != dir {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(e), "cmdline"))
		if strings.Contains(string(line), "claude") && !strings.HasPrefix(string(line), "sh\x00") { // the shell names it
			found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}
