package doctor

import (
	"path"
	"slices"
	"strings"
	"time"

	"mvdan.cc/sh/v3/shell"
)

// hook is one hook of a settings file or of an enabled plugin, and what was found
// of what it runs.
type hook struct {
	entry
	scope  string // of the settings; plugin for a plugin's
	plugin string // id of the plugin
	root   string // the plugin's folder

	argv  []string // program and arguments; nil where only a shell can tell
	found string   // path of the program, or "" with the problem
	// problem says in words what is wrong with the program or with the script
	// that it is given; fix, what to do.
	problem, fix string
	shellOnly    bool   // found by this terminal's PATH alone
	version      string // as the program says; ours only
	answers      []answer
}

// answer is what a hook said to a payload.
type answer struct {
	event string
	exit  int
	out   string // the beginning of the standard output
	err   string // the first line of the standard error
	took  time.Duration
	late  bool   // it did not end in time
	fault string // it could not be started
}

const fromPlugin = "plugin"

// where says where a hook stands.
func (h hook) where() string {
	if h.scope == fromPlugin {
		return "plugin " + h.plugin
	}
	return h.scope + " settings"
}

// own reports whether a hook runs Pawl: its own program, or the tool itself.
func (h hook) own() bool {
	if len(h.argv) == 0 {
		return false
	}
	switch name(h.argv[0]) {
	case "pawl-hook":
		return true
	case "pawl":
		return len(h.argv) > 2 && h.argv[1] == "hook"
	}
	return false
}

// name of a program by its path, on any system.
func name(program string) string {
	base := strings.ToLower(path.Base(strings.ReplaceAll(program, `\`, "/")))
	return strings.TrimSuffix(base, ".exe")
}

// title returns the words by which a user recognizes a hook.
func (h hook) title() string {
	if h.kind != "command" {
		return "a hook of type " + h.kind
	}
	return strings.Join(append([]string{h.command}, h.args...), " ")
}

// words splits a hook into program and arguments, as the client or its shell
// would; nil for a command that only a shell understands.
func (h hook) words(root string, vars map[string]string) []string {
	places := func(name string) string {
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
		fields, err := shell.Fields(h.command, places)
		if err != nil || len(fields) == 0 || shellWord(fields[0]) {
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

// shellWord reports whether a command begins with what is not a program: an assignment
// or a word of the shell's own.
func shellWord(first string) bool {
	own := []string{".", ":", "!", "{", "[", "[[", "case", "cd", "eval", "exec", "exit", "export", "for", "function", "if", "set", "source", "time", "trap", "unset", "until", "while"}
	return strings.Contains(first, "=") || slices.Contains(own, first)
}

// script is the file that an interpreter is told to run, "" if it is told none.
func script(argv []string) string {
	if len(argv) < 2 || strings.HasPrefix(argv[1], "-") {
		return ""
	}
	interpreters := []string{"sh", "bash", "zsh", "dash", "python", "python3", "node", "bun", "deno", "ruby", "perl", "php"}
	if !slices.Contains(interpreters, name(argv[0])) {
		return ""
	}
	return argv[1]
}

// own are the hooks that are Pawl's.
func (f Facts) own() []hook {
	return slices.DeleteFunc(slices.Clone(f.hooks), func(h hook) bool { return !h.own() })
}
