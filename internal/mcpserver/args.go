package mcpserver

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
)

// schemaOf returns the schema of a tool's input.
func schemaOf[In any]() *jsonschema.Schema {
	schema, err := jsonschema.For[In](nil)
	if err != nil { // a struct of strings, lists of them and booleans always has one
		panic(err)
	}
	for _, p := range schema.Properties {
		if len(p.Types) > 0 { // a list may be nil in Go; nobody needs to send null
			p.Type, p.Types = p.Types[len(p.Types)-1], nil
		}
	}
	return schema
}

// decodeArgs decodes the arguments of a call into a tool's input. The error names everything that
// is wrong with them, and what to send instead. An optional field may be null.
func decodeArgs(name string, schema *jsonschema.Schema, args json.RawMessage, in any) error {
	sent := map[string]json.RawMessage{}
	if len(args) > 0 && json.Unmarshal(args, &sent) != nil {
		return failure.New(failure.Usage, expectedCall(name, schema), "the arguments are %s, not an object", kindOf(args))
	}
	var faults []string
	for _, field := range schema.PropertyOrder {
		if value, given := sent[field]; given && string(value) != "null" {
			faults = append(faults, fieldErrors(field, schema.Properties[field], value)...)
		} else if slices.Contains(schema.Required, field) {
			faults = append(faults, fmt.Sprintf("%q is missing", field))
		}
	}
	var unknown []string
	for field := range sent {
		if schema.Properties[field] == nil {
			unknown = append(unknown, fmt.Sprintf("there is no field %q", plan.OneLine(field, maxQuotedChars)))
		}
	}
	slices.Sort(unknown)
	if faults = append(faults, unknown[:min(len(unknown), maxUnknownFields)]...); len(faults) > 0 {
		return failure.New(failure.Usage, expectedCall(name, schema), "%s", strings.Join(faults, "; "))
	}
	if len(args) == 0 {
		return nil
	}
	return json.Unmarshal(args, in)
}

const (
	maxQuotedChars   = 60 // maximum characters of the agent's input that an error quotes
	maxUnknownFields = 5  // maximum unknown fields that an error names
)

// fieldErrors returns what is wrong with a value, if anything.
func fieldErrors(field string, p *jsonschema.Schema, value json.RawMessage) []string {
	if p.Type == "array" {
		var items []json.RawMessage
		if json.Unmarshal(value, &items) == nil {
			for i, item := range items {
				if wrong := fieldErrors(fmt.Sprintf("%s[%d]", field, i), p.Items, item); wrong != nil {
					return wrong
				}
			}
			return nil
		}
	}
	if kind, want := kindOf(value), typeName(p); kind != want {
		return []string{fmt.Sprintf("%q is %s, not %s", field, kind, want)}
	}
	var text string
	if len(p.Enum) == 0 || json.Unmarshal(value, &text) == nil && slices.Contains(p.Enum, any(text)) {
		return nil
	}
	return []string{fmt.Sprintf("%q is %q, not %s", field, plan.OneLine(text, maxQuotedChars), choices(p.Enum))}
}

// typeName returns the type of a schema in words.
func typeName(p *jsonschema.Schema) string {
	switch p.Type {
	case "boolean":
		return boolType
	case "array":
		return "a list of texts"
	}
	return textType
}

const (
	textType = "a text"
	boolType = "true or false"
)

// kindOf returns the JSON type of a value, for an error message.
func kindOf(value json.RawMessage) string {
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		return "no JSON"
	}
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return textType
	case bool:
		return boolType
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return "a number"
}

// expectedCall returns an example of a correct call.
func expectedCall(name string, schema *jsonschema.Schema) string {
	var must, may []string
	for _, field := range schema.PropertyOrder {
		if example := fmt.Sprintf("%q: %s", field, example(schema.Properties[field])); slices.Contains(schema.Required, field) {
			must = append(must, example)
		} else {
			may = append(may, example)
		}
	}
	if len(must)+len(may) == 0 {
		return "call " + name + " again without arguments"
	}
	text := fmt.Sprintf("call %s again with {%s}", name, strings.Join(must, ", "))
	if len(may) > 0 {
		text += "; optional: " + strings.Join(may, ", ")
	}
	return text
}

func example(p *jsonschema.Schema) string {
	switch {
	case len(p.Enum) > 0:
		return choices(p.Enum)
	case p.Type == "array":
		return `["…", "…"]`
	case p.Type == "boolean":
		return boolType
	}
	return `"…"`
}

// choices returns the allowed values of a field as text.
func choices(values []any) string {
	var quoted []string
	for _, v := range values {
		quoted = append(quoted, fmt.Sprintf("%q", v))
	}
	return strings.Join(quoted, " or ")
}
