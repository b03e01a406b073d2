package config

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/pelletier/go-toml/v2"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

// The schemas and the reference page of options are generated from Settings. UPDATE=1 writes
// them again.
func TestReferenceIsFresh(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"pawl.toml.schema.json": schemaFile(t, projectSchema()),
		"loop.schema.json":      schemaFile(t, loopSchema()),
		"options.md":            optionsPage(),
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

// The schemas and the decoder accept the same values.
func TestSchemasAgreeWithTheDecoder(t *testing.T) {
	t.Parallel()
	const whole = `
kind = "change"
model = "m"
agent_env = { A = "b" }
gates = ["a", { name = "n", command = ["b", "c"], timeout = "5m", tier = "final", report = "junit:x.xml", flaky = true, baseline = "allow" }, { kind = "review", rubric = "r", agent = "claude", model = "m", max_cost = 0.5, timeout = "5m" }]
review = ["@rubric.md", "no dead code"]
review_rounds = 2
evidence = { default = "reviewed", US-1 = "unproven" }
max_iterations = "auto"
max_duration = "8h"
max_cost = "5.50"
handover_at = "80%"
worktree = { use = true, setup = ["npm ci"] }
verify = { tries = 2, isolate = false, isolated_cost = "0.50", isolated_timeout = "90s" }
allow_test_changes = ["US-1"]
guard = { allow = "git push origin docs/*", deny = ["npm install", "write:dist/**"], ask = ["push"], protected_branches = ["release/*"] }
protect = "docs/**"`
	cases := []struct {
		toml string
		ok   bool
	}{
		{whole, true},
		{"", true},
		{`gates = "make test"`, true},
		{`evidence = "unproven"`, true},
		{`worktree = true`, true},
		{`allow_test_changes = true`, true},
		{`max_duration = 0`, true},
		{`max_cost = 5.5`, true},
		{`max_iteration = 3`, false},
		{`session = "forever"`, false},
		{`max_duration = "eight"`, false},
		{`max_tokens = -1`, false},
		{`handover_at = 0`, false},
		{`gates = [{ name = "no command" }]`, false},
		{`gates = [{ kind = "review" }]`, false},
		{`gates = [{ kind = "opinion", rubric = "r" }]`, false},
		{`review = "no dead code"`, true},
		{`review_rounds = 0`, false},
		{`gates = [{ command = "a", tear = "fast" }]`, false},
		{`evidence = { a = "proof" }`, false},
		{`worktree = { setups = "a" }`, false},
		{`verify = { isolated = true }`, false},
		{`verify = { tries = -1 }`, false},
		{`verify = true`, false},
		{`agent_env = { A = 1 }`, false},
		{`gate_env = ["A"]`, true},
		{`gate_env = { A = "a", B = true }`, true},
		{`gate_env = { A = false }`, false},
		{`guard = { allows = "push" }`, false},
		{`guard = { deny = [1] }`, false},
		{`guard = "push"`, false},
		{`notify = "desktop"`, true},
		{`notify = { to = ["bell", "slack env:SLACK_URL"], wait = "off", quiet = "22:00-07:00" }`, true},
		{`notify = { all = "bell" }`, false},
		{`notify = 3`, false},
		{`telemetry = { endpoint = "https://collector.example:4318", headers = { api-key = "env:KEY" } }`, true},
		{`telemetry = { address = "https://collector.example" }`, false},
		{`telemetry = "https://collector.example"`, false},
	}
	for _, c := range cases {
		t.Run(c.toml, func(t *testing.T) {
			t.Parallel()
			var values map[string]any
			if err := toml.Unmarshal([]byte(c.toml), &values); err != nil {
				t.Fatal(err)
			}
			if _, err := Resolve(Layer{values: values}); (err == nil) != c.ok {
				t.Errorf("decoder: %v, want ok = %v", err, c.ok)
			}
			if err := validate(t, projectSchema(), values); (err == nil) != c.ok {
				t.Errorf("schema: %v, want ok = %v", err, c.ok)
			}
		})
	}
}

func TestLoopSchemaKnowsTheOtherName(t *testing.T) {
	t.Parallel()
	var front map[string]any
	if err := yaml.Unmarshal([]byte("completion_promise: ALL GREEN\ngates: [a]"), &front); err != nil {
		t.Fatal(err)
	}
	if err := validate(t, loopSchema(), front); err != nil {
		t.Errorf("loop file: %v", err)
	}
}

func validate(t *testing.T, schema *jsonschema.Schema, values map[string]any) error {
	t.Helper()
	resolved, err := schema.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(values) // gives all numbers one type
	if err != nil {
		t.Fatal(err)
	}
	var instance map[string]any
	if err := json.Unmarshal(data, &instance); err != nil {
		t.Fatal(err)
	}
	if instance == nil {
		instance = map[string]any{}
	}
	return resolved.Validate(instance)
}

func schemaFile(t *testing.T, schema *jsonschema.Schema) string {
	t.Helper()
	data, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data) + "\n"
}

