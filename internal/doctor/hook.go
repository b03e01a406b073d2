package doctor

import (
	"slices"
	"strings"
	"time"

	"mvdan.cc/sh/v3/shell"

	"github.com/pawl-dev/pawl/internal/install"
)

// hook is one hook of a settings file or of an enabled plugin, with the facts about its program.
type hook struct {
	entry
	scope  string // scope of the settings, or fromPlugin
	plugin string // id of the plugin
	root   string // the plugin's folder

	argv  []string // program and arguments; nil if only a shell can split the command
	found string   // path of the program; "" if it was not found
	// problem says what is wrong with the program or its script. fix says what to do.
	problem, fix string
	shellOnly    bool   // found only on this terminal's PATH
	version      string // as the program prints it; only for Pawl's programs
	answers      []answer
}

// answer is the result of running a hook with a payload.
type answer struct {
	event    string
	exit     int
	out      string // the beginning of the standard output
	err      string // the first line of the standard error
	took     time.Duration
	timedOut bool   // the hook did not end in time
	fault    string // why the hook could not be started
}

// fromPlugin is the scope of a plugin's hooks.
const fromPlugin = "plugin"

// location returns the place of a hook for messages, such as "project settings".
func (h hook) location() string {
	if h.scope == fromPlugin {
		return "plugin " + h.plugin
	}
	return h.scope + " settings"
}

// isOwn reports whether a hook runs Pawl: pawl-hook, or pawl hook.
func (h hook) isOwn() bool {
	if len(h.argv) == 0 {
		return false
	}
	switch install.ProgramName(h.argv[0]) {
	case "pawl-hook":
		return true
	case "pawl":
		return len(h.argv) > 2 && h.argv[1] == "hook"
	}
	return false
}

// title returns the command of a hook, by which a user recognizes it.
func (h hook) title() string {
	if h.kind != "command" {
		return "a hook of type " + h.kind
	}
	return strings.Join(append([]string{h.command}, h.args...), " ")
}

// splitWords splits a hook into program and arguments, like the client or its shell. It returns
// nil for a command that only a shell can run.
func (h hook) splitWords(root string, vars map[string]string) []string {
	expand := func(name string) string {
		switch name {
		case "CLAUDE_PROJECT_DIR":
			return root
		case "CLAUDE_PLUGIN_ROOT":
			return h.root
		}
		return vars[name]
	}
	if h.args == nil {
		if strings.ContainsAny(h.command, "`*?[") || strings.Contains(h.command, "$(") {
			return nil
		}
		fields, err := shell.Fields(h.command, expand)
		if err != nil || len(fields) == 0 || isShellWord(fields[0]) {
			return nil
		}
		return fields
	}
	fill := strings.NewReplacer("${CLAUDE_PROJECT_DIR}", root, "${CLAUDE_PLUGIN_ROOT}", h.root)
	argv := []string{fill.Replace(h.command)}
	for _, a := range h.args {
		argv = append(argv, fill.Replace(a))
	}
	return argv
}

// isShellWord reports whether the first word of a command is not a program, but an assignment, a
// builtin or a keyword.
func isShellWord(first string) bool {
	own := []string{".", ":", "!", "{", "[", "[[", "case", "cd", "eval", "exec", "exit", "export", "for", "function", "if", "set", "source", "time", "trap", "unset", "until", "while"}
	return strings.Contains(first, "=") || slices.Contains(own, first)
}

// scriptOf returns the script in the command line of an interpreter, "" if there is none.
func scriptOf(argv []string) string {
	if len(argv) < 2 || strings.HasPrefix(argv[1], "-") {
		return ""
	}
	interpreters := []string{"sh", "bash", "zsh", "dash", "python", "python3", "node", "bun", "deno", "ruby", "perl", "php"}
	if !slices.Contains(interpreters, install.ProgramName(argv[0])) {
		return ""
	}
	return argv[1]
}

// ownHooks returns the hooks that run Pawl.
func (f Facts) ownHooks() []hook {
	return slices.DeleteFunc(slices.Clone(f.hooks), func(h hook) bool { return !h.isOwn() })
}
