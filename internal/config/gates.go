package config

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

// gateTable holds the keys of a gate in a configuration file.
type gateTable struct {
	Name     string        `json:"name" doc:"name for messages and receipts; without it, the command"`
	Kind     gateKind      `json:"kind" doc:"command (default) or review (by an agent)"`
	Command  commandLine   `json:"command" doc:"shell command, or a program and its arguments as a list"`
	Dir      string        `json:"dir" doc:"folder it runs in, below the root of the repository"`
	Timeout  time.Duration `json:"timeout" doc:"time limit, default 10m; on a busy machine, a gate that reaches it runs once more with twice the limit"`
	Tier     gate.Tier     `json:"tier" doc:"fast gates run at each claim, final ones at the end of the loop"`
	Report   string        `json:"report" doc:"form of the test report: go-json or tap on the standard output, or junit:PATH; without it, what the command implies"`
	Flaky    bool          `json:"flaky" doc:"run it once more when it fails"`
	Pristine bool          `json:"pristine" doc:"run it in a clean checkout, prepared by [worktree] setup, instead of the work tree"`
	Isolated bool          `json:"isolated" doc:"false: its run in the work tree decides, for a gate that cannot run in an isolated checkout"`
	Baseline baseline      `json:"baseline" doc:"allow: what failed at the start may fail at the end"`

	Rubric        string `json:"rubric" doc:"of a review: what to look for, or @FILE"`
	Agent         string `json:"agent" doc:"of a review: which agent; default: the loop's agent in a separate session"`
	AgentCommand  string `json:"agent_command" doc:"of a review: the agent's program"`
	Model         string `json:"model" doc:"of a review: the agent's model; default: the loop's"`
	MaxCost       USD    `json:"max_cost" doc:"of a review: limit of cost in US dollars; default 1.00"`
	ApprovesTests bool   `json:"approves_tests" doc:"of a review: it may accept that old tests were changed; such work is worth a review and no more"`
}

// gateKind is the kind of a gate. The empty kind means byCommand.
type gateKind string

const byCommand gateKind = "command"

// commandLine is either a shell command or a program with its arguments.
type commandLine struct {
	shell string
	argv  []string
}

// baseline is the value of a gate's key "baseline".
type baseline string

// allowFailures lets failures that existed at the start remain at the end.
const allowFailures baseline = "allow"

func (p *commandLine) decode(path string, v any, _ map[string]int) error {
	if list, ok := v.([]any); ok && len(list) > 0 {
		return decodeTexts(&p.argv, path, list)
	}
	if decodeText(&p.shell, path, v) != nil {
		return wantError(path, "a command as text, or as a list of a program and its arguments", v)
	}
	return nil
}

// decodeGates reads a list of commands and tables, or a single one.
func decodeGates(p *[]gate.Gate, path string, v any, lines map[string]int) error {
	if v == nil {
		return wantError(path, "a list of commands and tables", v)
	}
	var out []gate.Gate
	for i, item := range listItems(v) {
		at := fmt.Sprintf("%s[%d]", path, i)
		table, ok := item.(map[string]any)
		if !ok {
			table = map[string]any{"command": item}
		}
		g, err := decodeGate(at, table, lines)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(out, func(other gate.Gate) bool { return other.Name == g.Name }) {
			return newProblem(at, "another gate is already named %q", g.Name)
		}
		out = append(out, g)
	}
	*p = out
	return nil
}

func decodeGate(path string, table map[string]any, lines map[string]int) (gate.Gate, error) {
	var t gateTable
	if err := decodeTable(&t, path, table, lines); err != nil {
		return gate.Gate{}, err
	}
	if t.Kind == gateKind(gate.ByReview) {
		return t.reviewGate(path, table)
	}
	if err := t.rejectKeys(path, table, "rubric", "agent", "agent_command", "model", "max_cost", "approves_tests"); err != nil {
		return gate.Gate{}, err
	}
	if t.Command.argv == nil && runsNothing(t.Command.shell) {
		return gate.Gate{}, newProblem(path, "a gate needs a command")
	}
	if t.Dir != "" && !filepath.IsLocal(t.Dir) {
		return gate.Gate{}, wantError(path+".dir", "a folder below the root", t.Dir)
	}
	if !isReportForm(t.Report) {
		return gate.Gate{}, wantError(path+".report", "go-json, tap or junit:PATH", t.Report)
	}
	g := gate.Gate{
		Name: t.Name, Command: t.Command.shell, Argv: t.Command.argv, Dir: t.Dir, Timeout: t.Timeout,
		Tier: t.Tier, Report: t.Report, Flaky: t.Flaky, AllowBaseline: t.Baseline == allowFailures, Pristine: t.Pristine,
	}
	if _, given := table["isolated"]; given && !t.Isolated {
		if g.InWorkTree = true; g.Pristine {
			return gate.Gate{}, newProblem(path+".isolated", "pristine = true runs the gate in a clean checkout")
		}
	}
	if g.Name == "" {
		g.Name, _, _ = strings.Cut(commandText(g), "\n")
	}
	return g, nil
}

