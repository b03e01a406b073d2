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

// The scopes of settings, the weakest first: of a value that several files set,
// the client takes the strongest.
const (
	user    = "user"
	project = "project"
	local   = "local"
	managed = "managed"
)

// file is a settings file of the client.
type file struct {
	scope    string
	path     string
	fault    error // why the client loads nothing of it
	settings settings
}

// settings are what matters of a settings file, as the client understands it.
type settings struct {
	env         map[string]string
	noHooks     *bool // disableAllHooks
	managedOnly bool  // allowManagedHooksOnly
	plugins     map[string]bool
	hooks       []entry
	ignored     []string // what the client leaves out, and why
}

// entry is one hook as it stands in a file.
type entry struct {
	event   string
	kind    string // command, prompt, agent, http …
	command string
	args    []string      // nil: the command is for a shell
	timeout time.Duration // 0: the client's own
}

// maxTimeout is the longest limit that makes a difference, in seconds.
const maxTimeout = 1e6

// maxNesting is how deep a file may be that is looked at for comments: that
// parser recurses.
const maxNesting = 10_000

// parse reads a settings file. The client wants plain JSON (measured): with a
// comment, or with one of its great parts of the wrong kind, nothing of the file
// is in effect, and that is the error. Smaller mistakes cost it only what they
// stand in.
func parse(data []byte) (settings, error) {
	text := bytes.TrimPrefix(data, []byte("\ufeff"))
	if len(bytes.TrimSpace(text)) == 0 {
		return settings{}, nil
	}
	var top any
	if err := decode(text, &top); err != nil {
		return settings{}, err
	}
	root, ok := top.(map[string]any)
	if !ok {
		return settings{}, fmt.Errorf("it holds %s, not an object", kindOf(top))
	}
	if err := fits(root); err != nil {
		return settings{}, err
	}
	s := settings{env: map[string]string{}, plugins: map[string]bool{}}
	if off, set := root["disableAllHooks"].(bool); set {
		s.noHooks = &off
	}
	s.managedOnly, _ = root["allowManagedHooksOnly"].(bool)
	for name, v := range object(root["env"]) {
		s.env[name] = fmt.Sprint(v)
	}
	for id, v := range object(root["enabledPlugins"]) {
		on, plain := v.(bool)
		s.plugins[id] = on || !plain // a list of versions enables it too
	}
	if v, set := root["hooks"]; set && v == nil {
		s.ignored = []string{`"hooks" is null, not an object`}
	}
	s.readHooks(object(root["hooks"]))
	return s, nil
}

// fits looks for mistakes that cost all of a file.
func fits(root map[string]any) error {
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
	plugins := object(root["enabledPlugins"])
	for _, id := range slices.Sorted(maps.Keys(plugins)) {
		_, plain := plugins[id].(bool)
		if _, list := plugins[id].([]any); !plain && !list {
			return fmt.Errorf("%q in \"enabledPlugins\" is %s, not true or false", id, kindOf(plugins[id]))
		}
	}
	return nil
}

func decode(text []byte, into any) error {
	err := json.Unmarshal(text, into)
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber() // 7 is "7" as a variable
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

// readHooks takes the hooks that the client takes, and keeps account of the rest.
func (s *settings) readHooks(events map[string]any) {
	ignore := func(where, format string, args ...any) {
		s.ignored = append(s.ignored, where+" "+fmt.Sprintf(format, args...))
	}
	for _, event := range slices.Sorted(maps.Keys(events)) {
		if right, known := eventName(event); !known && right != "" {
			ignore(event, "is not a hook event; %s is", right)
			continue
		}
		groups, ok := events[event].([]any)
		if !ok {
			ignore(event, "is %s, not a list", kindOf(events[event]))
		}
		for i, g := range groups {
			where := fmt.Sprintf("%s[%d]", event, i)
			inner, set := object(g)["hooks"]
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

// eventName reports whether an event is one of those that loops depend on; if not,
// which one was probably meant. Names that are like none of them are let pass:
// the client has more, and gets new ones.
func eventName(name string) (right string, known bool) {
	for _, e := range []string{"Stop", "SubagentStop", "SessionStart", "SessionEnd", "PreToolUse", "PostToolUse", "UserPromptSubmit", "Notification"} {
		plain := strings.NewReplacer("_", "", "-", "", " ", "").Replace(name)
		if strings.EqualFold(plain, e) {
			return e, name == e
		}
	}
	return "", false
}

func object(v any) map[string]any {
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

// loaded are the files that the client does read, the strongest first.
func (f Facts) loaded() []file {
	var out []file
	for _, s := range slices.Backward(f.files) {
		if s.fault == nil {
			out = append(out, s)
		}
	}
	return out
}

// variable is the value that hooks and the client see of a variable, and the
// file that sets it: what stands in settings beats the process's environment.
func (f Facts) variable(name string) (value string, in file, set bool) {
	for _, s := range f.loaded() {
		if value, set = s.settings.env[name]; set {
			return value, s, true
		}
	}
	value, set = f.vars[name]
	return value, file{}, set
}

// enabled are the plugins that some file names, with what the strongest of them
// says.
func (f Facts) enabled() map[string]bool {
	out := map[string]bool{}
	for _, s := range slices.Backward(f.loaded()) {
		maps.Copy(out, s.settings.plugins)
	}
	return out
}
