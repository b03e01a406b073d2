package term

import (
	"fmt"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"
)

// Schema returns the JSON Schema of one line of --json.
func Schema() (*jsonschema.Schema, error) {
	root := &jsonschema.Schema{
		Schema:      "https://json-schema.org/draft/2020-12/schema",
		Title:       "pawl events",
		Description: "One line of `pawl run --json`. Durations are seconds, money is US dollars, times are RFC 3339 in UTC.",
	}
	o := &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[Span](): {Type: "number"},
	}}
	for _, e := range allEvents() {
		s, err := jsonschema.ForType(reflect.TypeOf(e), o)
		if err != nil {
			return nil, fmt.Errorf("make schema of %s: %w", e.name(), err)
		}
		var name any = e.name()
		s.Title = e.name()
		s.Properties["event"] = &jsonschema.Schema{Const: &name}
		s.Properties["time"] = &jsonschema.Schema{Type: "string", Format: "date-time", Description: "when it happened"}
		s.Required = append([]string{"event", "time"}, s.Required...)
		s.PropertyOrder = append([]string{"event", "time"}, s.PropertyOrder...)
		// Later versions may add fields, which readers must ignore.
		s.AdditionalProperties = nil
		root.OneOf = append(root.OneOf, s)
	}
	return root, nil
}