// runsNothing reports whether a shell command has only blank lines and comments. Such a gate
// would always pass.
func runsNothing(command string) bool {
	for line := range strings.Lines(command) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return false
		}
	}
	return true
}

// reviewGate returns the gate for a review by an agent.
func (t gateTable) reviewGate(path string, table map[string]any) (gate.Gate, error) {
	if err := t.rejectKeys(path, table, "command", "dir", "tier", "report", "flaky", "baseline", "isolated"); err != nil {
		return gate.Gate{}, err
	}
	switch {
	case t.Rubric == "":
		return gate.Gate{}, &problem{path, "a review needs a rubric", `such as rubric = "no dead code", or rubric = "@review.md"`}
	case t.Agent == "command" && t.AgentCommand == "":
		return gate.Gate{}, &problem{path + ".agent", "the agent named command needs agent_command", "such as agent_command = \"./my-agent\""}
	}
	return gate.Gate{
		Name: cmp.Or(t.Name, "review"), Kind: gate.ByReview, Rubric: t.Rubric, Timeout: t.Timeout,
		Agent: t.Agent, AgentCommand: t.AgentCommand, Model: t.Model, MaxCostUSD: float64(t.MaxCost), ApprovesTests: t.ApprovesTests,
	}, nil
}

// rejectKeys returns an error if the table has one of the keys in not: they have no effect for a gate
// of this kind.
func (t gateTable) rejectKeys(path string, table map[string]any, not ...string) error {
	for _, key := range not {
		if _, there := table[key]; there {
			return newProblem(join(path, key), "it has no effect for a gate of kind %s", cmp.Or(t.Kind, byCommand))
		}
	}
	return nil
}

// isReportForm reports whether form is a known form of a test report, or empty.
func isReportForm(form string) bool {
	file, isJUnit := strings.CutPrefix(form, "junit:")
	return form == "" || form == "go-json" || form == "tap" || isJUnit && filepath.IsLocal(file)
}

// commandText returns the command of a gate with its arguments as one text.
func commandText(g gate.Gate) string {
	if g.Argv != nil {
		return strings.Join(quoteWords(g.Argv), " ")
	}
	return g.Command
}

// quoteWords quotes the words that a shell would split or change. Different lists thus give
// different texts, which trust relies on.
func quoteWords(words []string) []string {
	out := slices.Clone(words)
	for i, w := range out {
		if w == "" || strings.ContainsAny(w, " \t\n\"'\\$`|&;<>()*?") {
			out[i] = fmt.Sprintf("%q", w)
		}
	}
	return out
}

// GateEnv holds environment variables for the gates, by name. A variable with a nil value gets
// the user's value.
type GateEnv map[string]*string

// GateVars returns the variables for the gates as NAME=value or NAME, sorted by name.
func (s Settings) GateVars() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(s.GateEnv)) {
		if value := s.GateEnv[name]; value != nil {
			name += "=" + *value
		}
		out = append(out, name)
	}
	return out
}

// normalizeGateEnv replaces a list of names by a table in which each name is true, which passes
// the user's value.
func normalizeGateEnv(values map[string]any) error {
	list, isList := values["gate_env"].([]any)
	if !isList {
		return nil
	}
	var names []string
	if err := decodeTexts(&names, "gate_env", list); err != nil {
		return err
	}
	table := map[string]any{}
	for _, name := range names {
		table[name] = true
	}
	values["gate_env"] = table
	return nil
}

// decode adds the entries of a table. They replace entries of the same name in lower layers.
func (e *GateEnv) decode(path string, v any, _ map[string]int) error {
	table, ok := v.(map[string]any)
	if !ok {
		return wantError(path, "a list of names of variables, or a table of texts", v)
	}
	out := GateEnv{}
	maps.Copy(out, *e)
	for _, name := range slices.Sorted(maps.Keys(table)) {
		if name == "" || strings.Contains(name, "=") {
			return newProblem(path, "%q is not the name of a variable; for a value write %s = { NAME = \"value\" }", name, path)
		}
		switch value := table[name].(type) {
		case string: // an empty value is valid
			out[name] = &value
		case bool:
			if !value {
				return wantError(join(path, name), "text, or true for the user's own", value)
			}
			out[name] = nil
		default:
			return wantError(join(path, name), "text, or true for the user's own", value)
		}
	}
	*e = out
	return nil
}
