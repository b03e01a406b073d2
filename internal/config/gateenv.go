package config

import (
	"maps"
	"slices"
	"strings"
)

// GateEnv are variables for the gates by name; one without a value is passed as the user
// has it.
type GateEnv map[string]*string

// GateVars are the variables for the gates, as NAME=value or NAME, sorted.
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

// spreadGateEnv makes a table of a list of names.
func spreadGateEnv(values map[string]any) error {
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

// decode puts the entries of a table over those of lower layers.
func (e *GateEnv) decode(path string, v any, _ map[string]int) error {
	table, ok := v.(map[string]any)
	if !ok {
		return want(path, "a list of names of variables, or a table of texts", v)
	}
	out := GateEnv{}
	maps.Copy(out, *e)
	for _, name := range slices.Sorted(maps.Keys(table)) {
		if name == "" || strings.Contains(name, "=") {
			return wrong(path, "%q is not the name of a variable; for a value write %s = { NAME = \"value\" }", name, path)
		}
		switch value := table[name].(type) {
		case string: // may well be empty
			out[name] = &value
		case bool:
			if !value {
				return want(join(path, name), "text, or true for the user's own", value)
			}
			out[name] = nil
		default:
			return want(join(path, name), "text, or true for the user's own", value)
		}
	}
	*e = out
	return nil
}
