package config

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/confine"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/figure"
)

// decodeValue decodes a value of TOML, YAML or a flag into the variable that ptr points to.
func decodeValue(ptr any, path string, v any, lines map[string]int) error {
	if names := allowedNames(ptr); names != nil {
		return decodeName(ptr, path, v, names)
	}
	switch p := ptr.(type) {
	case *string:
		return decodeText(p, path, v)
	case *bool:
		return decodeBool(p, path, v)
	case *int64:
		return decodeWhole(p, path, v, integerRange{0, math.MaxInt64, "a whole number, 0 for no limit"})
	case *time.Duration:
		return decodeDuration(p, path, v)
	case *[]string:
		return decodeTexts(p, path, v)
	case *map[string]string:
		return decodeTextMap(p, path, v)
	case *Verify, *Tracker:
		return decodeTable(p, path, v, lines)
	case *[]gate.Gate:
		return decodeGates(p, path, v, lines)
	case interface {
		decode(path string, v any, lines map[string]int) error
	}:
		return p.decode(path, v, lines)
	}
	panic(fmt.Sprintf("config: no decoder for %T", ptr)) // a new field has a type without a decoder; every test fails
}

// allowedNames returns the values that a field may have, or nil if its type does not list them.
func allowedNames(ptr any) []string {
	switch ptr.(type) {
	case *loop.GoalKind:
		return []string{string(loop.Change), string(loop.Answer), string(loop.Explore), string(loop.Periodic)}
	case *loop.SessionMode:
		return []string{string(loop.PerTask), string(loop.PerTurn), string(loop.Hybrid), string(loop.Continue)}
	case *GatesWhen:
		return []string{string(AtClaim), string(EveryTurn)}
	case *OnFailure:
		return []string{string(Restore), string(Keep)}
	case *OnHangup:
		return []string{string(CancelOnHangup), string(DetachOnHangup)}
	case *Merge:
		return []string{string(MergeRecord), string(MergePull)}
	case *confine.Level:
		return []string{string(confine.Off), string(confine.Tree), string(confine.Strict)}
	case *gate.Evidence:
		return []string{string(gate.Proven), string(gate.Reviewed), string(gate.Unproven)}
	case *gate.Tier:
		return []string{string(gate.Fast), string(gate.Final)}
	case *baseline:
		return []string{string(allowFailures)}
	case *gateKind:
		return []string{string(byCommand), string(gate.ByReview)}
	}
	return nil
}

// wantError returns the error for a value of the wrong kind. what describes the allowed values.
func wantError(path, what string, v any) error {
	got := fmt.Sprint(v)
	switch v := v.(type) {
	case nil:
		return newProblem(path, "want %s, but there is no value", what)
	case string:
		got = strconv.Quote(v)
	case []any, []string:
		got = "a list"
	case map[string]any:
		got = "a table"
	}
	return newProblem(path, "want %s, not %s", what, got)
}

// decodeName sets the string that ptr points to, if it is one of the names.
func decodeName(ptr any, path string, v any, names []string) error {
	text, ok := v.(string)
	if !ok || !slices.Contains(names, text) {
		return wantError(path, joinNames(names, " or "), v)
	}
	reflect.ValueOf(ptr).Elem().SetString(text)
	return nil
}

// joinNames joins names with commas, and the last one with the word.
func joinNames(names []string, word string) string {
	last := len(names) - 1
	return strings.TrimPrefix(strings.Join(names[:last], ", ")+word+names[last], word)
}

func decodeText(p *string, path string, v any) error {
	text, ok := v.(string)
	if !ok || strings.TrimSpace(text) == "" {
		return wantError(path, "text", v)
	}
	*p = text
	return nil
}

func decodeBool(p *bool, path string, v any) error {
	switch v := v.(type) {
	case bool:
		*p = v
		return nil
	case string:
		if v == "true" || v == "false" {
			*p = v == "true"
			return nil
		}
	}
	return wantError(path, "true or false", v)
}

// parseInteger converts the integer types of decoders and flags, and text, to int64.
func parseInteger(v any) (int64, bool) {
	switch v := v.(type) {
	case int:
		return int64(v), true
	case int64:
		return v, true
	case uint64:
		return int64(min(v, math.MaxInt64)), true
	case string:
		n, err := strconv.ParseInt(v, 10, 64)
		return n, err == nil
	}
	return 0, false
}

// integerRange is the range of integers that an option allows, with its description for messages.
type integerRange struct {
	min, max int64
	words    string
}

func decodeWhole[N ~int | ~int64](p *N, path string, v any, w integerRange) error {
	n, ok := parseInteger(v)
	if !ok || n < w.min || n > w.max {
		return wantError(path, w.words, v)
	}
	*p = N(n)
	return nil
}

func (n *Iterations) decode(path string, v any, _ map[string]int) error {
	if v == "auto" {
		*n = Auto
		return nil
	}
	return decodeWhole(n, path, v, integerRange{0, math.MaxInt32, "a whole number (0 for no limit) or auto"})
}

func decodeDuration(p *time.Duration, path string, v any) error {
	const what = "a duration such as 90s, 10m, 8h or 2d, 0 for no limit"
	if n, ok := v.(time.Duration); ok {
		v = n.String()
	}
	if n, ok := parseInteger(v); ok && n == 0 {
		*p = 0
		return nil
	}
	text, ok := v.(string)
	d, err := figure.ParseDuration(text)
	if !ok || err != nil || d < 0 {
		return wantError(path, what, v)
	}
	*p = d
	return nil
}

