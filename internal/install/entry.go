package install

import (
	"path"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/pawl-dev/pawl/internal/atomicfile"
)

// Entries are the hooks and variables that a settings file should contain.
type Entries struct {
	Events Events // nil: existing hooks stay as they are
	Env    []Var  // only set if the file does not set them
}

// Events are hooks by event, in the order in which they are written. In JSON they are the client's
// object "hooks".
type Events []Event

// Event holds the hooks of an event.
type Event struct {
	Name   string
	Groups []Group
}

// Group holds hooks that share a matcher; "" matches everything.
type Group struct {
	Matcher string `json:"matcher,omitempty"`
	Hooks   []Hook `json:"hooks"`
}

// Hook is a command. With Args, even an empty list, the client runs it without a shell.
type Hook struct {
	Type        string   `json:"type"` // "command"
	Command     string   `json:"command"`
	Args        []string `json:"args,omitzero"`
	Timeout     int      `json:"timeout,omitempty"` // seconds; 0 = the client's default
	AsyncRewake bool     `json:"asyncRewake,omitempty"`
	OnFailure   string   `json:"onFailure,omitempty"` // "block": a tool call that the hook does not answer is denied
}

// Var is a variable in the environment of the settings.
type Var struct{ Name, Value string }

// Names returns the names of the events.
func (e Events) Names() []string {
	names := make([]string, len(e))
	for i := range e {
		names[i] = e[i].Name
	}
	return names
}

// MarshalJSON writes one member for each event, in order.
func (e Events) MarshalJSON() ([]byte, error) {
	b := []byte("{")
	for i, event := range e {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, hujson.String(event.Name)...)
		b = append(b, ':')
		groups, err := atomicfile.EncodeJSON(event.Groups)
		if err != nil {
			return nil, err
		}
		b = append(b, groups...)
	}
	return append(b, '}'), nil
}

// isPawlHook reports whether a hook starts Pawl, from any folder. A hook whose text only mentions
// Pawl does not count.
func isPawlHook(hook hujson.Value) bool {
	obj, ok := hook.Value.(*hujson.Object)
	if !ok {
		return false
	}
	command, ok := stringValue(lastMember(obj, "command"))
	if !ok {
		return false
	}
	argv := []string{command}
	if args := lastMember(obj, "args"); args == nil {
		argv = splitPlainCommand(command)
	} else if list, ok := args.Value.(*hujson.Array); ok {
		for i := range list.Elements {
			arg, _ := stringValue(&list.Elements[i])
			argv = append(argv, arg)
		}
	}
	switch ProgramName(argv[0]) {
	case "pawl-hook":
		return true
	case "pawl":
		return len(argv) > 2 && argv[1] == "hook" && argv[2] == "claude"
	}
	return false
}

// splitPlainCommand splits a command without shell syntax into words. For any other command it
// returns one empty word.
func splitPlainCommand(command string) []string {
	if fields := strings.Fields(command); len(fields) > 0 && !strings.ContainsAny(command, "\"'`$&|;<>()*?[]{}~#=%!\n") {
		return fields
	}
	return []string{""}
}

// ProgramName returns the name of a program from its path, on any system.
func ProgramName(command string) string {
	name := strings.ToLower(path.Base(strings.ReplaceAll(command, `\`, "/")))
	return strings.TrimSuffix(name, ".exe")
}

// pawlHooks returns a group's list of hooks, the indexes of ours, and whether there are no others.
func pawlHooks(group hujson.Value) (list *hujson.Array, mine []int, all bool) {
	obj, ok := group.Value.(*hujson.Object)
	if !ok {
		return nil, nil, false
	}
	hooks := lastMember(obj, "hooks")
	if hooks == nil {
		return nil, nil, false
	}
	if list, ok = hooks.Value.(*hujson.Array); !ok {
		return nil, nil, false
	}
	for i, h := range list.Elements {
		if isPawlHook(h) {
			mine = append(mine, i)
		}
	}
	return list, mine, len(mine) > 0 && len(mine) == len(list.Elements)
}

// hasPawlHook reports whether any of these groups has a hook of ours.
func hasPawlHook(groups *hujson.Array) bool {
	return slices.ContainsFunc(groups.Elements, func(g hujson.Value) bool {
		_, mine, _ := pawlHooks(g)
		return len(mine) > 0
	})
}

// pawlEvent returns the name of the event at an index, and its groups if one has a hook of ours. If
// an event occurs twice, the client uses the last one.
func pawlEvent(hooks *hujson.Object, i int) (string, *hujson.Array) {
	name, _ := stringValue(&hooks.Members[i].Name)
	groups, ok := hooks.Members[i].Value.Value.(*hujson.Array)
	if !ok || !hasPawlHook(groups) || lastIndex(hooks, name) != i {
		return name, nil
	}
	return name, groups
}