func projectSchema() *jsonschema.Schema {
	s := Defaults()
	schema := tableSchema(&s)
	schema.Schema = "https://json-schema.org/draft/2020-12/schema"
	schema.Title = "pawl.toml: Pawl's defaults for a project"
	for _, f := range optionsOf(&s) {
		if text := formatValue(f.ptr); text != "" && text != "none" && allowedNames(f.ptr) == nil {
			schema.Properties[f.key].Description += " (default: " + text + ")"
		} else if text != "" && text != "none" {
			schema.Properties[f.key].Default = json.RawMessage(fmt.Sprintf("%q", text))
		}
	}
	return schema
}

func loopSchema() *jsonschema.Schema {
	schema := projectSchema()
	schema.Title = "Front matter of a loop file"
	alias := *schema.Properties["promise"]
	alias.Description = "the same as promise, as other tools name it"
	schema.Properties["completion_promise"] = &alias
	schema.PropertyOrder = append(schema.PropertyOrder, "completion_promise")
	return schema
}

// tableSchema returns the schema of the struct that ptr points to.
func tableSchema(ptr any) *jsonschema.Schema {
	schema := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
	for _, f := range optionsOf(ptr) {
		value := valueSchema(f.ptr)
		value.Description = f.doc
		schema.Properties[f.key] = value
		schema.PropertyOrder = append(schema.PropertyOrder, f.key)
	}
	return schema
}

func valueSchema(ptr any) *jsonschema.Schema {
	if names := allowedNames(ptr); names != nil {
		var enum []any
		for _, name := range names {
			enum = append(enum, name)
		}
		return &jsonschema.Schema{Type: "string", Enum: enum}
	}
	zero, one, hundred := 0.0, 1.0, 100.0
	texts := anyOf(text(), listOf(text()))
	switch ptr.(type) {
	case *string:
		return text()
	case *bool:
		return &jsonschema.Schema{Type: "boolean"}
	case *int64:
		return &jsonschema.Schema{Type: "integer", Minimum: &zero}
	case *Iterations:
		return anyOf(&jsonschema.Schema{Type: "integer", Minimum: &zero}, &jsonschema.Schema{Const: new(any("auto"))})
	case *time.Duration:
		return anyOf(&jsonschema.Schema{Type: "string", Pattern: `^([0-9.]+(ns|us|µs|ms|s|m|h|d))+$`}, &jsonschema.Schema{Const: new(any(0))})
	case *USD:
		return anyOf(&jsonschema.Schema{Type: "number", Minimum: &zero}, &jsonschema.Schema{Type: "string", Pattern: `^\$?[0-9]+(\.[0-9]+)?$`})
	case *Percent:
		return anyOf(&jsonschema.Schema{Type: "integer", Minimum: &one, Maximum: &hundred}, &jsonschema.Schema{Type: "string", Pattern: `^([1-9][0-9]?|100)%?$`})
	case *Rounds:
		return &jsonschema.Schema{Type: "integer", Minimum: &one}
	case *[]string:
		return texts
	case *Approve:
		var points []any
		for _, at := range loop.Approvals() {
			points = append(points, string(at))
		}
		return anyOf(&jsonschema.Schema{Enum: points}, listOf(&jsonschema.Schema{Enum: points}))
	case *TaskSet:
		return anyOf(&jsonschema.Schema{Type: "boolean"}, texts)
	case *GateEnv:
		value := anyOf(&jsonschema.Schema{Type: "string"}, &jsonschema.Schema{Const: new(any(true))})
		return anyOf(listOf(text()), &jsonschema.Schema{Type: "object", AdditionalProperties: value})
	case *map[string]string:
		return &jsonschema.Schema{Type: "object", AdditionalProperties: &jsonschema.Schema{Type: "string"}}
	case *Evidence:
		level := valueSchema(new(gate.Evidence))
		return anyOf(level, &jsonschema.Schema{Type: "object", AdditionalProperties: level.CloneSchemas()}, listOf(text()))
	case *Worktree:
		return anyOf(&jsonschema.Schema{Type: "boolean"}, tableSchema(new(Worktree)))
	case *Verify:
		return tableSchema(new(Verify))
	case *Tracker:
		return tableSchema(new(Tracker))
	case *Guard:
		return tableSchema(new(Guard))
	case *Notify:
		return anyOf(text(), listOf(text()), tableSchema(new(Notify)))
	case *Telemetry:
		return tableSchema(new(Telemetry))
	case *commandLine:
		return texts
	case *[]gate.Gate:
		table := tableSchema(new(gateTable))
		table.AnyOf = []*jsonschema.Schema{{Required: []string{"command"}}, {Required: []string{"kind", "rubric"}}}
		return anyOf(text(), listOf(anyOf(text(), table)))
	}
	panic(fmt.Sprintf("no schema for %T", ptr))
}