func (p *USD) decode(path string, v any, _ map[string]int) error {
	amount, ok := v.(float64)
	if n, isInt := parseInteger(v); isInt {
		amount, ok = float64(n), true
	} else if text, isText := v.(string); isText {
		var err error
		amount, err = strconv.ParseFloat(strings.TrimPrefix(text, "$"), 64)
		ok = err == nil
	}
	if !ok || amount < 0 || math.IsInf(amount, 0) || math.IsNaN(amount) {
		return wantError(path, "an amount of US dollars such as 5.50, 0 for no limit", v)
	}
	*p = USD(amount)
	return nil
}

func (p *Percent) decode(path string, v any, _ map[string]int) error {
	given := v
	if text, ok := v.(string); ok {
		given = strings.TrimSuffix(text, "%")
	}
	if decodeWhole(p, path, given, integerRange{1, 100, ""}) != nil {
		return wantError(path, `a share such as "80%"`, v)
	}
	return nil
}

func (p *Rounds) decode(path string, v any, _ map[string]int) error {
	return decodeWhole(p, path, v, integerRange{1, math.MaxInt32, "a whole number from 1"})
}

// decodeTexts reads a list of texts. A single text is a list with one entry.
func decodeTexts(p *[]string, path string, v any) error {
	var out []string
	for i, item := range listItems(v) {
		var text string
		if err := decodeText(&text, fmt.Sprintf("%s[%d]", path, i), item); err != nil {
			return err
		}
		out = append(out, text)
	}
	if out == nil && v == nil {
		return wantError(path, "a list of texts", v)
	}
	*p = out
	return nil
}

// listItems returns the elements of a list, or the value itself as the only element.
func listItems(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	case []string:
		out := make([]any, len(v))
		for i, text := range v {
			out[i] = text
		}
		return out
	}
	return []any{v}
}

func (t *TaskSet) decode(path string, v any, _ map[string]int) error {
	var all bool
	if decodeBool(&all, path, v) == nil {
		*t = nil
		if all {
			*t = TaskSet{"*"}
		}
		return nil
	}
	var ids []string
	if err := decodeTexts(&ids, path, v); err != nil {
		return wantError(path, "true, false or a list of task ids", v)
	}
	*t = ids
	return nil
}

// decodeTextMap adds the entries of a table. They replace entries of the same name in lower
// layers.
func decodeTextMap(p *map[string]string, path string, v any) error {
	out := map[string]string{}
	maps.Copy(out, *p)
	if typed, ok := v.(map[string]string); ok { // from flags
		maps.Copy(out, typed)
		*p = out
		return nil
	}
	table, ok := v.(map[string]any)
	if !ok {
		return wantError(path, "a table of texts", v)
	}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		text, ok := table[name].(string) // an empty text is valid
		if !ok {
			return wantError(join(path, name), "text", table[name])
		}
		out[name] = text
	}
	*p = out
	return nil
}

// decode reads a level, or a table of task ids with a default. From flags it reads a list of
// [TASK=]level.
func (e *Evidence) decode(path string, v any, _ map[string]int) error {
	table, ok := v.(map[string]any)
	if !ok {
		table = map[string]any{}
		for _, item := range listItems(v) {
			text, isText := item.(string)
			if !isText {
				return wantError(path, "a level of evidence or a table of them", v)
			}
			task, level := "default", text
			if i := strings.LastIndex(text, "="); i >= 0 { // a task id may contain one too
				task, level = text[:i], text[i+1:]
			}
			table[task] = level
		}
	}
	out := Evidence{Default: e.Default, Tasks: maps.Clone(e.Tasks)}
	for _, task := range slices.Sorted(maps.Keys(table)) {
		var level gate.Evidence
		if err := decodeValue(&level, join(path, task), table[task], nil); err != nil {
			return err
		}
		if task == "default" {
			out.Default = level
			continue
		}
		if out.Tasks == nil {
			out.Tasks = map[string]gate.Evidence{}
		}
		out.Tasks[task] = level
	}
	*e = out
	return nil
}

func (p *Worktree) decode(path string, v any, lines map[string]int) error {
	if table, ok := v.(map[string]any); ok {
		return decodeTable(p, path, table, lines)
	}
	if decodeBool(&p.Use, path, v) != nil {
		return wantError(path, "true, false or a table with use and setup", v)
	}
	return nil
}

// Approve lists the points at which a loop stops until the user approves.
type Approve []loop.Approval

// String returns the names of the points, separated by commas.
func (a Approve) String() string {
	var names []string
	for _, at := range a {
		names = append(names, string(at))
	}
	return strings.Join(names, ", ")
}

// decode reads a list of points, or a single one.
func (a *Approve) decode(path string, v any, _ map[string]int) error {
	var names []string
	if err := decodeTexts(&names, path, v); err != nil {
		return err
	}
	var known []string
	for _, at := range loop.Approvals() {
		known = append(known, string(at))
	}
	*a = nil
	for i, name := range names {
		var at string
		if err := decodeName(&at, fmt.Sprintf("%s[%d]", path, i), name, known); err != nil {
			return err
		}
		*a = append(*a, loop.Approval(at))
	}
	return nil
}
