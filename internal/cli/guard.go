package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/agent/claude/codec"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/core/guard"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/term"
)

type guardCmd struct {
	Check guardCheckCmd `cmd:"" help:"show what the guard would answer to a tool call"`
	List  guardListCmd  `cmd:"" help:"list the guard's rules and the settings that add to them"`
}

type guardCheckCmd struct {
	Command []string `arg:"" optional:"" help:"shell command to check, best as one quoted word; - = standard input"`
	Tool    string   `placeholder:"TOOL" help:"tool name: Write, Edit, Read …; default: a shell"`
	Path    string   `placeholder:"FILE" help:"file that the tool would edit or read"`
	Loop    string   `placeholder:"LOOP" help:"use the rules of this loop; default: those of a loop started here now"`
	JSON    bool     `name:"json" help:"print a JSON object (docs/reference/guard-check.schema.json)"`
}

// guardCheckResult is the output of --json.
type guardCheckResult struct {
	Verdict guard.Decision `json:"verdict"`
	Rule    string         `json:"rule" jsonschema:"id of the rule, custom for an entry of the settings, empty if the call is allowed"`
	Reason  string         `json:"reason" jsonschema:"what the agent is told"`
	Unknown string         `json:"unknown" jsonschema:"what of an allowed call could not be read"`
}

// Run prints the guard's answer to a call.
func (c *guardCheckCmd) Run(a *app) error {
	call, err := c.call(a)
	if err != nil {
		return err
	}
	rules, untrusted, err := c.rules(a)
	if err != nil {
		return err
	}
	for _, u := range untrusted {
		term.Warnf(a.Err, "not applied, because nobody trusted it: %s: %s (pawl trust)", u.File, u.Text)
	}
	v := guard.Check(call, rules)
	return a.conclude(c.JSON, verdict{
		result: guardCheckResult{v.Decision, v.Rule, v.Reason, v.Unknown},
		text:   func() { a.printGuard(call, rules, v, c.Loop) },
		code:   map[guard.Decision]error{guard.Deny: codeFailed, guard.Ask: codeUndecided}[v.Decision],
	})
}

// printGuard prints a verdict and how to change it. A loop keeps the rules that it started with; an
// approval changes only what it protects.
func (a *app) printGuard(call toolcall.Call, rules guard.Rules, v guard.Verdict, ref string) {
	if v.Decision == guard.Allow {
		a.printf("allow\n")
		if v.Unknown != "" {
			a.printf("  not read: %s\n", term.Clean(v.Unknown))
		}
		return
	}
	a.printf("%s  %s\n  %s\n", v.Decision, v.Rule, term.Clean(v.Reason))
	entry, ok := allowingEntry(call, rules, v)
	entries := map[guard.Decision][]guard.Pattern{guard.Deny: rules.Deny, guard.Ask: rules.Ask}
	switch {
	case ref != "" && v.Rule == guard.RuleProtected:
		a.printf("  to allow it in this loop:  pawl approve %s FILE\n", ref)
	case ref != "" && ok:
		a.printf("  this loop keeps its rules from its start; the next one allows it with  allow = [%s]  under [guard] in your own config.toml\n", term.Clean(strconv.Quote(entry)))
	case ok:
		a.printf("  to allow it: allow = [%s] under [guard], in your own config.toml, or in pawl.toml and then  pawl trust\n", term.Clean(strconv.Quote(entry)))
	case v.Rule == guard.RuleCustom, slices.ContainsFunc(entries[v.Decision], func(p guard.Pattern) bool { return p.String() == v.Rule }):
		a.printf("  a guard setting decides this: pawl guard list  shows which file has it\n")
	case v.Rule == guard.RuleState:
		a.printf("  no setting lifts this rule\n")
	}
}

// allowingEntry returns the narrowest settings entry that would allow a call: its command, its path, or the
// whole rule. A call that an entry or several rules deny has none.
func allowingEntry(call toolcall.Call, rules guard.Rules, v guard.Verdict) (string, bool) {
	var entries []string
	if call.Command != "" && !strings.Contains(call.Command, "\n") {
		entries = append(entries, call.Command)
	}
	const most = 16 // maximum number of touched paths to try
	for _, path := range v.Touched[:min(most, len(v.Touched))] {
		if rel, err := filepath.Rel(rules.Root, path); err == nil && filepath.IsLocal(rel) {
			path = "./" + filepath.ToSlash(rel)
		}
		entries = append(entries, "write:"+path, "read:"+path)
	}
	for _, entry := range append(entries, v.Rule) {
		p, err := guard.ParsePattern(entry)
		if err != nil {
			continue
		}
		with := rules
		with.Allow = append(slices.Clip(rules.Allow), p)
		if guard.Check(call, with).Decision == guard.Allow {
			return entry, true
		}
	}
	return "", false
}

// maxCommand is the maximum length of a command on standard input, in bytes.
const maxCommand = 1 << 20

