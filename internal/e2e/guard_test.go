//go:build unix

package e2e_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// forbidden is a call that the guard must deny, by one of its rules.
type forbidden struct {
	name, rule string
	step       messagesapi.Response
	told       string // by what the model knows what to do instead
}

const scopedPlan = "- [ ] add bye <!-- pawl: scope=*.txt,tests/** -->\n"

// forbiddenCalls are tried in a project whose gate is words.sh, at the task of scopedPlan.
func forbiddenCalls(path func(string) string) []forbidden {
	return []forbidden{
		{"a push", "push", messagesapi.Bash("git push origin HEAD:main"), "Leave the work in the tree"},
		{"an edit of the gate", "protected", messagesapi.Write(path("words.sh"), "exit 0\n"), "Make the work pass it as it is"},
		{"the same by a command", "protected", messagesapi.Bash("cd tests && sed -i 's/.*/exit 0/' ../words.sh"), "Make the work pass it as it is"},
		{"publishing", "publish", messagesapi.Bash("npm publish --access public"), "Make it ready"},
		{"killing by name", "kill", messagesapi.Bash("pkill -f node"), "End the process that you started"},
		{"a file out of scope", "scope", messagesapi.Write(path("other.md"), "x\n"), "Solve it there"},
		{"the same by a command", "scope", messagesapi.Bash("echo x >> other.md"), "Solve it there"},
	}
}

// denied tells whether the model was told so of each, and the person by the
// report. The calls were made one after another, answered in these requests.
func (b *bench) denied(all []forbidden, answered []messagesapi.Request) {
	b.t.Helper()
	for i, c := range all {
		results := answered[i].ToolResults()
		if len(results) != 1 || !results[0].Error || !strings.Contains(results[0].Text, c.told) {
			b.t.Errorf("%s: the model was told %+v", c.name, results)
		}
	}
	if exists(b.path("other.md")) || strings.Contains(b.read("words.sh"), "exit 0") {
		b.t.Error("something was done all the same")
	}
	report := b.pawl("report", ".")
	if !report.says("7 tool calls denied by the guard (kill, protected, publish, push, scope)") {
		b.t.Errorf("the person is not told: %s", report)
	}
	if log := b.pawl("log", "."); !log.says("the guard denied Bash (kill): pkill -f node") {
		b.t.Errorf("the log does not name them: %s", log)
	}
}

func steps(all []forbidden) []messagesapi.Response {
	var out []messagesapi.Response
	for _, c := range all {
		out = append(out, c.step)
	}
	return out
}

// The client asks the runner before each tool.
func TestClientGuardByRule(t *testing.T) {
	c := newClientBench(t, wordShop(map[string]string{"plan.md": scopedPlan, "words.sh": checkWords + "\n"}))
	all := forbiddenCalls(c.path)
	c.plays(append(steps(all), c.adds("bye"), done)...)
	c.run(0, "plan.md", "--gate", "sh words.sh", "--agent-command", c.client)
	c.denied(all, c.api.Requests()[1:])
}

// In a session its hooks say the same, however they are installed.
func TestSessionGuardByRule(t *testing.T) {
	for name, how := range map[string][]installation{"settings": {settings}, "plugin": {plugin, uncapped}} {
		t.Run(name, func(t *testing.T) {
			s := sessionsWith(t, wordShop(map[string]string{"plan.md": scopedPlan, "words.sh": checkWords + "\n"}), how...)
			all := forbiddenCalls(s.path)
			s.plays(begins("plan.md "+words, append(steps(all), s.adds("bye"), done)...)...)
			p := s.print("loop")
			s.is(state{"verified", 1}, p)
			s.denied(all, s.api.Requests()[2:])
		})
	}
}
