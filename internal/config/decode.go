package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/failure"
)

// Resolve merges the layers over the defaults, lowest layer first, and checks the result.
// The error names the first wrong value, its place, and the allowed values.
func Resolve(layers ...Layer) (Settings, error) {
	s := Defaults()
	s.Sources = map[string]Source{}
	for _, l := range layers {
		confined, from := s.Confine, s.Sources["confine"]
		if err := l.decode(&s); err != nil {
			return Settings{}, err
		}
		if l.repo && confined.Above(s.Confine) { // a repository's file can only tighten it
			s.Confine, s.Sources["confine"] = confined, from
		}
	}
	if err := s.derive(layers); err != nil {
		return Settings{}, err
	}
	return s, nil
}

// problem is an error in the value at a path, with a hint how to fix it.
type problem struct{ path, message, hint string }

func (p *problem) Error() string { return p.path + ": " + p.message }

// newProblem returns a problem without a hint.
func newProblem(path, format string, args ...any) error {
	return &problem{path: path, message: fmt.Sprintf(format, args...)}
}

// decode sets the options that the layer has, and records their sources.
func (l Layer) decode(s *Settings) error {
	values := maps.Clone(l.values)
	if l.name == layerLoop {
		if err := l.replaceAlias(values, "completion_promise", "promise"); err != nil {
			return err
		}
	}
	if err := l.checkUserOnly(); err != nil {
		return l.report(err)
	}
	normalizeNotify(values)
	if err := normalizeGateEnv(values); err != nil {
		return l.report(err)
	}
	was := s.Guard
	if err := decodeTable(s, "", values, l.lines); err != nil {
		return l.report(err)
	}
	s.recordGuardSources(l, was)
	for key, v := range values {
		s.Sources[key] = l.source(key)
		for _, name := range tableKeys(v) {
			s.Sources[join(key, name)] = l.source(join(key, name))
		}
	}
	return nil
}

// checkUserOnly returns an error if a repository's file sets notify.answers or telemetry. Only
// the user may choose who answers for them, and who receives data about their loops.
func (l Layer) checkUserOnly() error {
	if !l.repo {
		return nil
	}
	p := &problem{hint: "set it in your user configuration: ~/.config/pawl/config.toml"}
	notify, _ := l.values["notify"].(map[string]any)
	if _, set := notify["answers"]; set {
		p.path, p.message = "notify.answers", "a repository's file cannot set whose answers count"
		return p
	}
	if _, set := l.values["telemetry"]; set {
		p.path, p.message = "telemetry", "a repository's file cannot set where traces and metrics are sent"
		return p
	}
	return nil
}

// tableKeys returns the keys of a table, nil for other values.
func tableKeys(v any) []string {
	switch v := v.(type) {
	case map[string]any:
		return slices.Collect(maps.Keys(v))
	case map[string]string:
		return slices.Collect(maps.Keys(v))
	}
	return nil
}

// replaceAlias replaces a key of other tools' loop files by Pawl's key. It returns an error if both
// are set.
func (l Layer) replaceAlias(values map[string]any, alias, key string) error {
	v, ok := values[alias]
	if !ok {
		return nil
	}
	if _, both := values[key]; both {
		return l.report(newProblem(alias, "%s is the same as %s; keep one of them", alias, key))
	}
	delete(values, alias)
	values[key] = v
	l.lines[key] = l.lines[alias]
	return nil
}

// report turns a *problem into an error for the user. It returns other errors unchanged.
func (l Layer) report(err error) error {
	p, ok := errors.AsType[*problem](err)
	if !ok {
		return err
	}
	if l.name == layerFlags {
		return failure.New(failure.Usage, p.hint, "%s: %s", l.where(p.path), p.message)
	}
	return failure.New(failure.Usage, p.hint, "%s: %s: %s", l.where(p.path), p.path, p.message)
}

// decodeTable sets the fields of the struct that dst points to from a table. It reads the
// keys in the order of the file, so that the first wrong value is reported.
func decodeTable(dst any, path string, v any, lines map[string]int) error {
	fields := optionsOf(dst)
	table, ok := v.(map[string]any)
	if !ok {
		var keys []string
		for _, f := range fields {
			keys = append(keys, f.key)
		}
		return wantError(path, "a table with "+joinNames(keys, " and "), v)
	}
	keys := slices.SortedFunc(maps.Keys(table), func(a, b string) int {
		return cmp.Or(cmp.Compare(lines[join(path, a)], lines[join(path, b)]), cmp.Compare(a, b))
	})
	for _, key := range keys {
		i := slices.IndexFunc(fields, func(f option) bool { return f.key == key })
		if i < 0 {
			return unknownKeyError(join(path, key), key, fields)
		}
		if err := fields[i].set(join(path, key), table[key], lines); err != nil {
			return err
		}
	}
	return nil
}

// option is a documented field of Settings, or of a table in it.
type option struct {
	key, doc    string
	joinsLayers bool // lists of all layers are joined
	ptr         any  // pointer to the field
}

// optionsOf returns the options of the struct that ptr points to, in the order of its fields.
func optionsOf(ptr any) []option {
	v := reflect.ValueOf(ptr).Elem()
	var out []option
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		if doc := tag.Get("doc"); doc != "" {
			key, _, _ := strings.Cut(tag.Get("json"), ",")
			out = append(out, option{key: key, doc: doc, joinsLayers: tag.Get("merge") == "add", ptr: v.Field(i).Addr().Interface()})
		}
	}
	return out
}

// set decodes a value into the field. If joinsLayers is true, it appends to the list of lower
// layers.
func (f option) set(path string, v any, lines map[string]int) error {
	list, ok := f.ptr.(*[]string)
	if !ok || !f.joinsLayers {
		return decodeValue(f.ptr, path, v, lines)
	}
	var more []string
	if err := decodeValue(&more, path, v, lines); err != nil {
		return err
	}
	*list = append(slices.Clone(*list), more...)
	return nil
}

// Explained is one option with its value and its source.
type Explained struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Source string `json:"source"` // file:line, flags, or default
}

// Explain returns all options with their values and sources, for --dry-run.
func (s Settings) Explain() []Explained {
	var out []Explained
	for _, f := range optionsOf(&s) {
		out = append(out, Explained{Key: f.key, Value: formatValue(f.ptr), Source: s.Sources[f.key].String()})
	}
	return out
}

// maxKeysInHint is the maximum number of keys that a hint lists.
const maxKeysInHint = 12

// unknownKeyError returns the error for an unknown key. The hint is the most similar key, or a list
// of the keys.
func unknownKeyError(path, key string, fields []option) error {
	p := &problem{path: path, message: "unknown key"}
	var keys []string
	for _, f := range fields {
		keys = append(keys, f.key)
	}
	if near := failure.Nearest(key, keys); near != "" {
		p.hint = fmt.Sprintf("did you mean %s?", near)
		return p
	}
	p.hint = "the keys are " + strings.Join(keys[:min(len(keys), maxKeysInHint)], ", ")
	if len(keys) > maxKeysInHint {
		p.hint += ", …; pawl run --help explains them"
	}
	return p
}
