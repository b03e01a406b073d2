package doctor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tailscale/hujson"
)

// The scopes of settings, the weakest first. If several files set a value, the client takes the
// one of the strongest scope.
const (
	user    = "user"
	project = "project"
	local   = "local"
	managed = "managed"
)

// settingsFile is a settings file of the client.
type settingsFile struct {
	scope    string
	path     string
	fault    error // why the client does not load it
	settings settings
}

// settings holds the settings that affect loops, as the client reads them.
type settings struct {
	env              map[string]string
	disableAllHooks  *bool // disableAllHooks
	managedHooksOnly bool  // allowManagedHooksOnly
	plugins          map[string]bool
	hooks            []entry
	ignored          []string // the parts that the client ignores, and why
}

// entry is one hook in a settings file.
type entry struct {
	event   string
	kind    string // command, prompt, agent, http …
	command string
	args    []string      // nil if a shell runs the command
	timeout time.Duration // 0 for the client's default
}

// maxTimeout is the longest time limit that is kept, in seconds.
const maxTimeout = 1e6

// maxNesting is the maximum number of opening brackets in a file that is searched for comments,
// because that parser is recursive.
const maxNesting = 10_000

// parseSettings parses a settings file. The client accepts only plain JSON (measured). It ignores
// the whole file if it has a comment or a top-level value of the wrong type: parseSettings then
// returns an error. For a smaller mistake, it ignores only the part with it.
func parseSettings(data []byte) (settings, error) {
	text := bytes.TrimPrefix(data, []byte("\ufeff"))
	if len(bytes.TrimSpace(text)) == 0 {
		return settings{}, nil
	}
	var top any
	if err := decodeJSON(text, &top); err != nil {
		return settings{}, err
	}
	root, ok := top.(map[string]any)
	if !ok {
		return settings{}, fmt.Errorf("it holds %s, not an object", kindOf(top))
	}
	if err := checkTypes(root); err != nil {
		return settings{}, err
	}
	s := settings{env: map[string]string{}, plugins: map[string]bool{}}
	if off, set := root["disableAllHooks"].(bool); set {
		s.disableAllHooks = &off
	}
	s.managedHooksOnly, _ = root["allowManagedHooksOnly"].(bool)
	for name, v := range asObject(root["env"]) {
		s.env[name] = fmt.Sprint(v)
	}
	for id, v := range asObject(root["enabledPlugins"]) {
		on, plain := v.(bool)
		s.plugins[id] = on || !plain // a list of versions enables it too
	}
	if v, set := root["hooks"]; set && v == nil {
		s.ignored = []string{`"hooks" is null, not an object`}
	}
	s.readHooks(asObject(root["hooks"]))
	return s, nil
}

// checkTypes returns an error for a mistake for which the client ignores the whole file.
func checkTypes(root map[string]any) error {
	for _, name := range []string{"env", "enabledPlugins", "hooks"} {
		v, set := root[name]
		if _, fit := v.(map[string]any); set && !fit && (name != "hooks" || v != nil) {
			return fmt.Errorf("%q is %s, not an object", name, kindOf(v))
		}
	}
	for _, name := range []string{"disableAllHooks", "allowManagedHooksOnly"} {
		v, set := root[name]
		if _, fit := v.(bool); set && !fit {
			return fmt.Errorf("%q is %s, not true or false", name, kindOf(v))
		}
	}
	plugins := asObject(root["enabledPlugins"])
	for _, id := range slices.Sorted(maps.Keys(plugins)) {
		_, plain := plugins[id].(bool)
		if _, list := plugins[id].([]any); !plain && !list {
			return fmt.Errorf("%q in \"enabledPlugins\" is %s, not true or false", id, kindOf(plugins[id]))
		}
	}
	return nil
}

func decodeJSON(text []byte, into any) error {
	err := json.Unmarshal(text, into)
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber() // the number 7 is the variable "7"
		return d.Decode(into)
	}
	if bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) < maxNesting {
		if _, tolerable := hujson.Standardize(bytes.Clone(text)); tolerable == nil {
			return errors.New("it has comments, or commas before a closing bracket")
		}
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		before := text[:min(int(syntax.Offset), len(text))]
		return fmt.Errorf("line %d: %w", 1+bytes.Count(before, []byte("\n")), err)
	}
	return fmt.Errorf("it is not JSON: %w", err)
}

