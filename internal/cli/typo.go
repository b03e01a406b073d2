package cli

import (
	"cmp"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/pawl-dev/pawl/internal/failure"
)

// nearestCommand is the command that was probably meant, by a mistyped name or by
// the word that other tools have for it; "" if there is none.
func nearestCommand(n *kong.Node, written string) string {
	if near := failure.Nearest(written, commandNames(n)); near != "" {
		return near
	}
	if n.Parent != nil {
		return ""
	}
	return map[string]string{
		"cancel": "stop", "abort": "stop", "kill": "stop", "end": "stop", "quit": "stop",
		"ls": "list", "ps": "list", "show": "status", "info": "status", "history": "log", "journal": "log",
		"continue": "resume", "unpause": "resume", "retry": "resume", "grant": "approve", "accept": "approve",
		"deny": "reject", "refuse": "reject", "revert": "undo", "rollback": "undo",
		"message": "tell", "say": "tell", "send": "tell", "setup": "install", "check": "verify", "test": "verify",
	}[strings.ToLower(written)]
}

// nearestFlag is the same for a flag of a command, as it is typed.
func nearestFlag(n *kong.Node, written string) string {
	var names []string
	for _, group := range n.AllFlags(true) {
		for _, f := range group {
			names = append(names, f.Name)
		}
	}
	words := strings.FieldsFunc(strings.ToLower(written), func(r rune) bool { return r == '-' || r == '_' })
	for i, word := range words {
		words[i] = cmp.Or(map[string]string{
			"time": "duration", "turns": "iterations", "loops": "iterations", "rounds": "iterations", "iters": "iterations",
			"budget": "cost", "usd": "cost", "price": "cost",
		}[word], word)
	}
	near := failure.Nearest(written, names)
	if near = cmp.Or(near, failure.Nearest(strings.Join(words, "-"), names)); near == "" {
		return ""
	}
	return "--" + near
}