// call returns the tool call to check.
func (c *guardCheckCmd) call(a *app) (toolcall.Call, error) {
	call := codec.ToolCall(c.Tool, nil, a.dir)
	if c.Tool == "" {
		call.Kind = toolcall.Run
	}
	command := strings.Join(c.Command, " ")
	if err := c.validate(); err != nil {
		return call, err
	}
	switch {
	case command != "" && c.Path != "":
		return call, failure.New(failure.Usage, "leave one of them out", "a call has a command or a path, not both")
	case c.Path != "":
		call.Path = a.abs(c.Path)
	case command == "-":
		a.announceRead("the command; Ctrl-D ends it")
		data, err := io.ReadAll(io.LimitReader(a.In, maxCommand+1))
		if err != nil {
			return call, fmt.Errorf("read the command: %w", err)
		}
		if len(data) > maxCommand {
			return call, failure.New(failure.Usage, "", "the command is longer than %d bytes", maxCommand)
		}
		call.Command = string(data)
	case slices.Contains(codec.FileTools(), c.Tool):
		return call, failure.New(failure.Usage, "add --path FILE", "%s is about a file, and none is named", c.Tool)
	case command != "":
		call.Command = command
	default:
		return call, failure.New(failure.Usage, "pawl guard check 'git push'; or --tool Write --path FILE", "name a tool call to check")
	}
	return call, nil
}

// validate refuses unknown tools, and commands whose quotes the shell removed.
func (c *guardCheckCmd) validate() error {
	tools := append(codec.FileTools(), codec.ShellTools()...)
	if c.Tool != "" && !slices.Contains(tools, c.Tool) {
		return failure.New(failure.Usage, "choose one of "+strings.Join(tools, ", "), "no tool is named %q", c.Tool)
	}
	for _, word := range c.Command {
		if len(c.Command) > 1 && strings.ContainsAny(word, " \t\n'\"`\\$|&;<>()") {
			return failure.New(failure.Usage, "pawl guard check 'the whole command'", "quote the whole command: its own quotes are lost")
		}
	}
	return nil
}

// rules returns the rules of the named loop, or those of a loop that would begin here.
func (c *guardCheckCmd) rules(a *app) (guard.Rules, []config.Command, error) {
	if c.Loop == "" {
		ctx := a.untilSignal()
		here, err := launch.InspectGuard(ctx, a.dir, a.env)
		return here.Rules, here.Untrusted, err
	}
	s, err := a.find(c.Loop)
	if err != nil {
		return guard.Rules{}, nil, err
	}
	protected, err := record.ReadProtected(s.Loop)
	places := record.GuardDirs{
		Root: s.Spec.WorkTree(s.Loop), StateDir: a.env.PawlHome, HomeDir: a.env.Home, TempDir: os.TempDir(),
	}
	return record.WithHistory(s.Spec.GuardRules(places, record.TurnScope{Task: s.Memory.State.Current, Protected: protected}), s.Loop), nil, err
}

type guardListCmd struct {
	JSON bool `name:"json" help:"print a JSON object (docs/reference/guard-list.schema.json)"`
}

// guardListResult is the output of --json.
type guardListResult struct {
	Rules   []guard.Rule `json:"rules" jsonschema:"the guard's own"`
	Entries []guardEntry `json:"entries" jsonschema:"what the settings here add"`
}

// guardEntry is one entry of the settings.
type guardEntry struct {
	List    string `json:"list" jsonschema:"allow, deny, ask or protected_branches"`
	Entry   string `json:"entry"`
	Source  string `json:"source" jsonschema:"file and line"`
	Trusted bool   `json:"trusted" jsonschema:"false: it is out of the repository's files, and does not count before pawl trust"`
}

// Run lists the rules.
func (c *guardListCmd) Run(ctx context.Context, a *app) error {
	here, err := launch.InspectGuard(ctx, a.dir, a.env)
	if err != nil {
		return err
	}
	entries := guardEntries(here)
	if c.JSON {
		return a.printJSON(guardListResult{guard.Catalogue(), entries})
	}
	for _, r := range guard.Catalogue() {
		a.printf("%-12s %s%s\n             instead: %s\n", r.ID, r.What, ruleNote(r.ID, here.Rules), r.Instead)
	}
	if len(entries) > 0 {
		a.printf("\nthe settings here\n")
	}
	for _, e := range entries {
		after := ""
		if !e.Trusted {
			after = "  not trusted: it has no effect before  pawl trust"
		}
		a.printf("  %-18s %s  (%s)%s\n", e.List, term.Clean(e.Entry), term.Clean(e.Source), after)
	}
	return nil
}

// ruleNote says how the settings change a rule.
func ruleNote(id string, r guard.Rules) string {
	has := func(list []guard.Pattern) bool {
		return slices.ContainsFunc(list, func(p guard.Pattern) bool { return p.String() == id })
	}
	switch {
	case has(r.Deny), id == guard.RuleState:
		return ""
	case has(r.Ask):
		return "  (asked about here)"
	case has(r.Allow):
		return "  (lifted here)"
	}
	return ""
}

// guardEntries returns the entries of the settings with their sources.
func guardEntries(here launch.GuardInfo) []guardEntry {
	g, entries := here.Settings.Guard, []guardEntry{}
	for _, l := range []struct {
		key   string
		texts []string
	}{{"deny", g.Deny}, {"ask", g.Ask}, {"allow", g.Allow}, {"protected_branches", g.ProtectedBranches}} {
		for i, text := range l.texts {
			from := here.Settings.Sources[fmt.Sprintf("guard.%s[%d]", l.key, i)]
			strange := config.Command{Kind: config.KindGuard, File: from.File, Text: l.key + " " + text}
			entries = append(entries, guardEntry{
				List: l.key, Entry: text, Source: from.String(),
				Trusted: !from.Repo || !slices.Contains(here.Untrusted, strange),
			})
		}
	}
	return entries
}
