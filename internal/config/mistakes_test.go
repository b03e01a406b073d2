package config_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/failure"
)

func TestMistakesInProjectFile(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, toml, message, hint string }{
		{"unknown key", "\nmax_iteration = 3", `pawl.toml:2: max_iteration: unknown key`, `did you mean max_iterations?`},
		{"hyphens", "max-cost = 3", `pawl.toml:1: max-cost: unknown key`, `did you mean max_cost?`},
		{"nothing near", "zzzzzzzz = 3", `zzzzzzzz: unknown key`, `the keys are name, kind`},
		{"first in the file", "aa = 1\n\n\nbb = 1", `pawl.toml:1: aa`, ``},
		{"unknown in a gate", "[[gates]]\ncommand='a'\n[[gates]]\ncomand='b'", `pawl.toml:4: gates[1].comand`, `did you mean command?`},
		{"unknown in an inline table", "gates = [\n 'a',\n {command='b', time='1s'},\n]", `pawl.toml:3: gates[1].time`, `did you mean timeout?`},
		{"UTF-16", "\xff\xfeg\x00", `read pawl.toml: it is UTF-16`, `save it as UTF-8`},
		{"syntax", "a = 1\nb = \n", `pawl.toml:2: `, `text is quoted`},
		{"twice", "gates = ['a']\ngates = ['b']\n", `pawl.toml:2: key gates is already defined`, `keep one of them`},
		{"type", "warm = 'yes'", `warm: want true or false, not "yes"`, ``},
		{"text wanted", "model = 7", `model: want text, not 7`, ``},
		{"empty text", "model = ' '", `model: want text, not " "`, ``},
		{"duration", "max_duration = 8", `want a duration such as 90s, 10m, 8h or 2d, 0 for no limit, not 8`, ``},
		{"negative duration", "max_duration = '-8h'", `want a duration`, ``},
		{"money", "max_cost = 'much'", `want an amount of US dollars such as 5.50, 0 for no limit, not "much"`, ``},
		{"endless money", "max_cost = inf", `want an amount`, ``},
		{"commit message", "commit_message = '{scope}: {title}'", `pawl.toml:1: commit_message: there is no placeholder {scope}: there are {type}`, `such as "JIRA-12 {title}"`},
		{"percent", "handover_at = '101%'", `want a share such as "80%", not "101%"`, ``},
		{"count", "max_tokens = -1", `max_tokens: want a whole number, 0 for no limit, not -1`, ``},
		{"iterations", "max_iterations = 'many'", `want a whole number (0 for no limit) or auto, not "many"`, ``},
		{"name", "session = 'forever'", `session: want task, turn, hybrid or continue, not "forever"`, ``},
		{"kind", "kind = 'magic'", `want change, answer, explore or periodic`, ``},
		{"approve", "approve = ['task', 'always']", `approve[1]: want plan, claim, task or end, not "always"`, ``},
		{"list", "tests = [1]", `tests[0]: want text, not 1`, ``},
		{"table for a list", "protect = { a = 1 }", `want text, not a table`, ``},
		{"list for a table", "agent_env = ['A=b']", `want a table of texts, not a list`, ``},
		{"number in a table", "agent_env = { A = 1 }", `agent_env.A: want text, not 1`, ``},
		{"value in a list of variables", "gate_env = ['A=b']", `gate_env: "A=b" is not the name of a variable`, ``},
		{"variable that is not passed", "gate_env = { A = false }", `gate_env.A: want text, or true for the user's own, not false`, ``},
		{"text for variables", "gate_env = 'A'", `gate_env: want a list of names of variables, or a table of texts, not "A"`, ``},
		{"evidence", "evidence = 'proof'", `want proven, reviewed or unproven, not "proof"`, ``},
		{"host", "confine_hosts = ['https://x.org/']", `pawl.toml:1: confine_hosts: "https://x.org/": want HOST, HOST:PORT or *.DOMAIN`, `such as packages.example.org`},
		{"local host", "confine_hosts = ['localhost']", `a service of this machine needs its port`, ``},
		{"evidence of a task", "[evidence]\na = 'reviewed'\nb = 'unknown'", `pawl.toml:3: evidence.b: want proven`, ``},
		{"evidence type", "evidence = 3", `want a level of evidence or a table of them`, ``},
		{"worktree", "worktree = 'here'", `want true, false or a table with use and setup, not "here"`, ``},
		{"task set", "allow_test_changes = 3", `want true, false or a list of task ids, not 3`, ``},
		{"guard", "guard = ['push']", `guard: want a table with allow, deny, ask and protected_branches, not a list`, ``},
		{"guard key", "[guard]\ndenny = ['push']", `pawl.toml:2: guard.denny: unknown key`, `did you mean deny?`},
		{"guard rule", "[guard]\ndeny = [\n 'push',\n 'publsh',\n]", `pawl.toml:4: guard.deny[1]: "publsh" is not a rule of the guard; for a command write run:publsh`, `did you mean publish?`},
		{"guard rule far from all", "[guard]\nallow = 'everything'", `pawl.toml:2: guard.allow[0]: "everything" is not a rule`, `pawl guard list`},
		{"guard state", "guard.allow = ['push', 'state']", `guard.allow[1]: no setting can lift the rule state`, `remove the entry`},
		{"guard state asked", "guard.ask = 'state'", `guard.ask[0]: no setting can lift the rule state`, `remove the entry`},
		{"guard glob", "guard.ask = ['write:[a']", `guard.ask[0]: "write:[a" is not a glob`, ``},
		{"guard branch", "guard.protected_branches = ['a', 'release/[']", `guard.protected_branches[1]: want a branch or a glob such as release/*, not "release/["`, ``},
		{"gate that is a comment", "gates = [\" # go test ./...\\n\"]", `gates[0]: a gate needs a command`, ``},
		{"gate without command", "gates = [{name = 'a'}]", `gates[0]: a gate needs a command`, ``},
		{"gate command", "gates = [3]", `gates[0].command: want a command as text, or as a list`, ``},
		{"gate twice", "gates = ['a', 'a']", `gates[1]: another gate is already named "a"`, ``},
		{"gate outside", "gates = [{command = 'a', dir = '../b'}]", `gates[0].dir: want a folder below the root, not "../b"`, ``},
		{"gate report", "gates = [{command = 'a', report = 'xml'}]", `want go-json, tap or junit:PATH, not "xml"`, ``},
		{"gate baseline", "gates = [{command = 'a', baseline = 'deny'}]", `want allow, not "deny"`, ``},
		{"gate tier", "gates = [{command = 'a', tier = 'slow'}]", `want fast or final, not "slow"`, ``},
		{"review without rubric", "[[gates]]\nkind = 'review'", `gates[0]: a review needs a rubric`, `such as rubric = "no dead code"`},
		{"review with a command", "[[gates]]\nkind = 'review'\nrubric = 'r'\ncommand = 'true'", `pawl.toml:4: gates[0].command: it has no effect for a gate of kind review`, ``},
		{"review at the end", "[[gates]]\nkind = 'review'\nrubric = 'r'\ntier = 'final'", `gates[0].tier: it has no effect for a gate of kind review`, ``},
		{"review by no program", "[[gates]]\nkind = 'review'\nrubric = 'r'\nagent = 'command'", `gates[0].agent: the agent named command needs agent_command`, ``},
		{"a command that approves", "[[gates]]\ncommand = 'true'\napproves_tests = true", `gates[0].approves_tests: it has no effect for a gate of kind command`, ``},
		{"rubric of a command", "[[gates]]\ncommand = 'true'\nrubric = 'r'", `gates[0].rubric: it has no effect for a gate of kind command`, ``},
		{"rounds", "review_rounds = 0", `review_rounds: want a whole number from 1, not 0`, ``},
		{"every without periodic", "kind = 'answer'\nevery = '5m'", `pawl.toml:2: every: only a periodic goal repeats`, ``},
		{"periodic without every", "kind = 'periodic'", `kind: a periodic goal needs an interval`, `--every 5m, or every = "5m" in pawl.toml`},
		{"promise", "promise = '<done>'", `promise: want text without < and >`, ``},
		{"glob", "protect = ['a[']", `protect: want a glob such as docs/**, not "a["`, ``},
		{"agent", "agent = 'command'", `agent: the agent named command needs agent_command`, ``},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			writeFile(t, filepath.Join(root, "pawl.toml"), c.toml)
			layer, err := config.ReadProject(root)
			if err == nil {
				_, err = config.Resolve(layer)
			}
			wantMistake(t, err, c.message, c.hint)
		})
	}
}

func TestMistakesInFlags(t *testing.T) {
	t.Parallel()
	cases := []struct {
		key     string
		value   any
		message string
	}{
		{"max_cost", "much", `--max-cost: want an amount of US dollars such as 5.50, 0 for no limit, not "much"`},
		{"evidence", []string{"US-1=proof"}, `--evidence: want proven, reviewed or unproven, not "proof"`},
		{"gates", []string{"a", " "}, `--gate: want a command as text`},
		{"max_iterations", -2, `--max-iterations: want a whole number (0 for no limit) or auto, not -2`},
	}
	for _, c := range cases {
		t.Run(c.key, func(t *testing.T) {
			t.Parallel()
			_, err := config.Resolve(config.Flags(map[string]any{c.key: c.value}))
			wantMistake(t, err, c.message, "")
		})
	}
}

func wantMistake(t *testing.T, err error, message, hint string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), message) {
		t.Fatalf("error = %v\nwant %s", err, message)
	}
	if !strings.Contains(failure.Hint(err), hint) {
		t.Errorf("hint = %q, want %q", failure.Hint(err), hint)
	}
	if failure.CodeOf(err) != failure.Usage {
		t.Errorf("code = %d, want that of usage", failure.CodeOf(err))
	}
}
