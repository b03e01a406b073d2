package cli

import (
	"reflect"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/guard"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
)

// Commands for users only are refused twice: the command refuses them in a loop's processes (the tag
// user), and the guard denies them to the agent by their words.
func TestGuardDeniesUserOnlyCommands(t *testing.T) {
	t.Parallel()
	commands := userCommands(reflect.TypeFor[grammar](), "pawl")
	if len(commands) < 27 {
		t.Errorf("no more than %d commands are a user's: %v", len(commands), commands)
	}
	for _, command := range append(commands, "pawl trust") { // it first prints what it would trust
		if command == "pawl start" {
			// It starts a loop in the agent's session, if the user asks the agent for one. Taking
			// another loop over is denied.
			command += " --take brisk-otter"
		}
		rules := guard.Rules{Root: "/w/repo", StateDir: "/home/u/.local/state/pawl", Home: "/home/u"}
		for _, line := range []string{command, "env -u PAWL_LOOP " + command + " x"} {
			v := guard.Check(toolcall.Call{Kind: toolcall.Run, Command: line, Dir: "/w/repo"}, rules)
			if v.Decision != guard.Deny || v.Rule != guard.RuleState {
				t.Errorf("%s: %s %q, though only a user may", line, v.Decision, v.Rule)
			}
		}
	}
}

// userCommands returns the command lines that only a user may run, of a struct and the commands below
// it.
func userCommands(list reflect.Type, before string) []string {
	var out []string
	for field := range list.Fields() {
		if _, ok := field.Tag.Lookup("cmd"); !ok {
			continue
		}
		name := field.Tag.Get("name")
		if name == "" {
			name = strings.ToLower(field.Name)
		}
		if field.Tag.Get("user") != "" {
			out = append(out, before+" "+name)
		}
		out = append(out, userCommands(field.Type, before+" "+name)...)
	}
	return out
}
