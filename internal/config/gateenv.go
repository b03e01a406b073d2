package config

import (
	"maps"
	"slices"
	"strings"
)

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
