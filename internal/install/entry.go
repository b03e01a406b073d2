package install

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// Wanted is what a settings file is to hold.
type Wanted struct {
	Events Events // nil: the hooks there are stay as they are
	Env    []Var  // only where the file has no value of that name
}

// Events are hooks by event, in the order in which they are written. As JSON
// they are the object that the client knows as "hooks".
type Events []Event

// Event is what runs at one event.
type Event struct {
	Name   string
	Groups []Group
}

// Group is hooks with the matcher that they share; no matcher stands for all.
type Group struct {
	Matcher string `json:"matcher,omitempty"`
	Hooks   []Hook `json:"hooks"`
}

// Hook is one command. With arguments, if only an empty list of them, the client
// runs it without a shell.
type Hook struct {
	Type          string   `json:"type"` // "command"
	Command       string   `json:"command"`
	Args          []string `json:"args,omitzero"`
	Timeout       int      `json:"timeout,omitempty"` // seconds; 0: the client's own limit
	AsyncRewake   bool     `json:"asyncRewake,omitempty"`
	StatusMessage string   `json:"statusMessage,omitempty"`
	OnFailure     string   `json:"onFailure,omitempty"` // "block": what the hook does not answer is denied
}

// Var is a variable in the settings' environment.
type Var struct{ Name, Value string }

// Names lists the events.
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
		groups, err := compact(event.Groups)
		if err != nil {
			return nil, err
		}
		b = append(b, groups...)
	}
	return append(b, '}'), nil
}

// compact is v as JSON without spaces, and without escapes that only HTML needs:
// a user reads "&&" in a settings file.
func compact(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// ours reports whether a hook in a settings file runs Pawl. What counts is which
// program it starts, wherever that lies: a hook whose text only mentions Pawl is
// somebody else's.
func ours(hook hujson.Value) bool {
	obj, ok := hook.Value.(*hujson.Object)
	if !ok {
		return false
	}
	command, ok := text(last(obj, "command"))
	if !ok {
		return false
	}
	argv := []string{command}
	if args := last(obj, "args"); args == nil {
		argv = words(command)
	} else if list, ok := args.Value.(*hujson.Array); ok {
		for i := range list.Elements {
			arg, _ := text(&list.Elements[i])
			argv = append(argv, arg)
		}
	}
	switch program(argv[0]) {
	case "pawl-hook":
		return true
	case "pawl":
		return len(argv) > 2 && argv[1] == "hook" && argv[2] == "claude"
	}
	return false
}

// words splits a command of plain words as a shell would. Any other is one word,
// that names no program.
func words(command string) []string {
	if fields := strings.Fields(command); len(fields) > 0 && !strings.ContainsAny(command, "\"'`$&|;<>()*?[]{}~#=%!\n") {
		return fields
	}
	return []string{""}
}

// program is the name of a program by its path, on any system.
func program(command string) string {
	name := strings.ToLower(path.Base(strings.ReplaceAll(command, `\`, "/")))
	return strings.TrimSuffix(name, ".exe")
}

// own are the hooks of a group that are ours, by index, and whether there are no
// others.
func own(group hujson.Value) (list *hujson.Array, mine []int, all bool) {
	obj, ok := group.Value.(*hujson.Object)
	if !ok {
		return nil, nil, false
	}
	hooks := last(obj, "hooks")
	if hooks == nil {
		return nil, nil, false
	}
	if list, ok = hooks.Value.(*hujson.Array); !ok {
		return nil, nil, false
	}
	for i, h := range list.Elements {
		if ours(h) {
			mine = append(mine, i)
		}
	}
	return list, mine, len(mine) > 0 && len(mine) == len(list.Elements)
}

// holdsOwn reports whether a list of groups has a hook of ours.
func holdsOwn(groups *hujson.Array) bool {
	return slices.ContainsFunc(groups.Elements, func(g hujson.Value) bool {
		_, mine, _ := own(g)
		return len(mine) > 0
	})
}

// ownEvent is the name of an event, by its index, and its groups if there is a
// hook of ours among them. Of an event that is there twice, the client has the
// last.
func ownEvent(hooks *hujson.Object, i int) (string, *hujson.Array) {
	name, _ := text(&hooks.Members[i].Name)
	groups, ok := hooks.Members[i].Value.Value.(*hujson.Array)
	if !ok || !holdsOwn(groups) || lastIndex(hooks, name) != i {
		return name, nil
	}
	return name, groups
}
