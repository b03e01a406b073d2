package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pawl-dev/pawl/internal/audit"
	"github.com/pawl-dev/pawl/internal/clihelp"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/guard"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/notice"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/doctor"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/planfile"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/report"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
	"github.com/pawl-dev/pawl/internal/testreport"
	"github.com/pawl-dev/pawl/internal/verify"
)

// The reference pages are generated from the grammar and from the types that --json prints; UPDATE=1
// writes them again.
func TestReferencePagesAreUpToDate(t *testing.T) {
	t.Parallel()
	files := map[string]string{"cli.md": commandPage(t), "exit-codes.md": exitPage()}
	for name, s := range schemas(t) {
		data, err := json.MarshalIndent(s, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		files[name+".schema.json"] = string(data) + "\n"
	}
	for name, want := range files {
		path := filepath.Join("..", "..", "docs", "reference", name)
		if os.Getenv("UPDATE") != "" {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s is stale (UPDATE=1 go test writes it):\n%s", path, diff)
		}
	}
}

const made = "<!-- made by \"go generate ./internal/cli\"; do not edit -->\n"

// commandPage is docs/reference/cli.md.
func commandPage(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(made + "# Commands\n\nFor users who look up a command or flag. LOOP is the id of a loop or its beginning; `.` = the newest loop here.\n" +
		"An unknown flag is an error. `--x=v` and `--x v` are the same. See also [exit codes](exit-codes.md).\n\n```text\n")
	root := model(t)
	b.WriteString(clihelp.All(root, 0) + "```\n")
	for _, n := range leaves(root) {
		fmt.Fprintf(&b, "\n## %s\n\n```text\n%s```\n", clihelp.Name(n), clihelp.Help(n, 0))
	}
	return b.String()
}

// exitPage is docs/reference/exit-codes.md.
func exitPage() string {
	var b strings.Builder
	b.WriteString(made + "# Exit codes\n\nFor scripts and CI. `pawl run` and `pawl resume` exit with the code of the loop's outcome:\n\n")
	codeTable(&b, "outcome", exitCodes())
	b.WriteString("\nOther commands exit with 0 on success, 1 on failure and 2 on wrong usage. After a signal they exit with 130, 143 or 129.\n" +
		"Commands that check something:\n\n")
	codeTable(&b, "command", checkCodes())
	return b.String()
}

func codeTable(b *strings.Builder, what string, table []codeMeaning) {
	fmt.Fprintf(b, "| exit | %s | when |\n|---|---|---|\n", what)
	for _, m := range table {
		fmt.Fprintf(b, "| %d | %s | %s |\n", m.code, m.name, m.when)
	}
}

// schemas returns the schemas of the --json outputs by file name.
func schemas(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	summary := schema[record.Status](t, "How a loop stands: `pawl status --json`.")
	summary.Properties["state"].Enum = []any{"running", "waiting", "paused", "ended", loopinfo.Orphaned}
	item := schema[record.Summary](t, "")
	item.Schema = ""
	item.Properties["state"].Enum = summary.Properties["state"].Enum
	checkpoint := schema[git.Checkpoint](t, "")
	checkpoint.Schema = ""
	next := schema[planfile.ShownTask](t, "The task to work on now, or null: `pawl plan next --json`.")
	next.Type, next.Types = "", []string{"object", "null"}
	return map[string]*jsonschema.Schema{
		"status": summary,
		"checkpoints": {
			Schema: schemaDraft, Title: "pawl checkpoints list", Description: "The checkpoints of a loop, oldest first: `pawl checkpoints list --json`.",
			Type: "array", Items: checkpoint,
		},
		"list": {
			Schema: schemaDraft, Title: "pawl list", Description: "The loops, newest first: `pawl list --json`.",
			Type: "array", Items: item,
		},
		"lessons":     schema[lessonLists](t, "What was learnt: `pawl lessons --json`."),
		"log":         schema[journal.Record](t, "One line of `pawl log --json`: a record of the journal as it stands."),
		"verify":      schema[verifyResult](t, "What the gates say now: `pawl verify --json`. Durations are nanoseconds."),
		"audit":       schema[audit.Result](t, "What the gates say of a commit now, and what the receipts say: `pawl audit --json`."),
		"prove":       schema[proveResult](t, "Which functions of a commit are tested: `pawl prove --json`."),
		"plan":        schema[planfile.Shown](t, "The tasks of a plan: `pawl plan show --json`."),
		"plan-next":   next,
		"plan-check":  schema[planCheckResult](t, "What is wrong with a plan: `pawl plan check --json`."),
		"testreport":  schema[testReportResult](t, "What the output of a test run says: `pawl testreport`."),
		"guard-check": schema[guardCheckResult](t, "What the guard says of a tool call: `pawl guard check --json`."),
		"guard-list":  schema[guardListResult](t, "The guard's rules, and what the settings here add: `pawl guard list --json`."),
		"report":      schema[report.Facts](t, "What became of a loop: `pawl report --json`."),
		"explain":     schema[loopinfo.Explanation](t, "Each decision of a loop, and why: `pawl explain --json`."),
		"stats":       schema[report.Stats](t, "Figures over all loops: `pawl stats --json`."),
		"notice":      schema[notice.Notice](t, "What a command or webhook of notify receives."),
		"doctor":      schema[doctorResult](t, "What breaks loops here, and what does not: `pawl doctor --json`."),
	}
}

const schemaDraft = "https://json-schema.org/draft/2020-12/schema"

func schema[T any](t *testing.T, description string) *jsonschema.Schema {
	t.Helper()
	words := func(values ...any) *jsonschema.Schema { return &jsonschema.Schema{Type: "string", Enum: values} }
	var outcomes []any
	for _, o := range loop.Outcomes() {
		outcomes = append(outcomes, o)
	}
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {},
		reflect.TypeFor[gate.Status]():     words(gate.Pass, gate.Fail, gate.Unknown),
		reflect.TypeFor[gate.Evidence]():   words(gate.EvidenceUnknown, gate.Unproven, gate.Reviewed, gate.Proven),
		reflect.TypeFor[loop.GoalKind]():   words(loop.Change, loop.Answer, loop.Explore, loop.Periodic),
		reflect.TypeFor[loop.Outcome]():    words(outcomes...),
		reflect.TypeFor[loop.TaskStatus](): words(loop.Open, loop.Done, loop.Skipped, loop.Blocked, loop.Unchanged),
		reflect.TypeFor[doctor.Status]():   words(doctor.OK, doctor.Warn, doctor.Bad, doctor.Skipped),
		reflect.TypeFor[testreport.Result](): words(testreport.Pass, testreport.Fail, testreport.NoTests, testreport.RunnerError, testreport.Gate,
			testreport.Timeout, testreport.Signal, testreport.NotATest, testreport.Unknown),
		reflect.TypeFor[guard.Decision](): words(guard.Allow, guard.Ask, guard.Deny),
		reflect.TypeFor[audit.Verdict]():  words(audit.Agrees, audit.Differs, audit.Undecided),
	}})
	if err != nil {
		t.Fatal(err)
	}
	s.Schema, s.Description = schemaDraft, description
	open(s)
	return s
}