func text() *jsonschema.Schema { return &jsonschema.Schema{Type: "string", Pattern: `\S`} }

func listOf(s *jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "array", Items: s}
}

func anyOf(schemas ...*jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: schemas}
}

// optionsPage returns the text of docs/reference/options.md.
func optionsPage() string {
	var b strings.Builder
	b.WriteString(`<!-- made by "go generate ./internal/config"; do not edit -->
# Options

For users who write a ` + "`pawl.toml`.\n\n```toml\ngates = [\"go test ./...\"]\nmax_cost = 20\nprotect = [\"deploy/**\"]\n```\n\n" +
		"The same keys work in these places; a later one replaces what an earlier one says:\n\n" +
		"1. `~/.config/pawl/config.toml`\n2. `pawl.toml` at the root of a repository\n3. the front matter of a loop file\n" +
		"4. the command line, with hyphens: `--max-duration`; `--gate` once for each gate\n\n" +
		"Tables merge key by key; `protect` and the lists of `guard` add up. A default of `none` = not set.\n" +
		"An agent that is a program follows [a small protocol](agent-command.md).\n\n")
	row := func(key, meaning, fallback string) {
		if fallback != "" {
			fallback = "`" + fallback + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", key, meaning, fallback)
	}
	table := func(ptr any) {
		b.WriteString("| key | meaning | default |\n|---|---|---|\n")
		for _, f := range optionsOf(ptr) {
			meaning := f.doc
			if names := allowedNames(f.ptr); names != nil {
				meaning += " (" + joinNames(names, " or ") + ")"
			}
			fallback := ""
			switch ptr.(type) {
			case *Settings, *Verify:
				fallback = formatValue(f.ptr)
			}
			row(f.key, meaning, fallback)
		}
	}
	s := Defaults()
	table(&s)
	b.WriteString("\nIn a loop file, `completion_promise` is another name for `promise`.\n\n## A gate as a table\n\n")
	table(new(gateTable))
	b.WriteString("\n## worktree as a table\n\n")
	table(new(Worktree))
	b.WriteString("\n## verify\n\n")
	table(&s.Verify)
	b.WriteString("\n## tracker\n\n")
	table(new(Tracker))
	b.WriteString("\n[Trackers](trackers.md) describes requests and answers.\n")
	b.WriteString("\n## guard\n\n")
	table(&s.Guard)
	b.WriteString("\n[The guard](guard.md#your-own-rules) describes entries.\n")
	b.WriteString("\n## notify\n\n")
	table(&s.Notify)
	b.WriteString("\nA list in place of the table is its `to`. [Get notifications](../how-to/notifications.md) has examples.\n")
	b.WriteString("\n## telemetry\n\n")
	table(&s.Telemetry)
	b.WriteString("\nOnly your own `~/.config/pawl/config.toml` may have this table.\n" +
		"[Send traces and metrics](../how-to/telemetry.md) has an example.\n")
	b.WriteString("\n## Forms of values\n\n" +
		"| value | form |\n|---|---|\n| duration | `90s`, `10m`, `8h` |\n| money, in US dollars | `5.50` or `\"5.50\"` |\n" +
		"| share | `80` or `\"80%\"` |\n| list | a single text is a list of one |\n" +
		"| `evidence` | a level, or a table of task ids and levels with a `default` |\n")
	return b.String()
}