// readHooks collects the hooks that the client runs, and the reasons for those that it ignores.
func (s *settings) readHooks(events map[string]any) {
	ignore := func(where, format string, args ...any) {
		s.ignored = append(s.ignored, where+" "+fmt.Sprintf(format, args...))
	}
	for _, event := range slices.Sorted(maps.Keys(events)) {
		if right, known := matchEventName(event); !known && right != "" {
			ignore(event, "is not a hook event; %s is", right)
			continue
		}
		groups, ok := events[event].([]any)
		if !ok {
			ignore(event, "is %s, not a list", kindOf(events[event]))
		}
		for i, g := range groups {
			where := fmt.Sprintf("%s[%d]", event, i)
			inner, set := asObject(g)["hooks"]
			if !set {
				ignore(where, `has no "hooks": each entry of an event is {"hooks": [ … ]}`)
				continue
			}
			hooks, ok := inner.([]any)
			if !ok {
				ignore(where+".hooks", "is %s, not a list", kindOf(inner))
			}
			for j, h := range hooks {
				if e, err := readEntry(event, h); err != nil {
					ignore(fmt.Sprintf("%s.hooks[%d]", where, j), "%s", err)
				} else {
					s.hooks = append(s.hooks, e)
				}
			}
		}
	}
}

func readEntry(event string, v any) (entry, error) {
	h, ok := v.(map[string]any)
	if !ok {
		return entry{}, fmt.Errorf("is %s, not an object", kindOf(v))
	}
	e := entry{event: event}
	if e.kind, ok = h["type"].(string); !ok {
		return e, errors.New("has no type")
	}
	if t, set := h["timeout"]; set {
		seconds, ok := t.(json.Number)
		if !ok {
			return e, fmt.Errorf("has a timeout that is %s, not a number", kindOf(t))
		}
		n, err := seconds.Float64()
		if err != nil || n <= 0 {
			return e, fmt.Errorf("has a timeout of %s", seconds)
		}
		e.timeout = time.Duration(min(n, maxTimeout) * float64(time.Second))
	}
	if e.kind != "command" {
		return e, nil
	}
	if e.command, ok = h["command"].(string); !ok || e.command == "" {
		return e, errors.New("has no command")
	}
	args, set := h["args"]
	if !set {
		return e, nil
	}
	list, ok := args.([]any)
	if !ok {
		return e, fmt.Errorf("has args that are %s, not a list", kindOf(args))
	}
	e.args = []string{}
	for _, a := range list {
		text, ok := a.(string)
		if !ok {
			return e, fmt.Errorf("has an argument that is %s, not a string", kindOf(a))
		}
		e.args = append(e.args, text)
	}
	return e, nil
}

// matchEventName reports whether a name is an event that loops depend on. Otherwise right is the
// event that was probably meant. It is "" for dissimilar names, because the client has further
// events.
func matchEventName(name string) (right string, known bool) {
	for _, e := range []string{"Stop", "SubagentStop", "SessionStart", "SessionEnd", "PreToolUse", "PostToolUse", "UserPromptSubmit", "Notification"} {
		plain := strings.NewReplacer("_", "", "-", "", " ", "").Replace(name)
		if strings.EqualFold(plain, e) {
			return e, name == e
		}
	}
	return "", false
}

func asObject(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func kindOf(v any) string {
	switch v.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case string:
		return "a string"
	case json.Number:
		return "a number"
	case bool:
		return "a truth value"
	}
	return "null"
}

// loadedFiles returns the files that the client loads, the strongest first.
func (f Facts) loadedFiles() []settingsFile {
	var out []settingsFile
	for _, s := range slices.Backward(f.files) {
		if s.fault == nil {
			out = append(out, s)
		}
	}
	return out
}

// variable returns the value of a variable for hooks and the client, and the file that sets it.
// Settings win over the environment of the process.
func (f Facts) variable(name string) (value string, in settingsFile, set bool) {
	for _, s := range f.loadedFiles() {
		if value, set = s.settings.env[name]; set {
			return value, s, true
		}
	}
	value, set = f.vars[name]
	return value, settingsFile{}, set
}

// enabledPlugins returns the plugins that settings files name, and whether the strongest file
// enables them.
func (f Facts) enabledPlugins() map[string]bool {
	out := map[string]bool{}
	for _, s := range slices.Backward(f.loadedFiles()) {
		maps.Copy(out, s.settings.plugins)
	}
	return out
}