// open allows more fields everywhere: later versions may add some, and readers must accept them. Lists
// are never null; an empty one is [].
func open(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	s.AdditionalProperties = nil
	if s.Items != nil {
		s.Type, s.Types = "array", nil
	}
	open(s.Items)
	for _, p := range s.Properties {
		open(p)
	}
}

// The output of the commands matches the schemas.
func TestOutputMatchesSchema(t *testing.T) {
	t.Parallel()
	s := &loopinfo.Loop{Loop: &store.Loop{ID: "brisk-otter-7f3a"}}
	s.Spec.Policy.Kind = loop.Change
	began := loop.State{Tasks: []loop.Task{{ID: "1", Status: loop.Done, Turns: 1}}, Clock: loop.Clock{StartedAt: time.Now()}, End: loop.End{Outcome: loop.Verified}}
	receipt := verify.NewReceipt(gate.Result{Gate: "g", Status: gate.Pass}, time.Now())
	told := audit.Result{Verdict: audit.Undecided, Gates: []audit.Gate{{Gate: "g", Receipt: receipt.ID, Then: receipt.Status, Now: gate.Unknown}}}
	task := planfile.ShowTask(plan.Task{ID: "1", Title: "One", Line: 3})
	working := loop.State{Tasks: []loop.Task{{ID: "1", Status: loop.Done, Turns: 1, Took: time.Minute}, {ID: "2", Status: loop.Open}}}
	outputs := map[string][]any{
		"status":      {record.NewStatus(s.Summary(), working, "the agent works"), record.NewStatus(s.Summary(), loop.State{}, "")},
		"report":      {report.Loop{State: working}.Facts(record.NewStatus(s.Summary(), working, "the agent works"))},
		"explain":     {(&loopinfo.Loop{Loop: &store.Loop{ID: "brisk-otter-7f3a", Dir: t.TempDir()}}).Explain(0), loopinfo.Explanation{Steps: []loopinfo.Step{{Decided: []string{}, Because: []string{}}}}},
		"stats":       {report.Count(time.Time{}, nil), report.Count(time.Now(), []report.StatLoop{{Agent: "claude", State: began}})},
		"list":        {[]record.Summary{}, []record.Summary{s.Summary()}},
		"checkpoints": {[]git.Checkpoint{}, []git.Checkpoint{{N: 1, Time: time.Now(), Commit: "6e7f3a5", Subject: "the end"}}},
		"lessons":     {lessonLists{Learnt: []string{}, Project: []string{"use the sandbox"}}},
		"log":         {journal.Record{Seq: 1, Type: "event", Data: json.RawMessage(`{"kind":"started"}`)}, journal.Record{Data: json.RawMessage(`[1]`)}},
		"verify":      {verifyResult{Result: gate.Fail, Gates: []verify.Receipt{receipt}}},
		"audit":       {told, audit.Result{Gates: []audit.Gate{}, Verdict: audit.Undecided, Reason: "no trailer"}},
		"prove":       {proveResult{Functions: []verify.FunctionProof{}}},
		"plan":        {planfile.Show(plan.Plan{Format: planfile.Checklist}), planfile.Shown{Tasks: []planfile.ShownTask{task}}},
		"plan-next":   {task, nil},
		"doctor":      {doctorResult{Findings: []doctor.Finding{{Check: "git", Status: doctor.OK, What: "git 2.43.0"}}}},
		"testreport":  {testReportResult{Result: testreport.Pass, Failing: []string{}}},
		"guard-check": {guardCheckResult{Verdict: guard.Deny, Rule: guard.RulePush, Reason: "no"}, guardCheckResult{Verdict: guard.Allow}},
		"guard-list":  {guardListResult{guard.Catalogue(), []guardEntry{{List: "deny", Entry: "push", Source: "pawl.toml:1", Trusted: true}}}},
		"notice":      {notice.Notice{Event: notice.Ended, Reason: "verified", Outcome: loop.Verified}.ForLoop("brisk-otter-7f3a", "the goal", "/repo")},
		"plan-check":  {planCheckResult{Problems: []plan.Problem{{Message: "no tasks"}}}},
	}
	for name, sc := range schemas(t) {
		resolved, err := sc.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(outputs[name]) == 0 {
			t.Errorf("nothing is printed for %s", name)
		}
		for _, out := range outputs[name] {
			if err := resolved.Validate(plainJSON(t, out)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// plainJSON returns a value as a reader decodes it from JSON.
func plainJSON(t *testing.T, v any) any {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func model(t *testing.T) *kong.Node {
	t.Helper()
	k := newParser(&grammar{})
	return k.Model.Node
}

func leaves(n *kong.Node) []*kong.Node {
	var out []*kong.Node
	for _, b := range clihelp.Commands(n) {
		if b.Leaf() {
			out = append(out, b)
		}
	}
	return out
}

func TestEveryCommandHasAnExample(t *testing.T) {
	t.Parallel()
	for _, n := range leaves(model(t)) {
		if !strings.Contains(n.Detail, "  "+clihelp.Name(n)) && !strings.Contains(n.Detail, "(pawl completion") {
			t.Errorf("%s --help shows no example that begins with two blanks and its name", clihelp.Name(n))
		}
		for _, p := range n.Positional {
			if p.Help == "" {
				t.Errorf("%s: %s is not explained", clihelp.Name(n), p.Name)
			}
		}
		for _, f := range n.Flags {
			if f.Help == "" {
				t.Errorf("%s: --%s is not explained", clihelp.Name(n), f.Name)
			}
		}
	}
}

func TestEveryHelpTextBelongsToACommand(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(helpTexts) {
		name, isHead := strings.CutPrefix(strings.TrimSpace(line), "== pawl ")
		if n, rest := clihelp.FindCommand(model(t), strings.Fields(name)); isHead && (len(rest) > 0 || n.Detail == "") {
			t.Errorf("help.txt explains pawl %s, and there is no such command", name)
		}
	}
}

// The first help names only existing commands.
func TestFirstHelpNamesCommands(t *testing.T) {
	t.Parallel()
	text := clihelp.Help(model(t), 0)
	for _, name := range clihelp.EssentialCommands() {
		if !strings.Contains(text, "\n  "+name+" ") {
			t.Errorf("there is no command %s in\n%s", name, text)
		}
	}
}

// helpWords is the maximum number of words in the help of a command, a flag or an operand.
const helpWords = 20

func TestHelpIsShort(t *testing.T) {
	t.Parallel()
	check := func(where, help string) {
		if n := len(strings.Fields(help)); n > helpWords {
			t.Errorf("%s: %d words: %s", where, n, help)
		}
	}
	for _, n := range clihelp.Commands(model(t)) {
		check(clihelp.Name(n), n.Help)
		for _, p := range n.Positional {
			check(clihelp.Name(n)+" "+p.Name, p.Help)
		}
		for _, f := range n.Flags {
			check(clihelp.Name(n)+" --"+f.Name, f.Help)
		}
	}
}

func TestHelpFitsATerminal(t *testing.T) {
	t.Parallel()
	const most, mostOfExample = 132, 80 // columns; examples are not laid out anew for a narrow one
	for _, n := range clihelp.Commands(model(t)) {
		for line := range strings.Lines(clihelp.Help(n, 0)) {
			if len([]rune(line)) > most {
				t.Errorf("%s --help: a line of %d columns: %s", clihelp.Name(n), len([]rune(line)), line)
			}
		}
		for line := range strings.SplitSeq(n.Detail, "\n") {
			if columns := len([]rune(line)); strings.HasPrefix(line, " ") && columns > mostOfExample {
				t.Errorf("%s --help: an example of %d columns: %s", clihelp.Name(n), columns, line)
			}
		}
	}
}

func TestExitCodesMatchOutcomes(t *testing.T) {
	t.Parallel()
	named := map[string]int{}
	for _, m := range exitCodes() {
		if m.when == "" {
			t.Errorf("%s is not explained", m.name)
		}
		if _, ok := named[m.name]; !ok {
			named[m.name] = m.code
		}
	}
	for _, o := range loop.Outcomes() {
		if code, ok := named[string(o)]; !ok || code != o.ExitCode("") {
			t.Errorf("%s: %d in the table, %d by the machine", o, code, o.ExitCode(""))
		}
	}
}
