//go:build unix

package e2e_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/page/browsertest"
)

// A user who has only the pages of pawl serve starts a loop there, sends messages, answers, approves,
// pauses, resumes, skips, stops and restores, and the loop obeys.
func TestBrowserControlsLoop(t *testing.T) {
	t.Parallel()
	tab := browsertest.Browse(t)
	b := newBench(t, wordShop(map[string]string{
		"plan.md":    "# Words\n\n- [ ] add bye\n- [ ] add thanks\n- [ ] add never\n- [ ] add please\n",
		".gitignore": "/agent/\n",
	}))
	b.write(map[string]string{
		"../.config/pawl/config.toml": fmt.Sprintf("agent = \"command\"\nagent_command = %q\nevidence = \"unproven\"\n[[gates]]\ncommand = %q\n", b.path("../agent.sh"), checkWords),
		"../agent.sh": `#!/bin/sh
# Asks at its first task, and at each waits for the file of that name.
here=$(dirname "$0")
cat > "$here/prompt"
cat "$here/prompt" >> "$here/prompts"
word=$(sed -n 's/^title: add //p' "$here/prompt")
echo "$word" >> "$here/turns"
if [ "$word" = bye ] && ! grep -q 'bye or goodbye' "$here/prompt"; then
	echo '<question choices="bye|goodbye">bye or goodbye?</question>'
	exit
fi
[ "$word" = never ] && printf half > half.txt
until [ -e "$here/go.$word" ]; do sleep 0.1; done
[ "$word" = never ] && exit
echo "$word" > "$word.txt"
echo "test \"\$(cat $word.txt)\" = $word" > "tests/$word.sh"
echo '<promise>DONE</promise>'
`,
	})
	if err := os.Chmod(b.path("../agent.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	u := &pageUser{t: t, b: b, tab: tab, address: serve(b)}
	u.tab.Open(u.address)
	u.fill("#start", "plan.md", "#start + button")
	u.waitUntil("a loop in the background", func() bool { return strings.Contains(u.lastResult(), "runs in the background") })
	u.loop = b.status().ID
	u.tab.Open(strings.Replace(u.address, "/#", "/loop/"+u.loop+"#", 1))

	u.waitForText(": bye or goodbye?")
	u.fill("#tell", "no capital letters", "button[value=tell]")
	u.fill("[id^=answer-]", "bye", "[id^=answer-] + button")
	b.write(map[string]string{"../go.thanks": ""}) // the task that continues meanwhile
	u.waitUntil("the second turn", func() bool { return strings.Count(u.file("../turns"), "bye") == 2 })
	prompt := u.file("../prompts")
	for _, want := range []string{"no capital letters", "You asked: bye or goodbye?"} {
		if !strings.Contains(prompt, want) {
			t.Errorf("the agent was not told %q", want)
		}
	}
	u.press("button[value=pause]")
	b.write(map[string]string{"../go.bye": ""})
	u.waitForText("paused")
	if s := b.status(); s.State != "paused" {
		t.Errorf("paused on the page, and %s", s.State)
	}
	u.press("button[value=resume]")
	u.waitUntil("half of a task", func() bool { return u.file("half.txt") != "" })
	u.pressTaskButton("skip", "never")
	b.write(map[string]string{"../go.never": ""})
	u.waitUntil("the last task", func() bool { return strings.Contains(u.file("../turns"), "please") })
	u.press("button[value=stop]")
	u.waitForText("ended cancelled")
	if u.file("half.txt") != "" {
		t.Error("the work of the task that was skipped is still there")
	}
	u.pressTaskButton("restore", "never")
	u.waitUntil("the skipped task's work", func() bool { return u.file("half.txt") == "half" })
	if u.file("bye.txt")+u.file("thanks.txt") != "bye\nthanks\n" {
		t.Errorf("the other tasks' work: %q, %q", u.file("bye.txt"), u.file("thanks.txt"))
	}
	base, _, _ := strings.Cut(u.address, "/#")
	tab.CheckConsole(base)
}

// A loop that asks for approvals obeys a yes on the page, and a no with a reason.
func TestBrowserApprovesWork(t *testing.T) {
	t.Parallel()
	tab := browsertest.Browse(t)
	b := newBench(t, wordShop(nil))
	agent := b.script(part("bye"))
	b.run(0, "--detach", "--approve", "task", "--gate", checkWords, "--agent", "scripted", "--agent-command", agent, "add bye")
	u := &pageUser{t: t, b: b, tab: tab, address: serve(b), loop: b.status().ID}
	u.tab.Open(strings.Replace(u.address, "/#", "/loop/"+u.loop+"#", 1))
	u.waitForText("waits for your approval")
	u.fill("[id^=why-]", "say it louder", "[id^=why-] + button")
	u.waitUntil("the second claim", func() bool { return strings.Count(b.pawl("log", ".").out, "gates on the claim: pass") == 2 })
	u.waitForText("waits for your approval")
	u.press("button[value=approve]")
	u.waitForText("ended verified")
	if s := b.status(); s.Outcome != "verified" {
		t.Errorf("%+v", s)
	}
}

// patience bounds what a user waits for.
const patience = 2 * time.Minute

// pageUser sits before a browser with the pages of pawl serve.
type pageUser struct {
	t       *testing.T
	b       *bench
	tab     *browsertest.Tab
	address string // of the overview, with the token
	loop    string
}

// serve starts pawl serve, and returns the address that it prints.
func serve(b *bench) string {
	b.t.Helper()
	cmd := exec.CommandContext(b.t.Context(), b.binary, "serve", "--listen", "127.0.0.1:0")
	cmd.Dir, cmd.Env, cmd.WaitDelay = b.root, b.environ(), 5*time.Second
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// waitUntil waits until a condition holds that the page does not show at once.
func (u *pageUser) waitUntil(what string, so func() bool) {
	u.t.Helper()
	for end := time.Now().Add(patience); !so(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			u.t.Fatalf("no %s within %v; the page says %q\n%s\n%s", what, patience, u.lastResult(), u.text(), u.b.pawl("log", ".").out)
		}
	}
}

// waitForText waits until the page shows a text, without a reload.
func (u *pageUser) waitForText(text string) {
	u.t.Helper()
	u.waitUntil(text, func() bool { return strings.Contains(strings.ToLower(u.text()), strings.ToLower(text)) })
}

func (u *pageUser) text() string { return u.tab.Eval("document.body.innerText") }

// lastResult returns the result of the last button.
func (u *pageUser) lastResult() string {
	return u.tab.Eval(`document.querySelector("#status")?.textContent ?? ""`)
}

// press waits for a button and presses it, and confirms if the page asks.
func (u *pageUser) press(button string) {
	u.t.Helper()
	quoted, _ := json.Marshal(button) //nolint:errchkjson // a text
	u.waitUntil("button "+button, func() bool {
		return u.tab.Eval(fmt.Sprintf("(b => !!b && !b.disabled)(document.querySelector(%s))", quoted)) == "true"
	})
	u.tab.Eval(fmt.Sprintf("window.confirm = () => true; document.querySelector(%s).click()", quoted))
	u.waitUntil("answer to "+button, func() bool { said := u.lastResult(); return said != "" && said != "…" })
}

// fill fills a field and presses a button.
func (u *pageUser) fill(field, text, button string) {
	u.t.Helper()
	where, _ := json.Marshal(field) //nolint:errchkjson // a text
	what, _ := json.Marshal(text)   //nolint:errchkjson // a text
	u.waitUntil("field "+field, func() bool { return u.tab.Eval(fmt.Sprintf("!!document.querySelector(%s)", where)) == "true" })
	u.tab.Eval(fmt.Sprintf("document.querySelector(%s).value = %s", where, what))
	u.press(button)
}

// pressTaskButton presses a button of the task whose title ends with a word.
func (u *pageUser) pressTaskButton(do, word string) {
	u.t.Helper()
	find := fmt.Sprintf("[...document.querySelectorAll('li')].find(l => l.querySelector('strong')?.textContent.endsWith(%q))?.querySelector('button[value=%s]')", word, do)
	u.waitUntil(do+" of "+word, func() bool { return u.tab.Eval("!!"+find) == "true" })
	u.tab.Eval("window.confirm = () => true; " + find + ".click()")
	u.waitUntil("answer to "+do, func() bool { said := u.lastResult(); return said != "" && said != "…" })
}

// file is a file of the work tree, "" if it is not there.
func (u *pageUser) file(name string) string {
	text, err := os.ReadFile(u.b.path(name))
	if err != nil {
		return ""
	}
	return string(text)
}
