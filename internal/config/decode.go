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

// Resolve folds the layers, lowest first, over the defaults, and checks the
// outcome. The error names the first value that is wrong, its place, and what is
// allowed.
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

// problem is what is wrong with the value at a path.
type problem struct{ path, message, hint string }

func (p *problem) Error() string { return p.path + ": " + p.message }

func wrong(path, format string, args ...any) error {
	return &problem{path: path, message: fmt.Sprintf(format, args...)}
}

// decode sets what the layer says.
func (l Layer) decode(s *Settings) error {
	values := maps.Clone(l.values)
	if l.name == layerLoop {
		if err := l.rename(values, "completion_promise", "promise"); err != nil {
			return err
		}
	}
	if err := l.checkUserOnly(); err != nil {
		return l.report(err)
	}
	spreadNotify(values)
	if err := spreadGateEnv(values); err != nil {
		return l.report(err)
	}
	was := s.Guard
	if err := decodeTable(s, "", values, l.lines); err != nil {
		return l.report(err)
	}
	s.noteGuard(l, was)
	for key, v := range values {
		s.Sources[key] = l.source(key)
		for _, name := range entries(v) {
			s.Sources[join(key, name)] = l.source(join(key, name))
		}
	}
	return nil
}

// checkUserOnly refuses what a repository must not say: who answers for the user, and who
// else sees what their loops do.
func (l Layer) checkUserOnly() error {
	if !l.repo {
		return nil
	}
	p := &problem{hint: "set it in your own configuration: ~/.config/pawl/config.toml"}
	notify, _ := l.values["notify"].(map[string]any)
	if _, set := notify["answers"]; set {
		p.path, p.message = "notify.answers", "a repository's file cannot say whose answers count"
		return p
	}
	if _, set := l.values["telemetry"]; set {
		p.path, p.message = "telemetry", "a repository's file cannot say where traces and metrics are sent"
		return p
	}
	return nil
}

// entries are the keys of a table.
func entries(v any) []string {
	switch v := v.(type) {
	case map[string]any:
		return slices.Collect(maps.Keys(v))
	case map[string]string:
		return slices.Collect(maps.Keys(v))
	}
	return nil
}

// rename reads a key of other tools' loop files as our own.
func (l Layer) rename(values map[string]any, alias, key string) error {
	v, ok := values[alias]
	if !ok {
		return nil
	}
	if _, both := values[key]; both {
		return l.report(wrong(alias, "%s is the same as %s; keep one of them", alias, key))
	}
	delete(values, alias)
	values[key] = v
	l.lines[key] = l.lines[alias]
	return nil
}

// report makes an error for people of a *problem.
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

// decodeTable sets the fields of the struct that dst points to from a table, in
// the order of the file.
func decodeTable(dst any, path string, v any, lines map[string]int) error {
	fields := fieldsOf(dst)
	table, ok := v.(map[string]any)
	if !ok {
		var keys []string
		for _, f := range fields {
			keys = append(keys, f.key)
		}
		return want(path, "a table with "+enumerated(keys, " and "), v)
	}
	keys := slices.SortedFunc(maps.Keys(table), func(a, b string) int {
		return cmp.Or(cmp.Compare(lines[join(path, a)], lines[join(path, b)]), cmp.Compare(a, b))
	})
	for _, key := range keys {
		i := slices.IndexFunc(fields, func(f field) bool { return f.key == key })
		if i < 0 {
			return unknownKey(join(path, key), key, fields)
		}
		if err := fields[i].set(join(path, key), table[key], lines); err != nil {
			return err
		}
	}
	return nil
}

// field is an option: a documented field of Settings, or of a table in it.
type field struct {
	key, doc string
	adds     bool // its list grows from layer to layer
	ptr      any  // to the field
}

// fieldsOf lists the options of the struct that ptr points to, in its order.
func fieldsOf(ptr any) []field {
	v := reflect.ValueOf(ptr).Elem()
	var out []field
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		if doc := tag.Get("doc"); doc != "" {
			key, _, _ := strings.Cut(tag.Get("json"), ",")
			out = append(out, field{key: key, doc: doc, adds: tag.Get("merge") == "add", ptr: v.Field(i).Addr().Interface()})
		}
	}
	return out
}

func (f field) set(path string, v any, lines map[string]int) error {
	list, ok := f.ptr.(*[]string)
	if !ok || !f.adds {
		return decodeValue(f.ptr, path, v, lines)
	}
	var more []string
	if err := decodeValue(&more, path, v, lines); err != nil {
		return err
	}
	*list = append(slices.Clone(*list), more...)
	return nil
}

// Explained is one option with its value and where that comes from.
type Explained struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Source string `json:"source"` // file:line, flags, or default
}

// Explain lists all options and their sources, for --dry-run.
func (s Settings) Explain() []Explained {
	var out []Explained
	for _, f := range fieldsOf(&s) {
		out = append(out, Explained{Key: f.key, Value: show(f.ptr), Source: s.Sources[f.key].String()})
	}
	return out
}

// keysMost bounds the keys that a hint lists.
const keysMost = 12

// unknownKey says which key was probably meant.
func unknownKey(path, key string, fields []field) error {
	p := &problem{path: path, message: "there is no such key"}
	var keys []string
	for _, f := range fields {
		keys = append(keys, f.key)
	}
	if near := failure.Nearest(key, keys); near != "" {
		p.hint = fmt.Sprintf("did you mean %s?", near)
		return p
	}
	p.hint = "the keys are " + strings.Join(keys[:min(len(keys), keysMost)], ", ")
	if len(keys) > keysMost {
		p.hint += ", …; pawl run --help explains them"
	}
	return p
}
